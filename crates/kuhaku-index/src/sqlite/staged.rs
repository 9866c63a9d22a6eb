//! Vectors that are laid aside until all are there, and the embedder that they are of.

use kuhaku_core::DocumentId;
use sqlx::SqliteConnection;

use super::failure::{corrupt, storage};
use super::schema;
use super::writer::failed;
use crate::error::Result;
use crate::fingerprint::VectorSpace;

const TRIED: &str = "read vectors that are laid aside";

/// Chunks of documents that are there still.
const OF_STORED: &str = "FROM staged_vectors s JOIN chunks c ON c.row = s.chunk \
                         WHERE c.document NOT IN (SELECT document FROM retired)";

/// The embedder that they are of. One that is unreadable counts as none: they are made again.
pub(super) async fn space(connection: &mut SqliteConnection) -> Result<Option<VectorSpace>> {
    let json: Option<Vec<u8>> = sqlx::query_scalar("SELECT value FROM meta WHERE key = 'staged'")
        .fetch_optional(connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
    Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
}

/// How many there are.
pub(super) async fn count(connection: &mut SqliteConnection) -> Result<u64> {
    let sql = format!("SELECT count(*) {OF_STORED}");
    let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(sql))
        .fetch_one(connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
    Ok(count.try_into().unwrap_or_default())
}

/// Those of another embedder go.
pub(super) async fn begin(connection: &mut SqliteConnection, wanted: &VectorSpace) -> Result<()> {
    if space(&mut *connection).await?.as_ref() == Some(wanted) {
        return Ok(());
    }
    clear(&mut *connection).await?;
    schema::write_staged(connection, wanted).await
}

/// The documents that have some, by the order of their rows.
pub(super) async fn documents(connection: &mut SqliteConnection) -> Result<Vec<(i64, DocumentId)>> {
    let sql = format!(
        "SELECT row, id FROM documents WHERE row IN (SELECT c.document {OF_STORED}) ORDER BY row"
    );
    let rows: Vec<(i64, String)> = sqlx::query_as(sqlx::AssertSqlSafe(sql))
        .fetch_all(connection)
        .await
        .map_err(|error| storage(TRIED, error))?;
    let ids = rows.into_iter().map(|(row, id)| Some((row, DocumentId::new(id).ok()?)));
    ids.collect::<Option<_>>().ok_or_else(|| corrupt(TRIED, "the row of a document is unreadable"))
}

/// Puts them in the place of those that readers see, and tells how many they are.
pub(super) async fn publish(connection: &mut SqliteConnection) -> Result<u64> {
    let sql = format!(
        "INSERT OR REPLACE INTO vectors (chunk, text, vector) \
         SELECT s.chunk, s.text, s.vector {OF_STORED}"
    );
    let done = sqlx::query(sqlx::AssertSqlSafe(sql)).execute(connection).await.map_err(failed)?;
    Ok(done.rows_affected())
}

/// None is laid aside any more.
pub(super) async fn clear(connection: &mut SqliteConnection) -> Result<()> {
    let sql = "DELETE FROM staged_vectors; DELETE FROM meta WHERE key = 'staged'";
    sqlx::raw_sql(sql).execute(connection).await.map_err(failed)?;
    Ok(())
}
