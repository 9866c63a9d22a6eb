//! Structured extraction: free text in, validated fields out, and never a value that the text does
//! not hold.
//!
//! The pipeline comes with the issue "Structured extraction". What stands already are the words in
//! which it reports: how an extraction ended, and where each value came from.
//!
//! ```
//! use kuhaku_extract::{ExtractionStatus, Provenance};
//! assert_eq!(ExtractionStatus::NeedsClarification.as_str(), "needs_clarification");
//! assert!(ExtractionStatus::Blocked > ExtractionStatus::Invalid); // the graver one wins
//! assert_eq!(Provenance::Prior.to_string(), "prior");
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | how it ended | [`ExtractionStatus`] |
//! | where a value came from | [`Provenance`] |
//!
//! # Invariants
//!
//! - R2: this crate needs no index and no provider of its own; it calls whatever implements
//!   [`kuhaku_core::LlmProvider`].
//! - R6: the text, its history and the model's earlier replies enter a prompt through fences only.
//! - R7: errors and issues quote nothing of the text.
//! - A value that is missing, one that is null, one that was refused and one that has no evidence
//!   are four different things.

mod decimal;
mod error;
mod evidence;
mod outcome;
mod reply;
mod schema;

pub use error::{Error, ErrorKind, Result};
pub use evidence::{Evidence, Finding, Source, Span};
pub use outcome::{ExtractionStatus, Provenance};
pub use reply::{
    Parsed, PartialReply, Piece, PieceKind, Repair, RepairKind, ReplyLimits, Unparsed, Verdict,
    parse_reply,
};
pub use schema::{
    Checked, Coerced, Coercion, Draft, Fields, Item, Kind, Leaf, Missing, NumberFormat, Problem,
    Schema, SchemaOptions, TypedSchema,
};
/// The crate whose `JsonSchema` types derive for [`Schema::of`].
pub use schemars;
