//! Sources that were made to break things: each has an outcome, without a panic and without a
//! stack that overflows. They are sized so that a quadratic step would take many minutes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use kuhaku_ingest::{Chunk, ChunkSize, Chunker, Format, LoadedDocument, load, load_text};
use proptest::prelude::*;

const MEGABYTE: usize = 1 << 20;

fn chunks(bytes: &[u8], format: Format) -> (LoadedDocument, Vec<Chunk>) {
    let document = load(bytes, format).unwrap();
    let chunks = Chunker::default().chunk(&document);
    (document, chunks)
}

/// A text of about `len` bytes that repeats a part.
fn repeated(part: &str, len: usize) -> String {
    part.repeat(len / part.len())
}

#[test]
fn one_line_of_megabytes_is_cut() {
    for part in ["x", "word ", "茶"] {
        let text = repeated(part, 2 * MEGABYTE);
        for format in [Format::Text, Format::Markdown] {
            let (document, chunks) = chunks(text.as_bytes(), format);
            assert!(chunks.len() > 1_000);
            assert_eq!(chunks.last().unwrap().range.end, document.text.len());
        }
    }
}

#[test]
fn what_nests_without_end_is_read_as_plain_text() {
    for deep in [">".repeat(100_000), "- ".repeat(100_000), "1. ".repeat(100_000)] {
        let text = format!("{deep}x\n{}", "\n".repeat(100_000));
        let (document, chunks) = chunks(text.as_bytes(), Format::Markdown);
        assert_eq!(document.warnings[0].code(), "nested_too_deeply");
        assert!(!chunks.is_empty());
    }
}

#[test]
fn markup_that_never_closes_takes_linear_time() {
    for part in [
        "[",
        "![",
        "*a_",
        "`a``",
        "<a ",
        "~~~\n",
        "|a",
        "&amp",
        "\\",
        "[a](",
        "# ",
        "![[]()",
        "<!--",
        "a\n- b\n\n",
    ] {
        let text = repeated(part, MEGABYTE / 8);
        let (document, chunks) = chunks(text.as_bytes(), Format::Markdown);
        assert!(!document.text.is_empty() && !chunks.is_empty(), "{part:?}");
    }
}

#[test]
fn characters_that_depend_on_those_before_take_linear_time() {
    for part in [
        "\u{301}",
        "🇹",
        "👩\u{200d}",
        "a\u{301}.",
        "\u{200b}",
        "\u{600}",
        "\u{ad}",
        "a.",
        "\u{3000}",
        "a\u{300} ",
        "\u{94d}\u{200d}",
        "\u{202e}",
    ] {
        let text = format!("a{}z", repeated(part, MEGABYTE / 4));
        let (document, chunks) = chunks(text.as_bytes(), Format::Text);
        assert_eq!(chunks.last().unwrap().range.end, document.text.len(), "{part:?}");
    }
}

#[test]
fn a_heading_of_a_megabyte_is_not_repeated_whole() {
    let text = format!("# {}\n\n{}", repeated("long ", MEGABYTE), repeated("word ", MEGABYTE));
    let (_, chunks) = chunks(text.as_bytes(), Format::Markdown);
    assert!(chunks.iter().all(|chunk| chunk.headings[0].chars().count() <= 200));
}

#[test]
fn line_ends_alone_do_not_fill_the_memory_with_their_map() {
    let text = format!("a{}b", repeated("\r\n", 4 * MEGABYTE));
    let document = load(text.as_bytes(), Format::Text).unwrap();
    assert_eq!(document.map.source_len(), text.len());
    assert_eq!(document.text.len(), 2 + 2 * MEGABYTE);
}

#[test]
fn a_table_of_empty_cells_does_not_grow() {
    let header = format!("{}\n{}\n", "|a".repeat(20_000), "|-".repeat(20_000));
    let text = header + &"|\n".repeat(20_000);
    assert!(!chunks(text.as_bytes(), Format::Markdown).1.is_empty());
}

#[test]
fn broken_utf16_and_nul_bytes_are_read_or_refused() {
    let mut surrogates = b"\xff\xfe".to_vec();
    surrogates.extend(b"\x00\xd8".repeat(1000));
    let (document, _) = chunks(&surrogates, Format::Text);
    assert_eq!(document.text.chars().filter(|c| *c == '\u{fffd}').count(), 1000);
    assert_eq!(load(b"a\0b", Format::Text).unwrap_err().code(), "ingest.mismatch");
    let document = load_text("a\0b", Format::Text).unwrap();
    assert_eq!(document.text, "a\u{fffd}b");
    assert_eq!(document.warnings[0].code(), "nul_replaced");
}

#[test]
fn a_binary_file_behind_a_byte_order_mark_of_utf16_is_refused_and_text_is_not() {
    // A linear congruential generator: bytes without a pattern, the same on every run.
    let noise: Vec<u8> = std::iter::successors(Some(7_u32), |seed| {
        Some(seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    })
    .map(|seed| (seed >> 24) as u8)
    .take(20_000)
    .collect();
    let records = [b"\x01\x00\x00\x00a\x00b\x00".as_slice(); 500].concat();
    for mark in [b"\xff\xfe", b"\xfe\xff"] {
        for binary in [&noise, &records] {
            let error = load(&[mark, binary.as_slice()].concat(), Format::Text).unwrap_err();
            assert_eq!(error.code(), "ingest.mismatch");
        }
    }
    let utf16 = |text: &str| -> Vec<u8> {
        let units = std::iter::once('\u{feff}').chain(text.chars()).collect::<String>();
        units.encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    for text in
        ["Tyres, change of", "茶の湯は美しい。", "नमस्ते दुनिया", "👩\u{200d}👧 a\u{301}\r\n\tb"]
    {
        assert!(load(&utf16(text), Format::Text).is_ok(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_have_an_outcome(
        head in prop_oneof![Just("---\n"), Just("\u{feff}"), Just("# "), Just("")],
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        size in 1usize..50,
    ) {
        let bytes = [head.as_bytes(), &bytes].concat();
        for format in [Format::Text, Format::Markdown] {
            if let Ok(document) = load(&bytes, format) {
                let size = ChunkSize::characters(size, size / 3).unwrap();
                prop_assert!(!Chunker::paragraph(size).chunk(&document).is_empty());
                prop_assert!(!document.text.contains(['\r', '\0']));
                for block in &document.blocks {
                    prop_assert!(document.text.get(block.range.clone()).is_some());
                }
            }
        }
    }
}
