//! The files of a model, and what they say about it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};

/// The files of one model.
///
/// A folder as hubs lay it out: `model.onnx` (or `onnx/model.onnx`), `tokenizer.json`,
/// `config.json`, and where they exist `modules.json`, `1_Pooling/config.json`,
/// `sentence_bert_config.json` and `tokenizer_config.json`.
#[derive(Clone, Debug)]
pub struct ModelFolder {
    folder: PathBuf,
    model: PathBuf,
}

impl ModelFolder {
    /// The model in a folder. Nothing is read yet.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let flat = folder.join("model.onnx");
        let nested = folder.join("onnx").join("model.onnx");
        let model = if !flat.is_file() && nested.is_file() { nested } else { flat };
        Self { folder, model }
    }

    /// Takes another file as the model, relative to the folder: `model_int8.onnx`.
    #[must_use]
    pub fn model(mut self, file: impl AsRef<Path>) -> Self {
        self.model = self.folder.join(file);
        self
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The file of the model.
    pub fn model_file(&self) -> &Path {
        &self.model
    }

    /// The file of the tokenizer.
    pub fn tokenizer_file(&self) -> PathBuf {
        self.folder.join("tokenizer.json")
    }

    /// What the model is called.
    pub(crate) fn name(&self) -> String {
        self.names().into_iter().next().unwrap_or_else(|| "model".into())
    }

    /// The folder's name, and that of what it links to. In a hub's cache, where a folder is called by
    /// its commit, the name of the repository.
    pub(crate) fn names(&self) -> Vec<String> {
        let resolved = self.folder.canonicalize().ok();
        [Some(self.folder.as_path()), resolved.as_deref()]
            .into_iter()
            .flatten()
            .filter_map(|folder| of_repository(folder).or_else(|| last_part(folder)))
            .map(str::to_owned)
            .collect()
    }

    /// The steps from text to vector by their names, where `modules.json` lists them.
    ///
    /// # Errors
    /// [`ErrorKind::UnusableModel`] when the file cannot be read.
    pub(crate) fn steps(&self) -> Result<Vec<String>> {
        let modules = json(&self.folder.join("modules.json"))?.unwrap_or_default();
        let types = modules.as_array().into_iter().flatten().filter_map(|one| one["type"].as_str());
        Ok(types.filter_map(|path| path.rsplit('.').next()).map(str::to_owned).collect())
    }

    pub(crate) fn config(&self) -> Result<ModelConfig> {
        let path = self.folder.join("config.json");
        let json = json(&path)?.ok_or_else(|| unusable(&path, "there is no such file"))?;
        let mut config = ModelConfig::of(&json);
        if let Some(json) = self::json(&self.folder.join("sentence_bert_config.json"))? {
            config.limit(json.get("max_seq_length"));
        }
        if let Some(json) = self::json(&self.folder.join("tokenizer_config.json"))? {
            config.limit(json.get("model_max_length"));
        }
        config.pooling = self::json(&self.folder.join("1_Pooling").join("config.json"))?;
        Ok(config)
    }
}

/// `NAME` of `models--OWNER--NAME/snapshots/COMMIT`.
fn of_repository(folder: &Path) -> Option<&str> {
    let snapshots = folder.parent().filter(|parent| last_part(parent) == Some("snapshots"))?;
    let repository = last_part(snapshots.parent()?)?.strip_prefix("models--")?;
    repository.rsplit("--").next()
}

fn last_part(path: &Path) -> Option<&str> {
    path.file_name().and_then(|name| name.to_str())
}

/// What the files of a model say beside the model itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelConfig {
    /// Numbers per token.
    pub(crate) hidden: Option<usize>,
    /// Rows of the table of tokens.
    pub(crate) vocabulary: Option<usize>,
    /// The longest row, in tokens.
    pub(crate) longest: usize,
    /// The token that fills rows.
    pub(crate) pad: Option<u32>,
    /// The classes, by their number.
    #[allow(dead_code, reason = "for classifiers")]
    pub(crate) labels: Vec<String>,
    /// How sentence-transformers pools.
    pub(crate) pooling: Option<Value>,
}

/// The longest row of a model whose files name no limit.
const USUAL_LONGEST: usize = 512;

impl ModelConfig {
    fn of(json: &Value) -> Self {
        let number = |name: &str| json[name].as_u64().and_then(|n| usize::try_from(n).ok());
        let pad = json["pad_token_id"].as_u64().and_then(|id| u32::try_from(id).ok());
        // RoBERTa counts positions from the one after the padding token's number, and MPNet too.
        let skipped = match json["model_type"].as_str() {
            Some("roberta" | "xlm-roberta" | "camembert" | "mpnet") => {
                usize::try_from(pad.unwrap_or(1)).unwrap_or(1) + 1
            }
            _ => 0,
        };
        let longest = number("max_position_embeddings")
            .map(|positions| positions.saturating_sub(skipped))
            .filter(|positions| *positions > 0);
        Self {
            hidden: number("hidden_size").or_else(|| number("dim")),
            vocabulary: number("vocab_size"),
            longest: longest.unwrap_or(USUAL_LONGEST),
            pad,
            labels: labels(&json["id2label"]),
            pooling: None,
        }
    }

    fn limit(&mut self, longest: Option<&Value>) {
        if let Some(longest) = longest.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok())
        {
            self.longest = self.longest.min(longest.max(1));
        }
    }
}

/// The labels in the order of their numbers, when the numbers are 0, 1, 2 and so on.
fn labels(map: &Value) -> Vec<String> {
    let Some(map) = map.as_object() else { return Vec::new() };
    let label = |number: usize| map.get(&number.to_string())?.as_str().map(str::to_owned);
    (0..map.len()).map(label).collect::<Option<_>>().unwrap_or_default()
}

fn json(path: &Path) -> Result<Option<Value>> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unusable(path, "it cannot be read").caused_by(error)),
    };
    match serde_json::from_slice(&bytes) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(unusable(path, "it is not JSON").caused_by(error)),
    }
}

/// A file of a model that cannot be used.
pub(crate) fn unusable(path: &Path, wrong: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::UnusableModel, format!("open the model file `{}`", path.display()), wrong)
        .next("pull the model again with `kuhaku models pull`, or name the folder of another")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn positions_that_roberta_skips_are_not_counted() {
        let bert = json!({"model_type": "bert", "max_position_embeddings": 512});
        assert_eq!(ModelConfig::of(&bert).longest, 512);
        let xlmr = json!({"model_type": "xlm-roberta", "max_position_embeddings": 514,
                          "pad_token_id": 1});
        assert_eq!(ModelConfig::of(&xlmr).longest, 512);
        let mut none = ModelConfig::of(&json!({}));
        none.limit(Some(&json!(1e30)));
        assert_eq!(none.longest, 512);
        none.limit(Some(&json!(256)));
        assert_eq!(none.longest, 256);
    }

    #[test]
    fn a_folder_in_a_hubs_cache_is_called_by_its_repository_not_by_its_commit() {
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let name = |folder: &str| ModelFolder::new(folder).name();
        let hub = format!("hub/models--intfloat--multilingual-e5-small/snapshots/{commit}");
        assert_eq!(name(&hub), "multilingual-e5-small");
        assert_eq!(name("models/bge-m3/"), "bge-m3");
        assert_eq!(name(&format!("snapshots/{commit}")), commit);
        let here = std::env::current_dir().unwrap();
        assert_eq!(Some(name(".").as_str()), last_part(&here));
    }

    #[test]
    fn labels_come_in_the_order_of_their_numbers() {
        let map = json!({"10": "k", "0": "a", "1": "b", "2": "c", "3": "d", "4": "e", "5": "f",
                         "6": "g", "7": "h", "8": "i", "9": "j"});
        assert_eq!(labels(&map).concat(), "abcdefghijk");
        assert!(labels(&json!({"1": "a"})).is_empty());
    }
}
