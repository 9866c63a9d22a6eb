//! Whether a database has the tables of an index, and nothing else.

use std::collections::HashMap;

use sqlx::SqliteConnection;

use super::examine::undamaged;
use super::finding::{Finding, FindingKind};
use super::schema;
use crate::error::Result;

/// Kind, name and statement of what a database is made of. What SQLite makes itself is left out.
const PARTS: &str = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema \
                     WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY type, name";

/// Compares with the tables of the current version.
pub(super) async fn examine_tables(connection: &mut SqliteConnection) -> Result<Vec<Finding>> {
    let parts: sqlx::Result<Vec<(String, String, String)>> =
        sqlx::query_as(PARTS).fetch_all(connection).await;
    let Some(parts) = undamaged(parts)? else {
        return Ok(vec![Finding::new(FindingKind::Page, "the list of tables")]);
    };
    let mut own: HashMap<&str, String> = schema::tables().collect();
    let mut findings = Vec::new();
    for (kind, name, statement) in parts {
        match own.remove(name.as_str()).filter(|_| kind == "table") {
            Some(made) if made == schema::packed(&statement) => {}
            Some(_) => findings.push(Finding::new(FindingKind::Table, format!("table {name}"))),
            None => findings.push(Finding::new(FindingKind::Foreign, named(&kind, &name))),
        }
    }
    let mut missing: Vec<&str> = own.into_keys().collect();
    missing.sort_unstable();
    let missing = missing.into_iter().map(|name| format!("table {name}, which is missing"));
    findings.extend(missing.map(|place| Finding::new(FindingKind::Table, place)));
    Ok(findings)
}

/// A name of somebody else's may be any text.
fn named(kind: &str, name: &str) -> String {
    let kind = match kind {
        "table" | "trigger" | "view" | "index" => kind,
        _ => "part",
    };
    let is_plain = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if is_plain { format!("{kind} {name}") } else { format!("{kind} of another name") }
}
