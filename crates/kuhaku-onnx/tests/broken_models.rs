//! Models whose files are missing, broken, or of another model: an error that names the file and the
//! next step, and no panic.

#![cfg(feature = "runtime")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod tiny;

use std::fs;
use std::path::Path;

use kuhaku_core::Runtime;
use kuhaku_onnx::{Error, ModelFolder, OnnxClassifier, OnnxEmbedder, OnnxReranker, OnnxRuntime};
use serde_json::{Value, json};
use tiny::{copy, onnx, path, rename, set};

const FILES: [&str; 3] = ["model.onnx", "tokenizer.json", "config.json"];

fn reranker(onnx: &OnnxRuntime, folder: &Path) -> Result<(), Error> {
    OnnxReranker::builder(ModelFolder::new(folder)).open(onnx, &Runtime::system()).map(drop)
}

fn classifier(onnx: &OnnxRuntime, folder: &Path) -> Result<(), Error> {
    OnnxClassifier::builder(ModelFolder::new(folder)).open(onnx, &Runtime::system()).map(drop)
}

/// Breaks a copy of a cross-encoder and one of a classifier, and shows what opening them says.
fn broken(name: &str, breaking: impl Fn(&Path), says: &[&str]) {
    let Some(onnx) = onnx() else { return };
    let openers = [
        ("cross-encoder", reranker as fn(&OnnxRuntime, &Path) -> Result<(), Error>),
        ("classifier", classifier),
    ];
    for (model, open) in openers {
        let copy = copy(model);
        open(&onnx, copy.path()).unwrap();
        breaking(copy.path());
        let error = open(&onnx, copy.path()).expect_err(name);
        assert_eq!(error.code(), "onnx.unusable_model", "{name} of {model}: {error}");
        assert!(error.next_step().is_some(), "{name} of {model}: {error}");
        let text = error.to_string();
        for part in says {
            assert!(text.contains(part), "{name} of {model}, without {part:?}: {text}");
        }
    }
}

#[test]
fn a_missing_file_is_named() {
    for file in FILES {
        broken(file, |folder| fs::remove_file(folder.join(file)).unwrap(), &[file]);
    }
}

#[test]
fn an_empty_file_and_one_cut_anywhere_are_named() {
    for file in FILES {
        for share in [0.0, 0.01, 0.5, 0.9, 0.9999] {
            let cut = |folder: &Path| {
                let path = folder.join(file);
                let bytes = fs::read(&path).unwrap();
                let kept = (bytes.len() as f64 * share) as usize;
                // The files in JSON end in a line end, which is nothing to miss.
                fs::write(&path, &bytes[..kept.min(bytes.len() - 2)]).unwrap();
            };
            broken(&format!("{share} of {file}"), cut, &[file]);
        }
    }
}

#[test]
fn a_file_of_other_bytes_is_named() {
    let garbage: Vec<u8> =
        (0..5000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for file in FILES {
        for bytes in [garbage.as_slice(), b"<!DOCTYPE html><title>404</title>", b"{}"] {
            if file == "config.json" && bytes == b"{}" {
                continue;
            }
            broken(file, |folder| fs::write(folder.join(file), bytes).unwrap(), &[file]);
        }
    }
}

#[test]
fn a_model_that_takes_another_input_is_refused_with_what_it_takes() {
    for input in ["input_ids", "attention_mask", "token_type_ids"] {
        let other = format!("{}X", &input[..input.len() - 1]);
        let rename = |folder: &Path| {
            assert!(rename(&folder.join("model.onnx"), input, &other) > 0);
        };
        broken(input, rename, &["model.onnx", &other]);
    }
}

#[test]
fn a_model_that_gives_another_output_is_still_read_when_it_is_the_only_one_of_that_shape() {
    let Some(onnx) = onnx() else { return };
    let copy = copy("cross-encoder");
    assert!(rename(&copy.path().join("model.onnx"), "logits", "scores") > 0);
    reranker(&onnx, copy.path()).unwrap();
}

#[test]
fn the_tokenizer_of_another_model_is_refused() {
    let other = |folder: &Path| {
        fs::copy(path("xlmr-encoder").join("tokenizer.json"), folder.join("tokenizer.json"))
            .unwrap();
    };
    broken("tokenizer", other, &["tokenizer"]);
    // The sizes agree, as config.json has it; the model's own table is smaller.
    let larger = |folder: &Path| {
        let file = folder.join("tokenizer.json");
        let mut tokenizer: Value =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
        vocabulary.insert("##zyx".into(), json!(640));
        fs::write(&file, tokenizer.to_string()).unwrap();
        set(&folder.join("config.json"), "/vocab_size", json!(641));
    };
    broken("larger tokenizer", larger, &["tokenizer.json"]);
}

#[test]
fn an_encoder_in_the_place_of_a_head_is_refused() {
    let encoder = |folder: &Path| {
        fs::copy(path("bert-encoder").join("model.onnx"), folder.join("model.onnx")).unwrap();
    };
    broken("encoder", encoder, &["model.onnx", "last_hidden_state"]);
}

#[test]
fn an_embedder_with_a_layer_behind_its_pooling_is_refused_not_run_without_it() {
    let Some(onnx) = onnx() else { return };
    let copy = copy("bert-encoder");
    let open = |steps: &[&str]| {
        let named = |step: &&str| json!({"type": format!("sentence_transformers.models.{step}")});
        let modules: Vec<Value> = steps.iter().map(named).collect();
        fs::write(copy.path().join("modules.json"), json!(modules).to_string()).unwrap();
        OnnxEmbedder::builder(ModelFolder::new(copy.path())).open(&onnx, &Runtime::system())
    };
    open(&["Transformer", "Pooling", "Normalize"]).unwrap();
    let error = open(&["Transformer", "Pooling", "Dense", "Normalize"]).unwrap_err();
    assert_eq!(error.code(), "onnx.unusable_model");
    let text = error.to_string();
    assert!(text.contains("modules.json") && text.contains("`Dense`"), "{text}");
}
