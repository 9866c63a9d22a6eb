//! How an index on disk is opened.

use std::path::PathBuf;

use kuhaku_core::Runtime;

use crate::ann::Ann;
use crate::error::{Error, ErrorKind, Result};
use crate::fault::Seeded;
use crate::fingerprint::{Fingerprint, Language, Tokenizer};
use crate::identity::IdKey;

/// The parts of a [`Fingerprint`] that a caller insists on. Absent means: what the index has, or
/// the default for a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FingerprintParts {
    /// How words are found; `default` for a new index.
    pub tokenizer: Option<Tokenizer>,
    /// The language; `en` for a new index.
    pub language: Option<Language>,
    /// The masker's id; `none` for a new index.
    pub masker: Option<String>,
    /// The chunker with its sizes; `none` for a new index.
    pub chunker: Option<String>,
    /// The embedder's fingerprint, or explicitly none; none for a new index.
    pub embedder: Option<Option<String>>,
    /// How many numbers its vectors have; those of the index when absent.
    pub dimension: Option<usize>,
}

impl From<Fingerprint> for FingerprintParts {
    fn from(whole: Fingerprint) -> Self {
        Self {
            tokenizer: Some(whole.tokenizer),
            language: Some(whole.language),
            masker: Some(whole.masker),
            chunker: Some(whole.chunker),
            embedder: Some(whole.embedder),
            dimension: whole.dimension,
        }
    }
}

impl FingerprintParts {
    /// The fingerprint of a new index.
    pub fn for_new(&self) -> Fingerprint {
        let none = || "none".to_owned();
        let mut fingerprint = Fingerprint::new(
            self.tokenizer.unwrap_or_default(),
            self.language.unwrap_or_default(),
            self.masker.clone().unwrap_or_else(none),
            self.chunker.clone().unwrap_or_else(none),
        );
        fingerprint.embedder = self.embedder.clone().flatten();
        fingerprint.dimension = self.dimension.filter(|_| fingerprint.embedder.is_some());
        fingerprint
    }

    /// Compares with the fingerprint of an index.
    ///
    /// # Errors
    /// [`ErrorKind::FingerprintMismatch`] that names every part that differs, with its settings.
    pub fn check(&self, index: &Fingerprint) -> Result<()> {
        let mut wrong = Vec::new();
        let mut settings: Vec<&str> = Vec::new();
        let mut differs = |part: &str, names: &[&'static str], has: &str, wanted: Option<&str>| {
            if let Some(wanted) = wanted.filter(|wanted| *wanted != has) {
                wrong.push(format!("its {part} is `{has}`, not `{wanted}`"));
                settings.extend_from_slice(names);
            }
        };
        let wanted = self.tokenizer.map(Tokenizer::as_str);
        differs("tokenizer", &["rag.tokenizer"], index.tokenizer.as_str(), wanted);
        let wanted = self.language.map(Language::as_str);
        differs("language", &["rag.language"], index.language.as_str(), wanted);
        differs("masker", &[], &index.masker, self.masker.as_deref());
        let sizes = ["rag.chunk_size", "rag.chunk_overlap", "rag.chunk_unit"];
        differs("chunker", &sizes, &index.chunker, self.chunker.as_deref());
        let name = |embedder: &Option<String>| embedder.clone().unwrap_or_else(|| "none".into());
        let wanted = self.embedder.as_ref().map(name);
        differs("embedder", &[], &name(&index.embedder), wanted.as_deref());
        let number = |dimension: usize| dimension.to_string();
        let has = index.dimension.map_or_else(|| "none".into(), number);
        let wanted = self.dimension.filter(|_| index.embedder.is_some()).map(number);
        differs("dimension of vectors", &[], &has, wanted.as_deref());
        let only_vectors = wrong.iter().all(|wrong| {
            wrong.starts_with("its embedder ") || wrong.starts_with("its dimension of vectors ")
        });
        if wrong.is_empty() {
            return Ok(());
        }
        let masker = self.masker.as_ref().is_some_and(|wanted| *wanted != index.masker);
        let own = match settings.as_slice() {
            [] if masker && wrong.len() == 1 => "run `kuhaku index remask`".to_owned(),
            [] if only_vectors => "run `kuhaku index reembed`".to_owned(),
            [] => "use what the index has".to_owned(),
            names => format!("set `{}` to what the index has", names.join("`, `")),
        };
        Err(Error::new(
            ErrorKind::FingerprintMismatch,
            "open the index with these settings",
            wrong.join(", and "),
        )
        .next(format!("{own}, or run `kuhaku ingest … --reindex`")))
    }
}

/// How to open a [`crate::SqliteIndex`].
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use]
pub struct OpenOptions {
    /// The folder of the index.
    pub directory: PathBuf,
    /// Whether a missing index is made. A folder that is missing too is made for its owner alone
    /// (mode 0700 on Unix). False by default.
    pub create: bool,
    /// What the caller insists on.
    pub fingerprint: FingerprintParts,
    /// The id key of a new index; one is drawn when absent. On an existing index it must be the
    /// stored one.
    pub id_key: Option<IdKey>,
    /// Where random bytes come from.
    pub runtime: Runtime,
    /// How vectors are searched; exactly by default.
    pub ann: Ann,
    pub(super) seeded: Seeded,
}

impl OpenOptions {
    /// Opens what is there, with its own settings.
    pub fn new(directory: impl Into<PathBuf>, runtime: Runtime) -> Self {
        Self {
            directory: directory.into(),
            create: false,
            fingerprint: FingerprintParts::default(),
            id_key: None,
            runtime,
            ann: Ann::Exact,
            seeded: Seeded::default(),
        }
    }

    /// Builds a fault in, for tests that must be able to fail.
    #[cfg(feature = "seeded-faults")]
    pub fn fault(mut self, fault: crate::Fault) -> Self {
        self.seeded = Seeded::with(fault);
        self
    }

    /// Makes the index when it is missing.
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Searches vectors as `ann` says.
    pub fn ann(mut self, ann: Ann) -> Self {
        self.ann = ann;
        self
    }

    /// Insists on parts of the fingerprint.
    pub fn fingerprint(mut self, parts: impl Into<FingerprintParts>) -> Self {
        self.fingerprint = parts.into();
        self
    }

    /// Insists on an id key.
    pub fn id_key(mut self, key: IdKey) -> Self {
        self.id_key = Some(key);
        self
    }
}
