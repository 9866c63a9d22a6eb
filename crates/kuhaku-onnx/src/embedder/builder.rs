//! From a model's files to an embedder.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use kuhaku_core::Runtime;

use super::OnnxEmbedder;
use super::family::{Family, Pooling};
use super::fingerprint::{of_files, with_weights};
use super::long_text::{LongText, Reading};
use crate::error::{Error, ErrorKind, Result};
use crate::library::OnnxRuntime;
use crate::model::{Head, Model, ModelConfig, ModelFolder, Options, option_setters, unusable};
use crate::settings::OnnxSettings;

/// How an embedder is opened. Made by [`OnnxEmbedder::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct OnnxEmbedderBuilder {
    folder: ModelFolder,
    id: Option<String>,
    family: Option<Family>,
    pooling: Option<Pooling>,
    prefixes: Option<(String, String)>,
    longest: Option<usize>,
    long_text: LongText,
    checksum: Option<String>,
    options: Options,
}

impl OnnxEmbedderBuilder {
    pub(super) fn new(folder: ModelFolder) -> Self {
        Self {
            folder,
            id: None,
            family: None,
            pooling: None,
            prefixes: None,
            longest: None,
            long_text: LongText::default(),
            checksum: None,
            options: Options::default(),
        }
    }

    /// The model's name, in the fingerprint. The folder's name unless set; in a hub's cache that of
    /// the repository.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// What the model was trained with. Unless set, what the first of these names says: the
    /// [`id`](Self::id), the folder's, that of what the folder links to.
    pub fn family(mut self, family: Family) -> Self {
        self.family = Some(family);
        self
    }

    /// How token vectors become one. As the model's `1_Pooling/config.json` says unless set, else as
    /// its family does.
    pub fn pooling(mut self, pooling: Pooling) -> Self {
        self.pooling = Some(pooling);
        self
    }

    /// What goes before a document and before a query. As its family has it unless set.
    pub fn prefixes(mut self, document: impl Into<String>, query: impl Into<String>) -> Self {
        self.prefixes = Some((document.into(), query.into()));
        self
    }

    /// The longest text in tokens, if less than what the model takes.
    pub fn longest(mut self, tokens: usize) -> Self {
        self.longest = Some(tokens);
        self
    }

    /// What becomes of longer texts. Refused unless set.
    pub fn long_text(mut self, long_text: LongText) -> Self {
        self.long_text = long_text;
        self
    }

    /// The SHA-256 of the model's file where it is known and was checked: spares reading the file
    /// once more for the fingerprint. 64 hexadecimal digits. Not used for a model with weights in
    /// files of their own, which it does not cover.
    pub fn checksum(mut self, sha256: impl Into<String>) -> Self {
        self.checksum = Some(sha256.into());
        self
    }

    option_setters!();

    /// Takes what is set, long texts included.
    pub fn settings(mut self, settings: &OnnxSettings) -> Self {
        self.options = settings.options();
        self.long_text = settings.long_text;
        self
    }

    /// Opens it. Blocks while the model is read, for about a second per gigabyte: in an async
    /// program call it where blocking is allowed.
    ///
    /// # Errors
    /// [`ErrorKind::UnusableModel`] when a file is missing or broken, takes or gives something else
    /// than embedders do, or belongs to another model; [`ErrorKind::DeviceUnavailable`];
    /// [`ErrorKind::OutOfMemory`]; [`kuhaku_core::ErrorKind::InvalidInput`] when windows would
    /// overlap whole, or the checksum is none.
    pub fn open(self, onnx: &OnnxRuntime, runtime: &Runtime) -> Result<OnnxEmbedder> {
        self.check_checksum()?;
        self.check_steps()?;
        let id = self.id.clone().unwrap_or_else(|| self.folder.name());
        let names = [&[id.clone()][..], &self.folder.names()].concat();
        let name = names.iter().find(|name| Family::of(name) != Family::Plain).unwrap_or(&id);
        let family = self.family.unwrap_or_else(|| Family::of(name));
        let pooling = self.pooled_by(family, &self.folder.config()?)?;
        let head = match pooling {
            Pooling::Mean => Head::Mean,
            Pooling::Cls => Head::Cls,
        };
        // Large files take as long to sum up as to load.
        let (model, hashes) = thread::scope(|scope| {
            let hashes = scope.spawn(|| self.hashes());
            (Model::open(onnx, &self.folder, head, &self.options), hashes.join())
        });
        let model = model?;
        let (file, tokenizer) = hashes.unwrap_or_else(|_| {
            let path = self.folder.model_file();
            Err(unusable(path, "its bytes could not be summed up"))
        })?;
        let longest = [self.longest, family.longest(name), Some(model.config().longest)];
        let longest = longest.into_iter().flatten().min().unwrap_or(1).max(1);
        let (before_document, before_query) = match &self.prefixes {
            Some((document, query)) => (document.as_str(), query.as_str()),
            None => (family.document_prefix(), family.query_prefix()),
        };
        let reading =
            |prefix| Reading::new(model.tokenizer(), prefix, longest, self.long_text).map(Arc::new);
        let (query, document) = (reading(before_query)?, reading(before_document)?);
        let fingerprint = format!(
            "onnx:{id};model={file};tokenizer={tokenizer};dimension={};pooling={};\
             document={before_document:?};query={before_query:?};longest={longest};\
             long_text={:?};trimmed;l2;f32",
            model.width(),
            pooling.as_str(),
            self.long_text,
        );
        let runtime = runtime.clone();
        Ok(OnnxEmbedder { model, runtime, fingerprint, longest, query, document })
    }

    /// A model with a layer behind its pooling has other vectors than what `model.onnx` gives.
    fn check_steps(&self) -> Result<()> {
        let known = ["Transformer", "Pooling", "Normalize", "Dropout"];
        match self.folder.steps()?.iter().find(|step| !known.contains(&step.as_str())) {
            Some(step) => {
                let path = self.folder.path().join("modules.json");
                Err(unusable(&path, format!("it has the step `{step}`, which is not done here")))
            }
            None => Ok(()),
        }
    }

    /// A fingerprint with anything else would be the same for other models.
    fn check_checksum(&self) -> Result<()> {
        let hexadecimal =
            |sum: &String| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.checksum.as_ref().is_none_or(hexadecimal) {
            return Ok(());
        }
        let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
        let tried = "take the checksum of a model as known";
        Err(Error::new(kind, tried, "it is not a SHA-256 of 64 hexadecimal digits")
            .next("give the whole checksum, or none: the file is then read"))
    }

    /// As the caller says, else the model's files, else the family.
    fn pooled_by(&self, family: Family, config: &ModelConfig) -> Result<Pooling> {
        let Some(json) = config.pooling.as_ref().filter(|_| self.pooling.is_none()) else {
            return Ok(self.pooling.unwrap_or(family.pooling()));
        };
        let is = |name: &str| json[name].as_bool().unwrap_or(false);
        match (is("pooling_mode_mean_tokens"), is("pooling_mode_cls_token")) {
            (true, false) => Ok(Pooling::Mean),
            (false, true) => Ok(Pooling::Cls),
            _ => {
                let path = self.folder.path().join("1_Pooling").join("config.json");
                Err(unusable(&path, "it asks for a pooling other than the mean or the first token"))
            }
        }
    }

    /// Of the model's file and of the tokenizer's.
    fn hashes(&self) -> Result<(String, String)> {
        let sum = |files: Vec<PathBuf>| {
            of_files(&files).map_err(|source| {
                let path = files.first().map(|path| path.display().to_string()).unwrap_or_default();
                let tried = format!("read the model file `{path}`");
                Error::new(ErrorKind::UnusableModel, tried, "it cannot be read")
                    .next("check the folder of the model")
                    .caused_by(source)
            })
        };
        let files = with_weights(self.folder.model_file());
        let model = match self.checksum.as_deref().and_then(|known| known.get(..32)) {
            Some(known) if files.len() == 1 => known.to_ascii_lowercase(),
            _ => sum(files)?,
        };
        Ok((model, sum(vec![self.folder.tokenizer_file()])?))
    }
}
