//! What holds for the evidence of any value in any text.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test ends when something is wrong"
)]

use kuhaku_extract::{Evidence, Finding, Source};
use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

/// Words and shards of words in many scripts, with marks, joiners and pictures.
const WORDS: &[&str] = &[
    "tea",
    "Green",
    "STEAK",
    "naïve",
    "cafe\u{301}",
    "Straße",
    "ﬁne",
    "ſ", // Latin
    "çay",
    "ISPANAK",
    "ıspanak",
    "İstanbul",
    "I\u{307}stanbul",
    "ŞİŞE", // Turkish
    "τσάι",
    "ΟΔΟΣ",
    "ᾳ",
    "\u{3b1}\u{345}", // Greek
    "чай",
    "ЁЛКА",
    "е\u{308}лка", // Cyrillic
    "شاي",
    "سَلَام",
    "لا",
    "ﷺ",
    "می\u{200c}خواهم", // Arabic, Persian
    "चाय",
    "क्षि",
    "कि", // Hindi
    "ชาเขียว",
    "กำ",
    "น้ำ", // Thai
    "绿茶",
    "三盒",
    "豈", // Chinese
    "緑茶",
    "ｶﾞ",
    "が",
    "か\u{3099}", // Japanese
    "녹차",
    "\u{1112}\u{1161}\u{11ab}", // Korean
    "תה",
    "שָׁלוֹם", // Hebrew
    "🍵",
    "👨‍👩‍👧",
    "👍🏽",
    "🇹🇷",
    "❤\u{fe0f}", // emoji
    "a\u{323}\u{307}",
    "o\u{308}\u{301}",
    "\u{301}",
    "x\u{ad}y",
    "\u{200b}",
    "\u{202e}", // marks
    "5",
    "12",
    "1.500",
    "2,5",
    "٣",
    "１２",
    "½",
    "²",
    "-",
    "(",
    ".",
    ",",
    "’",
    "“",
    "—",
    "…",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        2 => prop::sample::select(&[" ", "  ", "\n", "\r\n", "\t", "\u{a0}", "\u{3000}", "\u{2028}"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..24).prop_map(|pieces| pieces.concat())
}

/// Those that are seen, and are no numbers or parts of another cluster.
fn whole_words() -> Vec<&'static str> {
    let whole = |word: &str| word.chars().next().is_some_and(char::is_alphabetic);
    let picture = |word: &str| "🍵 👍🏽 🇹🇷 👨‍👩‍👧 ❤\u{fe0f}".contains(word);
    WORDS.iter().copied().filter(|word| whole(word) || picture(word)).collect()
}

/// A digit of another script, by its value: 3 may stand for ٣.
fn digit(c: char) -> char {
    let zeros = ['٠', '۰', '०', '০', '๐'];
    let value = zeros.iter().map(|zero| u32::from(c).wrapping_sub(u32::from(*zero)));
    value.filter_map(|value| char::from_digit(value, 10)).next().unwrap_or(c)
}

/// A fold of our own making: compatibility, digits, case, no marks that hide, blanks as one.
fn loose(text: &str) -> String {
    let lower = |text: &str| -> String {
        text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
    };
    let folded = lower(&text.nfkc().collect::<String>());
    let kept: String = folded
        .chars()
        .filter(|c| !matches!(*c, '\u{307}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe0e}' | '\u{fe0f}' | '\u{61c}'))
        .map(|c| match c {
            '‘' | '’' | '‚' | '‛' | 'ʼ' | '′' => '\'',
            '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
            '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
            'ı' => 'i',
            c => digit(c),
        })
        .collect();
    kept.nfkc().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn check(text: &str, value: &Value, quote: Option<&str>) -> Result<bool, TestCaseError> {
    let source = Source::new(text);
    match Evidence::find(&source, "/field", value, quote) {
        Finding::Grounded(span) | Finding::Mismatch(span) => {
            let slice = text.get(span.bytes.clone());
            prop_assert!(slice.is_some_and(|slice| !slice.is_empty()), "{:?}", span);
            let chars: String =
                text.chars().skip(span.chars.start).take(span.chars.len()).collect();
            prop_assert_eq!(slice, Some(chars.as_str()));
            if let Some(quote) = quote
                && loose(slice.unwrap()) != loose(quote)
            {
                // Not the quote: then the value itself.
                let Value::String(value) = value else { return Ok(true) };
                prop_assert_eq!(loose(slice.unwrap()), loose(value));
            }
            Ok(true)
        }
        Finding::Ungrounded => Ok(false),
    }
}

#[test]
fn a_digit_of_another_script_is_found_by_its_value() {
    let text = "½3a٣豈\u{301}ſa\u{323}\u{307}👍🏽";
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    for a in &places {
        for b in places.iter().filter(|b| a < b) {
            check(text, &json!("nothing of the kind"), text.get(*a..*b)).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_slice_is_the_quote(text in text(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), upper in 0..3) {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let (a, b) = (*from.get(&places), *to.get(&places));
        let part = &text[a.min(b)..a.max(b)];
        let quote = match upper {
            0 => part.to_owned(),
            1 => part.to_uppercase(),
            _ => part.nfd().collect(),
        };
        check(&text, &json!("nothing of the kind"), Some(&quote))?;
        check(&text, &json!(quote), None)?;
        check(&text, &json!(quote), Some(&quote))?;
    }

    #[test]
    fn a_word_between_blanks_is_always_found(before in text(), word in prop::sample::select(whole_words()), after in text(), form in 0..4) {
        let text = format!("{before} {word} {after}");
        let value = match form {
            0 => word.to_owned(),
            1 => word.nfc().collect(),
            2 => word.nfd().collect(),
            _ => word.to_uppercase(),
        };
        prop_assert!(check(&text, &json!(value), None)?, "{:?} in {:?}", value, text);
        prop_assert!(check(&text, &json!(value), Some(&value))?, "{:?} in {:?}", value, text);
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_number_is_found_alone_and_never_within_another(number in 0_u32..100_000, digit in 0_u32..10) {
        let text = format!("take {number} of them");
        prop_assert!(check(&text, &json!(number), None)?);
        for text in [
            format!("take {digit}{number} of them"),
            format!("take {number}{digit} of them"),
            format!("take {number}.{digit}5 of them"),
            format!("take {digit}.{number} of them"),
            format!("take -{number} of them"),
            format!("take a{number} of them"),
        ] {
            let written = text.split(' ').nth(1).unwrap();
            if written.parse::<f64>() != Ok(f64::from(number)) && !(number < 10_000 && written.contains('.') && written.replace('.', "") == number.to_string()) {
                prop_assert!(!check(&text, &json!(number), None)?, "{} by {}", number, text);
            }
        }
    }

    #[test]
    fn numbers_and_dates_stand_where_they_are_found(text in text(), number in 0_u32..20) {
        check(&text, &json!(number), None)?;
        check(&text, &json!("2024-05-12"), None)?;
        check(&text, &json!(true), Some("tea"))?;
    }
}
