//! The rows of a log, a page at a time.

use sqlx::SqliteConnection;

/// How many rows are read at once.
const PAGE: u32 = 32;

/// How much of a line is read, in bytes, so that a row of another make does not fill the memory.
/// Records stay far below, and a line that was cut is none.
const MAX_LINE: u32 = 4 * 1024 * 1024;

/// A row: its number and its line.
pub(super) type Row = (i64, Vec<u8>);

/// Where reading has come to.
#[derive(Debug)]
pub(super) struct Pages {
    /// The number of the next row, or a lower one; `None` at the end.
    next: Option<i64>,
    /// The number of the last row that is of interest.
    last: i64,
}

impl Pages {
    /// From the first row to the one of this number.
    pub(super) fn through(last: i64) -> Self {
        Self { next: Some(i64::MIN), last }
    }

    /// The next rows in their order; none at the end.
    pub(super) async fn next(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> sqlx::Result<Vec<Row>> {
        let Some(next) = self.next else { return Ok(Vec::new()) };
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT row, substr(CAST(line AS BLOB), 1, ?) FROM records
             WHERE row BETWEEN ? AND ? ORDER BY row LIMIT ?",
        )
        .bind(MAX_LINE)
        .bind(next)
        .bind(self.last)
        .bind(PAGE)
        .fetch_all(connection)
        .await?;
        self.next = rows.last().and_then(|(row, _)| row.checked_add(1));
        Ok(rows)
    }
}

/// The number of the last row; 0 without any.
pub(super) async fn last(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT coalesce(max(row), 0) FROM records").fetch_one(connection).await
}

/// A row's number as findings have it. There are none below 1 but those of others.
pub(super) fn number(row: i64) -> u64 {
    u64::try_from(row).unwrap_or(0)
}

/// The anchor's line, if there is one.
pub(super) async fn anchor(connection: &mut SqliteConnection) -> sqlx::Result<Option<Vec<u8>>> {
    sqlx::query_scalar("SELECT CAST(line AS BLOB) FROM anchor").fetch_optional(connection).await
}

/// Replaces the anchor's line.
pub(super) async fn set_anchor(connection: &mut SqliteConnection, line: &str) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO anchor VALUES (1, ?) ON CONFLICT DO UPDATE SET line = excluded.line")
        .bind(line)
        .execute(connection)
        .await?;
    Ok(())
}
