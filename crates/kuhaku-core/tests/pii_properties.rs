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
const PIECES: [&str; 58] = [
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
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES.as_slice()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[0-9a-f:. @-]{0,12}",
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
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
    ] {
        let text = unit.repeat(SIZE / unit.len());
        let masked = MASKER.mask(&text);
        assert_eq!(masked.map().source_len(), text.len(), "{unit}");
    }
}
