//! From a model's files to a classifier.

use kuhaku_core::Runtime;

use super::OnnxClassifier;
use crate::error::{Error, ErrorKind, Result};
use crate::library::OnnxRuntime;
use crate::model::{Head, Model, ModelFolder, Options, option_setters, unusable};
use crate::settings::OnnxSettings;

/// How many tokens two windows of a long text share unless it is set.
const OVERLAP: usize = 64;

/// How a classifier is opened. Made by [`OnnxClassifier::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct OnnxClassifierBuilder {
    folder: ModelFolder,
    id: Option<String>,
    expected: Option<Vec<String>>,
    overlap: usize,
    options: Options,
}

impl OnnxClassifierBuilder {
    pub(super) fn new(folder: ModelFolder) -> Self {
        let options = Options::default();
        Self { folder, id: None, expected: None, overlap: OVERLAP, options }
    }

    /// What the classifier calls itself, if not by the folder's name.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The labels that the model must have, in any order and case: whoever reads probabilities by
    /// label must not take one for another.
    pub fn expect_labels<L: Into<String>>(mut self, labels: impl IntoIterator<Item = L>) -> Self {
        self.expected = Some(labels.into_iter().map(Into::into).collect());
        self
    }

    /// How many tokens two windows of a long text share, at most half a window; by default 64.
    pub fn overlap(mut self, tokens: usize) -> Self {
        self.overlap = tokens;
        self
    }

    option_setters!();

    /// Takes what is set.
    pub fn settings(mut self, settings: &OnnxSettings) -> Self {
        self.options = settings.options();
        self
    }

    /// Opens the model and runs one row through it. Blocks while the file is read.
    ///
    /// # Errors
    /// [`UnusableModel`](ErrorKind::UnusableModel) when a file is missing or broken or does not fit
    /// the others, when `config.json` does not name a label for each number that the model gives, or
    /// names others than expected; [`DeviceUnavailable`](ErrorKind::DeviceUnavailable);
    /// [`OutOfMemory`](ErrorKind::OutOfMemory).
    pub fn open(self, onnx: &OnnxRuntime, runtime: &Runtime) -> Result<OnnxClassifier> {
        let model = Model::open(onnx, &self.folder, Head::Logits, &self.options)?;
        let labels = model.config().labels.clone();
        self.check(&labels, model.width())?;
        let id = self.id.unwrap_or_else(|| self.folder.name());
        Ok(OnnxClassifier { model, id, labels, overlap: self.overlap, runtime: runtime.clone() })
    }

    fn check(&self, labels: &[String], width: usize) -> Result<()> {
        let path = self.folder.path().join("config.json");
        if labels.len() != width || width < 2 {
            let named = labels.len();
            let wrong =
                format!("its id2label names {named} labels; the model gives {width} numbers");
            return Err(unusable(&path, wrong));
        }
        let names = sorted(labels);
        if names.iter().zip(names.iter().skip(1)).any(|(one, next)| one == next) {
            let wrong = format!("its id2label names a label twice: {}", labels.join(", "));
            return Err(unusable(&path, wrong));
        }
        let Some(expected) = &self.expected else { return Ok(()) };
        if sorted(expected) != names {
            let wrong = format!(
                "the model's labels are {}, not {}",
                labels.join(", "),
                expected.join(", ")
            );
            let tried = format!("open the classifier `{}`", self.folder.path().display());
            return Err(Error::new(ErrorKind::UnusableModel, tried, wrong)
                .next("name the labels that this model has, or take the model that was meant"));
        }
        Ok(())
    }
}

fn sorted(labels: &[String]) -> Vec<String> {
    let mut labels: Vec<String> = labels.iter().map(|label| label.to_lowercase()).collect();
    labels.sort_unstable();
    labels
}
