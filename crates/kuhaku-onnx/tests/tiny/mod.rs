//! The tiny models of `fixtures/onnx`, where the runtime library is.

#![allow(dead_code, reason = "each suite takes its part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use kuhaku_core::{MetricsSink, Runtime};
use kuhaku_onnx::{ModelFolder, OnnxRuntime, RUNTIME_LIBRARY};
use serde_json::Value;
use tempfile::TempDir;

/// The runtime library of the test models, or the one that `ORT_DYLIB_PATH` names.
pub(crate) fn onnx() -> Option<OnnxRuntime> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let models = std::env::var_os("KUHAKU_TEST_MODELS");
    let in_models =
        models.map(|models| root.join(models).join("onnxruntime").join(RUNTIME_LIBRARY));
    let named = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let Some(library) = in_models.or(named) else {
        eprintln!(
            "skipped: neither KUHAKU_TEST_MODELS nor ORT_DYLIB_PATH is set, so there is no ONNX \
             Runtime"
        );
        return None;
    };
    Some(OnnxRuntime::open(library).unwrap())
}

/// The folder of a model.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/onnx").join(name)
}

pub(crate) fn folder(name: &str) -> ModelFolder {
    ModelFolder::new(path(name))
}

/// What the model answers, computed by Python.
pub(crate) fn reference(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(path(name).join("reference.json")).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    reference["cases"].as_array().unwrap().clone()
}

/// The numbers of a member of a case; none when it is absent.
pub(crate) fn numbers(case: &Value, member: &str) -> Option<Vec<f64>> {
    let numbers = case[member].as_array()?;
    Some(numbers.iter().map(|number| number.as_f64().unwrap()).collect())
}

/// A copy of a model's files, to be broken.
pub(crate) fn copy(name: &str) -> TempDir {
    let copy = TempDir::new().unwrap();
    for file in ["model.onnx", "tokenizer.json", "config.json"] {
        fs::copy(path(name).join(file), copy.path().join(file)).unwrap();
    }
    copy
}

/// Replaces a name in a file by one of the same length; how often.
pub(crate) fn rename(file: &Path, from: &str, to: &str) -> usize {
    assert_eq!(from.len(), to.len(), "lengths are part of the format");
    let mut bytes = fs::read(file).unwrap();
    let mut found = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            found += 1;
        }
    }
    fs::write(file, bytes).unwrap();
    found
}

/// Sets a member of a JSON file.
pub(crate) fn set(file: &Path, pointer: &str, value: Value) {
    let mut json: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    *json.pointer_mut(pointer).unwrap() = value;
    fs::write(file, json.to_string()).unwrap();
}

/// `count` words that are one token each in every tokenizer of the fixtures, from the `from`th on.
pub(crate) fn words(from: usize, count: usize) -> String {
    const WORDS: [&str; 12] = [
        "water", "fire", "earth", "air", "red", "blue", "green", "cat", "dog", "fish", "tree",
        "house",
    ];
    let words: Vec<&str> = (from..from + count).map(|at| WORDS[at * at % 12]).collect();
    words.join(" ")
}

/// Counters by name and label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted(Arc<Mutex<Vec<(String, String, u64)>>>);

impl Counted {
    pub(crate) fn runtime(&self) -> Runtime {
        Runtime::builder().metrics(self.clone()).build()
    }

    /// What was counted since the last call.
    pub(crate) fn take(&self) -> Vec<(String, String, u64)> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl MetricsSink for Counted {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        self.0.lock().unwrap().push((name.to_owned(), label.to_owned(), by));
    }
}
