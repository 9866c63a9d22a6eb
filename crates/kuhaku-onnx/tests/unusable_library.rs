//! What is no usable runtime library is an error. In a program of its own: once one is loaded, every
//! other is refused for that.

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

use std::path::Path;
use std::process::Command;

use kuhaku_onnx::OnnxRuntime;

/// Makes a shared library of C; none where there is no compiler.
fn library(folder: &Path, name: &str, source: &str) -> Option<std::path::PathBuf> {
    let file = folder.join(name).with_extension("c");
    std::fs::write(&file, source).unwrap();
    let library = folder.join(name).with_extension("so");
    let made =
        Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file).status();
    match made {
        Ok(status) if status.success() => Some(library),
        _ => {
            eprintln!("skipped: there is no C compiler");
            None
        }
    }
}

#[test]
fn an_older_library_and_another_one_are_errors_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let old = "typedef struct { const void *(*api)(unsigned); const char *(*version)(void); } Base;
        static const void *api(unsigned v) { return 0; }
        static const char *version(void) { return \"1.17.3\"; }
        static const Base base = { api, version };
        const Base *OrtGetApiBase(void) { return &base; }";
    let Some(old) = library(folder.path(), "old", old) else { return };
    let error = OnnxRuntime::open(&old).unwrap_err();
    assert_eq!(error.code(), "onnx.outdated_runtime", "{error}");
    assert!(error.to_string().contains("1.17.3"), "{error}");
    assert!(error.next_step().unwrap().contains("1.24"), "{error}");
    let other = library(folder.path(), "other", "int answer(void) { return 42; }").unwrap();
    let error = OnnxRuntime::open(&other).unwrap_err();
    assert_eq!(error.code(), "onnx.unusable_runtime", "{error}");
    let whole = std::fs::read(&other).unwrap();
    for share in [8, 4, 2] {
        let cut = folder.path().join(format!("cut{share}.so"));
        std::fs::write(&cut, &whole[..whole.len() / share]).unwrap();
        let error = OnnxRuntime::open(&cut).unwrap_err();
        assert_eq!(error.code(), "onnx.unusable_runtime", "{error}");
    }
}
