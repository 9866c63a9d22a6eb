//! `kuhaku ingest`.

use kuhaku::{
    AccessTags, DocumentOutcome, EmbedderChoice, IngestOptions, IngestReport, Rag, Result, TagRule,
    require_paths,
};

use crate::args::IngestArgs;
use crate::console::Console;
use crate::context::{Context, ingest_options};
use crate::exit::Exit;
use crate::progress::Bar;
use crate::watch::Changes;

pub(crate) async fn run(args: &IngestArgs, context: &Context<'_>) -> Result<Exit> {
    // Before the index, which may have to be made.
    require_paths(&args.paths)?;
    let tags = AccessTags::new(&args.tags)?;
    let tags = if args.untag { TagRule::Reset } else { TagRule::set(tags) };
    let mut options = ingest_options(tags, args.walk.options());
    options.sync = args.sync;
    let builder = context.builder()?.any_settings(args.reindex);
    let rag = context.open(builder).await?;
    // From before the first look at the files: what changes meanwhile is no less of a change.
    let changes = match args.watch {
        true => Some(Changes::of(&args.paths, rag.folder())?),
        false => None,
    };
    let report = if args.reindex {
        rag.reindex(&args.paths, &options, &mut Bar::new()).await?
    } else {
        rag.ingest_paths(&args.paths, &options, &mut Bar::new()).await?
    };
    tell(&report, context.console);
    hint_at_vectors(&rag, context)?;
    if let Some(changes) = changes {
        return watch(args, changes, &options, &rag, context).await;
    }
    if report.documents.is_empty() {
        context.console.note("no file of a format that is read was found");
    }
    let failed = report.count(DocumentOutcome::Failed);
    Ok(if failed > 0 { Exit::Partial } else { Exit::Done })
}

/// Where a model is at hand that nobody has asked for, an index without vectors stays so in silence.
fn hint_at_vectors(rag: &Rag, context: &Context<'_>) -> Result<()> {
    let choice = EmbedderChoice::from_sources(&context.sources, context.runtime())?;
    let plain = rag.index().fingerprint().embedder.is_none() && !choice.is_named();
    if let Some(plan) = choice.preview()?.filter(|_| plain) {
        let hint = format!("the index has no vectors; `kuhaku index reembed` makes them: {plan}");
        context.console.note(&hint);
    }
    Ok(())
}

fn tell(report: &IngestReport, console: &Console) {
    if console.json() {
        console.value(report);
    } else {
        console.line(summary(report));
    }
    remarks(report, console);
}

/// Ingests again after each change, until it is interrupted. With `--json` a report a change.
async fn watch(
    args: &IngestArgs,
    mut changes: Changes,
    options: &IngestOptions,
    rag: &Rag,
    context: &Context<'_>,
) -> Result<Exit> {
    context.console.note("watching; Ctrl-C ends it");
    loop {
        changes.next().await;
        match rag.ingest_paths(&args.paths, options, &mut ()).await {
            Ok(report) if is_news(&report) => tell(&report, context.console),
            Ok(_) => {}
            // A folder that was moved away, or a writer in the way: the next change may find it better.
            Err(error) => context.console.error(&error),
        }
    }
}

fn is_news(report: &IngestReport) -> bool {
    report.count(DocumentOutcome::Unchanged) < report.documents.len()
}

/// One line for the whole report.
fn summary(report: &IngestReport) -> String {
    let count = |outcome| report.count(outcome);
    let mut parts = vec![
        format!("{} added", count(DocumentOutcome::Added)),
        format!("{} updated", count(DocumentOutcome::Updated)),
        format!("{} unchanged", count(DocumentOutcome::Unchanged)),
    ];
    let removed = count(DocumentOutcome::Removed);
    if removed > 0 {
        parts.push(format!("{removed} removed"));
    }
    let failed = count(DocumentOutcome::Failed);
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    if report.skipped > 0 {
        parts.push(format!("{} of other formats skipped", report.skipped));
    }
    parts.join(", ")
}

/// What people should know beyond the counts, on standard error.
pub(crate) fn remarks(report: &IngestReport, console: &Console) {
    for document in &report.documents {
        if let Some(error) = &document.error {
            console.note(&format!("failed: {}: {}", document.source, error.message));
        }
        for warning in &document.warnings {
            console.note(&format!("warning: {}: {}", document.source, warning.message));
        }
    }
    for warning in &report.warnings {
        console.note(&format!("warning: {}", warning.message));
    }
    let held = report.quarantined();
    if held > 0 {
        let passages = if held == 1 { "passage" } else { "passages" };
        console.note(&format!("{held} {passages} held back; see `kuhaku quarantine list`"));
    }
}
