//! How much memory the embedder takes beside Python's onnxruntime on the same model. In a process of
//! its own, since memory that other tests gave back would count as there before.

#![cfg(all(feature = "runtime", target_os = "linux"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests"
)]

mod real;

use kuhaku_core::{Embedder, Runtime};
use kuhaku_onnx::Family;
use real::scripts::mixed;
use real::{E5, Python, builder, memory, onnx};

#[tokio::test]
async fn measured_memory_beside_python() {
    if !real::measures() {
        return;
    }
    // Both count from after the runtime library was loaded.
    let Some(onnx) = onnx() else { return };
    let Some(embedder) = builder(E5, "model.onnx") else { return };
    let before = memory("VmRSS");
    let embedder = embedder.family(Family::Plain).threads(2).open(&onnx, &Runtime::system());
    let embedder = embedder.unwrap();
    let Some(mut python) = Python::open(E5, "model.onnx", 2) else { return };
    let opened = memory("VmRSS") - before;
    let (python_opened, _) = python.memory();
    let texts = mixed(160);
    embedder.embed_documents(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await.unwrap();
    python.seconds(&texts);
    let worked = memory("VmRSS") - before;
    let (python_worked, _) = python.memory();
    let mb = |bytes: u64| bytes >> 20;
    println!(
        "open: {} MB beside {} MB; after work: {} MB beside {} MB",
        mb(opened),
        mb(python_opened),
        mb(worked),
        mb(python_worked)
    );
    assert!(opened as f64 <= python_opened as f64 * 1.1);
    assert!(worked as f64 <= python_worked as f64 * 1.1);
}
