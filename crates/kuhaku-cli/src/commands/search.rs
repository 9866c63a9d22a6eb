//! `kuhaku search`.

use kuhaku::core::{Masker as _, PiiMasker};
use kuhaku::{Found, Result, one_line};

use crate::args::SearchArgs;
use crate::console::Line;
use crate::context::Context;
use crate::exit::Exit;

/// The longest excerpt of a passage, in characters.
const EXCERPT: usize = 240;

pub(crate) async fn run(args: &SearchArgs, context: &Context<'_>) -> Result<Exit> {
    let rag = context.open_existing().await?;
    let answer = rag.search(&args.caller.request(&args.query.join(" "))).await?;
    let console = context.console;
    if console.json() {
        console.value(&answer);
    } else {
        let masker = PiiMasker::new();
        for (rank, hit) in answer.hits.iter().enumerate() {
            console.line(heading(rank + 1, hit));
            console.line(format!("   {}", excerpt(&hit.text, EXCERPT, &masker)));
        }
    }
    if answer.skipped.iter().any(|skipped| skipped.reason == "refused") {
        console.note("the query looks like an attack on a model's instructions and was not run");
        return Ok(Exit::Refused);
    }
    if answer.hits.is_empty() {
        console.note("nothing found");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// A hit's rank, title, place and signals.
fn heading(rank: usize, hit: &Found) -> Line {
    let found = &hit.retrieved;
    let bm25 = found.bm25.map(|score| format!("bm25 {score:.3}, ")).unwrap_or_default();
    let place = place(&found.source, &found.title, &hit.headings, hit.page);
    Line::new()
        .text(format!("{rank}. "))
        .bold(one_line(&found.title, 120))
        .text(format!(" — {place} "))
        .dim(format!("({bm25}coverage {:.2})", found.coverage))
}

/// The beginning of a passage in one line, masked in this form (R7).
pub(super) fn excerpt(text: &str, limit: usize, masker: &PiiMasker) -> String {
    masker.mask(&one_line(text, limit)).into_parts().0
}

/// Where a passage stands: the document's path, the headings below its title, the page.
pub(super) fn place(source: &str, title: &str, headings: &[String], page: Option<u32>) -> String {
    let below = headings.iter().filter(|heading| heading.as_str() != title);
    let below: Vec<String> = below.map(|heading| one_line(heading, 80)).collect();
    let mut place = one_line(source, 200);
    if !below.is_empty() {
        place.push_str(&format!(" › {}", below.join(" › ")));
    }
    if let Some(page) = page {
        place.push_str(&format!(", page {page}"));
    }
    place
}
