//! `kuhaku quarantine`.

use kuhaku::core::PiiMasker;
use kuhaku::{Rag, Result, one_line};
use serde_json::json;

use super::search::excerpt;
use crate::args::QuarantineCommand;
use crate::console::Console;
use crate::context::Context;
use crate::exit::Exit;

/// The longest excerpt of a passage, in characters.
const EXCERPT: usize = 160;

/// What is said when vectors could not be made.
const LATER: &str = "it is found by words; `kuhaku index reembed` makes its vectors";

pub(crate) async fn run(command: &QuarantineCommand, context: &Context<'_>) -> Result<Exit> {
    let console = context.console;
    match command {
        QuarantineCommand::List => {
            let rag = context.open_existing().await?;
            let held = rag.maintenance().quarantined().await?;
            if console.json() {
                console.value(&json!({ "version": 1, "quarantined": held }));
                return Ok(Exit::Done);
            }
            let masker = PiiMasker::new();
            for chunk in &held {
                let source = one_line(&chunk.source, 200);
                console.line(format!("{}  {} — {source}", chunk.id, chunk.reason));
                console.line(format!("   {}", excerpt(&chunk.text, EXCERPT, &masker)));
            }
            if held.is_empty() {
                console.note("nothing is held back");
            }
            Ok(Exit::Done)
        }
        QuarantineCommand::Release { ids } => {
            let rag = context.open(context.builder()?.create(false)).await?;
            let mut lines = Vec::new();
            let mut exit = Exit::Done;
            for id in ids {
                let released = rag.maintenance().release(id).await?;
                if !released {
                    exit = Exit::Nothing;
                }
                lines.push(json!({ "id": id, "released": released }));
                if !console.json() {
                    let what = if released { "released" } else { "not held back" };
                    console.line(format!("{id}  {what}"));
                }
            }
            if console.json() {
                console.value(&json!({ "version": 1, "chunks": lines }));
            }
            embed(&rag, console).await?;
            Ok(exit)
        }
    }
}

/// What is held back has no vectors; what was released gets them where the index has some. It can be
/// found by words in any case.
async fn embed(rag: &Rag, console: &Console) -> Result<()> {
    let has = rag.index().fingerprint().embedder;
    let totals = rag.maintenance().statistics().await?;
    if has.is_none() || totals.vectors >= totals.chunks {
        return Ok(());
    }
    let embedder = rag.embedder().filter(|it| Some(it.fingerprint()) == has.as_deref()).cloned();
    if let Some(embedder) = embedder {
        let Err(error) = rag.reembed(Some(embedder), &mut ()).await else { return Ok(()) };
        console.error(&error);
    }
    console.note(LATER);
    Ok(())
}
