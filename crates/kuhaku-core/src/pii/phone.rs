//! Telephone numbers.

use std::ops::Range;

use crate::masking::Placeholder;

use super::border::{ends, starts};
use super::context::{Words, is_form_of};
use super::digits::values;
use super::phone_codes;
use super::phone_shapes::{Groups, is_national, is_unmistakable};
use super::reading::Reading;
use super::scan::{Span, before, placeholder_before};

/// Groups of one number at most.
const GROUPS: usize = 8;

/// Digits of the shortest number.
const SHORTEST: usize = 7;

/// Bytes of the longest gap between two groups.
const LONGEST_GAP: usize = 4;

/// What stands in front of an extension.
const EXTENSIONS: [&str; 12] = [
    "x",
    " x",
    ";ext=",
    " ext. ",
    " ext ",
    ", ext. ",
    ", ext ",
    " ext: ",
    " extension ",
    ", extension ",
    " #",
    " dahili ",
];

/// Words that announce a number, in the languages of the default recognisers.
const WORDS: [&str; 58] = [
    "phone",
    "phones",
    "telephone",
    "tel",
    "mobile",
    "mob",
    "cell",
    "cellphone",
    "call",
    "calling",
    "called",
    "reach",
    "reached",
    "answering",
    "dial",
    "ring",
    "fax",
    "faks",
    "whatsapp",
    "sms",
    "hotline",
    "landline",
    "telefon",
    "telefono",
    "teléfono",
    "telefone",
    "telefoon",
    "téléphone",
    "tlf",
    "handy",
    "mobil",
    "móvil",
    "celular",
    "rufnummer",
    "anrufen",
    "portable",
    "appeler",
    "cellulare",
    "chiamare",
    "llamar",
    "ligar",
    "bellen",
    "gsm",
    "cep",
    "telefonu",
    "numaram",
    "numaranız",
    "फोन",
    "contact",
    "text",
    "phoned",
    "dialed",
    "dialled",
    "voicemail",
    "helpline",
    "rückruf",
    "joindre",
    "rappeler",
];

/// "My number is": the number of somebody is one to call.
const NUMBER: [&str; 6] = ["number", "numéro", "numero", "número", "nummer", "numara"];
const WHOSE: [&str; 18] = [
    "my", "your", "his", "her", "our", "their", "new", "mon", "votre", "mi", "su", "mein", "meine",
    "ihre", "mio", "mijn", "jouw", "uw",
];
const IS: [&str; 6] = ["is", "est", "es", "ist", "è", "é"];

/// Words that say what else a number is. The nearest word of either list decides.
const OTHER: [&str; 32] = [
    "order",
    "orders",
    "invoice",
    "isbn",
    "issn",
    "epoch",
    "timestamp",
    "unix",
    "id",
    "ids",
    "ref",
    "reference",
    "ticket",
    "case",
    "account",
    "version",
    "build",
    "serial",
    "value",
    "amount",
    "total",
    "price",
    "sku",
    "code",
    "page",
    "pages",
    "line",
    "tracking",
    "sipariş",
    "fatura",
    "bestellung",
    "commande",
];

/// Words of the first list that mean other things too: they count only as one of the `CLOSE` words in
/// front of a number.
const WEAK: [&str; 12] = [
    "contact", "text", "cell", "mobile", "call", "calling", "called", "reach", "reached", "ring",
    "portable", "handy",
];
const CLOSE: usize = 3;

/// Finds numbers with a calling code, in a national grouping, or beside a word that announces one.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    reading.clusters().flat_map(|runs| numbers(reading, runs)).collect()
}

/// The numbers that each begin with one of these runs.
fn numbers(reading: &Reading<'_>, runs: &[Range<usize>]) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    let mut first = 0;
    while let Some(left) = runs.get(first..).filter(|left| !left.is_empty()) {
        match longest(reading, left) {
            Some((range, count)) => {
                found.push((range, Placeholder::Phone));
                first += count;
            }
            None => first += 1,
        }
    }
    found
}

/// The number that begins with the first of these runs, and how many of them it has.
fn longest(reading: &Reading<'_>, runs: &[Range<usize>]) -> Option<(Range<usize>, usize)> {
    let (text, words) = (reading.text(), reading.words());
    let digits = runs.first()?.start;
    if reach(text, runs) < SHORTEST {
        return None;
    }
    let (plus, start) = opening(text, digits);
    if !plus && !starts(text, start) {
        return None;
    }
    let mut groups = Groups::default();
    let mut end = digits;
    let mut best = None;
    let (mut announced, mut shaped) = (None, false);
    for (place, run) in runs.iter().take(GROUPS).enumerate() {
        if !groups.push(text.get(end..run.start)?, text.get(run.clone())?) {
            break;
        }
        end = run.end;
        let closes = !text.get(start..end)?.contains('(') || groups.is_balanced();
        if !closes || groups.is_date() {
            continue;
        }
        let Some(whole) = extension(text, end) else {
            continue;
        };
        let by_shape = if plus {
            is_international(&groups, best.is_some())
        } else {
            ((is_unmistakable(&groups) || is_national(&groups))
                && !is_named_otherwise(text, words, start))
                || (groups.may_be_alone() && reading.is_alone(&(start..whole)))
        };
        // A word says where a number begins; it goes on while its gaps are the same.
        let by_word = !(plus || shaped || by_shape)
            && (best.is_none() || groups.goes_on())
            && groups.may_be_announced()
            && *announced.get_or_insert_with(|| is_announced(words, &(start..end)));
        shaped |= by_shape;
        let accepted = by_shape || by_word;
        if accepted {
            best = Some((start..whole, place + 1));
        }
    }
    best
}

/// Digits of a number that begins with the first of these runs, at most.
fn reach(text: &str, runs: &[Range<usize>]) -> usize {
    let (mut total, mut end) = (0, None);
    for run in runs.iter().take(GROUPS) {
        let joined = |end| {
            let gap = text.as_bytes().get(end..run.start).unwrap_or_default();
            gap.len() <= LONGEST_GAP && gap.iter().all(|byte| b" -./()".contains(byte))
        };
        if total >= SHORTEST || !end.is_none_or(joined) {
            break;
        }
        total += run.len();
        end = Some(run.end);
    }
    total
}

/// Whether a plus sign stands in front of the digits at byte `at`, and where the number begins.
fn opening(text: &str, at: usize) -> (bool, usize) {
    match before(text, at) {
        Some('+') => match before(text, at - 1) {
            Some('(') => (true, at - 2),
            Some(c) if c.is_alphanumeric() || placeholder_before(text, at - 1) => (false, at),
            _ => (true, at - 1),
        },
        Some('(') => (false, at - 1),
        _ => (false, at),
    }
}

/// Where a number ends that has its last group before byte `at`, with its extension; `None` when
/// these digits go on.
fn extension(text: &str, at: usize) -> Option<usize> {
    let tail = text.get(at..)?.as_bytes();
    for mark in EXTENSIONS {
        let mark = mark.as_bytes();
        let digits = match tail.get(..mark.len()) {
            Some(head) if head.eq_ignore_ascii_case(mark) => tail.get(mark.len()..)?,
            _ => continue,
        };
        let count = digits.iter().take(7).take_while(|byte| byte.is_ascii_digit()).count();
        let end = at + mark.len() + count;
        if (1..7).contains(&count) && ends(text, end) {
            return Some(end);
        }
    }
    ends(text, at).then_some(at)
}

/// A calling code and as many digits as its numbers have. A short group behind a whole number is a
/// neighbour, unless the number is written in pairs.
fn is_international(groups: &Groups<'_>, whole: bool) -> bool {
    let digits = values(&groups.digits());
    let Some((code, lengths)) = phone_codes::split(&digits) else {
        return !whole && (8..=15).contains(&digits.len()) && digits.first() != Some(&0);
    };
    let trunk = usize::from(groups.trunk_in_brackets().is_some());
    let rest = digits.len() - code - trunk;
    lengths.contains(&rest) && !(whole && groups.ends_in_new_pair())
}

/// How far back a word in front is looked for, in bytes.
const NEAR: usize = 64;

/// The word right in front says that the number is something else: that word has no other number
/// behind it already (`page 7: 0171 …`).
fn is_named_otherwise(text: &str, words: &Words<'_>, start: usize) -> bool {
    let Some(word) = words.before(start).next().filter(|it| OTHER.contains(&it.as_str())) else {
        return false;
    };
    let before = text.get(text.floor_char_boundary(start.saturating_sub(NEAR))..start);
    let behind_digits = before.and_then(|it| it.rsplit(|c: char| c.is_ascii_digit()).next());
    behind_digits.is_some_and(|it| it.to_lowercase().contains(&word))
}

fn is_announced(words: &Words<'_>, value: &Range<usize>) -> bool {
    let says = |word: &String| {
        let of = |list: &[&str]| list.iter().any(|known| is_form_of(word, known));
        if of(&OTHER) { Some(false) } else { of(&WORDS).then_some(true) }
    };
    let near = |(place, word): (usize, String)| {
        says(&word).filter(|phone| !phone || place < CLOSE || !WEAK.contains(&word.as_str()))
    };
    let before: Vec<String> = words.before(value.start).collect();
    if is_somebodys(&before) {
        return true;
    }
    let nearest = before.into_iter().enumerate().find_map(near);
    nearest.or_else(|| words.after(value.end).take(2).find_map(|word| says(&word))) == Some(true)
}

/// The words in front, the nearest first, say whose number it is and nothing else.
fn is_somebodys(before: &[String]) -> bool {
    let one_of = |list: &[&str], word: Option<&String>| {
        word.is_some_and(|word| list.contains(&word.as_str()))
    };
    let skipped = usize::from(one_of(&IS, before.first()));
    one_of(&NUMBER, before.get(skipped)) && one_of(&WHOSE, before.get(skipped + 1))
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn phones(text: &str) -> Vec<&str> {
        find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn numbers_of_many_countries_are_found_in_their_usual_groups() {
        for number in [
            "+14155552671",
            "+1-415-555-2671",
            "+1 (415) 555-2671",
            "+1-402-555-8552x679",
            "(415)555-2671",
            "415-555-2671",
            "415.555.2671",
            "1-800-555-0199",
            "+44 20 7946 0958",
            "+44 (0)20 7946 0958",
            "020 7946 0958",
            "0161 496 0123",
            "07700 900123",
            "+49 30 901820",
            "+49(0) 309018201",
            "030/901820",
            "0171 1234567",
            "+33 1 23 45 67 89",
            "01 23 45 67 89",
            "+34 612 345 678",
            "+39 06 1234 5678",
            "+90 (532) 123 45 67",
            "0532 123 45 67",
            "0 532 123 45 67",
            "(0532) 123 45 67",
            "05321234567",
            "+31 6 12345678",
            "06-12345678",
            "020-1234567",
            "+91 98765 43210",
            "+55 11 91234-5678",
            "(11) 91234-5678",
            "0044 20 7946 0958",
            "91-415-555-0132",
            "0612345678",
            "8 (912) 345-67-89",
            "098765 43210",
            "0044 (0)20 7946 0958",
            "00 44 20 7946 0958",
            "+1-415-555-2671;ext=12",
            "415-555-2671 extension 12",
        ] {
            assert_eq!(phones(number), [number]);
            assert_eq!(phones(&format!("a: {number}, 12/26")), [number]);
            assert_eq!(phones(&format!("43 {number} 7")), [number]);
        }
    }

    #[test]
    fn a_word_announces_digits_without_shape() {
        let cases = [
            ("tel:05321234567", "05321234567"),
            ("call 5551234567 now", "5551234567"),
            ("Phone number is 555-1234", "555-1234"),
            ("móvil 612 345 678", "612 345 678"),
            ("98765 43210 (mobile)", "98765 43210"),
            ("Cep no: 532 1234567", "532 1234567"),
            ("llamar al 612 34 56 78 o 7", "612 34 56 78"),
            ("call 90 532 123 45 67 or 7", "90 532 123 45 67"),
            ("phone 555-1234 99", "555-1234"),
            ("mobile 0917 123 4567 12/26", "0917 123 4567"),
            ("phone 98765 43210 12", "98765 43210"),
            ("answering at 491 3 927", "491 3 927"),
            ("My number is 4155552671.", "4155552671"),
            ("your new number 4155552671", "4155552671"),
        ];
        for (text, number) in cases {
            assert_eq!(phones(text), [number], "{text}");
        }
    }

    #[test]
    fn a_number_alone_needs_groups() {
        assert_eq!(phones("612 34 56 78"), ["612 34 56 78"]);
        for number in [
            "0201234567",
            "01234567890",
            "3121234567",
            "1123456789",
            "1700000000",
            "8123456789",
            "123456789",
            "0917123456",
            "02531814694",
            "1234 5678 9012",
            "11-11-11-11114",
        ] {
            assert_eq!(phones(number), [""; 0], "{number}");
        }
    }

    #[test]
    fn other_numbers_are_no_phones() {
        for text in [
            "epoch 1700000000 ok",
            "order 123456789 ok",
            "call about order 123456789",
            "my credit card number is 36168002586008",
            "ISBN 9780306406157 ok",
            "ISBN 978-0-306-40615-7, 0-306-40615-2",
            "value 12345678901 here",
            "123e4567-e89b-12d3-a456-426614174000",
            "call on 2026-11-30 or 30.11.2026 10:30",
            "dates 01-02-2026 1530 and 01/02/2026",
            "3.141592653589793 and 0.12345678901",
            "phone 1999-2005",
            "version 10.20.30.4000",
            "1 234 567 890",
            "pages 123-456-7890-1",
            "+1 is added, +123 too",
            "10-4151-8899",
        ] {
            assert_eq!(phones(text), [""; 0], "{text}");
        }
    }
}
