//! Models on this machine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_core::{Embedder, Error, ErrorKind, Problems, Reranker, Runtime, Section as _, Sources};
use kuhaku_onnx::{
    ModelFolder, ModelStatus, ModelStore, OnnxEmbedder, OnnxReranker, OnnxRuntime, OnnxSettings,
    StoreSettings,
};
use kuhaku_rag::RagSettings;

use crate::error::Result;

/// The models of the store, and how they are run. Nothing is ever fetched.
#[derive(Clone, Debug)]
pub(crate) struct LocalModels {
    onnx: OnnxSettings,
    store: StoreSettings,
    home: Option<PathBuf>,
}

/// The files of a model, and what is known of them.
struct Found {
    folder: ModelFolder,
    id: Option<String>,
    /// The sum of the model's file, where it was checked.
    checksum: Option<String>,
}

impl LocalModels {
    /// Reads and checks the settings, and notes what is wrong with them.
    pub(crate) fn read(sources: &Sources, problems: &mut Problems) -> Self {
        let onnx = OnnxSettings::read(sources, problems);
        onnx.check(problems);
        let store = StoreSettings::read(sources, problems);
        store.check(problems);
        Self { onnx, store, home: std::env::home_dir() }
    }

    /// Whether a model and the library that runs it are here, by a look at names and lengths.
    pub(crate) fn has(&self, model: &str) -> bool {
        let here = match folder_named(model) {
            Some(folder) => folder.is_dir(),
            None => self
                .store()
                .is_ok_and(|store| matches!(store.status(model), Ok(ModelStatus::Present { .. }))),
        };
        here && (self.onnx.library.is_some() || self.library().is_ok())
    }

    /// Whether both are here; the error says which is not, and how to get it.
    pub(crate) fn check(&self, model: &str) -> Result<()> {
        if folder_named(model).is_none() {
            // A look: what is here is read and checked when it is opened.
            let store = self.store()?;
            if !matches!(store.status(model)?, ModelStatus::Present { .. }) {
                store.open(model)?;
            }
        }
        if self.onnx.library.is_none() {
            self.library()?;
        }
        Ok(())
    }

    /// Opens an embedder. Blocks for about a second per gigabyte.
    pub(crate) fn embedder(
        &self,
        model: &str,
        settings: &RagSettings,
        runtime: &Runtime,
    ) -> Result<Arc<dyn Embedder>> {
        let Found { folder, id, checksum } = self.find(model)?;
        let mut builder = OnnxEmbedder::builder(folder).settings(&self.onnx);
        if let Some(id) = id {
            builder = builder.id(id);
        }
        if let Some(sum) = checksum {
            builder = builder.checksum(sum);
        }
        let (document, query) =
            (&settings.embedding_document_prefix, &settings.embedding_query_prefix);
        if document.is_some() || query.is_some() {
            builder = builder
                .prefixes(document.clone().unwrap_or_default(), query.clone().unwrap_or_default());
        }
        let embedder = builder.open(&self.run()?, runtime)?;
        let has = embedder.dimension();
        let wanted = settings.embedding_dimension.and_then(|it| usize::try_from(it).ok());
        if let Some(wanted) = wanted.filter(|wanted| *wanted != has) {
            let wrong = format!("rag.embedding_dimension is {wanted}, and its vectors have {has}");
            return Err(Error::new(ErrorKind::InvalidSettings, format!("use {model}"), wrong)
                .next("unset rag.embedding_dimension: a local model has one dimension")
                .into());
        }
        Ok(Arc::new(embedder))
    }

    /// Opens a reranker. Blocks for about a second per gigabyte.
    pub(crate) fn reranker(&self, model: &str, runtime: &Runtime) -> Result<Arc<dyn Reranker>> {
        let Found { folder, id, .. } = self.find(model)?;
        let mut builder = OnnxReranker::builder(folder).settings(&self.onnx);
        if let Some(id) = id {
            builder = builder.id(id);
        }
        Ok(Arc::new(builder.open(&self.run()?, runtime)?))
    }

    fn find(&self, model: &str) -> Result<Found> {
        if let Some(folder) = folder_named(model) {
            return Ok(Found { folder: ModelFolder::new(folder), id: None, checksum: None });
        }
        let stored = self.store()?.open(model)?;
        let folder = ModelFolder::new(stored.folder);
        let file = folder.model_file().file_name().and_then(|name| name.to_str());
        let checked = stored.files.iter().find(|it| it.path.rsplit('/').next() == file);
        let checksum = checked.and_then(|it| it.sha256).map(|sum| sum.to_string());
        Ok(Found { folder, id: Some(stored.name), checksum })
    }

    fn store(&self) -> Result<ModelStore> {
        Ok(ModelStore::new(self.store.clone(), self.home.as_deref())?)
    }

    /// The library of the store.
    fn library(&self) -> Result<PathBuf> {
        Ok(self.store()?.runtime_library()?)
    }

    fn run(&self) -> Result<OnnxRuntime> {
        let places = match self.onnx.library {
            Some(_) => None,
            None => Some(self.library()?),
        };
        Ok(self.onnx.runtime(places)?)
    }
}

/// The folder that a setting names in the place of a model of the store: it begins with `.` or is
/// absolute.
fn folder_named(model: &str) -> Option<PathBuf> {
    let path = Path::new(model);
    (model.starts_with('.') || path.is_absolute()).then(|| path.to_path_buf())
}
