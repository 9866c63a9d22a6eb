//! `cargo xtask onnx-fixtures`: tiny models with random weights, in `fixtures/onnx`.
//!
//! The weights depend on a model's name alone, so the same bytes come out everywhere. What the models
//! answer is computed apart from us, by the Python packages of ONNX Runtime and of the tokenisers,
//! and kept beside each as `reference.json`.

mod graph;
mod protobuf;
mod reference;
mod tokenizer;
mod transformer;
mod vocabulary;
mod weights;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::{Result, cannot};
use crate::files;
use transformer::{Family, Precision, Shape};

/// Where the models are, relative to the root.
pub(crate) const FOLDER: &str = "fixtures/onnx";

/// A model to make.
#[derive(Clone, Copy, Debug)]
struct Model {
    name: &'static str,
    family: Family,
    precision: Precision,
    labels: &'static [&'static str],
}

const MODELS: &[Model] = &[
    Model { name: "bert-encoder", family: Family::Bert, precision: Precision::Float, labels: &[] },
    Model {
        name: "xlmr-encoder",
        family: Family::XlmRoberta,
        precision: Precision::Float,
        labels: &[],
    },
    Model {
        name: "int8-encoder",
        family: Family::Bert,
        precision: Precision::DynamicInt8,
        labels: &[],
    },
    Model {
        name: "cross-encoder",
        family: Family::Bert,
        precision: Precision::Float,
        labels: &["LABEL_0"],
    },
    Model {
        name: "xlmr-cross-encoder",
        family: Family::XlmRoberta,
        precision: Precision::Float,
        labels: &["LABEL_0"],
    },
    Model {
        name: "classifier",
        family: Family::Bert,
        precision: Precision::Float,
        labels: &["SAFE", "INJECTION"],
    },
];

/// The files that do not need Python, by their paths relative to the root.
pub(crate) fn files() -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut files = Vec::new();
    for model in MODELS {
        let (tokenizer, vocabulary) = tokenizer::json(model.family);
        let labels = (!model.labels.is_empty()).then_some(model.labels.len());
        let shape = Shape { family: model.family, precision: model.precision, vocabulary, labels };
        let folder = Path::new(FOLDER).join(model.name);
        files.push((folder.join("model.onnx"), transformer::model(model.name, shape)));
        files.push((folder.join("tokenizer.json"), text(&tokenizer, serde_json::to_string)?));
        let config = config(model, vocabulary);
        files.push((folder.join("config.json"), text(&config, serde_json::to_string_pretty)?));
    }
    Ok(files)
}

/// Writes the models and has their answers computed; what changed.
pub(crate) fn write(root: &Path) -> Result<Vec<PathBuf>> {
    let mut changed = Vec::new();
    for (path, bytes) in files()? {
        let whole = root.join(&path);
        if fs::read(&whole).ok().as_deref() == Some(&bytes) {
            continue;
        }
        let folder = whole.parent().unwrap_or(root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&whole, bytes))
            .map_err(|error| cannot(format!("write {}", path.display()), error))?;
        changed.push(path);
    }
    for model in MODELS {
        let folder = Path::new(FOLDER).join(model.name);
        let path = folder.join(reference::FILE);
        let answers = reference::compute(root, &root.join(folder))?;
        if files::write(&root.join(&path), &answers)? {
            changed.push(path);
        }
    }
    Ok(changed)
}

/// What is not as [`write()`] would leave it, as sentences about paths.
pub(crate) fn stale(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let mut stale = Vec::new();
    for (path, bytes) in files()? {
        if fs::read(root.join(&path)).ok().as_deref() != Some(&bytes) {
            stale.push((path, "is not what the maker writes".to_owned()));
        }
    }
    for model in MODELS {
        let folder = Path::new(FOLDER).join(model.name);
        if let Some(wrong) = reference::wrong(&root.join(&folder))? {
            stale.push((folder.join(reference::FILE), wrong));
        }
    }
    Ok(stale)
}

fn text(value: &Value, form: impl Fn(&Value) -> serde_json::Result<String>) -> Result<Vec<u8>> {
    let text = form(&by_name(value)).map_err(|error| cannot("write a fixture as JSON", error))?;
    Ok(format!("{text}\n").into_bytes())
}

/// The same with the members of objects by their names: whether `serde_json` keeps their order
/// depends on what else is built.
fn by_name(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            let sorted = sorted.into_iter().map(|(name, value)| (name.clone(), by_name(value)));
            Value::Object(sorted.collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(by_name).collect()),
        other => other.clone(),
    }
}

fn config(model: &Model, vocabulary: usize) -> Value {
    let (kind, class) = match model.family {
        Family::Bert => ("bert", "Bert"),
        Family::XlmRoberta => ("xlm-roberta", "XLMRoberta"),
    };
    let task = if model.labels.is_empty() { "Model" } else { "ForSequenceClassification" };
    let mut config = json!({
        "architectures": [format!("{class}{task}")],
        "model_type": kind,
        "hidden_act": "gelu",
        "hidden_size": transformer::HIDDEN,
        "intermediate_size": transformer::INTERMEDIATE,
        "layer_norm_eps": transformer::EPSILON,
        "max_position_embeddings": model.family.positions(),
        "num_attention_heads": transformer::HEADS,
        "num_hidden_layers": transformer::LAYERS,
        "pad_token_id": model.family.padding(),
        "type_vocab_size": if model.family == Family::Bert { 2 } else { 1 },
        "vocab_size": vocabulary,
    });
    if let (Some(config), false) = (config.as_object_mut(), model.labels.is_empty()) {
        let numbered = || model.labels.iter().enumerate();
        let by_id = numbered().map(|(id, label)| (id.to_string(), json!(label))).collect();
        let by_label = numbered().map(|(id, label)| ((*label).to_owned(), json!(id))).collect();
        config.insert("id2label".into(), Value::Object(by_id));
        config.insert("label2id".into(), Value::Object(by_label));
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_makings_give_the_same_bytes_and_each_model_stays_small() {
        let made = files().unwrap();
        assert_eq!(made, files().unwrap());
        for model in MODELS {
            let folder = Path::new(FOLDER).join(model.name);
            let own = made.iter().filter(|(path, _)| path.starts_with(&folder));
            let size: usize = own.map(|(_, bytes)| bytes.len()).sum();
            // The rest is for the reference.
            assert!((20_000..170_000).contains(&size), "{}: {size}", model.name);
        }
    }

    #[test]
    fn a_changed_model_and_a_reference_of_another_model_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        assert_eq!(stale(root).unwrap(), []);
        let copy = tempfile::TempDir::new().unwrap();
        for (path, bytes) in files().unwrap() {
            let to = copy.path().join(&path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, bytes).unwrap();
            let reference = path.with_file_name(reference::FILE);
            fs::copy(root.join(&reference), copy.path().join(&reference)).unwrap();
        }
        assert_eq!(stale(copy.path()).unwrap(), []);
        let folder = copy.path().join(FOLDER);
        let model = folder.join("classifier/model.onnx");
        let mut bytes = fs::read(&model).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&model, bytes).unwrap();
        let wrong = folder.join("bert-encoder").join(reference::FILE);
        fs::copy(folder.join("xlmr-encoder").join(reference::FILE), wrong).unwrap();
        let found: Vec<String> = stale(copy.path())
            .unwrap()
            .iter()
            .map(|(path, _)| path.strip_prefix(FOLDER).unwrap().display().to_string())
            .collect();
        let expected =
            ["classifier/model.onnx", "bert-encoder/reference.json", "classifier/reference.json"];
        assert_eq!(found, expected);
    }
}
