//! What holds for the chunks of every text at every size.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::HashSet;
use std::ops::Range;

use kuhaku_ingest::{ChunkSize, ChunkUnit, Chunker, Format, load_text};
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,9}",
        4 => Just(" ".to_owned()),
        2 => Just("\n\n".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just(". ".to_owned()),
        1 => "[a-z]{20,60}",
        1 => "[\u{4e00}-\u{4e30}\u{3042}-\u{3060}。、]{1,20}",
        1 => "[\u{e01}-\u{e3a}]{1,12}",
        1 => "[\u{915}-\u{94d}]{1,8}",
        1 => Just("👩\u{200d}👩\u{200d}👧\u{200d}👦🏽🇹🇷🇯🇵".to_owned()),
        1 => "[ae ][\u{300}-\u{310}]{1,12}",
        1 => Just("\u{600}\u{600} \u{1100}\u{1161}\u{11a8}".to_owned()),
        1 => Just("\n\n# Heading\n\n".to_owned()),
        1 => Just("\n\n## Deeper\n\n".to_owned()),
        1 => "[!-/]{1,9}",
        1 => Just("- item\n- item\n| a | b |\n".to_owned()),
        1 => Just("\u{3000}\u{a0}\u{200b}".to_owned()),
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 0..60).prop_map(|parts| parts.concat())
}

fn size() -> impl Strategy<Value = ChunkSize> {
    let unit = prop_oneof![Just(ChunkUnit::Characters), Just(ChunkUnit::Tokens)];
    (prop_oneof![1usize..12, 12usize..200], 0usize..100, unit)
        .prop_map(|(size, overlap, unit)| ChunkSize::new(size, overlap * size / 100, unit).unwrap())
}

/// The unit of a chunk's size, counted in another way than the chunker does.
fn measure(text: &str, unit: ChunkUnit) -> usize {
    match unit {
        ChunkUnit::Characters => text.chars().count(),
        ChunkUnit::Tokens => {
            let clusters = cluster_borders(text);
            text.unicode_word_indices().filter(|(at, _)| clusters.contains(at)).count()
        }
        _ => panic!("unknown unit"),
    }
}

fn cluster_borders(text: &str) -> HashSet<usize> {
    text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect()
}

/// What stands between white space around a place.
fn run_around(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind(char::is_whitespace);
    let start = start.map_or(0, |i| i + text[i..].chars().next().unwrap().len_utf8());
    start..text[at..].find(char::is_whitespace).map_or(text.len(), |i| at + i)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// CHK-03
    #[test]
    fn chunks_are_in_order_within_the_size_and_hold_every_word(text in text(), size in size()) {
        let document = load_text(&text, Format::Markdown).unwrap();
        let text = document.text.as_str();
        let chunks = Chunker::paragraph(size).chunk(&document);
        let mut covered = 0;
        for chunk in &chunks {
            let part = text.get(chunk.range.clone()).expect("character borders");
            prop_assert!(!part.trim().is_empty());
            prop_assert!(measure(part, size.unit()) <= size.size(), "{part:?}");
            if chunk.range.start > covered {
                prop_assert_eq!(text[covered..chunk.range.start].trim(), "");
            }
            covered = chunk.range.end;
        }
        prop_assert_eq!(text[covered..].trim(), "");
        for pair in chunks.windows(2) {
            prop_assert!(pair[0].range.start < pair[1].range.start);
            prop_assert!(pair[0].range.end < pair[1].range.end);
        }
    }

    /// CHK-03
    #[test]
    fn chunks_break_inside_words_and_clusters_only_where_these_are_too_large(
        text in text(),
        size in (1usize..80, 0usize..100),
    ) {
        let size = ChunkSize::characters(size.0, size.1 * size.0 / 100).unwrap();
        let document = load_text(&text, Format::Markdown).unwrap();
        let text = document.text.as_str();
        let clusters = cluster_borders(text);
        let large = text.graphemes(true).any(|cluster| cluster.chars().count() > size.size());
        for chunk in Chunker::paragraph(size).chunk(&document) {
            for at in [chunk.range.start, chunk.range.end] {
                prop_assert!(large || clusters.contains(&at), "inside a cluster at {at}");
                let run = &text[run_around(text, at)];
                let inside = run_around(text, at).start < at && at < run_around(text, at).end;
                if inside && run.is_ascii() {
                    prop_assert!(run.len() > size.size(), "inside {run:?}");
                }
            }
        }
    }

    /// CHK-04
    #[test]
    fn neighbours_share_at_least_half_the_overlap_less_a_word(
        words in prop::collection::vec(("[a-z]{1,8}", prop_oneof![4 => Just(" "), 1 => Just("\n\n")]), 1..200),
        size in 40usize..200,
        overlap in 16usize..30,
    ) {
        let text: String = words.iter().flat_map(|(word, gap)| [word.as_str(), gap]).collect();
        let document = load_text(&text, Format::Text).unwrap();
        let chunks = Chunker::paragraph(ChunkSize::characters(size, overlap).unwrap()).chunk(&document);
        for pair in chunks.windows(2) {
            let shared = (pair[0].range.end).saturating_sub(pair[1].range.start);
            prop_assert!(shared <= overlap);
            let whole_first = pair[0].range.len() <= overlap;
            prop_assert!(whole_first || shared + 10 >= overlap / 2, "{shared} of {overlap}");
        }
    }

    #[test]
    fn chunking_is_stable(text in text(), size in size()) {
        let document = load_text(&text, Format::Markdown).unwrap();
        let chunker = Chunker::paragraph(size);
        prop_assert_eq!(chunker.chunk(&document), chunker.chunk(&document));
    }
}
