//! Puts a retriever of one's own into the pipeline: here one that prefers titles.
//!
//! `cargo run -p kuhaku-rag --example custom_retriever`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{Masker, PiiMasker, Scope};
use kuhaku_index::{Bm25, ChunkIndex, IdKey, MemoryIndex};
use kuhaku_rag::{
    AskRequest, Ingestor, RagEngine, RagSettings, Result, Retrieval, RetrievalRequest, Retriever,
    SparseRetriever, TextDocument,
};

/// Ranks what words find, with titles and headings counting four times.
#[derive(Debug)]
struct TitlesFirst(SparseRetriever);

#[async_trait]
impl Retriever for TitlesFirst {
    async fn retrieve(&self, request: &RetrievalRequest) -> Result<Retrieval> {
        // The request's reader carries the scope: there is no other way to the index.
        self.0.retrieve(request).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::result::Result<(), Box<dyn Error>> {
    let settings = RagSettings::default();
    let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
    let fingerprint = Ingestor::fingerprint(&settings, &masker)?;
    let index: Arc<dyn ChunkIndex> =
        Arc::new(MemoryIndex::new(fingerprint, IdKey::from_bytes([7; 32])));
    let ingestor = Ingestor::new(index.clone(), masker, settings, None)?;
    for (name, text) in [
        ("a.md", "# Parking\n\nBikes stand behind the house."),
        ("b.md", "# Canteen\n\nParking meters take coins; the canteen does not."),
    ] {
        ingestor.text(TextDocument::new(name, text)).await?;
    }
    let mut bm25 = Bm25::default();
    bm25.weights.heading = 4.0;
    let retriever = TitlesFirst(SparseRetriever::new(bm25));
    let engine = RagEngine::builder(index).retriever(retriever).build()?;
    let found = engine.search(&AskRequest::new("parking", Scope::anonymous())).await?;
    for hit in found.hits {
        println!("{:?} {}", hit.retrieved.bm25, hit.retrieved.title);
    }
    Ok(())
}
