//! The process that is killed and that runs out of room.

use std::io::BufRead as _;
use std::path::Path;

use kuhaku::Scope;
use kuhaku::index::{ChunkIndex as _, Error, OpenOptions, SqliteIndex};
use kuhaku_core::Runtime;

use super::history::{History, fingerprint};
use super::{failed, say};
use crate::error::Result;

async fn open(folder: &Path) -> Result<SqliteIndex> {
    loop {
        let options = OpenOptions::new(folder, Runtime::system());
        let options = options.create(true).fingerprint(fingerprint());
        match SqliteIndex::open(options).await {
            Ok(index) => return Ok(index),
            Err(error) => report(&error, None).await?,
        }
    }
}

/// Says that something failed and whether the index can still be read, and waits to be told to try
/// again.
async fn report(error: &Error, index: Option<&SqliteIndex>) -> Result<()> {
    if error.next_step().is_none() {
        return Err(failed(format!("an error without a next step: {error}")));
    }
    if let Some(index) = index {
        index.reader(&Scope::anonymous()).await.map_err(failed)?;
    }
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    say(&format!("failed {} {error} ({cause})", error.code()))?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    if line.trim() == "again" { Ok(()) } else { Err(failed("nobody wants more")) }
}

/// Applies the batches of a history from one to another, says which are acknowledged, and compacts
/// and re-opens the index now and then.
pub(super) async fn write(folder: &Path, seed: u64, from: usize, until: usize) -> Result<()> {
    let mut history = History::after(seed, from)?;
    let mut index = open(folder).await?;
    say("open")?;
    while history.taken < until {
        while let Err(error) = index.apply(history.next()?).await {
            report(&error, Some(&index)).await?;
        }
        history.advance()?;
        say(&format!("ack {}", history.taken))?;
        if history.taken % 11 == 5 {
            while let Err(error) = index.compact().await {
                report(&error, Some(&index)).await?;
            }
        }
        if history.taken % 17 == 3 {
            index.close().await;
            index = open(folder).await?;
        }
    }
    index.close().await;
    say("end")
}
