//! Tools as targets of an evaluation.

#![cfg(all(feature = "rag", feature = "eval", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use kuhaku::eval::{Sample, Target as _};
use kuhaku::{DocumentNames, IndexTarget, Rag, RagTarget, Scope, TextDocument};

/// EVA-11
#[tokio::test]
async fn a_dataset_may_name_documents_by_file_stem_path_or_key() {
    let rag = Rag::builder().open().await.unwrap();
    let text = "To reset your password, open the portal.";
    rag.ingest(TextDocument::new("docs/handbook.md", text)).await.unwrap();
    let sample = Sample::new("q", "How do I reset my password?");
    for used in ["handbook", "handbook.md", "docs/handbook.md"] {
        let names = DocumentNames::new([used]);
        let answering = RagTarget::answering(rag.clone(), Scope::anonymous()).names(names.clone());
        let outcome = answering.run(&sample).await;
        assert_eq!(outcome.retrieved, Some(vec![used.to_string()]));
        assert_eq!(outcome.cited, Some(vec![used.to_string()]));
        assert_eq!(outcome.abstained, Some(false));
        let searching = RagTarget::searching(rag.clone(), Scope::anonymous()).names(names);
        assert_eq!(searching.run(&sample).await.retrieved, Some(vec![used.to_string()]));
    }
    let id = rag.maintenance().documents().await.unwrap().remove(0).id.to_string();
    let bm25 = kuhaku::index::Bm25::default();
    let target = IndexTarget::new(rag.index().clone(), Scope::anonymous(), 10, bm25);
    assert_eq!(target.run(&sample).await.retrieved, Some(vec![id]));
    let unanswerable = Sample::new("q", "Which helicopter flies fastest?");
    let outcome = RagTarget::answering(rag, Scope::anonymous()).run(&unanswerable).await;
    assert_eq!((outcome.abstained, outcome.text), (Some(true), None));
}
