//! `kuhaku guard`.

use kuhaku::Result;
use kuhaku::core::{GuardReason, InjectionGuard, PiiMasker, Screening, Zone, Zones};
use serde_json::{Value, json};

use super::search::excerpt;
use crate::args::{GuardCheckArgs, GuardCommand};
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;
use crate::input::{self, Limit};

/// The longest excerpt of a place, in characters.
const EXCERPT: usize = 160;

pub(crate) async fn run(command: &GuardCommand, context: &Context<'_>) -> Result<Exit> {
    let GuardCommand::Check(args) = command;
    let text = text(args).await?;
    let guard = InjectionGuard::new();
    let screening = if args.document { guard.screen_document(&text) } else { guard.screen(&text) };
    let zone = screening.zone(&Zones::default());
    let console = context.console;
    if console.json() {
        console.value(&value(args, &text, zone, &screening));
    } else {
        console.line(heading(zone, &screening));
        for reason in screening.reasons() {
            show(reason, &text, console);
        }
    }
    Ok(if zone == Zone::Reject { Exit::Refused } else { Exit::Done })
}

async fn text(args: &GuardCheckArgs) -> Result<String> {
    match args.text.as_slice() {
        [only] if only == "-" => input::all(Limit::moderate()).await,
        words => Ok(words.join(" ")),
    }
}

fn heading(zone: Zone, screening: &Screening) -> Line {
    let family = screening.blocked().map(|family| format!(", {family}")).unwrap_or_default();
    Line::new().bold(zone.as_str()).text(format!("  score {:.2}{family}", screening.score()))
}

/// A reason, how much it counts, and the place that it is about.
fn show(reason: &GuardReason, text: &str, console: &Console) {
    let line = Line::new().text(format!("  {:.2}  {}", reason.weight, reason.name));
    let Some(range) = &reason.range else { return console.line(line) };
    let quoted = excerpt(text.get(range.clone()).unwrap_or_default(), EXCERPT, &PiiMasker::new());
    console.line(
        line.dim(format!("  bytes {}–{}", range.start, range.end)).text(format!("  {quoted}")),
    );
}

fn value(args: &GuardCheckArgs, text: &str, zone: Zone, screening: &Screening) -> Value {
    let masker = PiiMasker::new();
    let reasons = screening.reasons().iter().map(|reason| {
        let place = reason.range.as_ref().map(|range| {
            let quoted = text.get(range.clone()).unwrap_or_default();
            json!({ "start": range.start, "end": range.end, "text": excerpt(quoted, EXCERPT, &masker) })
        });
        json!({ "name": reason.name, "weight": reason.weight, "place": place })
    });
    json!({
        "version": 1,
        "policy": if args.document { "document" } else { "question" },
        "zone": zone.as_str(),
        "score": screening.score(),
        "family": screening.blocked().map(|family| family.as_str()),
        "reasons": reasons.collect::<Vec<_>>(),
        "disguised_characters": screening.drift(),
        "read_as": excerpt(&InjectionGuard::normalised(text), EXCERPT, &masker),
    })
}
