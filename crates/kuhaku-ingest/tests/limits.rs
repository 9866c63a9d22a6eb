//! How many chunks one document may give.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::sync::Arc;

use kuhaku_core::{InjectionGuard, PiiMasker};
use kuhaku_ingest::{ChunkSize, Chunker, Error, MAX_CHUNKS, PreparedDocument, Preparer, Source};

fn prepare(name: &str, text: String, chunker: Chunker) -> Result<PreparedDocument, Error> {
    Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), chunker)
        .prepare(Source::from_bytes(name, text))
}

/// One word on each line, each too long to share its chunk.
fn words(count: usize) -> (String, Chunker) {
    ("abc\n".repeat(count), Chunker::paragraph(ChunkSize::characters(3, 0).unwrap()))
}

#[test]
fn a_flood_of_tiny_headings_is_refused_with_a_next_step() {
    for headings in [MAX_CHUNKS + 1, 6 * MAX_CHUNKS] {
        let error = prepare("a.md", "# a\n".repeat(headings), Chunker::default()).unwrap_err();
        assert_eq!(error.code(), "ingest.too_large");
        assert!(error.to_string().contains("100000 chunks"), "{error}");
        assert!(error.next_step().is_some_and(|step| step.contains("split it")));
    }
}

#[test]
fn headings_without_words_and_nested_ones_count_by_the_chunks_that_they_give() {
    let nested = "# a\n## b\n### c\n".repeat(MAX_CHUNKS / 2);
    assert_eq!(prepare("a.md", nested, Chunker::default()).unwrap().chunks.len(), MAX_CHUNKS / 2);
    let empty = prepare("a.md", "#\n".repeat(MAX_CHUNKS + 1), Chunker::default());
    assert_eq!(empty.unwrap_err().code(), "ingest.too_large");
}

#[test]
fn the_last_chunk_that_is_allowed_is_kept() {
    let (text, chunker) = words(MAX_CHUNKS);
    assert_eq!(prepare("a.txt", text, chunker).unwrap().chunks.len(), MAX_CHUNKS);
    let (text, chunker) = words(MAX_CHUNKS + 1);
    assert_eq!(prepare("a.txt", text, chunker).unwrap_err().code(), "ingest.too_large");
}

#[test]
fn chunking_stops_at_the_limit_however_long_the_text() {
    let (text, chunker) = words(10 * MAX_CHUNKS);
    assert_eq!(prepare("a.txt", text, chunker).unwrap_err().code(), "ingest.too_large");
}
