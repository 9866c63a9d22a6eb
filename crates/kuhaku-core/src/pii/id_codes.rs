//! National identity codes that have letters: British, Spanish, Italian, Finnish, French.

use std::ops::Range;

use crate::masking::Placeholder;

use super::border::stands_alone;
use super::id_checks::is_day;
use super::reading::Reading;
use super::scan::Span;

/// Looks at what each run of digits may belong to.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found: Vec<Span> = Vec::new();
    for run in reading.digits() {
        if found.last().is_some_and(|(last, _)| run.start < last.end) {
            continue;
        }
        if let Some(range) = around(text.as_bytes(), run)
            && stands_alone(text, &range)
        {
            found.push((range, Placeholder::NationalId));
        }
    }
    found
}

/// The code whose first digits are this run.
fn around(bytes: &[u8], run: &Range<usize>) -> Option<Range<usize>> {
    let read = |head: usize, code: fn(&[u8]) -> usize| {
        let start = run.start.checked_sub(head)?;
        let length = code(bytes.get(start..)?);
        (length > 0).then_some(start..start + length)
    };
    let neighbour = run.start.checked_sub(1).and_then(|at| bytes.get(at));
    match neighbour {
        Some(byte) if byte.is_ascii_alphabetic() => match run.len() {
            // A letter of the date may stand for its first digit.
            1 => read(7, codice_fiscale),
            2 => read(6, codice_fiscale).or_else(|| read(2, nino)),
            6 => read(2, nino),
            7 => read(1, nie),
            _ => None,
        },
        Some(b' ') if run.len() == 2 || run.len() == 6 => {
            read(3, nino).or_else(|| read(0, hetu)).or_else(|| read(0, nir))
        }
        Some(b'-') if run.len() == 7 => read(2, nie).or_else(|| read(0, dni)),
        _ => match run.len() {
            7 => read(0, dni).or_else(|| read(0, nir)),
            8 => read(0, dni),
            6 => read(0, hetu).or_else(|| read(0, nir)),
            1 | 3 | 5 | 10 | 13 | 15 => read(0, nir),
            _ => None,
        },
    }
}

/// The first `N` bytes in upper case.
fn head<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    Some(text.first_chunk::<N>()?.map(|byte| byte.to_ascii_uppercase()))
}

/// The number that digits make; `None` when one is none.
fn number(digits: &[u8]) -> Option<u64> {
    let value = |byte: &u8| char::from(*byte).to_digit(10).map(u64::from);
    digits.iter().try_fold(0, |sum, byte| Some(sum * 10 + value(byte)?))
}

/// United Kingdom, national insurance number: two letters without those never given (HMRC, NIM39110),
/// six digits in pairs or not, A to D.
fn nino(text: &[u8]) -> usize {
    const NEVER: [&[u8; 2]; 7] = [b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
    let Some(prefix @ [first, second]) = head::<2>(text) else {
        return 0;
    };
    let letter = |byte: u8| byte.is_ascii_uppercase() && !b"DFIQUV".contains(&byte);
    if !letter(first) || !letter(second) || second == b'O' || NEVER.contains(&&prefix) {
        return 0;
    }
    let mut at = 2;
    let mut digits = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'0'..=b'9' if digits < 6 => digits += 1,
            b' ' if digits % 2 == 0 && text.get(at - 1) != Some(&b' ') => {}
            b'A'..=b'D' | b'a'..=b'd' if digits == 6 => return at + 1,
            _ => return 0,
        }
        at += 1;
    }
    0
}

/// The letter of Spanish codes: the number modulo 23.
fn spanish_letter(number: u64) -> Option<u8> {
    b"TRWAGMYFPDXBNJZSQVHLCKE".get(usize::try_from(number % 23).ok()?).copied()
}

/// Digits at the start of `text`, ten at most.
fn digits(text: &[u8]) -> usize {
    text.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count()
}

/// `count` digits, a hyphen or none, and the letter of the number that they and `first` make.
fn spanish(text: &[u8], first: u64, count: usize) -> Option<usize> {
    let digits = number(text.get(..count)?)?;
    let hyphen = usize::from(text.get(count) == Some(&b'-'));
    let letter = text.get(count + hyphen)?.to_ascii_uppercase();
    (spanish_letter(first * 10_000_000 + digits)? == letter).then_some(count + hyphen + 1)
}

/// Spain, DNI and NIF of citizens: eight digits (seven before a hyphen) and a letter.
fn dni(text: &[u8]) -> usize {
    let count = digits(text);
    let fits = count == 8 || (count == 7 && text.get(7) == Some(&b'-'));
    if fits { spanish(text, 0, count).unwrap_or(0) } else { 0 }
}

/// Spain, NIE of foreigners: X, Y or Z for a first digit 0, 1 or 2, seven digits and a letter.
fn nie(text: &[u8]) -> usize {
    let Some((first, rest)) = text.split_first() else {
        return 0;
    };
    let prefix = match first.to_ascii_uppercase() {
        b'X' => 0,
        b'Y' => 1,
        b'Z' => 2,
        _ => return 0,
    };
    let hyphen = usize::from(rest.first() == Some(&b'-'));
    let code = rest.get(hyphen..).unwrap_or_default();
    spanish(code, prefix, 7).map_or(0, |length| 1 + hyphen + length)
}

/// Italy, fiscal code: letters of the names, year, month, day, place and a check letter; digits may be
/// replaced by letters where two people would share a code (decree of 23 December 1976).
fn codice_fiscale(text: &[u8]) -> usize {
    const SHAPE: &[u8; 16] = b"LLLLLLDDMDDLDDDL";
    /// Values of 0 to 9 and A to Z at odd places.
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let Some(code) = head::<16>(text) else {
        return 0;
    };
    let mut sum = 0;
    for (place, (byte, kind)) in code.iter().zip(SHAPE).enumerate() {
        let fits = match kind {
            b'D' => byte.is_ascii_digit() || b"LMNPQRSTUV".contains(byte),
            b'M' => b"ABCDEHLMPRST".contains(byte),
            _ => byte.is_ascii_uppercase(),
        };
        if !fits {
            return 0;
        }
        let value = if byte.is_ascii_digit() { byte - b'0' } else { byte - b'A' };
        if place < 15 {
            let odd = ODD.get(usize::from(value)).copied().unwrap_or_default();
            sum += if place % 2 == 0 { odd } else { u32::from(value) };
        }
    }
    if code.last().map(|last| u32::from(last - b'A')) == Some(sum % 26) { 16 } else { 0 }
}

/// Finland, personal identity code: a date, a sign of the century (those of 2023 too), a serial
/// number, and the check character of the nine digits modulo 31.
fn hetu(text: &[u8]) -> usize {
    let Some([date @ .., sign, n1, n2, n3, check]) = head::<11>(text) else {
        return 0;
    };
    let valid = || {
        let date = number(&date)?;
        let serial = number(&[n1, n2, n3])?;
        let day = is_day(u32::try_from(date / 10_000).ok()?, u32::try_from(date / 100 % 100).ok()?);
        let rest = usize::try_from((date * 1000 + serial) % 31).ok()?;
        let right = b"0123456789ABCDEFHJKLMNPRSTUVWXY".get(rest) == Some(&check);
        (day && serial >= 2 && right && b"+-ABCDEFUVWXY".contains(&sign)).then_some(())
    };
    if valid().is_some() { 11 } else { 0 }
}

/// France, number of social security (NIR): sex, year, month, department (2A and 2B for Corsica),
/// commune, serial number, and the key: 97 less the rest of the others modulo 97.
fn nir(text: &[u8]) -> usize {
    let mut code = [0; 15];
    let mut at = 0;
    for (place, slot) in code.iter_mut().enumerate() {
        if matches!(place, 1 | 3 | 5 | 7 | 10 | 13) && matches!(text.get(at), Some(b' ')) {
            at += 1;
        }
        let Some(byte) = text.get(at).filter(|byte| byte.is_ascii_alphanumeric()) else {
            return 0;
        };
        *slot = byte.to_ascii_uppercase();
        at += 1;
    }
    let corsica = match code {
        [_, _, _, _, _, b'2', second @ (b'A' | b'B'), ..] => {
            if let Some(slot) = code.get_mut(5..7) {
                slot.copy_from_slice(if second == b'A' { b"19" } else { b"18" });
            }
            true
        }
        _ => false,
    };
    let valid = || {
        let [sex, _, _, m1, m2, d1, d2, ..] = code;
        let month = number(&[m1, m2])?;
        let all = number(code.get(..13)?)?;
        let key = number(code.get(13..)?)?;
        let place = corsica || number(&[d1, d2])? > 0;
        let month = matches!(month, 1..=12 | 20..=42 | 50..=99);
        (matches!(sex, b'1' | b'2') && month && place && 97 - all % 97 == key).then_some(())
    };
    if valid().is_some() { at } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn ids(text: &str) -> Vec<&str> {
        find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn codes_are_found_in_their_writings() {
        for code in [
            "AB123456C",
            "AB 12 34 56 C",
            "ab123456c",
            "12345678Z",
            "12345678-z",
            "1234567-L",
            "X1234567L",
            "x-1234567-l",
            "RSSMRA85T10A562S",
            "131052-308T",
            "131052A308T",
            "131052Y308T",
            "255081416802538",
            "2 55 08 14 168 025 38",
        ] {
            assert_eq!(ids(code), [code]);
            assert_eq!(ids(&format!("code:({code}), x")), [code]);
        }
    }

    #[test]
    fn corsican_departments_have_a_letter() {
        // Department 2A counts as 19: the key of 1 85 05 19 004 123.
        let key = 97 - 1_850_519_004_123_u64 % 97;
        let code = format!("185052A004123{key:02}");
        assert_eq!(ids(&code), [code.as_str()]);
    }

    #[test]
    fn a_wrong_letter_shape_or_neighbour_is_no_code() {
        for text in [
            "GB123456C",
            "QQ123456C",
            "AB123456E",
            "AB 1 23456 C",
            "12345678A",
            "1234567L",
            "X1234567A",
            "RSSMRA85T10A562T",
            "131052-308U",
            "321052-308T",
            "255081416802539",
            "xAB123456C",
            "AB123456Cx",
            "1.12345678Z",
        ] {
            assert_eq!(ids(text), [""; 0], "{text}");
        }
    }
}
