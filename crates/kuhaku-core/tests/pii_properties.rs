//! What holds of masking for every text.
#![cfg(feature = "pii")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::LazyLock;

use kuhaku_core::{Masker, PiiMasker, Placeholder};
use proptest::prelude::*;

static MASKER: LazyLock<PiiMasker> = LazyLock::new(PiiMasker::new);

/// Values of every kind, what stands around them, and pieces of both.
const PIECES: [&str; 114] = [
    "a@b.com",
    "ömer@örnek.com",
    "@",
    "x@y.version",
    "a@2x.png",
    "o'b@c.ie",
    "4111 1111 1111 1111",
    "4111111111111111",
    "5500-0055-5555-5559",
    "3782 822463 10005",
    "4 1 1 1 ",
    "1111",
    "43",
    "1",
    "10000000146",
    "12345678901",
    "10.0.0.1",
    "256.1.1.1",
    "1.2.3.4",
    "fe80::1",
    "::1",
    "::",
    "dead::beef",
    "2001:db8::1",
    "0.",
    "version",
    "v",
    "sk-",
    "sk-ABCDEFGHIJKLMNOP1234",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyz",
    "xoxb-1234567890",
    "Bearer ",
    "bearer of",
    "abc.def-ghi_123",
    "eyJhbGci.eyJzdWIi.c2ln",
    "eyJ",
    "TR330006100519786457841326",
    "TR33 0006 1005",
    "1978 6457 8413 26",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "\n",
    " ",
    ".",
    ":",
    ",",
    "-",
    "/",
    "_",
    "[",
    "]",
    "[EMAIL]",
    "[IP]",
    "[CARD]",
    "４１",
    "\u{200b}",
    "\u{a0}",
    "\t",
    "  ",
    "\r\n",
    "\n> ",
    "*",
    "**",
    "`",
    "__",
    "4111.1111.1111.1111",
    "4111 1111\n",
    "1111 1111",
    "411",
    "110",
    "100 000 001",
    "46",
    "GB29 NWBK 6016",
    "a%40b.com",
    "&#64;",
    "://",
    "user:pass@",
    "Authorization: Basic YTpi",
    "+90 532 123 45 67",
    "(212) 555-1234",
    "0555 987 65 43",
    "555-1234",
    "01 23 45",
    "67 89",
    "+",
    "(",
    ")",
    "x12",
    "ext. 7",
    "phone",
    "call ",
    "order ",
    "ssn ",
    "nhs",
    "219-09-9999",
    "219 09 9999",
    "943 476 5919",
    "111222333",
    "5551234567",
    "65929970489",
    "811218-9876",
    "529.982.247-25",
    "AB 12 34 56 C",
    "12345678Z",
    "131052-308T",
    "RSSMRA85T10A562S",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "password=",
    "wJalrXUtnFEMI7K4MDENGbPx",
    "api_key: ",
    "[PHONE]",
    "[NATIONAL_ID]",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES.as_slice()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[0-9a-f:. @-]{0,12}",
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

/// What a writer may put between two groups of a number.
const GAPS: [&str; 14] = [
    " ", "-", "\u{a0}", "\u{2009}", "\u{2011}", "\u{2013}", "  ", "\t", " - ", " **", "** ", " `",
    "*", "__",
];

/// The same, to a new line.
const LINES: [&str; 6] = ["\n", "\r\n", "\r", "  \n    ", "-\n", "\n> "];

/// Groups with any gaps between them, of which one may be a new line, or with one and the same.
fn spread(groups: &'static [&'static str]) -> impl Strategy<Value = String> {
    let gaps = prop::collection::vec(prop::sample::select(GAPS.as_slice()), groups.len());
    let line = prop::option::of((0..groups.len(), prop::sample::select(LINES.as_slice())));
    (gaps, line).prop_map(|(mut gaps, line)| {
        if let Some((place, line)) = line {
            gaps[place] = line;
        }
        gaps[groups.len() - 1] = "";
        groups.iter().zip(gaps).flat_map(|(group, gap)| [*group, gap]).collect()
    })
}

/// Values in one piece, or in other writings.
const WHOLE: [(&str, &str); 28] = [
    ("+90 532 123 45 67", "[PHONE]"),
    ("(212) 555-1234", "[PHONE]"),
    ("020 7946 0958", "[PHONE]"),
    ("219-09-9999", "[NATIONAL_ID]"),
    ("AB 12 34 56 C", "[NATIONAL_ID]"),
    ("12345678Z", "[NATIONAL_ID]"),
    ("RSSMRA85T10A562S", "[NATIONAL_ID]"),
    ("2 55 08 14 168 025 38", "[NATIONAL_ID]"),
    ("529.982.247-25", "[NATIONAL_ID]"),
    ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "[CRYPTO]"),
    ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "[CRYPTO]"),
    ("4111.1111.1111.1111", "[CARD]"),
    ("4111_1111_1111_1111", "[CARD]"),
    ("4111111111111111", "[CARD]"),
    ("TR330006100519786457841326", "[IBAN]"),
    ("TR33.0006.1005.1978.6457.8413.26", "[IBAN]"),
    ("10000000146", "[NATIONAL_ID]"),
    ("10.0.0.1", "[IP]"),
    ("2001:db8::1", "[IP]"),
    ("a.b@example.com", "[EMAIL]"),
    ("a.**b**@example.com", "[EMAIL]"),
    ("a_b@ex`ample`.com", "[EMAIL]"),
    ("a%40example.com", "[EMAIL]"),
    ("a&#64;example.com", "[EMAIL]"),
    ("sk-ABCDEFGHIJKLMNOP1234", "[TOKEN]"),
    ("Bearer abc.def-ghi_123", "[TOKEN]"),
    ("bearer:\nabc.def-ghi_123", "[TOKEN]"),
    ("Basic dXNlcjpwYXNzd29yZA==", "[TOKEN]"),
];

/// A value in one of its writings, and its placeholder.
fn values() -> impl Strategy<Value = (String, &'static str)> {
    prop_oneof![
        spread(&["4111", "1111", "1111", "1111"]).prop_map(|card| (card, "[CARD]")),
        spread(&["3782", "822463", "10005"]).prop_map(|card| (card, "[CARD]")),
        spread(&["TR33", "0006", "1005", "1978", "6457", "8413", "26"])
            .prop_map(|iban| (iban, "[IBAN]")),
        spread(&["GB29", "NWBK", "6016", "1331", "9268", "19"]).prop_map(|iban| (iban, "[IBAN]")),
        spread(&["100", "000", "001", "46"]).prop_map(|id| (id, "[NATIONAL_ID]")),
        prop::sample::select(WHOLE.as_slice())
            .prop_map(|(value, placeholder)| (value.to_owned(), placeholder)),
    ]
}

/// What a reader sees: no marks of Markdown, no citation tags, single spaces.
fn rendered(text: &str) -> String {
    let mut plain = text.replace(['*', '_', '`'], "");
    for tag in ["[S1]", "[S1, S2]"] {
        plain = plain.replace(tag, "");
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    /// PII-13
    #[test]
    fn masking_a_masked_text_changes_nothing(text in texts()) {
        let once = MASKER.mask(&text);
        let twice = MASKER.mask(once.text());
        prop_assert_eq!(twice.text(), once.text());
        prop_assert!(twice.redactions().is_empty());
    }

    #[test]
    fn every_kept_byte_maps_to_itself_and_every_placeholder_to_its_value(text in texts()) {
        let masked = MASKER.mask(&text);
        let (output, map) = (masked.text(), masked.map());
        prop_assert_eq!(map.source_len(), text.len());
        prop_assert_eq!(map.output_len(), output.len());
        let (mut rebuilt, mut replaced, mut at) = (String::new(), 0, 0);
        while at < output.len() {
            let one = output[at..].chars().next().map_or(1, char::len_utf8);
            let source = map.to_source(at..at + one);
            let placeholder = Placeholder::ALL.iter().find(|p| {
                output[at..].starts_with(p.as_str())
                    && map.to_source(at..at + p.as_str().len()) == source
            });
            rebuilt.push_str(&text[source.clone()]);
            match placeholder {
                Some(placeholder) => {
                    replaced += 1;
                    at += placeholder.as_str().len();
                }
                None => {
                    prop_assert_eq!(&text[source], &output[at..at + one]);
                    at += one;
                }
            }
        }
        prop_assert_eq!(rebuilt, text);
        prop_assert_eq!(replaced, masked.redactions().total());
    }

    #[test]
    fn values_are_masked_whole_and_rendering_reveals_none(
        pieces in prop::collection::vec(
            ("[h-q]{1,8}( [h-q]{1,8}|, |\n| \\[S1\\]| \\[S1, S2\\]| \\*\\*[h-q]{1,4}\\*\\*){0,2}", values()),
            1..4,
        ),
    ) {
        let text: String = pieces.iter().map(|(words, (value, _))| format!("{words} {value} ")).collect();
        let expected: String = pieces.iter().map(|(words, (_, name))| format!("{words} {name} ")).collect();
        let masked = MASKER.mask(&text);
        prop_assert_eq!(masked.text(), expected, "{}", text);
        let again = MASKER.mask(&rendered(masked.text()));
        prop_assert!(again.redactions().is_empty(), "{}", again.text());
    }

    #[test]
    fn words_without_digits_or_at_signs_are_never_changed(text in "[a-z ,.:;()ğüşöçı-]{0,80}") {
        let masked = MASKER.mask(&text);
        prop_assert_eq!(masked.text(), text);
    }
}

/// Quadratic work on any of these would take hours.
#[test]
fn half_a_megabyte_of_near_misses_is_read_in_one_go() {
    const SIZE: usize = 1 << 19;
    for unit in [
        "1",
        "@",
        ":",
        ".",
        "1 ",
        "4111 ",
        "4-",
        "a@",
        "a.",
        "@a.",
        "@ab.cd.1.1",
        "::1",
        "1.2.3.4.",
        "1:",
        "a:",
        "eyJ",
        "eyJAKIAAAAAAAAAAAAAAAAAAa",
        "sk-",
        "ask-a1",
        "Bearer ",
        "Bearer a",
        "TR33 ",
        "TR33",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----AKIAIOSFODNN7EXAMPLE ",
        "-----END PRIVATE KEY-----",
        "SG.aaaaaaaaaaaaaaaa",
        "4111111111111111 ",
        "version ",
        "４",
        "\u{200b}",
        "é@",
        "[EMAIL]",
        "xoxb-1234567890",
        "4111\n",
        "4111.",
        "1*",
        "T*",
        "TR3*",
        "100 000\t",
        "%40",
        "%40a.com",
        "&#64;",
        "&#",
        "a*",
        "@a*.",
        "10.0.0.",
        "://a:b",
        "://a:b@",
        "bearer:",
        "bearer xxxbearer",
        "authorization=a ",
        "basic aaaa",
        "*",
        "1\n> ",
        "+1 ",
        "+",
        "(1",
        "055 ",
        "555-1234 ",
        "call 555-1234 ",
        "phone ",
        "ssn 219 09 9998 ",
        "ssn\n219099999",
        "219-09-9999-",
        "AB 12 34 56 ",
        "RSSMRA85T10A562",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa ",
        "bc1q",
        "password=",
        "password=a1",
        "secret: ",
        "[PHONE] 1 ",
    ] {
        let text = unit.repeat(SIZE / unit.len());
        let masked = MASKER.mask(&text);
        assert_eq!(masked.map().source_len(), text.len(), "{unit}");
    }
}
