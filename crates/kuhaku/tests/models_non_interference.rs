//! R4 through the whole pipeline with models of this machine: the tiny ones of the fixtures, in 32-bit
//! arithmetic and in 8-bit. Skipped without KUHAKU_TEST_MODELS, which has the runtime library.

#![cfg(all(feature = "rag", feature = "dense"))]
#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the proof is shown, and skips")]

use std::path::{Path, PathBuf};

use kuhaku::Runtime;
use kuhaku::onnx::{ModelFolder, OnnxClassifier, OnnxEmbedder, OnnxReranker, OnnxRuntime};
use kuhaku_testkit::index::{GraphsFactory, IndexFactory, MemoryFactory};
use kuhaku_testkit::rag::{PipelineModels, PipelineProof, pipeline_non_interference};

/// Without optimisation a case takes a tenth of a second.
const CASES: usize = if cfg!(debug_assertions) { 200 } else { 2_000 };

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The embedder of this name, with the cross-encoder and the classifier behind it.
fn models(embedder: &str) -> Option<PipelineModels> {
    let Some(models) = std::env::var_os("KUHAKU_TEST_MODELS") else {
        eprintln!("skipped: KUHAKU_TEST_MODELS is not set");
        return None;
    };
    let library = root().join(models).join("onnxruntime");
    let onnx = OnnxRuntime::find(Some(&library), []).unwrap();
    let folder = |name: &str| ModelFolder::new(root().join("fixtures/onnx").join(name));
    let runtime = Runtime::system();
    let embedder = OnnxEmbedder::builder(folder(embedder)).open(&onnx, &runtime).unwrap();
    let reranker = OnnxReranker::builder(folder("cross-encoder")).open(&onnx, &runtime).unwrap();
    let classifier = OnnxClassifier::builder(folder("classifier")).open(&onnx, &runtime).unwrap();
    let dimension = embedder.dimension();
    Some(PipelineModels::new(embedder, dimension).reranker(reranker).classifier(classifier))
}

async fn compare(engine: &dyn IndexFactory, embedder: &str, cases: usize) -> Option<PipelineProof> {
    let proof = pipeline_non_interference(engine, &models(embedder)?, cases).await.unwrap();
    println!("{embedder}: {proof}");
    Some(proof)
}

/// An engine gives nothing away, and the cases are such that it could.
async fn holds(engine: &dyn IndexFactory, embedder: &str, cases: usize) {
    let Some(proof) = compare(engine, embedder, cases).await else { return };
    assert_eq!((proof.differ, &proof.first), (0, &None));
    assert!(proof.found * 5 > cases * 4 && proof.hidden * 5 > cases * 4, "{proof}");
}

/// R4, D7
#[tokio::test]
async fn hidden_chunks_change_nothing_that_local_models_find_and_judge() {
    holds(&MemoryFactory::new(), "bert-encoder", CASES).await;
}

/// R4, D8
#[tokio::test]
async fn hidden_chunks_change_nothing_that_local_models_find_by_graphs() {
    holds(&GraphsFactory, "bert-encoder", CASES).await;
}

/// R4, D7: the numbers of this one depend on the batch, wherefore it gets a text per batch.
#[tokio::test]
async fn hidden_chunks_change_nothing_that_a_model_in_8_bits_finds() {
    holds(&MemoryFactory::new(), "int8-encoder", CASES).await;
}

/// D5: a seeded fault.
#[tokio::test]
async fn a_pool_that_is_cut_before_the_scope_acts_is_found_out_with_local_models() {
    let broken = MemoryFactory::broken(kuhaku::index::Fault::PoolCutBeforeScope);
    let Some(proof) = compare(&broken, "bert-encoder", CASES).await else { return };
    assert!(proof.differ * 2 >= proof.cases, "{proof}");
}
