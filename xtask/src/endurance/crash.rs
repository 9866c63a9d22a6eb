//! `cargo xtask crash`: what is acknowledged is there, whole, whenever the writer dies or cannot write.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kuhaku::index::{Depth, OpenOptions, SqliteIndex};
use kuhaku_core::Runtime;

use super::history::{Draw, History, difference};
use super::{Place, Process, block_on, failed};
use crate::error::Result;

/// Kills, or failures, after which a new index is begun.
const PER_INDEX: usize = 25;
/// More batches than a writer applies before it is killed.
const ENDLESS: usize = usize::MAX;

/// What a suite has shown.
#[derive(Debug, Default)]
struct Tally {
    done: usize,
    /// Batches that were acknowledged.
    acknowledged: usize,
    /// Batches that were there without having been acknowledged.
    ahead: usize,
}

pub(super) fn run(kills: usize, failures: usize) -> Result<()> {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |now| now.as_nanos() as u64);
    println!("seed {seed}");
    let place = Place::new("crash")?;
    let begun = Instant::now();
    let tally = repeat(&place.0, "kill", seed, kills, kill)?;
    println!(
        "{} kills: {} batches acknowledged, all there and whole; {} more were there, whole; {:.1} s",
        tally.done,
        tally.acknowledged,
        tally.ahead,
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    let tally = repeat(&place.0, "full", seed ^ 1, failures, starve)?;
    println!(
        "{} write failures: {} batches acknowledged, all there and whole; the same handle wrote on \
         each time; {:.1} s",
        tally.done,
        tally.acknowledged,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// What a trial has led to.
struct Outcome {
    /// Batches that are there.
    there: usize,
    /// Batches of these that had been acknowledged.
    acknowledged: usize,
    /// Whether what was to be tried came about.
    counts: bool,
}

/// One trial on an index with a seed, from so many batches on.
type Trial = fn(&Path, u64, usize, &mut Draw) -> Result<Outcome>;

fn repeat(place: &Path, name: &str, seed: u64, times: usize, trial: Trial) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut draw = Draw::new(seed, 0);
    let mut round = 0;
    while tally.done < times {
        let folder = place.join(format!("{name}-{round}"));
        let of_index = seed.wrapping_add(round);
        let mut state = 0;
        let mut here = 0;
        while here < PER_INDEX && tally.done < times {
            let outcome = trial(&folder, of_index, state, &mut draw).map_err(|error| {
                failed(format!("{name} {} of index {of_index}: {error}", tally.done + 1))
            })?;
            tally.acknowledged += outcome.acknowledged - state;
            tally.ahead += outcome.there - outcome.acknowledged;
            state = outcome.there;
            here += 1;
            tally.done += usize::from(outcome.counts);
            if outcome.counts && tally.done.is_multiple_of(50) {
                eprintln!("  {name}: {}", tally.done);
            }
        }
        fs::remove_dir_all(&folder).map_err(failed)?;
        round += 1;
    }
    Ok(tally)
}

/// Kills a writer some moments after some acknowledgement.
fn kill(folder: &Path, seed: u64, state: usize, draw: &mut Draw) -> Result<Outcome> {
    let path = folder.to_str().ok_or_else(|| failed("the path is not Unicode"))?;
    let numbers = [seed.to_string(), state.to_string(), ENDLESS.to_string()];
    let [seed_text, from, until] = &numbers;
    let mut writer = Process::start(&[], &["crash-writer", path, seed_text, from, until])?;
    let wanted = draw.below(8) as usize;
    let mut acknowledged = state;
    // With none wanted it is killed while it starts, opens or makes the index.
    while acknowledged < state + wanted {
        let line = writer.line()?.ok_or_else(|| failed("the writer has ended by itself"))?;
        acknowledged = acknowledgement(&line)?.unwrap_or(acknowledged);
    }
    let patience = if wanted == 0 { 40_000 } else { 12_000 };
    thread::sleep(Duration::from_micros(draw.below(patience)));
    writer.child.kill().map_err(failed)?;
    writer.child.wait().map_err(failed)?;
    while let Some(line) = writer.line()? {
        acknowledged = acknowledgement(&line)?.unwrap_or(acknowledged);
    }
    let depth = if draw.below(10) == 0 { Depth::Full } else { Depth::Quick };
    if acknowledged == 0 && !folder.join("index.sqlite3").exists() {
        fs::create_dir_all(folder).map_err(failed)?;
        return Ok(Outcome { there: 0, acknowledged: 0, counts: true });
    }
    let there = block_on(state_of(folder, seed, acknowledged, acknowledged + 1, depth))??;
    Ok(Outcome { there, acknowledged, counts: true })
}

fn acknowledgement(line: &str) -> Result<Option<usize>> {
    match line.split_once(' ') {
        Some(("ack", number)) => super::count(number).map(Some),
        Some(("failed", code)) => Err(failed(format!("the writer got {code}"))),
        _ => Ok(None),
    }
}

/// After how many batches the index is as it is: at least `from`, at most `to`.
async fn state_of(folder: &Path, seed: u64, from: usize, to: usize, depth: Depth) -> Result<usize> {
    let options = || OpenOptions::new(folder, Runtime::system());
    let found = SqliteIndex::verify(&options(), depth).await.map_err(failed)?;
    if let Some(finding) = found.findings.first() {
        return Err(failed(format!("the index is damaged: {finding}")));
    }
    let index = SqliteIndex::open(options()).await.map_err(failed)?;
    let mut history = History::after(seed, from)?;
    let mut wrong = String::new();
    loop {
        match difference(&index, &history).await? {
            None => break,
            Some(difference) => wrong.push_str(&format!("; after {}: {difference}", history.taken)),
        }
        if history.taken == to {
            return Err(failed(format!("the index is none of its states{wrong}")));
        }
        history.advance()?;
    }
    index.close().await;
    Ok(history.taken)
}

/// Lets a writer run into a limit of file sizes, then lifts the limit and lets it try again.
fn starve(folder: &Path, seed: u64, state: usize, draw: &mut Draw) -> Result<Outcome> {
    let path = folder.to_str().ok_or_else(|| failed("the path is not Unicode"))?;
    // Without room for one more page, or with some.
    let largest = fs::read_dir(folder).into_iter().flatten().flatten();
    let largest = largest.filter_map(|entry| entry.metadata().ok()).map(|file| file.len()).max();
    let limit = match draw.below(3) {
        0 => draw.below(64 << 10),
        _ => largest.unwrap_or_default() / 2 + draw.below(512 << 10),
    };
    let goal = state + 12;
    let numbers = [seed.to_string(), state.to_string(), goal.to_string(), limit.to_string()];
    let [seed_text, from, until, limit] = &numbers;
    // Who ignores the signal gets an error from the write instead.
    let script = "trap '' XFSZ; limit=$1; shift; exec prlimit \"--fsize=$limit:\" \"$@\"";
    let front = ["sh", "-c", script, "sh", limit];
    let mut writer = Process::start(&front, &["crash-writer", path, seed_text, from, until])?;
    let mut acknowledged = state;
    let mut failures = 0;
    while let Some(line) = writer.line()? {
        if let Some(error) = line.strip_prefix("failed ") {
            failures += 1;
            if !error.starts_with("index.storage ") || failures > 1 {
                return Err(failed(format!("failure {failures} of the writer is {error}")));
            }
            if folder.join("index.sqlite3").exists() {
                block_on(state_of(folder, seed, acknowledged, acknowledged, Depth::Quick))??;
            }
            let pid = writer.child.id().to_string();
            let lifted = Command::new("prlimit")
                .args(["--pid", &pid, "--fsize=unlimited:"])
                .status()
                .map_err(failed)?;
            if !lifted.success() {
                return Err(failed("the limit cannot be lifted"));
            }
            writer.tell("again")?;
        }
        if let Some(("ack", number)) = line.split_once(' ') {
            acknowledged = super::count(number)?;
        }
    }
    if acknowledged != goal {
        return Err(failed(format!("the writer ended after {acknowledged} batches, not {goal}")));
    }
    let there = block_on(state_of(folder, seed, goal, goal, Depth::Quick))??;
    // A limit that was never met shows nothing, but its batches are there.
    Ok(Outcome { there, acknowledged, counts: failures > 0 })
}
