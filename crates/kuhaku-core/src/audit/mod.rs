//! The audit: one record per request, however it ends (R8), in a log that shows tampering.
//!
//! An [`AuditGuard`] stands for a request and hands over one [`AuditRecord`] when it is finished or
//! dropped. An [`AuditLog`] takes records without waiting and passes them to an [`AuditSink`] on a
//! thread of its own (D36). [`JsonlSink`] appends lines that are chained by keyed hashes;
//! [`AuditReader`] shows them and [`verify_audit`] checks them. A sink for another store keeps the same
//! chain with [`AuditEnds`], and checks it with [`AuditCheck`].
//!
//! Records hold no raw content (R7): codes are constants of the program, ids are restricted, the
//! input appears as a keyed hash and as a short excerpt that a masker has made.

mod anchor;
mod chain;
mod check;
mod code;
mod ends;
mod error;
mod files;
mod guard;
mod jsonl;
mod key;
mod lines;
mod log;
mod prune;
mod queue;
mod reader;
mod record;
mod retention;
mod sink;
mod value;
mod verify;

pub use self::chain::{AuditDamage, AuditFinding, AuditLink};
pub use self::check::AuditCheck;
pub use self::code::{AuditCode, AuditId};
pub use self::ends::AuditEnds;
pub use self::error::{AuditError, AuditErrorKind};
pub use self::guard::AuditGuard;
pub use self::jsonl::{JsonlOptions, JsonlSink, check_audit_path};
pub use self::key::AuditKey;
pub use self::log::{AuditLog, AuditLogBuilder};
pub use self::prune::Pruned;
pub use self::reader::{AuditReader, StoredRecord};
pub use self::record::{Actor, AuditRecord};
pub use self::retention::AuditRetention;
pub use self::sink::{AuditSink, CallbackSink, ChannelSink, MemorySink};
pub use self::value::{AuditField, AuditValue};
pub use self::verify::{Verification, verify_audit};

use self::error::Result;
