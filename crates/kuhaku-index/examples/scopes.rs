//! Stores two documents, one of them restricted, and searches as two callers.
//!
//! `cargo run -p kuhaku-index --example scopes`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, MemoryIndex, SparseQuery,
    Tokenizer,
};

fn main() -> Result<(), Box<dyn Error>> {
    let key = IdKey::from_bytes([7; 32]);
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "whole");
    let index = MemoryIndex::new(fingerprint, key.clone());

    let mut batch = Batch::new();
    for (id, text, tags) in [
        ("lunch", "The board and the staff have lunch at noon.", vec![]),
        ("minutes", "The board meets in Lisbon.", vec!["board"]),
    ] {
        // An application masks with `PiiMasker`; there is nothing to mask here.
        let canonical = Masked::replacing(text, Vec::new()).canonical();
        let content = key.content_hash(&[text.as_bytes()]);
        let mut document = DocumentRecord::new(DocumentId::new(id)?, content, canonical);
        document.tags = AccessTags::new(tags)?;
        document.chunks = vec![ChunkRecord::new(0..text.len())];
        batch = batch.upsert(document);
    }
    index.write(batch)?;

    let query = SparseQuery::new("where does the board meet", 5);
    for roles in [Roles::none(), Roles::new(["board"])] {
        let view = index.view(&Scope::with_roles(roles));
        println!("{:?} sees {} chunks", view.scope(), view.visible_chunks());
        for hit in view.sparse(&query)? {
            println!("  {} {:.6}", hit.id, hit.bm25);
        }
    }
    Ok(())
}
