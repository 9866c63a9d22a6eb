//! From a model's files to a reranker.

use kuhaku_core::Runtime;

use super::OnnxReranker;
use super::pairs::LongPassage;
use crate::error::Result;
use crate::library::OnnxRuntime;
use crate::model::{Head, Model, ModelFolder, Options, option_setters, unusable};
use crate::settings::OnnxSettings;

/// How a reranker is opened. Made by [`OnnxReranker::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct OnnxRerankerBuilder {
    folder: ModelFolder,
    id: Option<String>,
    long: LongPassage,
    options: Options,
}

impl OnnxRerankerBuilder {
    pub(super) fn new(folder: ModelFolder) -> Self {
        let (long, options) = (LongPassage::default(), Options::default());
        Self { folder, id: None, long, options }
    }

    /// What the reranker calls itself, if not by the folder's name.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// What becomes of a passage that is longer than the model takes beside the query.
    pub fn long_passage(mut self, long: LongPassage) -> Self {
        self.long = long;
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
    /// [`UnusableModel`](crate::ErrorKind::UnusableModel) when a file is missing or broken, does not
    /// fit the others, or gives other than one number per pair;
    /// [`DeviceUnavailable`](crate::ErrorKind::DeviceUnavailable);
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub fn open(self, onnx: &OnnxRuntime, runtime: &Runtime) -> Result<OnnxReranker> {
        let model = Model::open(onnx, &self.folder, Head::Logits, &self.options)?;
        if model.width() != 1 {
            let wrong = format!(
                "it gives {} numbers per pair where a reranker gives one: it is a classifier",
                model.width()
            );
            return Err(unusable(self.folder.model_file(), wrong));
        }
        let id = self.id.unwrap_or_else(|| self.folder.name());
        Ok(OnnxReranker { model, id, long: self.long, runtime: runtime.clone() })
    }
}
