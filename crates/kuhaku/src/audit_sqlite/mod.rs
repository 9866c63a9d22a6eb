//! The sink that keeps an audit in one SQLite file: the lines of a JSONL log, chained the same way,
//! beside columns to query by.
//!
//! ```text
//! SELECT time, trace_id, outcome FROM records WHERE event = 'ask' AND time >= '2026-03-01'
//! ```
//!
//! | table | what |
//! |---|---|
//! | `records` | `row`; `line`, as a JSONL log would have it; computed from it `sequence`, `time`, `trace_id`, `event`, `outcome` |
//! | `anchor` | one row: where the chain begins and ends, under the key |
//!
//! Each record is one transaction with the anchor's. The columns cannot differ from the line, since
//! they are nothing but a view of it, and a file with other tables or triggers is refused.

mod connection;
mod database;
mod failure;
mod prune;
mod reader;
mod rows;
mod sink;
mod tables;
mod verify;
mod waiting;

pub use self::reader::SqliteAuditReader;
pub use self::sink::{SqliteSink, SqliteSinkOptions};

type Result<T, E = kuhaku_core::AuditError> = std::result::Result<T, E>;
