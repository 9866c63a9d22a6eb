//! The numbers that a text names, in one spelling.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Number words up to twelve and months, where a text may spell out what another writes in digits:
/// English, German, Spanish, French, Turkish.
const WORDS: [(&str, &[&str]); 12] = [
    ("1", &["one", "eins", "uno", "bir", "january", "first"]),
    ("2", &["two", "zwei", "dos", "deux", "iki", "february", "second", "twice"]),
    ("3", &["three", "drei", "tres", "trois", "üç", "march", "third"]),
    ("4", &["four", "vier", "cuatro", "quatre", "dört", "april", "fourth"]),
    ("5", &["five", "fünf", "cinco", "cinq", "beş", "fifth"]),
    ("6", &["six", "sechs", "seis", "altı", "june", "sixth"]),
    ("7", &["seven", "sieben", "siete", "yedi", "july", "seventh"]),
    ("8", &["eight", "acht", "ocho", "huit", "sekiz", "august", "eighth"]),
    ("9", &["nine", "neun", "nueve", "neuf", "dokuz", "september", "ninth"]),
    ("10", &["ten", "zehn", "diez", "dix", "october", "tenth"]),
    ("11", &["eleven", "elf", "onze", "november", "eleventh"]),
    ("12", &["twelve", "zwölf", "doce", "douze", "december", "twelfth"]),
];

const TENS: [(&str, &str); 8] = [
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
];

/// The longest of these words, in bytes.
const LONGEST: usize = 9;

static VALUES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let words = WORDS.iter().flat_map(|(value, words)| words.iter().map(|word| (*word, *value)));
    words.chain(TENS).collect()
});

/// The numbers in digits of a text, each in all its readings: `1.500` may be a thousand and a half, or
/// one and a half. Digits of a name (`IL-6`, `PAY1001`) are a part of a word.
pub(super) fn in_digits(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(gap) = text.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let tail = text.get(at + gap..).unwrap_or_default();
        let length = length(tail);
        let head = text.get(..at + gap).unwrap_or_default();
        if !head.trim_end_matches(['-', '_']).ends_with(char::is_alphabetic) {
            found.push(readings(tail.get(..length).unwrap_or_default()));
        }
        at += gap + length;
    }
    found
}

/// All readings of all numbers of a text, in digits and in words.
pub(super) fn all(text: &str) -> HashSet<String> {
    let mut numbers: HashSet<String> = in_digits(text).into_iter().flatten().collect();
    // Parts too: of a date, a version, a range, a name.
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    numbers.extend(digits.map(plain));
    let mut ten: Option<&str> = None;
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        // Longer words are none of these.
        let value = Some(word)
            .filter(|word| word.len() <= LONGEST)
            .and_then(|word| VALUES.get(word.to_lowercase().as_str()).copied());
        if let Some((ten, one)) = ten.zip(value.filter(|value| value.len() == 1)) {
            numbers.insert(format!("{}{one}", ten.trim_end_matches('0')));
        }
        ten = value.filter(|value| value.ends_with('0') && *value != "10");
        numbers.extend(value.map(str::to_owned));
    }
    numbers
}

/// Bytes of the number that a text begins with: digits, and single separators between digits.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    loop {
        match bytes.get(end) {
            Some(byte) if byte.is_ascii_digit() => end += 1,
            Some(b'.' | b',' | b'\'') if digit(end + 1) => end += 1,
            _ => break,
        }
    }
    end
}

fn readings(number: &str) -> Vec<String> {
    let groups: Vec<&str> = number.split(['.', ',', '\'']).collect();
    let digits: String = groups.concat();
    let in_thousands = groups.len() > 1
        && groups.first().is_some_and(|group| group.len() <= 3)
        && groups.iter().skip(1).all(|group| group.len() == 3);
    let mut readings = Vec::new();
    if in_thousands || groups.len() == 1 {
        readings.push(plain(&digits));
    }
    if let Some((fraction, whole)) = groups.split_last().filter(|(_, whole)| !whole.is_empty()) {
        let fraction = fraction.trim_end_matches('0');
        let whole = plain(&whole.concat());
        readings.push(if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") });
    }
    readings
}

/// Without zeros in front.
fn plain(digits: &str) -> String {
    let number = digits.trim_start_matches('0');
    if number.is_empty() { "0".into() } else { number.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_longer_than_the_longest() {
        assert_eq!(VALUES.keys().map(|word| word.len()).max(), Some(LONGEST));
    }

    #[test]
    fn a_number_is_the_same_in_every_spelling() {
        for (claimed, told) in [
            ("1,500", "1500"),
            ("1.500", "1500 pieces"),
            ("1,500", "one of 1.500"),
            ("2.5", "2,50 Euro"),
            ("25.0", "twenty-five days"),
            ("5", "five"),
            ("7", "07:30"),
            ("2026", "2026-06-15"),
            ("6", "on 15 June"),
            ("1001", "PAY-1001"),
            ("p53 and IL-6", "nothing"),
            ("3", "üç gün"),
        ] {
            let told = all(told);
            let held = in_digits(claimed).iter().all(|it| it.iter().any(|it| told.contains(it)));
            assert!(held, "{claimed}: {told:?}");
        }
        for (claimed, told) in
            [("25", "250 days"), ("1.5", "15"), ("30", "three"), ("2027", "2026")]
        {
            let told = all(told);
            assert!(!in_digits(claimed).iter().flatten().any(|it| told.contains(it)), "{claimed}");
        }
    }
}
