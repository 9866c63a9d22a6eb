//! HydRAG: several retrieval heads, a judge between them, and fallbacks when the first evidence does
//! not suffice.
//!
//! The heads come with the issue "HydRAG". What stands already is the contract of the store they
//! read from: a [`SearchBackend`] is made for one scope and answers by meaning, by words, or by both.
//!
//! ```
//! use async_trait::async_trait;
//! use kuhaku_hydrag::{BackendHit, HeadQuery, Result, Scope, SearchBackend};
//!
//! /// Finds notes by a word in them; knows no other way.
//! #[derive(Debug)]
//! struct Notes {
//!     scope: Scope,
//!     texts: Vec<String>,
//! }
//!
//! #[async_trait]
//! impl SearchBackend for Notes {
//!     fn scope(&self) -> &Scope {
//!         &self.scope
//!     }
//!
//!     async fn semantic(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
//!         self.keyword(query).await
//!     }
//!
//!     async fn keyword(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
//!         let found = self.texts.iter().enumerate().filter(|(_, text)| text.contains(&query.text));
//!         let hits = found.map(|(at, text)| BackendHit::new(at.to_string(), text));
//!         Ok(hits.take(query.limit).collect())
//!     }
//!
//!     async fn hybrid(&self, query: &HeadQuery) -> Result<Vec<BackendHit>> {
//!         self.keyword(query).await
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let texts = vec!["the kettle is red".to_string(), "tea at four".to_string()];
//! let notes = Notes { scope: Scope::anonymous(), texts };
//! let hits = notes.keyword(&HeadQuery::new("tea", 5)).await?;
//! assert_eq!(hits[0].id, "1");
//! assert_eq!(notes.graph(&HeadQuery::new("tea", 5)).await?, None); // not supported
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | a store to search | [`SearchBackend`], [`HeadQuery`] |
//! | what it finds | [`BackendHit`], [`Trust`] |
//! | errors | [`Error`], [`ErrorKind`] |
//!
//! # Invariants
//!
//! - R2: this crate knows no index; the umbrella makes a backend of one.
//! - R4, R5: a backend is made for one [`Scope`], and all heads of a request read through it.
//! - R9: fused ranks order and are never read as confidence; a hit keeps its backend's own score.
//! - A backend without scores never ends a search early: a count of hits says nothing (D37).

mod backend;
mod error;

pub use backend::{BackendHit, HeadQuery, SearchBackend, Trust};
pub use error::{Error, ErrorKind, Result};
pub use kuhaku_core::Scope;
