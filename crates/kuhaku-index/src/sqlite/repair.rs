//! Making a sound index of what can be read of a damaged one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_core::{DocumentId, Runtime};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use super::create::{Site, remove_logs};
use super::examine::{Means, examine};
use super::failure::{beyond_repair, disk, locked, storage};
use super::finding::{Finding, FindingKind, place};
use super::insert::{Prepared, insert};
use super::lock::WriteLock;
use super::open::{FILE, Found, access, find, missing};
use super::options::OpenOptions;
use super::presence::Presence;
use super::rows::{self, ChangeKind};
use super::schema::Meta;
use super::verify::{Depth, inspect};
use super::walk::Rows;
use super::{SqliteIndex, private, schema};
use crate::error::{Error, Result};

const TRIED: &str = "repair the index";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

fn unusable(error: std::io::Error) -> Error {
    disk(TRIED, error)
}

/// What [`SqliteIndex::repair`] has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Repair {
    /// Documents that the index has now.
    pub kept: u64,
    /// Of these, documents whose terms were made anew from their text.
    pub rebuilt: u64,
    /// Vectors that could not be kept: `kuhaku index reembed` makes them anew.
    pub vectors_lost: u64,
    /// Documents that could not be kept, and why: ingest them again.
    pub lost: Vec<Finding>,
    /// What the database held beside the index, and holds no more: tables, triggers, views and indexes
    /// of somebody else's.
    pub dropped: Vec<Finding>,
    /// The folder with the damaged files, for a second look; absent when nothing was wrong, and
    /// nothing was changed.
    pub aside: Option<PathBuf>,
}

impl SqliteIndex {
    /// Makes the index of a folder sound: what is made from text is made anew, and documents that
    /// cannot be read whole, with their tags, are left out and named. The damaged files are kept
    /// beside, in a folder `index.damaged-…`, removed documents in them included: delete it when it
    /// is no longer needed. Of the options, the folder and the runtime count.
    ///
    /// The new database takes the place of the old one when it is complete and sound.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Locked`] while another handle has the index open;
    /// [`crate::ErrorKind::Corrupt`] when the settings of the index or the list of what was removed
    /// cannot be read: guessing these would show what was removed, or change every id. The files are
    /// then as before.
    pub async fn repair(options: &OpenOptions) -> Result<Repair> {
        let (folder, runtime) = (options.directory.as_path(), &options.runtime);
        let tried = format!("repair the index `{}`", folder.display());
        if find(&folder.join(FILE), &tried)? == Found::Nothing {
            return Err(missing(folder, tried));
        }
        let _lock = WriteLock::acquire(folder)?;
        let presence = Presence::announce(folder).await?;
        let Some(_alone) = presence.alone()? else { return Err(locked(tried)) };
        let (_, mut old) = access(folder, runtime, &tried).await?;
        let before = inspect(&mut old, Depth::Full).await?;
        if before.is_sound() {
            return Ok(Repair { kept: before.documents, ..Repair::default() });
        }
        let meta = schema::read(&mut old, TRIED).await?;
        let site = Site::new(folder, runtime)?;
        let mut new = site.begin().await?;
        let mut repair = rescue(&mut old, &mut new, meta, runtime).await?;
        let foreign = |found: &Finding| found.kind == FindingKind::Foreign;
        repair.dropped = before.findings.into_iter().filter(foreign).collect();
        if !inspect(&mut new, Depth::Full).await?.is_sound() {
            return Err(beyond_repair(TRIED, "what could be read is no sound index"));
        }
        site.end(new).await?;
        if let Err(error) = old.close().await {
            tracing::debug!(%error, "the log of the damaged database stays");
        }
        repair.aside = Some(set_aside(folder, runtime)?);
        site.install(folder)?;
        Ok(repair)
    }
}

/// Copies what is whole from one database to another, as one transaction.
async fn rescue(
    old: &mut SqliteConnection,
    new: &mut SqliteConnection,
    meta: Meta,
    runtime: &Runtime,
) -> Result<Repair> {
    let mut repair = Repair::default();
    let Some(mut rows) = Rows::new(old).await? else {
        return Err(beyond_repair(TRIED, "the list of what was removed cannot be read"));
    };
    let means = Means::of(&meta);
    let Meta { fingerprint, id_key, .. } = meta;
    let mut writing = new.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    schema::create(&mut writing, &fingerprint, &id_key).await?;
    let mut kept: HashMap<DocumentId, i64> = HashMap::new();
    while let Some(page) = rows.next(old).await? {
        repair.lost.extend(rows.skipped());
        for row in page {
            let Some(examined) = examine(old, row, &means).await? else { continue };
            let is_whole = examined.is_whole();
            let Some(record) = examined.record.filter(|_| is_whole) else {
                repair.lost.extend(examined.findings.into_iter().take(1));
                continue;
            };
            // The later of two rows is the newer version.
            if let Some(older) = kept.insert(record.id.clone(), row) {
                rows::delete(&mut writing, older).await?;
                let at = place(Some(&record.id), older);
                repair.lost.push(Finding::new(FindingKind::Duplicate, at));
                repair.kept -= 1;
            }
            repair.kept += 1;
            let vectors =
                examined.findings.iter().filter(|f| f.kind == FindingKind::Vector).count();
            repair.vectors_lost += vectors as u64;
            repair.rebuilt += u64::from(examined.findings.len() > vectors);
            let prepared = Prepared { row, record, terms: examined.terms };
            insert(&mut writing, &[prepared], &id_key).await?;
        }
    }
    rows::log(&mut writing, ChangeKind::Reset, 0).await?;
    // Numbers of rows are never used twice, nor those of changes; but for a number that was written by
    // whoever did the damage.
    let last = rows.given().unwrap_or_default();
    let sequence = format!(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'documents', 0 WHERE NOT EXISTS \
         (SELECT 1 FROM sqlite_sequence WHERE name = 'documents'); \
         UPDATE sqlite_sequence SET seq = max(seq, {last}) WHERE name = 'documents'"
    );
    sqlx::raw_sql(AssertSqlSafe(sequence)).execute(&mut *writing).await.map_err(failed)?;
    schema::write_commit(&mut writing, runtime).await?;
    writing.commit().await.map_err(failed)?;
    Ok(repair)
}

/// Keeps the damaged files under other names.
fn set_aside(folder: &Path, runtime: &Runtime) -> Result<PathBuf> {
    let aside = free_name(folder, runtime.now().as_second())?;
    private::folder(&aside).map_err(unusable)?;
    for name in [FILE.to_owned(), format!("{FILE}-wal")] {
        let (from, to) = (folder.join(&name), aside.join(&name));
        match fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(unusable(error));
            }
            _ => {}
        }
    }
    private::settle(&aside).map_err(unusable)?;
    remove_logs(&folder.join(FILE))?;
    Ok(aside)
}

fn free_name(folder: &Path, second: i64) -> Result<PathBuf> {
    for number in 0..1_000_u32 {
        let name = format!("index.damaged-{second}-{number}");
        let path = folder.join(name);
        if !path.try_exists().map_err(unusable)? {
            return Ok(path);
        }
    }
    Err(beyond_repair(TRIED, "too many repairs have left their files")
        .next("move the folders `index.damaged-…` away, then try again"))
}
