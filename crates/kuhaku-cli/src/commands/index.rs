//! `kuhaku index`.

use std::collections::BTreeSet;
use std::path::Path;

use kuhaku::core::{Error, ErrorKind};
use kuhaku::index::{ChunkIndex as _, Depth, Finding, OpenOptions, SqliteIndex};
use kuhaku::{EmbedderChoice, EmbeddingProvider, Result, Runtime};
use serde_json::json;

use crate::args::{IndexCommand, ReembedArgs};
use crate::console::{Console, Line, masked};
use crate::context::Context;
use crate::exit::Exit;
use crate::progress::Bar;

pub(crate) async fn run(command: &IndexCommand, context: &Context<'_>) -> Result<Exit> {
    let console = context.console;
    let options = OpenOptions::new(context.folder()?.0, Runtime::system());
    match command {
        IndexCommand::Stats => stats(options, console).await,
        IndexCommand::Verify { quick } => {
            verify(&options, if *quick { Depth::Quick } else { Depth::Full }, console).await
        }
        IndexCommand::Repair => repair(&options, console).await,
        IndexCommand::Backup { folder } => backup(options, folder, console).await,
        IndexCommand::Compact => compact(options, console).await,
        IndexCommand::Remask => remask(context).await,
        IndexCommand::Reembed(args) => reembed(args, context).await,
    }
}

/// A report as JSON, with the version of its form.
fn report(console: &Console, report: &impl serde::Serialize) {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("version".into(), json!(1));
    }
    console.value(&value);
}

async fn stats(options: OpenOptions, console: &Console) -> Result<Exit> {
    let index = SqliteIndex::open(options).await?;
    let usage = index.usage().await;
    let embedder = index.fingerprint().embedder;
    index.close().await;
    let usage = usage?;
    if console.json() {
        report(console, &usage);
        return Ok(Exit::Done);
    }
    let totals = &usage.totals;
    let vectors = match embedder {
        Some(embedder) => format!("{} by {}", totals.vectors, masked(&embedder)),
        None => "none".into(),
    };
    let written = usage.last_commit.map_or_else(|| "unknown".into(), |time| time.to_string());
    let rows = [
        ("documents", totals.documents.to_string()),
        ("passages", format!("{} and {} held back", totals.chunks, totals.quarantined)),
        ("vectors", vectors),
        ("sets of access tags", totals.visibility_classes.to_string()),
        ("terms", totals.terms.to_string()),
        ("removed, not yet deleted", format!("{} documents", usage.retired)),
        ("database", format!("{}, of which {} unused", size(usage.database), size(usage.dead))),
        ("log of recent writes", size(usage.log)),
        ("snapshot", size(usage.snapshot)),
        ("format", usage.format.to_string()),
        ("last written", written),
    ];
    for (name, value) in rows {
        console.line(Line::new().dim(format!("{name:<26}")).text(value));
    }
    Ok(Exit::Done)
}

async fn verify(options: &OpenOptions, depth: Depth, console: &Console) -> Result<Exit> {
    let found = SqliteIndex::verify(options, depth).await?;
    if console.json() {
        report(console, &found);
    } else {
        list(console, &found.findings);
        if found.unlisted > 0 {
            console.line(format!("and {} more", found.unlisted));
        }
        let verdict = if found.is_sound() { "sound" } else { "damaged" };
        let (documents, chunks) = (found.documents, found.chunks);
        console.line(format!("{verdict}: {documents} documents with {chunks} passages"));
    }
    if found.is_sound() {
        return Ok(Exit::Done);
    }
    let kinds: BTreeSet<_> = found.findings.iter().map(|finding| finding.kind).collect();
    for kind in kinds {
        console.note(&format!("{}: {}", kind.code(), kind.remedy()));
    }
    console.note("next: restore a backup, or run `kuhaku index repair`");
    Ok(Exit::Unmet)
}

async fn repair(options: &OpenOptions, console: &Console) -> Result<Exit> {
    let repaired = SqliteIndex::repair(options).await?;
    if console.json() {
        report(console, &repaired);
    } else {
        list(console, &repaired.lost);
        list(console, &repaired.dropped);
        let (kept, rebuilt, lost) = (repaired.kept, repaired.rebuilt, repaired.lost.len());
        console.line(match &repaired.aside {
            None => format!("sound: {kept} documents; nothing was changed"),
            Some(_) => format!("{kept} documents kept, {rebuilt} of them made anew; {lost} lost"),
        });
        if !repaired.dropped.is_empty() {
            let dropped = repaired.dropped.len();
            console.line(format!("{dropped} tables, triggers, views or indexes of others dropped"));
        }
    }
    if let Some(aside) = &repaired.aside {
        console.note(&format!(
            "the damaged files are in {}; delete them when they are no longer needed",
            aside.display()
        ));
    }
    if repaired.lost.is_empty() {
        return Ok(Exit::Done);
    }
    console.note("next: ingest again what was lost");
    Ok(Exit::Partial)
}

fn list(console: &Console, findings: &[Finding]) {
    for finding in findings {
        let code = format!(" [{}]", finding.kind.code());
        console.line(Line::new().text(finding.place.as_str()).dim(code));
    }
}

async fn backup(options: OpenOptions, folder: &Path, console: &Console) -> Result<Exit> {
    let index = SqliteIndex::open(options).await?;
    let made = index.backup(folder).await;
    index.close().await;
    let made = made?;
    if console.json() {
        report(console, &made);
    } else {
        let place = masked(&made.folder.to_string_lossy());
        let (documents, bytes) = (made.documents, size(made.bytes));
        console.line(format!("{documents} documents copied to {place} ({bytes})"));
    }
    Ok(Exit::Done)
}

async fn compact(options: OpenOptions, console: &Console) -> Result<Exit> {
    let index = SqliteIndex::open(options).await?;
    let compacted = index.compact().await;
    index.close().await;
    let compacted = compacted?;
    if console.json() {
        report(console, &compacted);
    } else {
        let (before, after) = (size(compacted.before), size(compacted.after));
        console
            .line(format!("{} removed documents deleted; {before} → {after}", compacted.deleted));
    }
    if compacted.is_complete() {
        return Ok(Exit::Done);
    }
    console.note(
        "what was removed is not all gone: another process has the index open; run this again when \
         it has ended, or in ten minutes",
    );
    Ok(Exit::Unmet)
}

async fn remask(context: &Context<'_>) -> Result<Exit> {
    let builder = context.builder()?.create(false).any_settings(true).without_embedder();
    let rag = context.open(builder).await?;
    let masked = rag.remask().await?;
    let console = context.console;
    if console.json() {
        report(console, &masked);
        return Ok(Exit::Done);
    }
    let (from, to) = (&masked.from, &masked.to);
    if from == to {
        console.line(format!("{} documents, masked by {to} already", masked.documents));
        return Ok(Exit::Done);
    }
    console.line(format!("{} of {} documents changed", masked.changed, masked.documents));
    let kinds: Vec<String> =
        masked.redactions.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    if !kinds.is_empty() {
        console.line(format!("masked now: {}", kinds.join(", ")));
    }
    let totals = rag.maintenance().statistics().await?;
    if rag.index().fingerprint().embedder.is_some() && totals.vectors < totals.chunks {
        console.note("what changed has no vectors; `kuhaku index reembed` makes them");
    }
    console.note(&format!(
        "masked by {from} before, by {to} now; `kuhaku index compact` deletes the earlier text"
    ));
    Ok(Exit::Done)
}

async fn reembed(args: &ReembedArgs, context: &Context<'_>) -> Result<Exit> {
    let mut sources = context.sources.clone();
    for (name, value) in
        [("rag.embedding_provider", &args.provider), ("rag.embedding_model", &args.model)]
    {
        if let Some(value) = value {
            sources = sources.set(name, value.as_str());
        }
    }
    let choice = EmbedderChoice::from_sources(&sources, context.runtime())?;
    let rag = context.open_existing().await?;
    let before = rag.index().fingerprint();
    let embedder = choice.choose().await?;
    if embedder.is_none() && choice.provider() == EmbeddingProvider::Auto {
        return Err(nobody_embeds().into());
    }
    let made = rag.reembed(embedder, &mut Bar::new()).await?;
    let console = context.console;
    if console.json() {
        report(console, &made);
    } else if made.to.is_none() {
        console.line(match &made.from {
            Some(from) => format!("the vectors by {} are gone; searches go by words", masked(from)),
            None => "the index has no vectors".into(),
        });
    } else {
        let held = match made.held_back {
            0 => String::new(),
            held => format!("; {held} held back without"),
        };
        let (embedded, reused) = (made.embedded, made.reused);
        console.line(format!("{embedded} passages embedded, {reused} of them known{held}"));
    }
    if let (Some(from), Some(to)) = (before.dimension, rag.index().fingerprint().dimension)
        && from != to
    {
        console.note(&format!("vectors had {from} numbers before, and have {to} now: all are new"));
    }
    if made.to.is_some() && (args.provider.is_some() || args.model.is_some()) {
        console.note(
            "other commands need the same rag.embedding_provider and rag.embedding_model, in \
             kuhaku.toml or in the environment",
        );
    }
    for refused in &made.refused {
        console.note(&format!("no vector: {}: {}", refused.id, refused.error.message));
    }
    Ok(if made.refused.is_empty() { Exit::Done } else { Exit::Partial })
}

fn nobody_embeds() -> Error {
    let next = if cfg!(feature = "dense") {
        "run `kuhaku models pull multilingual-e5-small onnxruntime`, or name a service with --provider"
    } else {
        "name a service with --provider, or build kuhaku with the feature `dense` for local models"
    };
    let wrong =
        "no embedding model is set, and there is none on this machine that this build can run";
    Error::new(ErrorKind::CapabilityUnavailable, "make vectors", wrong).next(next)
}

/// Bytes in a unit that people read.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut shown = "bytes";
    for unit in UNITS {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        shown = unit;
    }
    if bytes < 1000 { format!("{bytes} bytes") } else { format!("{value:.1} {shown}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_the_unit_that_fits() {
        for (bytes, shown) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (1_550_000, "1.6 MB"),
            (u64::MAX, "18446744.1 TB"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
