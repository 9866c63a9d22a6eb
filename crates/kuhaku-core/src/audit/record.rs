//! One record: what a line of the log says about a request.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::code::AuditCode;
use super::key::Digest;
use super::value::AuditValue;
use crate::Timestamp;
use crate::access::AuthContext;
use crate::ids::TraceId;
use crate::masking::Masked;

/// The version of the line format. It changes when a key is added, removed or changes its meaning.
const VERSION: u32 = 1;

/// The longest excerpt of an input, in characters.
const MAX_EXCERPT: usize = 100;

/// The longest identity and the longest role, in characters, and how many roles there may be.
const MAX_NAME: usize = 256;
const MAX_ROLES: usize = 256;

/// Who made a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Actor {
    identity: String,
    authenticated: bool,
    roles: Vec<String>,
}

impl Actor {
    /// Whether the application has established who this is. Without a word from it, those who have
    /// an identity count as authenticated.
    #[must_use]
    pub fn authenticated(mut self, authenticated: bool) -> Self {
        self.authenticated = authenticated;
        self
    }
}

impl From<&AuthContext> for Actor {
    fn from(caller: &AuthContext) -> Self {
        Self {
            identity: first(&caller.identity, MAX_NAME),
            authenticated: !caller.identity.is_empty(),
            roles: caller.roles.iter().take(MAX_ROLES).map(|role| first(role, MAX_NAME)).collect(),
        }
    }
}

fn first(text: &str, characters: usize) -> String {
    text.chars().take(characters).collect()
}

/// What is on record about one request. Made by an [`AuditGuard`](super::AuditGuard) only.
///
/// As JSON its keys always stand in this order: `version`, `time` (UTC, milliseconds), `trace_id`,
/// `event`, `outcome`, `actor` (`identity`, `authenticated`, `roles`), `input_hash` (64 hex digits
/// or null), `input_excerpt` (up to 100 characters of masked text, or null), `attributes` (the
/// tool's fields by name), `error` (a code or null).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditRecord {
    version: u32,
    #[serde(serialize_with = "milliseconds")]
    time: Timestamp,
    trace_id: TraceId,
    event: AuditCode,
    outcome: AuditCode,
    actor: Actor,
    #[serde(serialize_with = "hex")]
    input_hash: Option<Digest>,
    input_excerpt: Option<String>,
    attributes: BTreeMap<&'static str, AuditValue>,
    error: Option<AuditCode>,
}

impl AuditRecord {
    /// A request that has begun; until it is told otherwise, it counts as cancelled.
    pub(super) fn begun(event: AuditCode, trace_id: TraceId, actor: Actor) -> Self {
        Self {
            version: VERSION,
            time: Timestamp::UNIX_EPOCH,
            trace_id,
            event,
            outcome: AuditCode::CANCELLED,
            actor,
            input_hash: None,
            input_excerpt: None,
            attributes: BTreeMap::new(),
            error: None,
        }
    }

    pub(super) fn set_actor(&mut self, actor: Actor) {
        self.actor = actor;
    }

    pub(super) fn set_trace_id(&mut self, trace_id: TraceId) {
        self.trace_id = trace_id;
    }

    pub(super) fn set_input(&mut self, hash: Digest, masked: &Masked) {
        self.input_hash = Some(hash);
        self.input_excerpt = Some(first(masked.text(), MAX_EXCERPT));
    }

    pub(super) fn set_attribute(&mut self, name: &'static str, value: AuditValue) {
        self.attributes.insert(name, value);
    }

    pub(super) fn set_error(&mut self, code: AuditCode) {
        self.error = Some(code);
    }

    pub(super) fn end(&mut self, outcome: AuditCode, time: Timestamp) {
        self.outcome = outcome;
        self.time = time;
    }

    /// When the request ended.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// The id of the request, as in the answer and the logs.
    pub fn trace_id(&self) -> &TraceId {
        &self.trace_id
    }

    /// What kind of request it was.
    pub fn event(&self) -> AuditCode {
        self.event
    }

    /// How it ended.
    pub fn outcome(&self) -> AuditCode {
        self.outcome
    }

    /// The code of its error, if it ended in one.
    pub fn error(&self) -> Option<AuditCode> {
        self.error
    }

    /// The first characters of its masked input.
    pub fn input_excerpt(&self) -> Option<&str> {
        self.input_excerpt.as_deref()
    }

    /// The value of a tool's field.
    pub fn attribute(&self, name: &str) -> Option<&AuditValue> {
        self.attributes.get(name)
    }
}

fn milliseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    // A year beyond 9999 cannot be in a `Timestamp`, so the width is fixed.
    let nanoseconds = time.as_nanosecond().div_euclid(1_000_000) * 1_000_000;
    let whole = Timestamp::from_nanosecond(nanoseconds).map_err(S::Error::custom)?;
    serializer.collect_str(&format_args!("{whole:.3}"))
}

fn hex<S: Serializer>(hash: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match hash {
        Some(hash) => serializer.collect_str(hash),
        None => serializer.serialize_none(),
    }
}
