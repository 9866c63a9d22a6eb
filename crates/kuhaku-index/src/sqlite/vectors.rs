//! Stored vectors: each belongs to a chunk, and is known by the hash of what was embedded.

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
use super::staged;
use super::writer::{aside, check, failed};
use crate::contract::ChunkIndex as _;
use crate::document::{ChunkToEmbed, DocumentRecord};
use crate::error::{Error, Result};
use crate::fingerprint::VectorSpace;
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
            put(connection, "vectors", chunks).await?;
        }
    }
    Ok(())
}

/// Stores vectors in a table by the rows of their chunks, in the place of those that are there.
async fn put(
    connection: &mut SqliteConnection,
    table: &'static str,
    vectors: &[(i64, EmbeddedTextHash, &Vector)],
) -> Result<()> {
    let into = format!("INSERT OR REPLACE INTO {table} (chunk, text, vector) ");
    let mut statement = QueryBuilder::<Sqlite>::new(into);
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
    pub(super) async fn take_embedder(&self, space: Option<VectorSpace>) -> Result<u64> {
        let mut writer = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin_current().await?;
        let before = self.fingerprint();
        check(&writer.fingerprint, &before)?;
        let fingerprint = before.clone().with_embedder(space)?;
        let ready = fingerprint.space() == staged::space(&mut transaction).await?;
        let changed = match ready && fingerprint.embedder.is_some() {
            true => staged::documents(&mut transaction).await?,
            false => Vec::new(),
        };
        if fingerprint == before && changed.is_empty() {
            return Ok(0);
        }
        // The snapshot in the making is of vectors that go.
        writer.kept.stop().await;
        if fingerprint != before {
            sqlx::query("DELETE FROM vectors").execute(&mut *transaction).await.map_err(failed)?;
            schema::write_fingerprint(&mut transaction, &fingerprint).await?;
        }
        let adopted = match changed.is_empty() {
            true => 0,
            false => staged::publish(&mut transaction).await?,
        };
        staged::clear(&mut transaction).await?;
        if fingerprint == before {
            let current = self.live.generation();
            let dimension = current.space.as_ref().map_or(0, |space| space.dimension);
            let (mut draft, mut ids) = (Draft::default(), Vec::with_capacity(changed.len()));
            for (row, id) in changed {
                rows::log(&mut transaction, ChangeKind::Release, row).await?;
                rows::load(&mut transaction, &mut draft, row, row, dimension).await?;
                ids.push(id);
            }
            let next = aside(READING, move || current.next(&ids, draft.finish())).await?;
            self.commit(transaction, Vec::new(), || self.live.publish(next)).await?;
        } else {
            rows::log(&mut transaction, ChangeKind::Reset, 0).await?;
            let generation = load(&mut transaction, fingerprint.space()).await?;
            let publish = || {
                self.live.replace(generation, self.live.drafters());
                self.set_fingerprint(fingerprint.clone());
            };
            self.commit(transaction, Vec::new(), publish).await?;
            writer.fingerprint = fingerprint;
        }
        self.keep_while_open(&mut writer.kept).await;
        Ok(adopted)
    }

    /// See [`crate::Maintenance::without_vector`].
    pub(super) async fn chunks_to_embed(
        &self,
        space: &VectorSpace,
        limit: usize,
    ) -> Result<Vec<ChunkToEmbed>> {
        let mut connection = self.connection().await?;
        let [seen, staged] = self.have(&mut connection, space).await?;
        let rows: Vec<ChunkRow> = sqlx::query_as(
            "SELECT d.id, c.ordinal, d.title, c.headings, c.text, \
             substr(CAST(d.text AS BLOB), c.start + 1, c.length) \
             FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE c.row IN (SELECT c.row FROM chunks c JOIN documents d ON d.row = c.document \
             WHERE NOT (? AND c.row IN (SELECT chunk FROM vectors)) \
             AND NOT (? AND c.row IN (SELECT chunk FROM staged_vectors)) \
             AND d.row NOT IN (SELECT document FROM retired) ORDER BY d.id, c.ordinal LIMIT ?) \
             ORDER BY d.id, c.ordinal",
        )
        .bind(seen)
        .bind(staged)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&mut *connection)
        .await
        .map_err(read)?;
        let chunks = rows.into_iter().map(|row| to_embed(row, &self.id_key));
        chunks
            .collect::<Option<_>>()
            .ok_or_else(|| corrupt("list chunks without vectors", "the row of one is unreadable"))
    }

    /// Whether the vectors that readers see are of an embedder, and whether those laid aside are.
    async fn have(
        &self,
        connection: &mut SqliteConnection,
        space: &VectorSpace,
    ) -> Result<[bool; 2]> {
        let seen = schema::read(&mut *connection, READING).await?.fingerprint.space();
        let staged = staged::space(connection).await?;
        Ok([seen, staged].map(|has| has.as_ref() == Some(space)))
    }

    /// See [`crate::Maintenance::stage_vectors`].
    pub(super) async fn lay_aside(
        &self,
        space: &VectorSpace,
        vectors: Vec<(ChunkId, EmbeddedTextHash, Vector)>,
    ) -> Result<u64> {
        let _writing = self.writer.lock().await;
        let _lock = WriteLock::acquire(&self.directory)?;
        let mut transaction = self.begin_current().await?;
        let current = self.live.generation();
        let mut found = Vec::with_capacity(vectors.len());
        for (id, hash, vector) in &vectors {
            let tried = || format!("store the vector of chunk {id}");
            VectorSpace::check(Some(space), vector.dimension(), tried)?;
            let known = current.document(id.document());
            let Some(row) = known.and_then(|(document, _)| Self::row(&document.body)) else {
                continue;
            };
            match self.embedded(&mut transaction, row, id).await? {
                Some((chunk, text)) if text == *hash => found.push((chunk, text, vector)),
                _ => {}
            }
        }
        staged::begin(&mut transaction, space).await?;
        for vectors in found.chunks(ROWS) {
            put(&mut transaction, "staged_vectors", vectors).await?;
        }
        // Not a change of the index: no mark, nothing for others to follow.
        transaction.commit().await.map_err(failed)?;
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
        space: &VectorSpace,
        texts: &[EmbeddedTextHash],
    ) -> Result<Vec<Option<Vector>>> {
        let mut connection = self.connection().await?;
        let [seen, staged] = self.have(&mut connection, space).await?;
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let text = text.as_bytes().as_slice();
            let bytes: Option<Vec<u8>> = sqlx::query_scalar(
                "SELECT vector FROM vectors WHERE ? AND text = ? \
                 UNION ALL SELECT vector FROM staged_vectors WHERE ? AND text = ? LIMIT 1",
            )
            .bind(seen)
            .bind(text)
            .bind(staged)
            .bind(text)
            .fetch_optional(&mut *connection)
            .await
            .map_err(read)?;
            let vector = bytes.map(|bytes| decode_vector(&bytes, text, space.dimension));
            vectors.push(vector.map(|vector| vector.ok_or_else(unreadable)).transpose()?);
        }
        Ok(vectors)
    }
}
