//! Storing documents, many rows to a statement: what a statement costs is its way to the thread of the
//! database and back.

use kuhaku_core::Date;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::codec::encode_words;
use super::failure::storage;
use super::rows::ChangeKind;
use super::vectors;
use crate::document::{ChunkRecord, DocumentRecord};
use crate::error::{Error, Result};
use crate::identity::IdKey;

/// Rows of one statement. Full statements have the same text, so that they are prepared once.
pub(super) const ROWS: usize = 64;

fn written(error: sqlx::Error) -> Error {
    storage("write to the index", error)
}

/// A document on its way into the database.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) row: i64,
    pub(super) record: DocumentRecord,
    /// Per chunk: its encoded terms.
    pub(super) terms: Vec<Vec<u8>>,
}

impl Prepared {
    fn chunks(&self) -> impl Iterator<Item = (i64, u32, &ChunkRecord, &[u8])> {
        let terms = self.terms.iter().map(Vec::as_slice);
        let chunks = (0..).zip(self.record.chunks.iter().zip(terms));
        chunks.map(|(ordinal, (chunk, terms))| (self.row, ordinal, chunk, terms))
    }
}

/// Stores documents with their chunks, and enters them into the log that other processes follow.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    documents: &[Prepared],
    key: &IdKey,
) -> Result<()> {
    let day = |date: Option<Date>| date.map(|date| date.to_string());
    for documents in documents.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new(
            "INSERT INTO documents (row, id, content, doc_type, tags, pinned_tags, effective, \
             expires, obsolete, title, source, text) ",
        );
        statement.push_values(documents, |mut values, Prepared { row, record, .. }| {
            values
                .push_bind(*row)
                .push_bind(record.id.as_str())
                .push_bind(record.content.as_bytes().as_slice())
                .push_bind(&record.doc_type)
                .push_bind(encode_words(record.tags.iter()))
                .push_bind(record.pinned_tags)
                .push_bind(day(record.validity.effective))
                .push_bind(day(record.validity.expires))
                .push_bind(record.validity.obsolete)
                .push_bind(&record.title)
                .push_bind(&record.source)
                .push_bind(record.text.as_str());
        });
        run(connection, statement).await?;
    }
    let metadata: Vec<(i64, &String, &String)> = documents
        .iter()
        .flat_map(|Prepared { row, record, .. }| {
            record.metadata.iter().map(move |(key, value)| (*row, key, value))
        })
        .collect();
    for entries in metadata.chunks(ROWS) {
        let mut statement =
            QueryBuilder::<Sqlite>::new("INSERT INTO metadata (document, key, value) ");
        statement.push_values(entries, |mut values, (row, key, value)| {
            values.push_bind(*row).push_bind(*key).push_bind(*value);
        });
        run(connection, statement).await?;
    }
    let folders: Vec<(i64, &[u8])> = documents
        .iter()
        .flat_map(|Prepared { row, record, .. }| {
            record.folders.iter().map(move |folder| (*row, folder.as_bytes().as_slice()))
        })
        .collect();
    for entries in folders.chunks(ROWS) {
        // Sorted or not, twice or not: a document is in a folder or is not.
        let mut statement =
            QueryBuilder::<Sqlite>::new("INSERT OR IGNORE INTO folders (document, folder) ");
        statement.push_values(entries, |mut values, (row, folder)| {
            values.push_bind(*row).push_bind(*folder);
        });
        run(connection, statement).await?;
    }
    let chunks: Vec<_> = documents.iter().flat_map(Prepared::chunks).collect();
    for chunks in chunks.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new(
            "INSERT INTO chunks (document, ordinal, start, length, page, headings, extra, text, \
             terms) ",
        );
        statement.push_values(chunks, |mut values, (row, ordinal, chunk, terms)| {
            values
                .push_bind(*row)
                .push_bind(*ordinal)
                .push_bind(chunk.range.start as i64)
                .push_bind(chunk.range.len() as i64)
                .push_bind(chunk.page)
                .push_bind(encode_words(chunk.headings.iter().map(String::as_str)))
                .push_bind(&chunk.extra)
                .push_bind(chunk.text.as_ref())
                .push_bind(*terms);
        });
        run(connection, statement).await?;
    }
    vectors::insert(connection, documents, key).await?;
    for (row, ordinal, chunk, _) in chunks {
        let Some(reason) = &chunk.quarantine else { continue };
        sqlx::query(
            "INSERT INTO quarantine (chunk, reason) \
             SELECT row, ? FROM chunks WHERE document = ? AND ordinal = ?",
        )
        .bind(reason)
        .bind(row)
        .bind(ordinal)
        .execute(&mut *connection)
        .await
        .map_err(written)?;
    }
    for documents in documents.chunks(ROWS) {
        let mut statement = QueryBuilder::<Sqlite>::new("INSERT INTO changes (kind, row) ");
        statement.push_values(documents, |mut values, document| {
            values.push_bind(ChangeKind::Store.as_str()).push_bind(document.row);
        });
        run(connection, statement).await?;
    }
    Ok(())
}

pub(super) async fn run(
    connection: &mut SqliteConnection,
    mut statement: QueryBuilder<Sqlite>,
) -> Result<()> {
    statement.build().execute(connection).await.map_err(written)?;
    Ok(())
}
