//! `cargo xtask churn`: one process writes, three read, and a fifth tries to write.
//!
//! Readers know from the number of the last change, which a test hook gives them, after which batch
//! of the history they are, and compare every answer with that of an index of what their caller may
//! see of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kuhaku::index::{Batch, ChangeOutcome, ChunkIndex as _, Error, OpenOptions, SqliteIndex};
use kuhaku_core::{DocumentId, Runtime};

use super::answers::Expected;
use super::history::{CALLERS, Draw, History, fingerprint, scope};
use super::{Process, block_on, count, failed, number, say};
use crate::error::Result;

/// How soon other processes must show what was acknowledged.
const SOON: Duration = Duration::from_secs(1);

fn options(place: &Path) -> OpenOptions {
    OpenOptions::new(place.join("index"), Runtime::system()).fingerprint(fingerprint())
}

pub(super) fn run(seconds: u64) -> Result<ExitCode> {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |now| now.as_nanos() as u64);
    println!("seed {seed}");
    let place = std::env::temp_dir().join(format!("kuhaku-churn-{}", std::process::id()));
    fs::create_dir_all(&place).map_err(failed)?;
    let outcome = in_place(&place, seed, seconds);
    fs::remove_dir_all(&place).map_err(failed)?;
    outcome
}

fn in_place(place: &Path, seed: u64, seconds: u64) -> Result<ExitCode> {
    block_on(async {
        let made = SqliteIndex::open(options(place).create(true)).await.map_err(failed)?;
        made.close().await;
        Ok::<_, crate::error::Error>(())
    })??;
    fs::write(acknowledged(place), "0").map_err(failed)?;
    let path = place.to_str().ok_or_else(|| failed("the path is not Unicode"))?;
    let (seed, seconds) = (seed.to_string(), seconds.to_string());
    let mut parts = vec![vec!["churn", "writer", path, &seed, &seconds]];
    for caller in ["0", "1", "2"] {
        parts.push(vec!["churn", "reader", path, &seed, &seconds, caller]);
    }
    parts.push(vec!["churn", "intruder", path, &seconds]);
    let mut processes = Vec::new();
    for part in parts {
        processes.push((part.join(" "), Process::start(&[], &part)?));
    }
    let mut all_well = true;
    for (name, mut process) in processes {
        let deadline = Instant::now() + Duration::from_secs(count(&seconds)? as u64 + 60);
        // Silent until it ends.
        let status = loop {
            match process.child.try_wait().map_err(failed)? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    return Err(failed(format!("{name} is stuck")));
                }
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        while let Some(line) = process.line()? {
            println!("{line}");
        }
        if !status.success() {
            eprintln!("{name}: {status}");
            all_well = false;
        }
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The file with the number of batches that are acknowledged.
fn acknowledged(place: &Path) -> PathBuf {
    place.join("acknowledged")
}

pub(super) fn part(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["writer", place, seed, seconds] => {
            block_on(write(Path::new(place), number(seed)?, until(seconds)?))?
        }
        ["reader", place, seed, seconds, caller] => {
            block_on(read(Path::new(place), number(seed)?, until(seconds)?, count(caller)?))?
        }
        ["intruder", place, seconds] => block_on(intrude(Path::new(place), until(seconds)?))?,
        _ => Err(failed("there is no such part")),
    }
}

fn until(seconds: &str) -> Result<Instant> {
    Ok(Instant::now() + Duration::from_secs(number(seconds)?))
}

fn is_documented(error: &Error) -> bool {
    error.code() == "index.locked" && error.next_step().is_some()
}

async fn write(place: &Path, seed: u64, end: Instant) -> Result<()> {
    let mut index = SqliteIndex::open(options(place)).await.map_err(failed)?;
    let mut history = History::new(seed);
    let (mut waited, mut compacted) = (0_u64, 0_u64);
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        let begun = Instant::now();
        match index.apply(history.next()?).await {
            Ok(_) => {}
            // The intruder looks whether there is anything to do for it.
            Err(error) if is_documented(&error) => {
                waited += 1;
                thread::sleep(Duration::from_millis(1));
                continue;
            }
            Err(error) => return Err(failed(error)),
        }
        slowest = slowest.max(begun.elapsed());
        history.advance()?;
        let next = place.join("acknowledged.next");
        fs::write(&next, history.taken.to_string()).map_err(failed)?;
        fs::rename(&next, acknowledged(place)).map_err(failed)?;
        if history.taken % 301 == 300 {
            match index.compact().await {
                Ok(_) => compacted += 1,
                Err(error) if is_documented(&error) => waited += 1,
                Err(error) => return Err(failed(error)),
            }
        }
        if history.taken % 401 == 400 {
            index.close().await;
            index = SqliteIndex::open(options(place)).await.map_err(failed)?;
        }
    }
    let usage = index.usage().await.map_err(failed)?;
    index.close().await;
    say(&format!(
        "writer: {} batches, {compacted} compactions, {waited} waits, slowest batch {} ms; the \
         database has {} KiB, its log {} KiB, {} changes",
        history.taken,
        slowest.as_millis(),
        usage.database >> 10,
        usage.log >> 10,
        usage.changes
    ))
}

async fn read(place: &Path, seed: u64, end: Instant, caller: usize) -> Result<()> {
    let roles = CALLERS.get(caller).copied().ok_or_else(|| failed("there is no such caller"))?;
    let scope = scope(roles);
    let mut draw = Draw::new(seed, 1 << 40 | caller as u64);
    let mut index = SqliteIndex::open(options(place)).await.map_err(failed)?;
    let mut history = History::new(seed);
    let mut expected = Expected::new(&history, &scope)?;
    let mut earlier = None;
    let (mut answers, mut states, mut opened) = (0_u64, 0_u64, 1_u64);
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        let floor = count(fs::read_to_string(acknowledged(place)).map_err(failed)?.trim())?;
        let begun = Instant::now();
        let reader = index.reader(&scope).await.map_err(failed)?;
        slowest = slowest.max(begun.elapsed());
        let change = index.last_change();
        while history.changes < change {
            history.advance()?;
        }
        if history.changes != change {
            return Err(failed(format!("change {change} is within a batch, or went backwards")));
        }
        if history.taken < floor {
            let wrong = format!("shows batch {}, and {floor} was acknowledged", history.taken);
            return Err(failed(wrong));
        }
        if expected.taken != history.taken {
            let next = Expected::new(&history, &scope)?;
            let before = std::mem::replace(&mut expected, next);
            states += 1;
            // What was read before stays as it was.
            if let Some(reader) = earlier.replace(reader.clone()) {
                before.check(&reader, &mut draw).await?;
                answers += 1;
            }
        }
        expected.check(&reader, &mut draw).await?;
        answers += 1;
        if draw.below(300) == 0 {
            earlier = None;
            index.close().await;
            index = SqliteIndex::open(options(place)).await.map_err(failed)?;
            opened += 1;
        }
    }
    if slowest > SOON {
        return Err(failed(format!("following the writer took {} ms", slowest.as_millis())));
    }
    index.close().await;
    say(&format!(
        "reader {roles:?}: {answers} answers as without what is hidden, {states} states, none older \
         than what was acknowledged, {opened} times opened, slowest reader {} ms",
        slowest.as_millis()
    ))
}

async fn intrude(place: &Path, end: Instant) -> Result<()> {
    let index = SqliteIndex::open(options(place)).await.map_err(failed)?;
    let nobody = DocumentId::new("nobody").map_err(failed)?;
    let (mut refused, mut passed) = (0_u64, 0_u64);
    let mut slowest = Duration::ZERO;
    while Instant::now() < end {
        let begun = Instant::now();
        match index.apply(Batch::new().remove(nobody.clone())).await {
            Ok(report) if report.outcomes == [(nobody.clone(), ChangeOutcome::Absent)] => {
                passed += 1;
            }
            Ok(report) => return Err(failed(format!("{report:?}"))),
            Err(error) if is_documented(&error) => {
                refused += 1;
                slowest = slowest.max(begun.elapsed());
            }
            Err(error) => return Err(failed(error)),
        }
        thread::sleep(Duration::from_millis(1));
    }
    index.close().await;
    if refused == 0 {
        return Err(failed("no attempt met the writer"));
    }
    say(&format!(
        "fifth process: {refused} attempts refused as documented, {passed} between two batches, \
         slowest refusal {} ms",
        slowest.as_millis()
    ))
}
