//! Stored vectors: each belongs to a chunk, and is known by the hash of what was embedded.

use std::collections::BTreeMap;

use kuhaku_core::{ChunkId, DocumentId};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::SqliteIndex;
use super::codec::{decode_vector, decode_words, encode_vector};
use super::failure::{corrupt, storage};
use super::insert::{Prepared, ROWS, run};
use super::lock::WriteLock;
use super::open::load;
use super::record::record_at;
use super::rows::{self, ChangeKind};
use super::schema;
use super::writer::{check, failed};
use crate::contract::ChunkIndex as _;
use crate::document::{ChunkToEmbed, DocumentRecord};
use crate::error::{Error, Result};
use crate::fingerprint::Space;
use crate::identity::{EmbeddedTextHash, IdKey};
use crate::inverted::Draft;
use crate::vector::Vector;

const READING: &str = "read vectors of the index";

fn read(error: sqlx::Error) -> Error {
    storage(READING, error)
}

fn unreadable() -> Error {
    corrupt(READING, "a stored vector is unreadable")
}

/// Stores the vectors of documents whose chunks are stored.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    documents: &[Prepared],
    key: &IdKey,
) -> Result<()> {
    for Prepared { row, record, .. } in documents {
        if record.chunks.iter().all(|chunk| chunk.vector.is_none()) {
            continue;
        }
        let places: Vec<i64> =
            sqlx::query_scalar("SELECT row FROM chunks WHERE document = ? ORDER BY ordinal")
                .bind(*row)
                .fetch_all(&mut *connection)
                .await
                .map_err(failed)?;
        let chunks = places.into_iter().zip(&record.chunks).filter_map(|(place, chunk)| {
            Some((place, record.embedded_text(chunk, key), chunk.vector.as_ref()?))
        });
        let chunks: Vec<_> = chunks.collect();
        for chunks in chunks.chunks(ROWS) {
            put(connection, chunks).await?;
        }
    }
    Ok(())
}

/// Stores vectors by the rows of their chunks, in the place of those that are there.
async fn put(
    connection: &mut SqliteConnection,
    vectors: &[(i64, EmbeddedTextHash, &Vector)],
) -> Result<()> {
    let mut statement =
        QueryBuilder::<Sqlite>::new("INSERT OR REPLACE INTO vectors (chunk, text, vector) ");
    statement.push_values(vectors, |mut values, (chunk, text, vector)| {
        let text = text.as_bytes().as_slice();
        values.push_bind(*chunk).push_bind(text).push_bind(encode_vector(vector, text));
    });
    run(connection, statement).await
}

/// What a document's vectors are stored as: the ordinals of their chunks, hashes, and bytes.
pub(super) async fn stored(
    connection: &mut SqliteConnection,
    row: i64,
) -> sqlx::Result<Vec<(u32, Vec<u8>, Vec<u8>)>> {
    sqlx::query_as(
        "SELECT c.ordinal, v.text, v.vector FROM vectors v JOIN chunks c ON c.row = v.chunk \
         WHERE c.document = ? ORDER BY c.ordinal",
    )
    .bind(row)
    .fetch_all(connection)
    .await
}

/// Id of the document, ordinal, title, headings, own text, and what lies in the range.
type ChunkRow = (String, u32, String, String, Option<String>, Vec<u8>);

/// Row of the chunk, title, headings, own text, and what lies in the range.
type TextRow = (i64, String, String, Option<String>, Vec<u8>);

fn to_embed(stored: ChunkRow, key: &IdKey) -> Option<ChunkToEmbed> {
    let (document, ordinal, title, headings, own, cut) = stored;
    let id = ChunkId::new(DocumentId::new(document).ok()?, ordinal);
    let headings = decode_words(&headings)?;
    let text = own.or_else(|| String::from_utf8(cut).ok())?;
    let hash = key.embedded_text(&title, &headings, &text);
    Some(ChunkToEmbed { id, title, headings, text, hash })
}

impl SqliteIndex {
    /// A stored document with its vectors.
    pub(super) async fn embedded_record(
        &self,
        connection: &mut SqliteConnection,
        row: i64,
    ) -> Result<Option<DocumentRecord>> {
        let Some(mut record) = record_at(&mut *connection, row).await? else { return Ok(None) };
        let dimension = self.live.generation().space.as_ref().map_or(0, |space| space.dimension);
        for (ordinal, text, bytes) in stored(connection, row).await.map_err(read)? {
            let vector = decode_vector(&bytes, &text, dimension).ok_or_else(unreadable)?;
            if let Some(chunk) = record.chunks.get_mut(ordinal as usize) {
                chunk.vector = Some(vector);
            }
        }
        Ok(Some(record))
    }

    /// See [`crate::Maintenance::adopt_embedder`].
    pub(super) async fn take_embedder(&self, embedder: Option<(String, usize)>) -> Result<()> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin_current().await?;
        let before = self.fingerprint();
        check(&writer.fingerprint, &before)?;
        let fingerprint = before.clone().with_embedder(embedder)?;
        if fingerprint == before {
            return Ok(());
        }
        // The snapshot in the making is of vectors that go.
        writer.kept.stop().await;
        sqlx::query("DELETE FROM vectors").execute(&mut *transaction).await.map_err(failed)?;
        schema::write_fingerprint(&mut transaction, &fingerprint).await?;
        rows::log(&mut transaction, ChangeKind::Reset, 0).await?;
        let generation = load(&mut transaction, fingerprint.space()).await?;
        let publish = || {
            self.live.replace(generation, self.live.drafters());
            self.set_fingerprint(fingerprint.clone());
        };
        self.commit(transaction, Vec::new(), publish).await?;
        writer.fingerprint = fingerprint;
        self.keep_while_open(&mut writer.kept).await;
        Ok(())
    }

    /// See [`crate::Maintenance::without_vector`].
    pub(super) async fn chunks_to_embed(&self, limit: usize) -> Result<Vec<ChunkToEmbed>> {
        let mut connection = self.connection().await?;
        let rows: Vec<ChunkRow> = sqlx::query_as(
            "SELECT d.id, c.ordinal, d.title, c.headings, c.text, \
             substr(CAST(d.text AS BLOB), c.start + 1, c.length) \
             FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE c.row IN (SELECT c.row FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE c.row NOT IN (SELECT chunk FROM vectors) \
             AND d.row NOT IN (SELECT document FROM retired) ORDER BY d.id, c.ordinal LIMIT ?) \
             ORDER BY d.id, c.ordinal",
        )
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await
        .map_err(read)?;
        let chunks = rows.into_iter().map(|row| to_embed(row, &self.id_key));
        chunks
            .collect::<Option<_>>()
            .ok_or_else(|| corrupt("list chunks without vectors", "the row of one is unreadable"))
    }

    /// See [`crate::Maintenance::set_vectors`].
    pub(super) async fn store_vectors(
        &self,
        vectors: Vec<(ChunkId, EmbeddedTextHash, Vector)>,
    ) -> Result<u64> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin_current().await?;
        check(&writer.fingerprint, &self.fingerprint())?;
        let current = self.live.generation();
        let space = current.space.as_ref();
        let mut found = Vec::with_capacity(vectors.len());
        let mut changed = BTreeMap::new();
        for (id, hash, vector) in &vectors {
            let tried = || format!("store the vector of chunk {id}");
            Space::check(space, vector.dimension(), tried)?;
            let known = current.document(id.document());
            let Some(row) = known.and_then(|(document, _)| Self::row(&document.body)) else {
                continue;
            };
            let Some((chunk, text)) = self.embedded(&mut transaction, row, id).await? else {
                continue;
            };
            if text == *hash {
                found.push((chunk, text, vector));
                changed.insert(row, id.document().clone());
            }
        }
        if found.is_empty() {
            return Ok(0);
        }
        for vectors in found.chunks(ROWS) {
            put(&mut transaction, vectors).await?;
        }
        let mut draft = Draft::default();
        let dimension = space.map_or(0, |space| space.dimension);
        for row in changed.keys() {
            rows::log(&mut transaction, ChangeKind::Release, *row).await?;
            rows::load(&mut transaction, &mut draft, *row, *row, dimension).await?;
        }
        let ids: Vec<DocumentId> = changed.into_values().collect();
        let next = current.next(&ids, draft.finish());
        self.commit(transaction, Vec::new(), || self.live.publish(next)).await?;
        self.keep_while_open(&mut writer.kept).await;
        Ok(found.len() as u64)
    }

    /// The row of a chunk of a document's row, and the hash of what is embedded of it.
    async fn embedded(
        &self,
        connection: &mut SqliteConnection,
        document: i64,
        id: &ChunkId,
    ) -> Result<Option<(i64, EmbeddedTextHash)>> {
        let stored: Option<TextRow> = sqlx::query_as(
            "SELECT c.row, d.title, c.headings, c.text, \
             substr(CAST(d.text AS BLOB), c.start + 1, c.length) \
             FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE c.document = ? AND c.ordinal = ?",
        )
        .bind(document)
        .bind(id.ordinal())
        .fetch_optional(connection)
        .await
        .map_err(read)?;
        let Some((row, title, headings, own, cut)) = stored else { return Ok(None) };
        let chunk = (id.document().as_str().to_owned(), id.ordinal(), title, headings, own, cut);
        let chunk = to_embed(chunk, &self.id_key).ok_or_else(|| {
            corrupt("store the vector of a chunk", "the row of the chunk is unreadable")
        })?;
        Ok(Some((row, chunk.hash)))
    }

    /// See [`crate::Maintenance::known_vectors`].
    pub(super) async fn find_vectors(
        &self,
        texts: &[EmbeddedTextHash],
    ) -> Result<Vec<Option<Vector>>> {
        self.follow().await?;
        let Some(Space { dimension, .. }) = self.live.generation().space.clone() else {
            return Ok(vec![None; texts.len()]);
        };
        let mut connection = self.connection().await?;
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let bytes: Option<Vec<u8>> = sqlx::query_scalar(
                "SELECT vector FROM vectors WHERE text = ? ORDER BY chunk LIMIT 1",
            )
            .bind(text.as_bytes().as_slice())
            .fetch_optional(&mut *connection)
            .await
            .map_err(read)?;
            let vector =
                bytes.map(|bytes| decode_vector(&bytes, text.as_bytes().as_slice(), dimension));
            vectors.push(vector.map(|vector| vector.ok_or_else(unreadable)).transpose()?);
        }
        Ok(vectors)
    }
}
