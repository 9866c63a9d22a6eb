//! The runtime library: one per process.

#![cfg(feature = "runtime")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests"
)]

mod tiny;

use kuhaku_onnx::OnnxRuntime;
use tiny::onnx;

#[test]
fn the_same_library_is_opened_again_and_another_is_not() {
    let Some(first) = onnx() else { return };
    let again = OnnxRuntime::open(first.library()).unwrap();
    assert_eq!(first.library(), again.library());
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join(first.library().file_name().unwrap());
    std::fs::copy(first.library(), &other).unwrap();
    let error = OnnxRuntime::open(&other).unwrap_err();
    assert_eq!(error.code(), "onnx.runtime_in_use");
    let text = error.to_string();
    assert!(text.contains(&first.library().display().to_string()), "{text}");
    assert!(error.next_step().is_some());
    let found = OnnxRuntime::find(None, ["/nowhere".into(), first.library().into()]).unwrap();
    assert_eq!(found.library(), first.library());
    let folder = first.library().parent().unwrap();
    assert_eq!(OnnxRuntime::find(Some(folder), []).unwrap().library(), first.library());
}
