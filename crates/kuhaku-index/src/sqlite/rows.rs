//! Reading and writing the rows of documents.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use kuhaku_core::{AccessTags, Date, DocumentId};
use sqlx::SqliteConnection;

use super::codec::{decode_tags, decode_terms, decode_vector};
use super::failure::{corrupt, storage};
use crate::document::Validity;
use crate::error::{Error, Result};
use crate::identity::ContentHash;
use crate::inverted::{Body, Document, Draft};

const WRITING: &str = "write to the index";
const READING: &str = "read the index";

fn written(error: sqlx::Error) -> Error {
    storage(WRITING, error)
}

fn read(error: sqlx::Error) -> Error {
    storage(READING, error)
}

/// The row that the next document gets.
pub(super) async fn next_row(connection: &mut SqliteConnection) -> Result<i64> {
    let last: Option<i64> =
        sqlx::query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")
            .fetch_optional(connection)
            .await
            .map_err(read)?;
    let next = last.unwrap_or_default().checked_add(1);
    next.ok_or_else(|| corrupt(WRITING, "no numbers of rows are left"))
}

/// What the log says of a document's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// It came.
    Store,
    /// It went.
    Retire,
    /// A chunk of it is no longer held back, or has got a vector.
    Release,
    /// Everything is replaced; of no row.
    Reset,
}

impl ChangeKind {
    const ALL: [Self; 4] = [Self::Store, Self::Retire, Self::Release, Self::Reset];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::Retire => "retire",
            Self::Release => "release",
            Self::Reset => "reset",
        }
    }
}

/// The changes after one of this number, in order.
pub(super) async fn changes(
    connection: &mut SqliteConnection,
    after: i64,
) -> Result<Vec<(ChangeKind, i64)>> {
    let rows: Vec<(String, i64)> =
        sqlx::query_as("SELECT kind, row FROM changes WHERE number > ? ORDER BY number")
            .bind(after)
            .fetch_all(connection)
            .await
            .map_err(read)?;
    let known = |(name, row): (String, i64)| {
        Some((ChangeKind::ALL.into_iter().find(|kind| kind.as_str() == name)?, row))
    };
    let changes: Option<_> = rows.into_iter().map(known).collect();
    changes.ok_or_else(|| corrupt(READING, "its log of changes is unreadable"))
}

/// Empties the log of changes. Their numbers go on.
pub(super) async fn forget_changes(connection: &mut SqliteConnection) -> Result<()> {
    sqlx::query("DELETE FROM changes").execute(connection).await.map_err(written)?;
    Ok(())
}

/// Enters a change into the log that other processes follow.
pub(super) async fn log(
    connection: &mut SqliteConnection,
    kind: ChangeKind,
    row: i64,
) -> Result<()> {
    sqlx::query("INSERT INTO changes (kind, row) VALUES (?, ?)")
        .bind(kind.as_str())
        .bind(row)
        .execute(connection)
        .await
        .map_err(written)?;
    Ok(())
}

/// Hides a document from all who open the index from now on, a time in seconds since 1970.
pub(super) async fn retire(connection: &mut SqliteConnection, row: i64, now: i64) -> Result<()> {
    sqlx::query("INSERT OR IGNORE INTO retired (document, since) VALUES (?, ?)")
        .bind(row)
        .bind(now)
        .execute(&mut *connection)
        .await
        .map_err(written)?;
    log(connection, ChangeKind::Retire, row).await
}

/// Deletes a retired document with everything that belongs to it.
pub(super) async fn delete(connection: &mut SqliteConnection, row: i64) -> Result<()> {
    sqlx::query("DELETE FROM documents WHERE row = ?")
        .bind(row)
        .execute(connection)
        .await
        .map_err(written)?;
    Ok(())
}

/// The ids of documents by their rows; nothing when a row is deleted.
pub(super) async fn ids(
    connection: &mut SqliteConnection,
    gone: &HashSet<i64>,
) -> Result<Option<Vec<DocumentId>>> {
    let mut ids = Vec::with_capacity(gone.len());
    for row in gone {
        let id: Option<String> = sqlx::query_scalar("SELECT id FROM documents WHERE row = ?")
            .bind(row)
            .fetch_optional(&mut *connection)
            .await
            .map_err(read)?;
        let Some(id) = id else { return Ok(None) };
        let id = DocumentId::new(id);
        ids.push(id.map_err(|_| corrupt(READING, "the row of a document is unreadable"))?);
    }
    Ok(Some(ids))
}

/// The retired documents that still have rows, and since when.
pub(super) async fn retired(connection: &mut SqliteConnection) -> Result<Vec<(i64, i64)>> {
    sqlx::query_as("SELECT document, since FROM retired ORDER BY document")
        .fetch_all(connection)
        .await
        .map_err(read)
}

/// Row, id, content hash, type, tags and whether they are pinned, first and last day, whether it is
/// obsolete, and how many chunks it has.
type DocumentRow =
    (i64, String, Vec<u8>, String, String, bool, Option<String>, Option<String>, bool, i64);

/// Document, ordinal, terms, and the hash of what was embedded with the vector.
type ChunkRow = (i64, u32, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);

/// Documents read and decoded at once, between which other tasks get their turn.
const PAGE: i64 = 128;

/// Drafts the documents with rows from `from` to `to`, retired ones left out. Vectors have `dimension`
/// numbers.
pub(super) async fn load(
    connection: &mut SqliteConnection,
    draft: &mut Draft,
    from: i64,
    to: i64,
    dimension: usize,
) -> Result<()> {
    load_with(connection, draft, from, to, dimension, decode_tags).await
}

/// The same with another way to read tags: for a fault.
pub(super) async fn load_with(
    connection: &mut SqliteConnection,
    draft: &mut Draft,
    mut from: i64,
    to: i64,
    dimension: usize,
    tags: fn(&str) -> Option<AccessTags>,
) -> Result<()> {
    loop {
        let documents: Vec<DocumentRow> = sqlx::query_as(
            "SELECT row, id, content, doc_type, tags, pinned_tags, effective, expires, obsolete, \
             (SELECT count(*) FROM chunks c WHERE c.document = documents.row) \
             FROM documents WHERE row BETWEEN ? AND ? AND row NOT IN (SELECT document FROM retired) \
             ORDER BY row LIMIT ?",
        )
        .bind(from)
        .bind(to)
        .bind(PAGE)
        .fetch_all(&mut *connection)
        .await
        .map_err(read)?;
        let Some(last) = documents.last().map(|document| document.0) else { return Ok(()) };
        let metadata: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT document, key, value FROM metadata WHERE document BETWEEN ? AND ? \
             ORDER BY document",
        )
        .bind(from)
        .bind(last)
        .fetch_all(&mut *connection)
        .await
        .map_err(read)?;
        let chunks: Vec<ChunkRow> = sqlx::query_as(
            "SELECT c.document, c.ordinal, c.terms, v.text, v.vector FROM chunks c \
             LEFT JOIN vectors v ON v.chunk = c.row WHERE c.document BETWEEN ? AND ? \
             AND c.row NOT IN (SELECT chunk FROM quarantine) ORDER BY c.document, c.ordinal",
        )
        .bind(from)
        .bind(last)
        .fetch_all(&mut *connection)
        .await
        .map_err(read)?;
        let mut metadata = metadata.into_iter().peekable();
        let mut chunks = chunks.into_iter().peekable();
        for document in documents {
            let row = document.0;
            while metadata.next_if(|(of, _, _)| *of < row).is_some() {}
            let entries = std::iter::from_fn(|| metadata.next_if(|(of, _, _)| *of == row));
            let entries = entries.map(|(_, key, value)| (key, value)).collect();
            draft_document(draft, document, entries, tags)
                .ok_or_else(|| corrupt(READING, "the row of a document is unreadable"))?;
            while chunks.next_if(|(of, ..)| *of < row).is_some() {}
            while let Some((_, ordinal, terms, text, vector)) =
                chunks.next_if(|(of, ..)| *of == row)
            {
                let terms = decode_terms(draft, &terms)
                    .ok_or_else(|| corrupt(READING, "the terms of a chunk are unreadable"))?;
                let vector = text.zip(vector).map(|(text, bytes)| {
                    let vector = decode_vector(&bytes, &text, dimension);
                    vector.ok_or_else(|| corrupt(READING, "the vector of a chunk is unreadable"))
                });
                draft.chunk(ordinal, terms, vector.transpose()?);
            }
        }
        // Numbers are given in order, so no document ever gets the last one.
        from = last
            .checked_add(1)
            .ok_or_else(|| corrupt(READING, "the number of a document's row is out of range"))?;
    }
}

fn draft_document(
    draft: &mut Draft,
    stored: DocumentRow,
    metadata: BTreeMap<String, String>,
    read_tags: fn(&str) -> Option<AccessTags>,
) -> Option<()> {
    let day = |text: Option<String>| match text {
        Some(text) => text.parse::<Date>().ok().map(Some),
        None => Some(None),
    };
    let (row, id, content, doc_type, tags, pinned_tags, effective, expires, obsolete, chunks) =
        stored;
    let validity = Validity::between(day(effective)?, day(expires)?).obsolete(obsolete);
    let document = Document {
        id: DocumentId::new(id).ok()?,
        content: ContentHash::from_bytes(content.try_into().ok()?),
        pinned_tags,
        chunks: u64::try_from(chunks).ok()?,
        doc_type,
        metadata,
        validity,
        body: Body::Row(row),
    };
    draft.document(Arc::new(document), read_tags(&tags)?);
    Some(())
}
