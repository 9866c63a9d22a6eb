//! Prepares a Markdown text and prints its chunks.
//!
//! `cargo run -p kuhaku-ingest --example chunks`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::Arc;

use kuhaku_core::{InjectionGuard, PiiMasker};
use kuhaku_ingest::{ChunkSize, Chunker, Preparer, Result, Source};

fn main() -> Result<()> {
    let chunker = Chunker::paragraph(ChunkSize::characters(60, 10)?);
    let preparer = Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), chunker);
    let text = "# Wifi\n\nThe guest network is called Plover. Ask desk@example.com for the \
                password; it changes on the first day of the month.\n";
    let document = preparer.prepare(Source::from_text("wifi.md", text))?;
    println!("{}: {} chunks", document.title, document.chunks.len());
    for chunk in &document.chunks {
        println!("{:?} {:?} {:?}", chunk.range, chunk.headings, document.chunk_text(chunk));
    }
    Ok(())
}
