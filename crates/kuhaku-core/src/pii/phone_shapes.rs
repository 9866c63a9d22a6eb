//! How telephone numbers are grouped.

use super::digits::values;
use super::phone_codes::split;

/// The groups of digits of a number and what stands between them.
#[derive(Debug, Default)]
pub(super) struct Groups<'t> {
    gaps: Vec<&'t str>,
    groups: Vec<&'t str>,
}

/// What may stand between two groups.
const GAPS: [&str; 12] = [" ", "-", ".", "/", "(", ")", " (", ") ", ")-", "-(", " - ", ") - "];

/// National groupings that begin with the trunk digit 0: Turkey, United Kingdom, Germany, France,
/// Italy, Netherlands, Belgium, India, Japan, Australia.
const NATIONAL: [&[usize]; 20] = [
    &[4, 3, 2, 2],
    &[4, 3, 4],
    &[1, 3, 3, 2, 2],
    &[1, 3, 3, 4],
    &[1, 3, 7],
    &[5, 3, 3],
    &[5, 2, 2, 2],
    &[4, 3, 3],
    &[3, 4, 4],
    &[3, 3, 4],
    &[3, 3, 2, 2],
    &[4, 2, 2, 2],
    &[3, 2, 2, 2],
    &[2, 3, 2, 2],
    &[2, 2, 2, 2, 2],
    &[3, 2, 2, 2, 2],
    &[2, 4, 4],
    &[2, 3, 4],
    &[4, 2, 2, 3],
    &[4, 2, 3],
];

impl<'t> Groups<'t> {
    /// Takes the next group; false when `gap` does not stand inside a number.
    pub(super) fn push(&mut self, gap: &'t str, group: &'t str) -> bool {
        if !self.groups.is_empty() {
            let slash = gap == "/" && (self.groups.len() > 1 || !self.begins_with("0"));
            if !GAPS.contains(&gap) || slash {
                return false;
            }
            self.gaps.push(gap);
        }
        self.groups.push(group);
        true
    }

    /// All digits.
    pub(super) fn digits(&self) -> String {
        self.groups.concat()
    }

    fn total(&self) -> usize {
        self.groups.iter().map(|group| group.len()).sum()
    }

    fn lengths(&self) -> Vec<usize> {
        self.groups.iter().map(|group| group.len()).collect()
    }

    fn begins_with(&self, digits: &str) -> bool {
        self.groups.first().is_some_and(|group| group.starts_with(digits))
    }

    /// Whether each bracket that opens behind the first group is closed. One that opens before the
    /// first group is closed by the first gap with a bracket.
    pub(super) fn is_balanced(&self) -> bool {
        self.gaps.iter().any(|gap| gap.contains(')'))
    }

    /// Digits in front of a zero in brackets behind the calling code, which is dialled at home only.
    pub(super) fn trunk_in_brackets(&self) -> Option<usize> {
        let bracket = self.groups.get(1) == Some(&"0")
            && self.gaps.first().is_some_and(|gap| gap.ends_with('('))
            && self.gaps.get(1).is_some_and(|gap| gap.starts_with(')'));
        self.groups.first().filter(|_| bracket).map(|first| first.len())
    }

    /// A last group of one or two digits behind one of more.
    pub(super) fn ends_in_new_pair(&self) -> bool {
        let mut lengths = self.groups.iter().rev().map(|group| group.len());
        lengths.next().is_some_and(|last| last <= 2) && lengths.next().is_some_and(|l| l > 2)
    }

    /// Begins with a day, a month and a year, or the other way round.
    pub(super) fn is_date(&self) -> bool {
        let [a, b, c, ..] = self.groups.as_slice() else {
            return false;
        };
        let value = |group: &str| group.parse::<u32>().unwrap_or(u32::MAX);
        let date = |year: &str, month: &str, day: &str| {
            year.len() == 4
                && (1000..2200).contains(&value(year))
                && month.len() <= 2
                && day.len() <= 2
                && (1..=31).contains(&value(month))
                && (1..=31).contains(&value(day))
        };
        date(a, b, c) || date(c, b, a)
    }

    /// Enough digits for a number that a word announces, in groups that are no decimals, years or
    /// items of a list.
    pub(super) fn may_be_announced(&self) -> bool {
        let decimal = self.groups.len() == 2 && self.gaps.iter().all(|gap| *gap == ".");
        let year = |group: &&str| group.len() == 4 && matches!(group.get(..2), Some("19" | "20"));
        let years = self.groups.len() == 2 && self.groups.iter().all(year);
        let single = self.groups.iter().filter(|group| group.len() == 1).count();
        (7..=15).contains(&self.total()) && single < 2 && !(decimal || years)
    }

    /// The last group stands behind a gap like the one before it, and the number is no longer than
    /// those without a calling code.
    pub(super) fn goes_on(&self) -> bool {
        matches!(self.gaps.as_slice(), [.., a, b] if a == b) && self.total() <= 11
    }

    /// Grouped as Spanish numbers are. Digits in one group may be anything where nothing stands beside
    /// them: the number of an order, a key of metadata.
    pub(super) fn may_be_alone(&self) -> bool {
        self.lengths().as_slice() == [3, 2, 2, 2]
            && self.same_gaps(&[" "])
            && ["6", "7", "8", "9"].iter().any(|it| self.begins_with(it))
    }

    fn same_gaps(&self, allowed: &[&str]) -> bool {
        let first = self.gaps.first();
        first.is_some_and(|gap| allowed.contains(gap))
            && self.gaps.iter().all(|gap| Some(gap) == first)
    }

    /// The area code stands in brackets.
    fn area_in_brackets(&self) -> bool {
        self.gaps.first().is_some_and(|gap| gap.starts_with(')'))
            && self.gaps.iter().skip(1).all(|gap| matches!(*gap, " " | "-" | "."))
    }
}

/// Groupings that nothing else has: North America, Turkey without a trunk digit, Brazil, and a calling
/// code with hyphens.
pub(super) fn is_unmistakable(groups: &Groups<'_>) -> bool {
    let digit = |place: usize| groups.groups.get(place).and_then(|group| group.bytes().next());
    let high = |place: usize| matches!(digit(place), Some(b'2'..=b'9'));
    let lengths = groups.lengths();
    match lengths.as_slice() {
        [3, 3, 4] => {
            let parted = groups.area_in_brackets() || groups.same_gaps(&["-", ".", " "]);
            parted && high(0) && (high(1) || groups.area_in_brackets())
        }
        [3, 7] if groups.area_in_brackets() => true,
        [3, 3, 2, 2] if groups.area_in_brackets() => high(0),
        [3, 3, 2, 2] => matches!(digit(0), Some(b'2'..=b'5')) && groups.same_gaps(&["-", " "]),
        [2, 4 | 5, 4] => groups.area_in_brackets() && high(1),
        [1..=3, 3, 3, 4] | [1..=3, 3, 3, 2, 2] => {
            let code = groups.begins_with("1") || !groups.begins_with("0");
            let first = groups.groups.first().map_or(0, |group| group.len());
            let known = split(&values(&groups.digits()));
            let area = groups.gaps.first().is_some_and(|gap| gap.ends_with('('));
            let pairs = lengths.len() == 5 && groups.same_gaps(&[" "]);
            // Russia dials an eight at home.
            let home = groups.begins_with("8") && first == 1 && area;
            home || (code
                && known.is_some_and(|(length, _)| length == first)
                && (pairs
                    || groups.same_gaps(&["-"])
                    || (first == 1 && (groups.same_gaps(&["."]) || area))))
        }
        _ => false,
    }
}

/// The check of ten-digit book numbers (ISO 2108:1992): weights 10 to 1, modulo 11.
fn is_isbn(digits: &[u32]) -> bool {
    let weighted = digits.iter().zip((1..=10).rev()).map(|(digit, weight)| digit * weight);
    weighted.sum::<u32>().is_multiple_of(11)
}

/// A number with the trunk digit, in the groups of a country; or with the prefix 00 and a calling
/// code. Numbers of ten and eleven digits that begin like mobile ones stand in one
/// group.
pub(super) fn is_national(groups: &Groups<'_>) -> bool {
    let lengths = groups.lengths();
    if groups.begins_with("00") {
        let all = values(&groups.digits());
        let trunk = groups.trunk_in_brackets().map(|place| place.saturating_sub(2));
        let mut digits = all.get(2..).unwrap_or_default().to_vec();
        if let Some(place) = trunk.filter(|place| *place < digits.len()) {
            digits.remove(place);
        }
        let known = split(&digits);
        let short = lengths.iter().filter(|length| **length < 2).count();
        let fits = known.is_some_and(|(code, rest)| rest.contains(&(digits.len() - code)));
        let zeros = groups.groups.first().is_some_and(|group| (2..=5).contains(&group.len()));
        let account =
            lengths.iter().all(|length| *length == 4) || short > usize::from(trunk.is_some());
        return fits && zeros && lengths.len() > 1 && !account;
    }
    if !groups.begins_with("0")
        || groups.gaps.iter().any(|gap| gap.ends_with('(') && lengths.first() != Some(&1))
    {
        return false;
    }
    match lengths.as_slice() {
        [10] => {
            let mobile = ["06", "07"].iter().any(|mobile| groups.begins_with(mobile));
            mobile && !is_isbn(&values(&groups.digits()))
        }
        [11] => ["05", "07", "09"].iter().any(|mobile| groups.begins_with(mobile)),
        [6, 5] => ["07", "08", "09"].iter().any(|mobile| groups.begins_with(mobile)),
        [first @ 2..=5, second @ 5..=8] => {
            (9..=12).contains(&(first + second)) && groups.gaps.first() != Some(&".")
        }
        grouping => NATIONAL.contains(&grouping),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups<'t>(parts: &[(&'t str, &'t str)]) -> Groups<'t> {
        let mut groups = Groups::default();
        for (gap, group) in parts {
            assert!(groups.push(gap, group), "{gap}");
        }
        groups
    }

    #[test]
    fn a_grouping_is_told_by_lengths_and_gaps() {
        assert!(is_unmistakable(&groups(&[("", "212"), ("-", "555"), ("-", "1234")])));
        assert!(!is_unmistakable(&groups(&[("", "212"), ("-", "555"), (" ", "1234")])));
        assert!(!is_unmistakable(&groups(&[("", "112"), ("-", "555"), ("-", "1234")])));
        assert!(is_national(&groups(&[("", "030"), ("/", "901820")])));
        assert!(!is_national(&groups(&[("", "030"), (".", "901820")])));
        assert!(groups(&[("", "01"), (".", "02"), (".", "2026"), (" ", "1530")]).is_date());
        assert!(!Groups::default().push("", "1") || !groups(&[("", "1")]).push(", ", "2"));
    }
}
