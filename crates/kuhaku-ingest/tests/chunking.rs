//! What chunks look like.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use kuhaku_ingest::{Chunk, ChunkSize, Chunker, Format, LoadedDocument, load_text};

fn cut(text: &str, size: ChunkSize) -> (LoadedDocument, Vec<Chunk>) {
    let document = load_text(text, Format::Markdown).unwrap();
    let chunks = Chunker::paragraph(size).chunk(&document);
    (document, chunks)
}

fn ranges(text: &str, size: usize, overlap: usize) -> Vec<(usize, usize)> {
    let (_, chunks) = cut(text, ChunkSize::characters(size, overlap).unwrap());
    chunks.into_iter().map(|chunk| (chunk.range.start, chunk.range.len())).collect()
}

fn texts(text: &str, size: ChunkSize) -> Vec<String> {
    let (document, chunks) = cut(text, size);
    chunks.into_iter().map(|chunk| document.text[chunk.range].to_owned()).collect()
}

fn characters(text: &str, size: usize, overlap: usize) -> Vec<String> {
    texts(text, ChunkSize::characters(size, overlap).unwrap())
}

/// CHK-02
#[test]
fn a_word_larger_than_a_chunk_is_cut_into_windows() {
    let x = |n| "x".repeat(n);
    assert_eq!(ranges(&x(1000), 500, 80), [(0, 500), (420, 500), (840, 160)]);
    assert_eq!(ranges(&x(501), 500, 80), [(0, 500), (420, 81)]);
    assert_eq!(ranges(&x(500), 500, 80), [(0, 500)]);
}

/// CHK-03
#[test]
fn no_window_lies_inside_another() {
    assert_eq!(ranges(&"x".repeat(900), 500, 80), [(0, 500), (420, 480)]);
}

/// CHK-03
#[test]
fn no_window_begins_or_ends_inside_a_word() {
    let chunks = characters("one two three four five six seven", 10, 4);
    assert_eq!(chunks, ["one two", "two three", "four five", "five six", "six seven"]);
}

/// CHK-04
#[test]
fn neighbours_share_about_the_overlap_inside_paragraphs_and_across() {
    let sentence = "Nine words of plain text stand in this sentence. ";
    let long = sentence.repeat(40);
    let short: Vec<String> = (0..20).map(|_| sentence.repeat(4)).collect();
    for text in [long, short.join("\n\n")] {
        let all = ranges(&text, 500, 80);
        assert!(all.len() > 3, "{all:?}");
        for pair in all.windows(2) {
            let shared = pair[0].0 + pair[0].1 - pair[1].0;
            assert!((60..=80).contains(&shared), "{pair:?} share {shared}");
        }
    }
}

/// CHK-05
#[test]
fn an_overlap_of_the_size_or_more_is_an_error() {
    for (size, overlap) in [(10, 10), (10, 11), (0, 0)] {
        let error = ChunkSize::characters(size, overlap).unwrap_err();
        assert_eq!(error.code(), "ingest.invalid_input");
        assert!(error.next_step().is_some());
    }
}

/// CHK-05
#[test]
fn blank_lines_that_end_in_cr_lf_part_paragraphs() {
    let chunks = characters("one one one\r\n\r\ntwo two two", 15, 0);
    assert_eq!(chunks, ["one one one", "two two two"]);
}

#[test]
fn paragraphs_are_packed_while_they_fit() {
    let paragraph = "x".repeat(200);
    let text = [paragraph.as_str(); 3].join("\n\n");
    assert_eq!(ranges(&text, 500, 0), [(0, 402), (404, 200)]);
    assert_eq!(ranges(&text, 602, 0), [(0, 402), (404, 200)]);
    assert_eq!(ranges(&text, 604, 0), [(0, 604)]);
}

#[test]
fn the_overlap_counts_into_the_size() {
    let text = "Alpha beta.\n\nGamma delta.\n\nEpsilon zeta eta.";
    assert_eq!(
        characters(text, 20, 5),
        ["Alpha beta.", "beta.\n\nGamma delta.", "Epsilon zeta eta."]
    );
    assert_eq!(characters(text, 20, 0), ["Alpha beta.", "Gamma delta.", "Epsilon zeta eta."]);
}

#[test]
fn a_short_paragraph_is_not_left_alone_before_one_that_is_cut_anyway() {
    let text = format!("Short.\n\n{}", "word ".repeat(200));
    let all = ranges(&text, 500, 80);
    assert!(all[0].1 > 400, "{all:?}");
}

#[test]
fn headings_part_chunks_and_are_true_for_all_of_a_chunk() {
    let text =
        "Preface.\n\n# A\n\nintro\n\n## A.1\n\nx\n\n### Deep\n\ny\n\n# B\n# C\n\nz\n\n## Last";
    let (document, chunks) = cut(text, ChunkSize::default());
    let all: Vec<(&str, Vec<&str>)> = chunks
        .iter()
        .map(|chunk| {
            let headings = chunk.headings.iter().map(String::as_str).collect();
            (&document.text[chunk.range.clone()], headings)
        })
        .collect();
    let expected = [
        ("Preface.", vec![]),
        ("# A\n\nintro", vec!["A"]),
        ("## A.1\n\nx", vec!["A", "A.1"]),
        ("### Deep\n\ny", vec!["A", "A.1", "Deep"]),
        ("# B", vec!["B"]),
        ("# C\n\nz", vec!["C"]),
        ("## Last", vec!["C", "Last"]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn a_heading_stays_with_what_follows_it() {
    let (_, chunks) = cut("# A\n\n## B\n\ntext", ChunkSize::default());
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].headings, ["A", "B"]);
    let long = format!("# Heading\n\n{}", "word ".repeat(200));
    let (_, chunks) = cut(&long, ChunkSize::default());
    assert!(chunks[0].range.len() > 400);
    assert!(chunks.iter().all(|chunk| chunk.headings == ["Heading"]));
}

#[test]
fn a_hash_in_a_code_block_is_no_heading() {
    let (_, chunks) = cut("# A\n\n```sh\n# comment\n```\n", ChunkSize::default());
    assert_eq!(chunks.len(), 1);
}

#[test]
fn short_lines_above_the_paragraphs_of_plain_text_are_headings() {
    let text =
        "Notes on cars\n\nTyres\nWinter tyres are mounted in October.\n\nBrakes\n------\n\nSoft.";
    let document = load_text(text, Format::Text).unwrap();
    assert_eq!(document.title("a.txt"), "Notes on cars");
    let chunks = Chunker::default().chunk(&document);
    let all: Vec<_> =
        chunks.iter().map(|chunk| (&text[chunk.range.clone()], &chunk.headings)).collect();
    let expected = [
        ("Notes on cars", &vec![]),
        ("Tyres\nWinter tyres are mounted in October.", &vec!["Tyres".to_owned()]),
        ("Brakes\n------\n\nSoft.", &vec!["Brakes".to_owned()]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn form_feeds_in_plain_text_number_the_pages() {
    let document = load_text("one\u{c}two\n\ntwo\u{c}three", Format::Text).unwrap();
    let chunks = Chunker::paragraph(ChunkSize::characters(8, 0).unwrap()).chunk(&document);
    let pages: Vec<_> = chunks.iter().map(|chunk| chunk.page.unwrap()).collect();
    assert_eq!(pages, [1, 2, 3]);
}

#[test]
fn tokens_are_words_and_runs_of_other_characters() {
    let size = ChunkSize::tokens(4, 1).unwrap();
    assert_eq!(texts("a b c d e f g", size), ["a b c d", "d e f g"]);
    assert_eq!(texts("Stop it!!! Now, please.", size), ["Stop it!!!", "Now, please."]);
}

#[test]
fn scripts_without_spaces_are_cut_between_words_and_sentences() {
    let text = "茶の湯は美しい。庭を見る。静かな朝です。";
    assert_eq!(characters(text, 10, 0), ["茶の湯は美しい。", "庭を見る。静かな朝で", "す。"]);
}

#[test]
fn a_fingerprint_names_rules_sizes_and_unit() {
    assert_eq!(Chunker::default().fingerprint(), "paragraph-1:500/80:characters");
    let tokens = Chunker::paragraph(ChunkSize::tokens(128, 16).unwrap());
    assert_eq!(tokens.fingerprint(), "paragraph-1:128/16:tokens");
}
