//! `kuhaku search`.

use kuhaku::core::{Masker as _, PiiMasker};
use kuhaku::rag::Skipped;
use kuhaku::{Found, Result, one_line};

use crate::args::SearchArgs;
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;

/// The longest excerpt of a passage, in characters.
const EXCERPT: usize = 240;

pub(crate) async fn run(args: &SearchArgs, context: &Context<'_>) -> Result<Exit> {
    let builder = context.builder_to_find(args.caller.strategy, false)?;
    let rag = context.open(builder.create(false)).await?;
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
    by_words(&answer.skipped, console);
    if answer.hits.is_empty() {
        console.note("nothing found");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// Says that words alone decided where vectors should have, and why.
pub(super) fn by_words(skipped: &[Skipped], console: &Console) {
    let reason = skipped.iter().find(|skipped| skipped.stage == "dense");
    let why = match reason.map(|skipped| skipped.reason) {
        None => return,
        Some("no_vectors") => "there are no vectors to search; see `kuhaku index reembed`",
        Some("no_embedder") => "the model of the index's vectors is not available",
        Some("embedder_timed_out") => "embedding the question took too long",
        Some(_) => "the question could not be embedded",
    };
    let detail = reason.and_then(|skipped| skipped.detail.as_ref());
    let detail = detail.map(|detail| format!(": {detail}")).unwrap_or_default();
    console.note(&format!("found by words alone: {why}{detail}"));
}

/// A hit's rank, title, place and signals.
fn heading(rank: usize, hit: &Found) -> Line {
    let found = &hit.retrieved;
    let signal = |name: &str, value: Option<f64>| {
        value.map(|value| format!("{name} {value:.3}, ")).unwrap_or_default()
    };
    let signals = [
        signal("rerank", found.rerank),
        signal("cosine", found.cosine),
        signal("bm25", found.bm25),
    ]
    .concat();
    let place = place(&found.source, &found.title, &hit.headings, hit.page);
    Line::new()
        .text(format!("{rank}. "))
        .bold(one_line(&found.title, 120))
        .text(format!(" — {place} "))
        .dim(format!("({signals}coverage {:.2})", found.coverage))
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
