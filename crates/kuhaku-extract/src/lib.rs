//! Structured extraction: free text in, validated fields out, and never a value that the text does
//! not hold.
//!
//! Name the fields. What the text states comes back as data that satisfy the schema; what it lacks is
//! asked for, never invented. Nothing is kept between turns: give the last result as prior with the
//! next message, and send its question as long as it has one.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kuhaku_extract::{ExtractRequest, Extractor, Fields, Schema};
//! # use kuhaku_testkit::ScriptedLlm;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> kuhaku_extract::Result<()> {
//! # let model = Arc::new(ScriptedLlm::new([
//! #     r#"{"data": {"product": "tea", "quantity": null}}"#,
//! #     r#"{"data": {"product": null, "quantity": 3}, "new": false}"#,
//! # ]));
//! let schema = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
//! let order = Extractor::builder(schema, model).build()?;
//!
//! let result = order.extract("tea please").await?;
//! assert_eq!(result.status.as_str(), "needs_clarification");
//! assert_eq!(result.question.as_deref(), Some("Could you also tell me: quantity?"));
//!
//! let result = order.extract(ExtractRequest::new("3 boxes").prior(&result)).await?;
//! assert_eq!(result.status.as_str(), "complete");
//! assert_eq!(result.data, Some(serde_json::json!({"product": "tea", "quantity": 3})));
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | what to extract | [`Schema`], [`Fields`], [`TypedSchema`] |
//! | one text | [`Extractor`], [`ExtractRequest`], [`Prior`] |
//! | what comes back | [`Extraction`], [`ExtractionStatus`], [`Issue`], [`FieldReport`], [`Correction`] |
//! | several kinds of text | [`Router`], [`Route`], [`RouteMode`] |
//! | values while the model writes | [`ExtractionStream`], [`ExtractionEvent`] |
//! | many texts | [`Batch`] |
//! | rules of your own | [`Rule`], [`Violation`] |
//! | steps of your own | [`Pipeline`], [`Step`], [`Context`] |
//! | the exact prompt | [`Extractor::preview`], [`Preview`] |
//! | settings | [`ExtractionSettings`], [`SecuritySettings`], [`EvidenceMode`] |
//! | the parts by themselves | [`parse_reply`], [`PartialReply`], [`Evidence`], [`Source`], [`Coercion`] |
//!
//! How a text becomes a result: the steps prepare the prompt (masking and guard first, when they are
//! on), the model is asked, a reply that cannot be used is asked for again and then of the next model,
//! the data are read leniently and checked, put on top of what earlier turns gave, looked up in the
//! text, and held to the rules.
//!
//! # The reply
//!
//! The model is asked for one JSON object. `data` has the values, null where the text has none. In a
//! conversation there are also: `new`, true when the text begins another one; `clear`, a list of JSON
//! Pointers of values that are taken back; `append` and `remove`, lists of objects with `path` and
//! `values` that change known lists. A null or an empty list under `data` leaves the earlier value as it
//! is. With evidence on, `evidence` is a list of objects with `path` and `quote`.
//!
//! # Invariants
//!
//! - R2: this crate needs no index and no provider of its own; it calls whatever implements
//!   [`kuhaku_core::LlmProvider`].
//! - R6: the text, its history and the model's earlier replies enter a prompt through fences only.
//! - R7: errors and issues of this crate quote nothing of the text but keys on paths.
//! - R8: with an audit, every request leaves one record, however it ends.
//! - R12: `request_timeout_seconds` bounds all calls of a request; dropping one ends the call of its
//!   model.
//! - A value that is missing, one that is null, one that was refused and one that has no evidence
//!   are four different things.
//! - A failed turn takes nothing from what is known: [`Extraction::state`] has for each field the last
//!   valid value.

mod ask;
mod audit_file;
mod batch;
mod batch_file;
mod builder;
mod context;
mod decimal;
mod error;
mod evidence;
mod extractor;
mod issue;
mod jsonl;
mod limit;
mod line;
mod merge;
mod nesting;
mod observed;
mod outcome;
mod partials;
mod parts;
mod pipeline;
mod prompt;
mod record;
mod reply;
mod request;
mod result;
mod routing;
mod rule;
mod schema;
mod settings;
mod step;
mod steps;
mod tree;

pub use batch::{Batch, BatchProgress};
pub use builder::ExtractorBuilder;
pub use context::Context;
pub use error::{Error, ErrorKind, Result};
pub use evidence::{DateOrder, Evidence, Finding, Source, Span};
pub use extractor::Extractor;
pub use issue::{Issue, IssueKind};
pub use outcome::{ExtractionStatus, Provenance};
pub use partials::{ExtractionEvent, ExtractionStream};
pub use pipeline::{Pipeline, Place};
pub use prompt::Preview;
pub use reply::{
    Parsed, PartialReply, Piece, PieceKind, Repair, RepairKind, ReplyLimits, Unparsed, Verdict,
    parse_reply,
};
pub use request::{ExtractRequest, Prior};
pub use result::{Correction, Extraction, FieldReport, Grounding, Quote};
pub use routing::{Route, RouteMode, Router, RouterBuilder};
pub use rule::{Rule, Violation};
pub use schema::{
    Checked, Coerced, Coercion, Draft, Fields, Item, Kind, Leaf, Missing, NumberFormat, Problem,
    Schema, SchemaOptions, TypedSchema,
};
/// The crate whose `JsonSchema` types derive for [`Schema::of`].
pub use schemars;
pub use settings::{EvidenceMode, ExtractionSettings, SecuritySettings};
pub use step::{Step, StepError};
