//! `kuhaku quarantine`.

use kuhaku::core::PiiMasker;
use kuhaku::{Result, one_line};
use serde_json::json;

use super::search::excerpt;
use crate::args::QuarantineCommand;
use crate::context::Context;
use crate::exit::Exit;

/// The longest excerpt of a passage, in characters.
const EXCERPT: usize = 160;

pub(crate) async fn run(command: &QuarantineCommand, context: &Context<'_>) -> Result<Exit> {
    let rag = context.open_existing().await?;
    let console = context.console;
    match command {
        QuarantineCommand::List => {
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
            Ok(exit)
        }
    }
}
