//! The store that the heads read from.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use kuhaku_core::Scope;

use crate::error::Result;

/// One search of one head.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeadQuery {
    /// The words, as a person writes them.
    pub text: String,
    /// How many hits at most; 0 gives none.
    pub limit: usize,
    /// When the search must have ended.
    pub deadline: Option<Instant>,
}

impl HeadQuery {
    /// A search without deadline.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self { text: text.into(), limit, deadline: None }
    }

    /// Sets when the search must have ended.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.deadline = Some(deadline);
        self
    }
}

/// Where a text came from, and so how far it is trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Trust {
    /// The user's own corpus.
    #[default]
    Local,
    /// The open web.
    Web,
}

/// A text that a backend found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BackendHit {
    /// Identifies the text in the backend; hits of several heads are joined by it. A store that
    /// knows texts only uses a hash of the text (D37).
    pub id: String,
    /// The text.
    pub text: String,
    /// Where it came from, as shown to people; empty when unknown.
    pub source: String,
    /// The backend's own score: finite, higher is better, comparable within one list only.
    /// Absent when the backend has none.
    pub score: Option<f64>,
    /// How far it is trusted.
    pub trust: Trust,
}

impl BackendHit {
    /// A local text without score and source.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            text: text.into(),
            source: String::new(),
            score: None,
            trust: Trust::Local,
        }
    }

    /// Sets where it came from.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the score; one that is not finite counts as none.
    #[must_use]
    pub fn score(mut self, score: f64) -> Self {
        self.score = score.is_finite().then_some(score);
        self
    }

    /// Sets how far it is trusted.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }
}

/// A store, seen through one scope. Lists are best first and hold each id once.
///
/// Whatever it returns is the same as if the texts outside its scope did not exist (R4): that is
/// the promise of the backend, and the heads cannot check it. The heads ask at the same time, and
/// dropping a future cancels its search (R12).
#[async_trait]
pub trait SearchBackend: Send + Sync + fmt::Debug {
    /// The scope that the backend was made with; [`Scope::anonymous`] where nothing is tagged.
    fn scope(&self) -> &Scope;

    /// Searches by meaning.
    async fn semantic(&self, query: &HeadQuery) -> Result<Vec<BackendHit>>;

    /// Searches by words.
    async fn keyword(&self, query: &HeadQuery) -> Result<Vec<BackendHit>>;

    /// Searches by both.
    async fn hybrid(&self, query: &HeadQuery) -> Result<Vec<BackendHit>>;

    /// Searches in the way kept for corrections; `None` when there is no such way.
    async fn crag(&self, query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
        let _ = query;
        Ok(None)
    }

    /// Searches along links between texts; `None` when there are none.
    async fn graph(&self, query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
        let _ = query;
        Ok(None)
    }

    /// Puts the question in words that the store knows better; `None` leaves it as it is.
    async fn rewrite(&self, question: &str) -> Result<Option<String>> {
        let _ = question;
        Ok(None)
    }
}

macro_rules! through {
    ($pointer:ident) => {
        #[async_trait]
        impl<B: SearchBackend + ?Sized> SearchBackend for $pointer<B> {
            fn scope(&self) -> &Scope {
                (**self).scope()
            }

            async fn semantic(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
                (**self).semantic(query).await
            }

            async fn keyword(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
                (**self).keyword(query).await
            }

            async fn hybrid(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
                (**self).hybrid(query).await
            }

            async fn crag(&self, query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
                (**self).crag(query).await
            }

            async fn graph(&self, query: &HeadQuery) -> Result<Option<Vec<BackendHit>>> {
                (**self).graph(query).await
            }

            async fn rewrite(&self, question: &str) -> Result<Option<String>> {
                (**self).rewrite(question).await
            }
        }
    };
}
through!(Arc);
through!(Box);
