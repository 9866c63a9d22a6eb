//! Reading a whole document back, as it was stored.

use std::collections::BTreeMap;

use kuhaku_core::{Date, DocumentId, Masked};
use sqlx::SqliteConnection;

use super::codec::{decode_tags, decode_words};
use super::failure::{corrupt, storage};
use crate::document::{ChunkRecord, DocumentRecord, Validity};
use crate::error::{Error, Result};
use crate::identity::{ContentHash, FolderHash};

const TRIED: &str = "read a stored document";

/// Id, content hash, type, tags and whether they are pinned, first and last day, whether it is
/// obsolete, title, source, text.
type DocumentRow = (
    String,
    Vec<u8>,
    String,
    String,
    bool,
    Option<String>,
    Option<String>,
    bool,
    String,
    String,
    String,
);

/// Start, length, page, headings, extra words, own text, and why it is held back.
type ChunkRow = (i64, i64, Option<u32>, String, String, Option<String>, Option<String>);

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

fn unreadable() -> Error {
    corrupt(TRIED, "its row is unreadable")
}

/// The document of a row, retired or not, without its vectors; nothing when there is no such row.
pub(super) async fn record_at(
    connection: &mut SqliteConnection,
    row: i64,
) -> Result<Option<DocumentRecord>> {
    let stored: Option<DocumentRow> = sqlx::query_as(
        "SELECT id, content, doc_type, tags, pinned_tags, effective, expires, obsolete, title, \
         source, text FROM documents WHERE row = ?",
    )
    .bind(row)
    .fetch_optional(&mut *connection)
    .await
    .map_err(failed)?;
    let Some(stored) = stored else { return Ok(None) };
    let metadata: Vec<(String, String)> =
        sqlx::query_as("SELECT key, value FROM metadata WHERE document = ?")
            .bind(row)
            .fetch_all(&mut *connection)
            .await
            .map_err(failed)?;
    let folders: Vec<Vec<u8>> =
        sqlx::query_scalar("SELECT folder FROM folders WHERE document = ? ORDER BY folder")
            .bind(row)
            .fetch_all(&mut *connection)
            .await
            .map_err(failed)?;
    let chunks: Vec<ChunkRow> = sqlx::query_as(
        "SELECT c.start, c.length, c.page, c.headings, c.extra, c.text, q.reason FROM chunks c \
         LEFT JOIN quarantine q ON q.chunk = c.row WHERE c.document = ? ORDER BY c.ordinal",
    )
    .bind(row)
    .fetch_all(&mut *connection)
    .await
    .map_err(failed)?;
    let mut record = document(stored).ok_or_else(unreadable)?;
    record.metadata = BTreeMap::from_iter(metadata);
    let folder = |bytes: Vec<u8>| bytes.try_into().ok().map(FolderHash::from_bytes);
    record.folders =
        folders.into_iter().map(folder).collect::<Option<_>>().ok_or_else(unreadable)?;
    record.chunks = chunks.into_iter().map(chunk).collect::<Option<_>>().ok_or_else(unreadable)?;
    Ok(Some(record))
}

fn document(stored: DocumentRow) -> Option<DocumentRecord> {
    let (
        id,
        content,
        doc_type,
        tags,
        pinned_tags,
        effective,
        expires,
        obsolete,
        title,
        source,
        text,
    ) = stored;
    let day = |text: Option<String>| text.map(|text| text.parse::<Date>()).transpose().ok();
    let content = ContentHash::from_bytes(content.try_into().ok()?);
    // Stored text has passed a masker on its way in.
    let text = Masked::replacing(&text, Vec::new()).canonical();
    Some(DocumentRecord {
        doc_type,
        tags: decode_tags(&tags)?,
        pinned_tags,
        validity: Validity::between(day(effective)?, day(expires)?).obsolete(obsolete),
        title,
        source,
        ..DocumentRecord::new(DocumentId::new(id).ok()?, content, text)
    })
}

fn chunk(stored: ChunkRow) -> Option<ChunkRecord> {
    let (start, length, page, headings, extra, text, quarantine) = stored;
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    let headings = decode_words(&headings)?;
    Some(ChunkRecord { range: start..end, text, headings, extra, page, quarantine, vector: None })
}
