//! `kuhaku ask`.

use kuhaku::{Answer, Mode, Rag, Result, TagRule, WalkOptions, one_line, require_paths};

use super::search::place;
use crate::args::AskArgs;
use crate::console::{Console, Line};
use crate::context::{Context, above, ingest_options};
use crate::exit::Exit;
use crate::progress::Bar;

pub(crate) async fn run(args: &AskArgs, context: &Context<'_>) -> Result<Exit> {
    let rag = if args.docs.is_empty() {
        context.open_existing().await?
    } else {
        read_documents(args, context).await?
    };
    let answer = rag.ask_with(&args.caller.request(&args.question.join(" "))).await?;
    if context.console.json() {
        context.console.value(&answer);
    } else {
        print(&answer, context.console);
    }
    Ok(match answer.mode {
        Mode::Abstained | Mode::Empty => Exit::Nothing,
        Mode::Refused => Exit::Refused,
        _ => Exit::Done,
    })
}

/// Opens an index and puts the documents into it: the one named on the command line, else one that
/// is thrown away.
async fn read_documents(args: &AskArgs, context: &Context<'_>) -> Result<Rag> {
    require_paths(&args.docs)?;
    let mut builder = context.builder()?;
    let rag = if context.names_index() {
        context.open(builder).await?
    } else {
        if let Some(folder) = args.docs.first().and_then(|path| above(path)) {
            builder = builder.base(folder);
        }
        context.keep(builder.temporary().open().await?)
    };
    let options = ingest_options(TagRule::Keep, WalkOptions::default());
    let report = rag.ingest_paths(&args.docs, &options, &mut Bar::new()).await?;
    super::ingest::remarks(&report, context.console);
    Ok(rag)
}

fn print(answer: &Answer, console: &Console) {
    console.lines(&answer.text);
    if !answer.citations.is_empty() {
        console.line("");
    }
    for citation in &answer.citations {
        let place = place(&citation.source, &citation.title, &citation.headings, citation.page);
        console.line(
            Line::new()
                .text(format!("{} ", citation.tag))
                .bold(one_line(&citation.title, 120))
                .text(format!(" — {place}")),
        );
    }
    if answer.abstained && !answer.retrieved.is_empty() {
        console.note("(some passages share words with the question: `kuhaku search` lists them)");
    }
    if answer.mode == Mode::Extractive {
        console.note("(no model is configured: these are sentences of the documents)");
    }
}
