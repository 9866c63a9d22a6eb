//! Dates by value, however they are written.

use std::ops::Range;

use super::border::Words;

/// The order of day and month in dates that are written with numbers alone.
///
/// Dates with dots are day first; a date with slashes or hyphens whose first two numbers are both
/// below 13 states a date only when the order is known: from here, or because another date of the same
/// text leaves no choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DateOrder {
    /// It is not known.
    #[default]
    Unknown,
    /// 31/12/2024
    DayFirst,
    /// 12/31/2024
    MonthFirst,
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    year: u32,
    month: u32,
    day: u32,
}

impl Day {
    /// A full date of ISO 8601, `2024-05-12`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let shape = (year.len(), month.len(), day.len()) == (4, 2, 2);
        if !shape || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return None;
        }
        Self::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)
    }

    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some(Self { year, month, day })
    }
}

/// The dates of a folded text, with their places.
#[derive(Debug, Default)]
pub(super) struct Dates(Vec<(Range<usize>, Day)>);

impl Dates {
    pub(super) fn of(words: &Words<'_>, order: DateOrder) -> Self {
        let mut dates = numeric(words.text, order);
        dates.extend(named(words));
        dates.sort_by_key(|(place, _)| place.start);
        Self(dates)
    }

    /// The first place that states `day` within `range`.
    pub(super) fn place(&self, day: Day, range: &Range<usize>) -> Option<Range<usize>> {
        let within = |place: &Range<usize>| place.start >= range.start && place.end <= range.end;
        self.0
            .iter()
            .find(|(place, it)| *it == day && within(place))
            .map(|(place, _)| place.clone())
    }
}

/// Three numbers with one separator, as they were written.
struct Triple {
    place: Range<usize>,
    separator: char,
    lengths: (usize, usize),
    parts: (u32, u32, u32),
}

fn numeric(text: &str, order: DateOrder) -> Vec<(Range<usize>, Day)> {
    let triples = triples(text);
    let ambiguous = |it: &&Triple| {
        it.separator != '.' && it.separator != '年' && it.lengths.0 < 4 && it.lengths.1 != 0
    };
    // The rest of the text may settle the order, if all of it agrees.
    let order = if order == DateOrder::Unknown {
        let day_first = triples.iter().filter(ambiguous).any(|it| it.parts.0 > 12);
        let month_first = triples.iter().filter(ambiguous).any(|it| it.parts.1 > 12);
        match (day_first, month_first) {
            (true, false) => DateOrder::DayFirst,
            (false, true) => DateOrder::MonthFirst,
            _ => DateOrder::Unknown,
        }
    } else {
        order
    };
    triples.iter().filter_map(|it| Some((it.place.clone(), day(it, order)?))).collect()
}

fn day(triple: &Triple, order: DateOrder) -> Option<Day> {
    let (first, second, third) = triple.parts;
    if triple.lengths.0 == 4 {
        return Day::new(first, second, third);
    }
    let year = match triple.lengths.1 {
        4 => third,
        2 if third < 50 => 2000 + third,
        2 => 1900 + third,
        _ => return None,
    };
    match (triple.separator, order) {
        ('.', _) => Day::new(year, second, first),
        _ if first > 12 || first == second => Day::new(year, second, first),
        _ if second > 12 => Day::new(year, first, second),
        (_, DateOrder::DayFirst) => Day::new(year, second, first),
        (_, DateOrder::MonthFirst) => Day::new(year, first, second),
        (_, DateOrder::Unknown) => None,
    }
}

fn triples(text: &str) -> Vec<Triple> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|it| it.find(|c: char| c.is_ascii_digit())) {
        let start = at + offset;
        let before = text.get(..start).and_then(|it| it.chars().next_back());
        let free = before.is_none_or(|c| !c.is_ascii_alphanumeric() && !"./-_".contains(c));
        match triple(text, start).filter(|_| free) {
            Some(triple) => {
                at = triple.place.end;
                found.push(triple);
            }
            None => at = digits(text, start).map_or(text.len(), |(_, end)| end.max(start + 1)),
        }
    }
    found
}

/// The digits at `at`, and where they end.
fn digits(text: &str, at: usize) -> Option<(&str, usize)> {
    let rest = text.get(at..)?;
    let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((rest.get(..length).filter(|it| !it.is_empty())?, at + length))
}

fn triple(text: &str, start: usize) -> Option<Triple> {
    let (first, end) = digits(text, start)?;
    let separator = text.get(end..)?.chars().next().filter(|c| ".-/年".contains(*c))?;
    let (second, end) = digits(text, end + separator.len_utf8())?;
    let then = if separator == '年' { '月' } else { separator };
    let end = end + text.get(end..)?.strip_prefix(then).map(|_| then.len_utf8())?;
    let (third, mut end) = digits(text, end)?;
    if separator == '年' {
        end += text.get(end..)?.strip_prefix('日').map(|_| '日'.len_utf8())?;
    }
    let mut rest = text.get(end..)?.chars();
    let (near, far) = (rest.next(), rest.next());
    let goes_on =
        near.is_some_and(|c| ".-/".contains(c)) && far.is_some_and(|c| c.is_ascii_digit());
    let time = near == Some('t') && far.is_some_and(|c| c.is_ascii_digit());
    let stuck = near.is_some_and(|c| c.is_ascii_alphanumeric()) && !time;
    let short = second.len() <= 2 && third.len() <= 4 && matches!(first.len(), 1 | 2 | 4);
    if goes_on || (stuck && separator != '年') || !short || (first.len() == 4 && third.len() > 2) {
        return None;
    }
    let parts = (first.parse().ok()?, second.parse().ok()?, third.parse().ok()?);
    let lengths = (first.len(), third.len());
    Some(Triple { place: start..end, separator, lengths, parts })
}

/// The month that a folded word names, in English or Turkish.
fn month(word: &str) -> Option<u32> {
    Some(match word {
        "january" | "jan" | "ocak" | "oca" => 1,
        "february" | "feb" | "şubat" | "şub" => 2,
        "march" | "mar" | "mart" => 3,
        "april" | "apr" | "nisan" | "nis" => 4,
        "may" | "mayis" => 5,
        "june" | "jun" | "haziran" | "haz" => 6,
        "july" | "jul" | "temmuz" | "tem" => 7,
        "august" | "aug" | "ağustos" | "ağu" => 8,
        "september" | "sep" | "sept" | "eylül" | "eyl" => 9,
        "october" | "oct" | "ekim" | "eki" => 10,
        "november" | "nov" | "kasim" | "kas" => 11,
        "december" | "dec" | "aralik" | "ara" => 12,
        _ => return None,
    })
}

/// Dates with the name of a month and a year: `12 May 2024`, `May 12th, 2024`, `12 Mayıs 2024`.
fn named(words: &Words<'_>) -> Vec<(Range<usize>, Day)> {
    let text = words.text;
    let gap = |from: usize, to: usize, allowed: &[&str]| {
        text.get(from..to).is_some_and(|between| allowed.contains(&between))
    };
    let mut found = Vec::new();
    for (place, (start, word)) in words.iter().enumerate() {
        let Some(month) = month(word) else { continue };
        let end = start + word.len();
        let near = |steps: isize| {
            let (at, word) = words.at(place.checked_add_signed(steps)?)?;
            Some((at, at + word.len(), word))
        };
        // The day before the month, with "of" between them or not; the year behind it.
        let before = near(-1).and_then(|(at, to, word)| match word {
            "of" if gap(to, start, &[" "]) => near(-2).filter(|(_, end, _)| gap(*end, at, &[" "])),
            _ => Some((at, to, word)).filter(|_| gap(to, start, &[" ", ". ", "-", "."])),
        });
        if let (Some((from, _, day)), Some((at, to, year))) = (before, near(1))
            && gap(end, at, &[" ", ", ", ". ", "-", "."])
            && let Some(date) = date(year, month, day)
        {
            found.push((from..to, date));
            continue;
        }
        if let (Some((at, middle, day)), Some((next, to, year))) = (near(1), near(2))
            && gap(end, at, &[" ", ". "])
            && gap(middle, next, &[", ", " ", ","])
            && let Some(date) = date(year, month, day)
        {
            found.push((start..to, date));
        }
    }
    found
}

fn date(year: &str, month: u32, day: &str) -> Option<Day> {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| day.strip_suffix(end));
    let day = number.unwrap_or(day);
    let is_number = |it: &str| it.bytes().all(|byte| byte.is_ascii_digit());
    if year.len() != 4 || !is_number(year) || !is_number(day) || day.len() > 2 {
        return None;
    }
    Day::new(year.parse().ok()?, month, day.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str, iso: &str, order: DateOrder) -> bool {
        let places = super::super::border::word_places(text);
        let words = Words { text, places: &places };
        Dates::of(&words, order).place(Day::parse(iso).unwrap(), &(0..text.len())).is_some()
    }

    #[test]
    fn a_date_is_the_same_however_it_is_written() {
        for text in [
            "2024-05-12",
            "2024/5/12",
            "on 12.05.2024.",
            "12.5.24",
            "12 may 2024",
            "may 12, 2024",
            "12th of may 2024",
            "may 12th 2024",
            "12 mayis 2024'te",
            "2024年5月12日に",
            "12. may 2024",
            "2024-05-12t10:00",
        ] {
            assert!(states(text, "2024-05-12", DateOrder::Unknown), "{text}");
        }
        for text in [
            "12/05/2024",
            "05/12/2024",
            "12 may",
            "12 may 24",
            "112.05.2024",
            "12.05.2024.1",
            "12.05.20245",
            "1.12.05.2024",
            "may 12",
            "5/12",
            "2024-05-121",
            "x12.05.2024",
        ] {
            assert!(!states(text, "2024-05-12", DateOrder::Unknown), "{text}");
        }
        assert!(!states("31.12.2023", "2024-05-12", DateOrder::Unknown));
    }

    #[test]
    fn the_order_of_day_and_month_is_never_guessed() {
        let text = "12/05/2024";
        assert!(states(text, "2024-05-12", DateOrder::DayFirst));
        assert!(states(text, "2024-12-05", DateOrder::MonthFirst));
        assert!(!states(text, "2024-12-05", DateOrder::DayFirst));
        assert!(states("25/05/2024", "2024-05-25", DateOrder::Unknown));
        assert!(states("05/25/2024", "2024-05-25", DateOrder::Unknown));
        assert!(states("05/05/2024", "2024-05-05", DateOrder::Unknown));
        // Another date of the text settles it, unless they disagree.
        assert!(states("25/05/2024 to 03/06/2024", "2024-06-03", DateOrder::Unknown));
        let mixed = "25/05/2024, 05/25/2024, 03/06/2024";
        assert!(!states(mixed, "2024-06-03", DateOrder::Unknown));
        assert_eq!(Day::parse("2024-13-01"), None);
        assert_eq!(Day::parse("2024-1-01"), None);
    }
}
