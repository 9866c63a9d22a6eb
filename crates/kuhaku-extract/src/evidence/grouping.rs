//! What digits say with the marks between them.

use crate::decimal::Decimal;

use super::number::Reading;

/// What groups of digits say, each with what joins it to the one before.
pub(super) fn readings(groups: &[(char, &str)]) -> Vec<Reading> {
    let Some((first, rest)) = groups.split_first().map(|((_, first), rest)| (*first, rest)) else {
        return Vec::new();
    };
    if rest.iter().any(|(joint, _)| *joint == ':') {
        return Vec::new();
    }
    if rest.iter().any(|(joint, _)| matches!(joint, '/' | '⁄')) {
        let [(_, below)] = rest else { return Vec::new() };
        return match (first.parse(), below.parse()) {
            (Ok(above), Ok(below)) if below > 0 => vec![Reading::Ratio(above, below)],
            _ => Vec::new(),
        };
    }
    let exactly = |whole: &str, fraction: &str| {
        let digits = format!("{whole}{fraction}");
        Reading::Exactly(Decimal::new(false, &digits, -(fraction.len() as i64)))
    };
    // 007 is a name.
    if first.len() > 2 && first.starts_with('0') {
        return Vec::new();
    }
    match rest {
        [] => vec![exactly(first, "")],
        [(joint, second)] => {
            let mut found = Vec::new();
            // 5.000 is five thousand: nobody writes three empty places.
            let thousands = *second == "000" && *joint != '٫' && is_grouped(groups);
            if matches!(joint, '.' | ',' | '٫') && !thousands {
                found.push(exactly(first, second));
            }
            if *joint != '٫' && is_grouped(groups) {
                found.push(exactly(&format!("{first}{second}"), ""));
            }
            found
        }
        [.., (last, fraction)] => {
            let whole = |groups: &[(char, &str)]| {
                groups.iter().map(|(_, digits)| *digits).collect::<String>()
            };
            if is_grouped(groups) {
                return vec![exactly(&whole(groups), "")];
            }
            let Some((_, before)) = groups.split_last() else { return Vec::new() };
            let differs = before.iter().skip(1).all(|(joint, _)| joint != last);
            if differs && matches!(last, '.' | ',' | '٫') && is_grouped(before) {
                return vec![exactly(&whole(before), fraction)];
            }
            Vec::new()
        }
    }
}

/// Whether the groups are those of thousands, or of lakhs and crores behind commas.
fn is_grouped(groups: &[(char, &str)]) -> bool {
    let [(_, first), rest @ ..] = groups else { return false };
    let [(joint, _), ..] = rest else { return false };
    let one_joint = rest.iter().all(|(it, _)| it == joint);
    let threes = rest.iter().all(|(_, digits)| digits.len() == 3);
    let twos = |digits: &[(char, &str)]| match digits.split_last() {
        Some(((_, last), middle)) => {
            last.len() == 3 && middle.iter().all(|(_, digits)| digits.len() == 2)
        }
        None => false,
    };
    one_joint
        && *joint != '٫'
        && !first.starts_with('0')
        && ((first.len() <= 3 && threes) || (*joint == ',' && first.len() <= 2 && twos(rest)))
}
