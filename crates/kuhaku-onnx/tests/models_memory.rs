//! Too little memory is an error, and the model works on.

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

use std::process::Command;

use kuhaku_core::Embedder;
use real::scripts::english;
use real::{MINILM, builder, memory, models, open};

const NAME: &str = "a_batch_that_does_not_fit_into_memory_is_an_error_and_a_smaller_one_works";
const CHILD: &str = "KUHAKU_TEST_WITH_LITTLE_MEMORY";

/// In a process of its own, since what a process may take cannot be widened again.
#[test]
fn a_batch_that_does_not_fit_into_memory_is_an_error_and_a_smaller_one_works() {
    if models().is_none() {
        return;
    }
    if std::env::var_os(CHILD).is_some() {
        return with_little_memory();
    }
    if Command::new("prlimit").arg("--version").output().is_err() {
        eprintln!("skipped: there is no prlimit here");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    assert!(said.contains("not enough memory"), "{said}");
}

fn with_little_memory() {
    // Attention over 1,000 texts of 240 tokens takes 3 GB in one batch, and 3 MB a text at a time.
    let embedder = open(builder(MINILM, "model_fp32.onnx").unwrap().batch_tokens(1 << 20)).unwrap();
    let texts = english((0..1000).map(|_| 230));
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let limit = format!("--as={}", memory("VmSize") + (1 << 30));
    let own = std::process::id().to_string();
    assert!(Command::new("prlimit").args(["--pid", &own, &limit]).status().unwrap().success());
    let error = runtime.block_on(embedder.embed_documents(&texts)).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains("there was not enough memory"), "{error}");
    assert!(error.to_string().contains("token budget"), "{error}");
    let vectors = runtime.block_on(embedder.embed_documents(&texts[..1])).unwrap();
    assert_eq!(vectors[0].len(), 384);
}
