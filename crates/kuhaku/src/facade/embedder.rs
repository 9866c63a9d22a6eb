//! Which embedder an index gets when it is opened.

use std::sync::Arc;

use kuhaku_core::{Announcement, Embedder, Failure, Runtime, Sources};
use kuhaku_index::ChunkIndex;
use kuhaku_rag::{EmbeddingProvider, RagSettings, Strategy};

use crate::embedding::{EmbedderChoice, Unavailable};
use crate::error::{ErrorKind, Result};

/// Where the embedder of an index comes from.
#[derive(Clone, Debug, Default)]
pub(super) enum EmbedderSource {
    /// Nothing was said: the one that the settings name, if they name one.
    #[default]
    Unsaid,
    /// There is none.
    None,
    /// The one that was given.
    Given(Arc<dyn Embedder>),
    /// The one that the settings name or leave open.
    Settings(Box<EmbedderChoice>),
}

impl EmbedderSource {
    /// Whether there was said to be none.
    pub(super) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The same by these settings, announcing through this handle.
    pub(super) fn by(&self, settings: &RagSettings, runtime: &Runtime) -> Result<Self> {
        let choice = match self {
            Self::Settings(choice) => choice.as_ref().clone(),
            // A program that reads no sources has what it gives, and nothing of this machine's.
            Self::Unsaid => EmbedderChoice::from_sources(&Sources::new(), runtime.clone())?,
            said => return Ok(said.clone()),
        };
        let choice = choice.by(settings.clone(), runtime.clone());
        let none = matches!(self, Self::Unsaid) && !choice.is_named();
        Ok(if none { Self::None } else { Self::Settings(Box::new(choice)) })
    }

    /// The embedder for an index: one with the fingerprint that the index has, or any for an index
    /// that holds nothing. One that holds documents without vectors gets none: it is searched by words
    /// until somebody says otherwise. Where `any` embedder will do, the index is to be made anew with
    /// it.
    ///
    /// # Errors
    /// `index.fingerprint_mismatch` when the embedder that was given or named is another one; those
    /// of [`EmbedderChoice::choose`] for one that is named and that the index needs.
    pub(super) async fn of(
        &self,
        index: &dyn ChunkIndex,
        any: bool,
        runtime: &Runtime,
    ) -> Result<Option<Arc<dyn Embedder>>> {
        if matches!(self, Self::None | Self::Unsaid) {
            return Ok(None);
        }
        let has = index.fingerprint().embedder;
        let plain = match &has {
            Some(_) => false,
            None => index.maintenance().statistics().await?.documents > 0,
        };
        match self {
            Self::None | Self::Unsaid => Ok(None),
            Self::Given(_) if plain && !any => {
                announce_plain(runtime);
                Ok(None)
            }
            Self::Given(embedder) => {
                same(has.as_deref(), embedder.fingerprint(), any)?;
                Ok(Some(embedder.clone()))
            }
            Self::Settings(choice) if plain && !(any && choice.is_named()) => {
                plain_by(choice, runtime)
            }
            Self::Settings(choice) => by_choice(choice, has, any, runtime).await,
        }
    }
}

/// An index with documents and without vectors is searched by words.
///
/// # Errors
/// `core.capability_unavailable` when the settings ask for vectors.
fn plain_by(choice: &EmbedderChoice, runtime: &Runtime) -> Result<Option<Arc<dyn Embedder>>> {
    let strategy = choice.settings().retrieval;
    if matches!(strategy, Strategy::Dense | Strategy::Hybrid) {
        let wrong = format!("rag.retrieval is {strategy}, and the index has no vectors");
        let kind = ErrorKind::Core(kuhaku_core::ErrorKind::CapabilityUnavailable);
        return Err(Failure::new(kind, "search by meaning", wrong)
            .next("run `kuhaku index reembed`, or set rag.retrieval to auto")
            .into());
    }
    if choice.is_named() {
        announce_plain(runtime);
    }
    Ok(None)
}

fn announce_plain(runtime: &Runtime) {
    let text = "embedding: the index has no vectors and stays without; `kuhaku index reembed` makes \
                them";
    runtime.announce(&Announcement::new("embedding.plain", text).prominent());
}

async fn by_choice(
    choice: &EmbedderChoice,
    has: Option<String>,
    any: bool,
    runtime: &Runtime,
) -> Result<Option<Arc<dyn Embedder>>> {
    let chosen = choice.choose().await;
    let Some(has) = has else { return chosen };
    let strict = matches!(choice.settings().retrieval, Strategy::Dense | Strategy::Hybrid);
    match chosen {
        Ok(Some(embedder)) if embedder.fingerprint() == has || any => Ok(Some(embedder)),
        Ok(Some(embedder)) if choice.is_named() => {
            same(Some(&has), embedder.fingerprint(), false)?;
            Ok(Some(embedder))
        }
        Ok(other) => {
            // What was left open is no reason not to open the index.
            if choice.provider() != EmbeddingProvider::None {
                let why = match other {
                    Some(other) => format!("the local model is `{}`", other.fingerprint()),
                    None => "no provider is set, and the local model is not there".to_owned(),
                };
                let text = format!(
                    "embedding: the index has vectors of `{has}`, and {why}; searches go by words"
                );
                runtime.announce(&Announcement::new("embedding.other", text).prominent());
            }
            Ok(None)
        }
        Err(error) if strict || any => Err(error),
        Err(error) => {
            let text = format!("embedding: {error}; searches go by words");
            runtime.announce(&Announcement::new("embedding.unavailable", text).prominent());
            Ok(Some(Arc::new(Unavailable::new(has, &error))))
        }
    }
}

/// # Errors
/// `index.fingerprint_mismatch` when the index has vectors of another embedder.
fn same(has: Option<&str>, wanted: &str, any: bool) -> Result<()> {
    match has {
        Some(has) if has != wanted && !any => {
            let kind = ErrorKind::Index(kuhaku_index::ErrorKind::FingerprintMismatch);
            let wrong = format!("its vectors are of `{has}`, and the embedder is `{wanted}`");
            Err(Failure::new(kind, "open the index", wrong)
                .next(
                    "use the embedder that the index was made with, or run `kuhaku index reembed` to \
                     change it",
                )
                .into())
        }
        _ => Ok(()),
    }
}
