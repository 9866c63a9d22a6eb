//! `kuhaku documents`.

use kuhaku::{Result, one_line};
use serde_json::json;

use crate::args::DocumentsCommand;
use crate::console::Line;
use crate::context::Context;
use crate::exit::Exit;

pub(crate) async fn run(command: &DocumentsCommand, context: &Context<'_>) -> Result<Exit> {
    let rag = context.open_existing().await?;
    let console = context.console;
    match command {
        DocumentsCommand::List => {
            let documents = rag.maintenance().documents().await?;
            if console.json() {
                console.value(&json!({ "version": 1, "documents": documents }));
            }
            for document in documents.iter().filter(|_| !console.json()) {
                let tags: Vec<&str> = document.tags.iter().collect();
                let tags = if tags.is_empty() { "everybody".into() } else { tags.join(", ") };
                let held = match document.quarantined {
                    0 => String::new(),
                    held => format!(", {held} held back"),
                };
                let place = one_line(&document.source, 200);
                let chunks = document.chunks;
                console.line(
                    Line::new()
                        .text(format!("{}  ", document.id))
                        .bold(one_line(&document.title, 120))
                        .text(format!(" — {place} "))
                        .dim(format!("({chunks} passages{held}; {tags})")),
                );
            }
            Ok(Exit::Done)
        }
        DocumentsCommand::Remove { ids } => {
            let removed = rag.remove(ids).await?;
            let absent = removed.iter().any(|(_, removed)| !removed);
            if console.json() {
                let lines: Vec<_> = removed
                    .iter()
                    .map(|(id, removed)| json!({ "id": id, "removed": removed }))
                    .collect();
                console.value(&json!({ "version": 1, "documents": lines }));
            } else {
                for (id, removed) in &removed {
                    let what = if *removed { "removed" } else { "not in the index" };
                    console.line(format!("{id}  {what}"));
                }
            }
            Ok(if absent { Exit::Nothing } else { Exit::Done })
        }
    }
}
