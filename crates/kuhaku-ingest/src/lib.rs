//! From files to chunks: text that can be found, quoted and traced back.
//!
//! A [`Preparer`] takes one document in and hands out what an index stores: masked canonical text,
//! chunks that are byte ranges of it, the headings and pages they stand under, what the document
//! says about itself, and what its owner should look at. [`walk`] finds the files.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kuhaku_core::{InjectionGuard, PiiMasker};
//! use kuhaku_ingest::{ChunkSize, Chunker, Preparer, Source};
//!
//! let chunker = Chunker::paragraph(ChunkSize::characters(500, 80)?);
//! let preparer = Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), chunker);
//!
//! let file = "---\naccess_tags: [hr]\nowner: people team\n---\n# Leave\n\nTwenty-five days a year.";
//! let document = preparer.prepare(Source::from_bytes("leave.md", file))?;
//!
//! assert_eq!(document.title, "Leave");
//! assert_eq!(document.chunk_text(&document.chunks[0]), "# Leave\n\nTwenty-five days a year.");
//! assert_eq!(document.tags.unwrap().iter().collect::<Vec<_>>(), ["hr"]);
//! assert_eq!(document.metadata["owner"], "people team");
//! # Ok::<(), kuhaku_ingest::Error>(())
//! ```
//!
//! A folder is the same in a loop; a file that fails is one entry, and the rest go on:
//!
//! ```
//! # use std::sync::Arc;
//! # use kuhaku_core::{InjectionGuard, PiiMasker};
//! use kuhaku_ingest::{Chunker, Found, Preparer, Source, WalkOptions, read_limited, walk};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("leave.md"), "# Leave")?;
//! # let preparer = Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), Chunker::default());
//! let options = WalkOptions::default().glob("*.md");
//! let mut titles = Vec::new();
//! for found in walk([folder.path()], &options)? {
//!     let Found::File(file) = found else { continue };
//!     let bytes = read_limited(&file.path, options.max_bytes)?;
//!     let name = file.relative.to_string_lossy();
//!     match preparer.prepare(Source::from_bytes(name, bytes)) {
//!         Ok(document) => titles.push(document.title),
//!         Err(error) => eprintln!("{error}"),
//!     }
//! }
//! assert_eq!(titles, ["Leave"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | files below paths | [`walk`], [`WalkOptions`], [`Found`] |
//! | a file's bytes, no more than allowed | [`read_limited`] |
//! | a document, ready to be indexed | [`Preparer`], [`Source`], [`PreparedDocument`], [`Warning`] |
//! | only its text and parts, not masked | [`load`], [`load_text`], [`LoadedDocument`], [`Block`] |
//! | only chunks | [`Chunker`], [`ChunkSize`], [`Chunk`] |
//!
//! # What a document may say about itself
//!
//! Between two lines of three hyphens at its top, as `key: value`:
//!
//! | key | value |
//! |---|---|
//! | `title`, `doc_type` | text |
//! | `access_tags` | a name, or a list of names; an empty list is for everybody |
//! | `effective_date`, `expiry_date` | the first and the last day on which it holds, `YYYY-MM-DD` |
//! | `obsolete` | `true` or `false` |
//! | any other | text or a list; kept as metadata |
//!
//! Only `access_tags` restricts who sees a document. `tags`, `roles`, `access`, `acl`, `permissions`
//! and `visibility` are metadata like any other; without `access_tags` they give a [`Warning`]. A line
//! at the head of a document that seems to state access tags anywhere else (behind a mark that hides
//! the fence, inside a map, under a misspelt key) makes the document an error.
//!
//! Dates and `obsolete` are also read from a line such as
//! `**Metadata:** effective_date: 2026-01-01 · obsolete: false`.
//!
//! # Invariants
//!
//! - R7: all text in a [`PreparedDocument`] has passed the masker, and is cut only afterwards. No
//!   error and no warning holds content or paths.
//! - R11: nothing is printed, and nothing is written.
//! - R14: every error says what was tried, what is wrong and one next step.
//! - Access tags that cannot be understood, or that seem to stand where they are not read, are an
//!   error, never no tags.
//! - One file's problem is one entry; nothing from outside panics, and time is linear in the text.
//! - No document gives more than [`MAX_CHUNKS`] chunks.
//! - A document that looks suspicious is never refused: its suspicious chunks are marked.
//!
//! This crate knows nothing of stores, ids, scopes or models.

mod chunk;
mod error;
mod format;
mod load;
mod prepare;
mod read;
mod source;
mod walk;
mod warning;

pub use chunk::{Chunk, ChunkSize, ChunkUnit, Chunker};
pub use error::{Error, ErrorKind, Result};
pub use format::Format;
pub use load::{Block, BlockKind, FrontMatter, FrontValue, LoadedDocument, load, load_text};
pub use prepare::{MAX_CHUNKS, PreparedDocument, Preparer, StatedValidity};
pub use read::{DEFAULT_MAX_BYTES, read_limited};
pub use source::Source;
pub use walk::{Found, FoundFile, SkipReason, WalkOptions, walk};
pub use warning::Warning;
