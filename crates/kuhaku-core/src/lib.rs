//! The contracts of kuhaku.
//!
//! Everything that more than one kuhaku crate must agree on lives here, and nothing that belongs to
//! one tool (R1). Use this crate to write a provider, an embedder or a store of your own.
//!
//! ```
//! use kuhaku_core::{AccessTags, AuthContext, Roles, Scope};
//!
//! let ada = AuthContext::new("ada", Roles::new(["engineering"]));
//! let salaries = AccessTags::new(["people_ops"])?;
//! assert!(!ada.scope().sees(&salaries));
//! assert!(Scope::anonymous().sees(&AccessTags::none()));
//! # Ok::<(), kuhaku_core::Error>(())
//! ```
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | who may see what | [`AuthContext`], [`Roles`], [`AccessTags`], [`Scope`] |
//! | identities | [`DocumentId`], [`ChunkId`], [`TraceId`] |
//! | errors | [`Failure`], [`Kind`], [`Status`] |
//! | settings | [`settings!`], [`Sources`], [`Section`] |
//! | models | [`LlmProvider`], [`Embedder`], [`Reranker`], [`TextClassifier`] |
//! | prompts | [`Fence`], [`Fenced`], [`one_line`] |
//! | masking | [`Masker`], [`Masked`], [`SpanMap`]; with feature `pii` `PiiMasker`, `Recogniser` |
//! | injection | with feature `guard` `InjectionGuard` |
//! | one record per request | with feature `audit` `AuditLog`, `AuditGuard`, `JsonlSink`, `verify_audit` |
//! | what is used when the settings leave it open | [`Resolver`], [`CandidateSource`], [`Consent`], [`DecisionMemory`] |
//! | calls over the network | with feature `http` `HttpClient`, `SseDecoder`, `LineDecoder`, `Resilience`, `Resilient`, `Fallback` |
//! | downloads, with consent and checked | with feature `http` `Downloader`, `FileDownload`, `Consented`; with `checksum` alone `Sha256` |
//! | clock, random bytes, metrics, announcements | [`Runtime`] |
//! | spans, durations, trace ids | [`Stage`], [`TraceId::bind`] |
//!
//! # Invariants
//!
//! - R1: this crate depends on no other crate of the workspace and names no tool's concept.
//! - R5: there is no default [`Scope`].
//! - R6: only [`Fence::block`] makes a [`Fenced`] text.
//! - R8: an `AuditGuard` hands over one record, however its request ends.
//! - R11: nothing global, nothing printed, nothing read that the caller did not name.
//! - R13: settings are checked together, and unknown names are reported.
//! - R14: every error says what was tried, what is wrong and one next step.

mod access;
#[cfg(feature = "audit")]
mod audit;
mod error;
mod fence;
#[cfg(feature = "guard")]
mod guard;
#[cfg(feature = "http")]
mod http;
mod ids;
mod llm;
mod masking;
mod models;
#[cfg(feature = "pii")]
mod pii;
#[cfg(feature = "http")]
mod resilience;
mod resolution;
mod runtime;
mod settings;
#[cfg(feature = "checksum")]
mod sha256;
mod span_map;
mod telemetry;

pub use access::{
    ACCESS_TAG_INTERNAL, ACCESS_TAG_PUBLIC, ACCESS_TAG_RESTRICTED, AccessTags, AuthContext, Roles,
    Scope,
};
#[cfg(feature = "audit")]
pub use audit::{
    Actor, AuditCheck, AuditCode, AuditDamage, AuditEnds, AuditError, AuditErrorKind, AuditField,
    AuditFinding, AuditGuard, AuditId, AuditKey, AuditLink, AuditLog, AuditLogBuilder, AuditReader,
    AuditRecord, AuditRetention, AuditSink, AuditValue, CallbackSink, ChannelSink, JsonlOptions,
    JsonlSink, MemorySink, Pruned, StoredRecord, Verification, check_audit_path, verify_audit,
};
pub use error::{Error, ErrorKind, Failure, Kind, Result, Status};
pub use fence::{Fence, Fenced, one_line};
#[cfg(feature = "guard")]
pub use guard::{
    Finding, GuardFamily, GuardReason, InjectionGuard, Screening, Verdict, Zone, Zones,
};
#[cfg(feature = "guard-training")]
pub use guard::{GUARD_BUCKETS, GuardReading, GuardVerdict, GuardWeights};
#[cfg(feature = "http")]
pub use http::{
    Consented, DownloadLock, DownloadProgress, Downloaded, Downloader, FileDownload, HttpClient,
    HttpClientBuilder, HttpReply, HttpRequest, HttpStream, LineDecoder, SseDecoder, SseEvent,
    retry_hint_in_text,
};
pub use ids::{ChunkId, DocumentId, TraceId};
pub use jiff::Timestamp;
pub use jiff::civil::Date;
pub use llm::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Finish, LlmProvider, Message,
    ReplyFormat, Role, Usage,
};
pub use masking::{CanonicalText, Masked, Masker, Placeholder, Redactions, mask_field};
pub use models::{Embedder, Probability, Reranker, TextClassifier};
#[cfg(feature = "pii")]
pub use pii::{PiiMasker, Recogniser};
#[cfg(feature = "http")]
pub use resilience::{BreakerPolicy, Fallback, Resilience, Resilient};
pub use resolution::{
    Candidate, CandidateSource, Capability, Consent, ConsentStep, DecisionMemory, NobodyToAsk,
    Readiness, Reason, Resolution, Resolver, may_ask,
};
pub use runtime::{Announcement, Announcer, Clock, Entropy, MetricsSink, Runtime, RuntimeBuilder};
pub use settings::{Field, Problems, Section, SettingValue, Sources, UnknownName, Value};
#[cfg(feature = "checksum")]
pub use sha256::Sha256;
pub use span_map::{SpanMap, SpanMapBuilder};
pub use telemetry::{BoundToTrace, Stage};
