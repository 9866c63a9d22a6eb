//! A real model of this machine through the facade. Skipped without KUHAKU_TEST_MODELS.

#![cfg(all(feature = "rag", feature = "sqlite", feature = "dense"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, clippy::print_stderr, reason = "tests")]

use std::path::{Path, PathBuf};

use kuhaku::{
    AskRequest, EmbedderChoice, IngestOptions, Rag, Runtime, Scope, SearchAnswer, Sources,
    TextDocument,
};

/// Settings that name a model of the folder and its library.
fn sources(model: &str) -> Option<Sources> {
    let Some(models) = std::env::var_os("KUHAKU_TEST_MODELS").map(PathBuf::from) else {
        eprintln!("skipped: KUHAKU_TEST_MODELS is not set");
        return None;
    };
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(models);
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    Some(Sources::new().env([
        ("KUHAKU_ONNX__LIBRARY", text(models.join("onnxruntime/libonnxruntime.so"))),
        ("KUHAKU_RAG__EMBEDDING_MODEL", text(models.join(model))),
        ("KUHAKU_ONNX__LONG_TEXT", "windows".into()),
    ]))
}

fn handbook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/handbook")
}

/// FAC-01, issue 8: `auto` takes the local model that is there; what was asked in other words, or in
/// another language, is found.
#[tokio::test]
async fn a_local_model_finds_what_shares_no_word_with_the_question() {
    let Some(sources) = sources("multilingual-e5-small") else { return };
    let choice = EmbedderChoice::from_sources(&sources, Runtime::system()).unwrap();
    let plan = choice.preview().unwrap().unwrap();
    assert_eq!(plan.host, None);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let rag = Rag::builder().sources(&sources).unwrap().index(&place).open().await.unwrap();
    rag.ingest(TextDocument::new("a.md", "Employees are entitled to 25 days of paid vacation."))
        .await
        .unwrap();
    rag.ingest(TextDocument::new("b.md", "The printer on the second floor needs new toner."))
        .await
        .unwrap();
    let asked = AskRequest::new("Yıllık izin hakkım kaç gün?", Scope::anonymous());
    let first = rag.search(&asked).await.unwrap();
    assert!(first.hits[0].text.contains("vacation"), "{:?}", first.hits);
    assert!(first.hits[0].retrieved.cosine > first.hits[1].retrieved.cosine);
    rag.close().await;
}

#[tokio::test]
async fn a_folder_is_embedded_whole_and_its_model_is_kept() {
    let Some(same) = sources("all-MiniLM-L6-v2") else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("index");
    let rag = Rag::builder().sources(&same).unwrap().index(&place).open().await.unwrap();
    let options = IngestOptions::default();
    let report = rag.ingest_paths(&[handbook()], &options, &mut ()).await.unwrap();
    let totals = rag.maintenance().statistics().await.unwrap();
    assert!(totals.vectors > 0 && totals.vectors == totals.chunks, "{report:?}");
    let asked = AskRequest::new("vacation", Scope::anonymous());
    let cosine = |found: &SearchAnswer| found.hits[0].retrieved.cosine.map(f64::to_bits);
    let first = rag.search(&asked).await.unwrap();
    rag.close().await;

    // Opened again it is the same embedder, and its numbers are the same.
    let rag = Rag::builder().sources(&same).unwrap().index(&place).open().await.unwrap();
    let again = rag.search(&asked).await.unwrap();
    assert!(cosine(&first).is_some() && cosine(&first) == cosine(&again));
    rag.close().await;

    // Left open, another model that is there is no reason not to search by words; named, it is.
    let other = same.set("onnx.long_text", "refuse");
    let rag = Rag::builder().sources(&other).unwrap().index(&place).open().await.unwrap();
    let found = rag.search(&asked).await.unwrap();
    assert_eq!(found.skipped[0].reason, "no_embedder");
    rag.close().await;
    let named = other.set("rag.embedding_provider", "local");
    let error = Rag::builder().sources(&named).unwrap().index(&place).open().await.unwrap_err();
    assert_eq!(error.code(), "index.fingerprint_mismatch");
}
