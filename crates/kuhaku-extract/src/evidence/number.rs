//! Numbers by value, however they are written.
//!
//! A number of the text is read as a whole: 5 does not stand in 5.5, -5, 5e3, 5/8, 5²,
//! 12:05 or 2012, nor in a name such as B5 or covid-5. Where the writing leaves two readings, both
//! count: 1.500 is one and a half and fifteen hundred.

use std::ops::Range;

use crate::decimal::Decimal;

use super::border::{Words, is_spaced_letter, is_word};
use super::grouping::readings;
use super::number_words::{self, Scale};

/// What a number of the text may say.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    Exactly(Decimal),
    /// A fraction: the first by the second.
    Ratio(u64, u64),
}

/// A number of the folded text.
#[derive(Clone, Debug)]
pub(super) struct Number {
    pub(super) place: Range<usize>,
    pub(super) readings: Vec<Reading>,
}

/// The numbers of a folded text, in order.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<Number>);

impl Numbers {
    /// The first place within `range` that states `value`.
    pub(super) fn place(&self, value: &Decimal, range: &Range<usize>) -> Option<Range<usize>> {
        let from = self.0.partition_point(|it| it.place.start < range.start);
        let within = self.0.get(from..)?.iter().take_while(|it| it.place.start < range.end);
        let states = |number: &&Number| {
            number.place.end <= range.end
                && number.readings.iter().any(|reading| match reading {
                    Reading::Exactly(exact) => exact == value,
                    Reading::Ratio(above, below) => value.is_ratio(*above, *below),
                })
        };
        within.into_iter().find(states).map(|number| number.place.clone())
    }
}

/// Finds the numbers of a text, given folded as well.
pub(super) fn numbers(original: &str, words: &Words<'_>) -> Numbers {
    let text = words.text;
    let mut found = Vec::new();
    let mut at = 0;
    let begins = |c: char| c.is_ascii_digit() || vulgar(c).is_some();
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(begins)) {
        let start = at + offset;
        let mut chunk = Chunk::read(text, start);
        at = chunk.end.max(start + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
        chunk.numbers(&mut found);
        at = at.max(chunk.end);
    }
    found.extend(number_words::spelled(original, words));
    found.sort_by_key(|number| number.place.start);
    Numbers(found)
}

/// ½ and its like: the value as a fraction.
fn vulgar(c: char) -> Option<(u64, u64)> {
    Some(match c {
        '½' => (1, 2),
        '⅓' => (1, 3),
        '⅔' => (2, 3),
        '¼' => (1, 4),
        '¾' => (3, 4),
        '⅕' => (1, 5),
        '⅖' => (2, 5),
        '⅗' => (3, 5),
        '⅘' => (4, 5),
        '⅙' => (1, 6),
        '⅚' => (5, 6),
        '⅛' => (1, 8),
        '⅜' => (3, 8),
        '⅝' => (5, 8),
        '⅞' => (7, 8),
        _ => return None,
    })
}

/// Digits that hang together, and what joins them.
struct Chunk<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    /// Each group of digits, with what stands before it.
    groups: Vec<(char, Range<usize>)>,
}

impl<'a> Chunk<'a> {
    fn read(text: &'a str, start: usize) -> Self {
        let mut chunk = Self { text, start, end: start, groups: Vec::new() };
        let mut joint = '\0';
        loop {
            let from = chunk.end;
            let rest = text.get(from..).unwrap_or_default();
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if length == 0 {
                break;
            }
            chunk.end = from + length;
            chunk.groups.push((joint, from..chunk.end));
            let mut next = text.get(chunk.end..).unwrap_or_default().chars();
            let Some(c) = next.next() else { break };
            let digits = next.take_while(char::is_ascii_digit).take(4).count();
            let joins = match c {
                '.' | ',' | '\'' | '٫' | '٬' | '/' | '⁄' | '-' | ':' => digits > 0,
                // A blank joins groups of three, and no other.
                ' ' => digits == 3 && chunk.is_spaced(),
                _ => false,
            };
            if !joins {
                break;
            }
            joint = c;
            chunk.end += c.len_utf8();
        }
        chunk
    }

    /// Whether the groups so far can go on behind a blank.
    fn is_spaced(&self) -> bool {
        self.groups.iter().enumerate().all(|(place, (joint, digits))| match place {
            0 => digits.len() <= 3,
            _ => *joint == ' ' && digits.len() == 3,
        })
    }

    fn digits(&self, range: &Range<usize>) -> &'a str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    fn before(&self, steps: usize) -> Option<char> {
        self.text.get(..self.start)?.chars().rev().nth(steps)
    }

    /// Adds the numbers that the chunk states: one, the two ends of a range, or none.
    fn numbers(&mut self, found: &mut Vec<Number>) {
        let Some(sign) = self.sign() else { return self.pass_letters() };
        let ranges: Vec<usize> = self
            .groups
            .iter()
            .enumerate()
            .filter(|(_, (joint, _))| *joint == '-')
            .map(|(place, _)| place)
            .collect();
        let (start, end) = (self.start, self.end);
        match ranges.as_slice() {
            [] => {
                let parts: Vec<(char, &str)> = self
                    .groups
                    .iter()
                    .map(|(joint, digits)| (*joint, self.digits(digits)))
                    .collect();
                let readings = readings(&parts);
                let Some((readings, end)) = self.tail(readings, end) else {
                    return self.pass_letters();
                };
                self.end = end;
                let from = sign.map_or(start, |(at, _)| at);
                let negative = sign.is_some_and(|(_, negative)| negative) || self.is_minus();
                let readings = if negative { negated(readings) } else { readings };
                // 2 1/2: the whole number belongs to the fraction.
                if let ([Reading::Ratio(above, below)], Some(last)) =
                    (readings.as_slice(), found.last_mut())
                    && above < below
                    && self.text.get(last.place.end..from) == Some(" ")
                    && let [Reading::Exactly(whole)] = last.readings.as_slice()
                    && let Some(mixed) = mixed(whole, *above, *below)
                {
                    *last = Number { place: last.place.start..end, readings: vec![mixed] };
                    return;
                }
                if !readings.is_empty() {
                    found.push(Number { place: from..end, readings });
                }
            }
            [middle] if sign.is_none() => {
                let side = |groups: &[(char, Range<usize>)]| {
                    let parts: Vec<(char, &str)> = groups
                        .iter()
                        .enumerate()
                        .map(|(place, (joint, digits))| {
                            (if place == 0 { '\0' } else { *joint }, self.digits(digits))
                        })
                        .collect();
                    readings(&parts)
                };
                let (left, right) = self.groups.split_at(*middle);
                let length = |side: &[(char, Range<usize>)]| {
                    side.iter().map(|(_, digits)| digits.len()).sum::<usize>()
                };
                // 555-1234 is no range.
                let like = length(left) == length(right) || length(left).max(length(right)) <= 3;
                let (one, other) = (side(left), side(right));
                let ends =
                    left.last().map(|(_, it)| it.end).zip(right.first().map(|(_, it)| it.start));
                if let (true, Some((left_end, right_start))) = (like, ends)
                    && let Some((other, end)) = self.tail(other, end)
                {
                    self.end = end;
                    found.push(Number { place: start..left_end, readings: one });
                    found.push(Number { place: right_start..end, readings: other });
                }
            }
            _ => {}
        }
        self.pass_letters();
    }

    /// The sign before the chunk, with its place; none at all when what stands there makes a name of
    /// it, or a part of something else.
    fn sign(&self) -> Option<Option<(usize, bool)>> {
        let Some(near) = self.before(0) else { return Some(None) };
        let far = self.before(1);
        let free = |c: Option<char>| {
            c.is_none_or(|c| c.is_whitespace() || "([{\"'=:<>~$€£¥₺₹₽*|".contains(c))
        };
        match near {
            '-' | '+' if free(far) => Some(Some((self.start - 1, near == '-'))),
            '-' => {
                // tea -5 is a sign; covid-5, 1--5 and 5-5 are not.
                let joined = far.is_some_and(|c| is_word(c) || c == '-');
                if joined { None } else { Some(Some((self.start - 1, true))) }
            }
            // -$5
            '$' | '€' | '£' | '¥' | '₺' if far == Some('-') => {
                let at = self.start - near.len_utf8() - 1;
                Some(Some((at, true)))
            }
            '.' | ',' | '٫' => None, // .5 is read by no one as 5
            ':' | '/' | '\\' | '@' if far.is_some_and(is_word) && near != ':' => None,
            ':' if far.is_some_and(|c| c.is_ascii_digit()) => None,
            '^' | '_' => None,
            c if is_spaced_letter(c) || (c.is_numeric() && !c.is_ascii_digit()) => None,
            _ => Some(None),
        }
    }

    /// Whether the word before is "minus".
    fn is_minus(&self) -> bool {
        let before = self.text.get(..self.start).unwrap_or_default().trim_end();
        ["minus", "eksi", "negative"]
            .iter()
            .any(|word| before.strip_suffix(word).is_some_and(|rest| !rest.ends_with(is_word)))
    }

    /// What follows the digits: a fraction, a power of ten, a unit. None when it makes something else
    /// of them.
    fn tail(&self, readings: Vec<Reading>, end: usize) -> Option<(Vec<Reading>, usize)> {
        let rest = self.text.get(end..).unwrap_or_default();
        let Some(c) = rest.chars().next() else { return Some((readings, end)) };
        if let Some((above, below)) = vulgar(c) {
            let end = end + c.len_utf8();
            let after = self.text.get(end..).and_then(|it| it.chars().next());
            let readings = match readings.as_slice() {
                [] => vec![Reading::Ratio(above, below)],
                [Reading::Exactly(whole)] => vec![mixed(whole, above, below)?],
                _ => return None,
            };
            let clear = after.is_none_or(|c| !c.is_numeric() && !is_spaced_letter(c));
            return clear.then_some((readings, end));
        }
        if (c.is_numeric() && !c.is_ascii_digit()) || c == '^' || c == '_' {
            return None;
        }
        if is_word(c) {
            return self.glued(rest, readings, end);
        }
        Some(scaled(self.text, readings, end))
    }

    /// Letters right behind the digits: `5kg`, `5e3`, `5k`, `5万`; but not `5f3a`.
    fn glued(
        &self,
        rest: &str,
        readings: Vec<Reading>,
        end: usize,
    ) -> Option<(Vec<Reading>, usize)> {
        let length = rest.find(|c: char| c.is_ascii_digit() || !is_word(c)).unwrap_or(rest.len());
        let letters = rest.get(..length).unwrap_or_default();
        let after = rest.get(length..).unwrap_or_default();
        if letters == "e" {
            let power = after.strip_prefix(['-', '+']).unwrap_or(after);
            let digits = power.find(|c: char| !c.is_ascii_digit()).unwrap_or(power.len());
            if (1..=3).contains(&digits) && !power.get(digits..)?.starts_with(is_word) {
                let whole = after.len() - power.len() + digits;
                let power: i64 = power.get(..digits)?.parse().ok()?;
                let power = if after.starts_with('-') { -power } else { power };
                return Some((shifted(readings, power), end + length + whole));
            }
        }
        if after.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let first = letters.chars().next()?;
        if let Some(Scale::Power(power)) = number_words::ideograph(first) {
            return Some((shifted(readings, power), end + first.len_utf8()));
        }
        if letters == "k" {
            return Some((shifted(readings, 3), end + length));
        }
        Some((readings, end))
    }

    /// Goes behind the letters and digits that hang on to the chunk, so that no part of them is read.
    fn pass_letters(&mut self) {
        let rest = self.text.get(self.end..).unwrap_or_default();
        if rest.starts_with(is_spaced_letter) {
            self.end += rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        }
    }
}

/// Words behind the number that make it larger: 5 thousand, 5 bin, 2 dozen, 5 and a half.
fn scaled(text: &str, mut readings: Vec<Reading>, mut end: usize) -> (Vec<Reading>, usize) {
    loop {
        let rest = text.get(end..).unwrap_or_default();
        let half = [" and a half", " buçuk"]
            .into_iter()
            .find(|half| rest.strip_prefix(half).is_some_and(|after| !after.starts_with(is_word)));
        if let (Some(half), [Reading::Exactly(whole)]) = (half, readings.as_slice())
            && let Some(more) = mixed(whole, 1, 2)
        {
            (readings, end) = (vec![more], end + half.len());
            continue;
        }
        let Some(word) = rest.strip_prefix([' ', '-']) else { return (readings, end) };
        let length = word.find(|c| !is_word(c)).unwrap_or(word.len());
        let to = end + 1 + length;
        match number_words::scale(word.get(..length).unwrap_or_default()) {
            Some(Scale::Power(power)) => (readings, end) = (shifted(readings, power), to),
            Some(Scale::Dozen) => {
                let twelve = |reading: &Reading| match reading {
                    Reading::Exactly(count) => {
                        let dozens = count.to_u64()?.checked_mul(12)?.to_string();
                        Some(Reading::Exactly(Decimal::new(false, &dozens, 0)))
                    }
                    Reading::Ratio(above, below) => {
                        Some(Reading::Ratio(above.checked_mul(12)?, *below))
                    }
                };
                let dozens: Vec<Reading> = readings.iter().filter_map(twelve).collect();
                readings.extend(dozens);
                return (readings, to);
            }
            None => return (readings, end),
        }
    }
}

fn shifted(readings: Vec<Reading>, power: i64) -> Vec<Reading> {
    readings
        .into_iter()
        .filter_map(|reading| match reading {
            Reading::Exactly(number) => Some(Reading::Exactly(number.shifted(power))),
            Reading::Ratio(above, below) => {
                let ten = 10_u64.checked_pow(u32::try_from(power).ok()?)?;
                Some(Reading::Ratio(above.checked_mul(ten)?, below))
            }
        })
        .collect()
}

fn negated(readings: Vec<Reading>) -> Vec<Reading> {
    readings
        .into_iter()
        .filter_map(|reading| match reading {
            Reading::Exactly(number) => Some(Reading::Exactly(number.negated())),
            Reading::Ratio(..) => None,
        })
        .collect()
}

/// A whole number and a fraction.
pub(super) fn mixed(whole: &Decimal, above: u64, below: u64) -> Option<Reading> {
    let above = whole.to_u64()?.checked_mul(below)?.checked_add(above)?;
    Some(Reading::Ratio(above, below))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(text: &str, value: &str) -> bool {
        let value = Decimal::parse(value).unwrap();
        let places = super::super::border::word_places(text);
        let words = Words { text, places: &places };
        numbers(text, &words).place(&value, &(0..text.len())).is_some()
    }

    /// EXT-15
    #[test]
    fn a_number_is_stated_in_every_way_of_writing_it() {
        for (text, value) in [
            ("1500", "1500"),
            ("1.500", "1500"),
            ("1,500", "1500"),
            ("1 500", "1500"),
            ("1'500", "1500"),
            ("12 345 678", "12345678"),
            ("12,34,567", "1234567"),
            ("2,5", "2.5"),
            ("2.50", "2.5"),
            ("1.234,5", "1234.5"),
            ("1,234.5", "1234.5"),
            ("1 234,5", "1234.5"),
            ("1٬234٫5", "1234.5"),
            ("-5 degrees", "-5"),
            ("it is -5", "-5"),
            ("-$5", "-5"),
            ("minus 5", "-5"),
            ("$5", "5"),
            ("5kg", "5"),
            ("5%", "5"),
            ("5.", "5"),
            ("(5)", "5"),
            ("5'i", "5"),
            ("3-5 boxes", "5"),
            ("3-5 boxes", "3"),
            ("1/2", "0.5"),
            ("2 1/2 cups", "2.5"),
            ("2½", "2.5"),
            ("½", "0.5"),
            ("1.5e3", "1500"),
            ("5k", "5000"),
            ("5 thousand", "5000"),
            ("2.5 milyon", "2500000"),
            ("5万", "50000"),
            ("2 dozen", "24"),
            ("5 buçuk", "5.5"),
            ("5 buçuk milyon", "5500000"),
            ("5 hundred thousand", "500000"),
            ("half 5.000", "5000"),
            ("3杯", "3"),
            ("在3月", "3"),
        ] {
            assert!(states(text, value), "{value} by {text}");
        }
    }

    /// EXT-15, W-73
    #[test]
    fn a_part_of_a_number_states_nothing() {
        for (text, value) in [
            ("5.5 kg", "5"),
            ("1500.75", "1500"),
            ("-5", "5"),
            ("2012", "12"),
            ("150", "15"),
            ("1 500", "500"),
            ("5½", "5"),
            ("5²", "5"),
            ("5²", "52"),
            ("5e3", "5"),
            ("5/8", "5"),
            ("24/7", "7"),
            ("12:05", "12"),
            ("12.05.2024", "12"),
            ("2024-05-12", "12"),
            ("1.2.3", "1.2"),
            ("555-1234", "555"),
            ("b5", "5"),
            ("covid-19", "19"),
            ("5f3a", "5"),
            ("3x4", "4"),
            (".5", "5"),
            ("5 thousand", "5"),
            ("5万", "5"),
            ("2 1/2", "2"),
            ("5 and a half", "5"),
            ("007", "7"),
            ("10^5", "5"),
            ("10^5", "10"),
            ("a_5", "5"),
            ("3-5", "-5"),
            ("minus 5", "5"),
            ("0.500", "500"),
            ("192.168.1.5", "5"),
            ("1--5", "5"),
            ("5.000", "5"),
            ("5 hundred thousand", "1000"),
            ("5 hundred thousand", "500"),
            ("5 buçuk milyon", "1000000"),
        ] {
            assert!(!states(text, value), "{value} by {text}");
        }
    }
}
