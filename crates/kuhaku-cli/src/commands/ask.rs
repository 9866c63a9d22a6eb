//! `kuhaku ask`.

use kuhaku::core::{Error, ErrorKind};
use kuhaku::{
    Answer, AnswerEvent, AnswerStream, Mode, Rag, RagBuilder, Result, TagRule, WalkOptions,
    one_line, require_paths,
};

use super::search::{by_words, place};
use crate::args::AskArgs;
use crate::console::{Console, Line};
use crate::context::{Context, above, ingest_options};
use crate::exit::Exit;
use crate::progress::Bar;

pub(crate) async fn run(args: &AskArgs, context: &Context<'_>) -> Result<Exit> {
    require_paths(&args.docs)?;
    let kept = !args.docs.is_empty() && context.names_index();
    let mut builder = context.builder_to_find(args.caller.strategy, kept)?;
    if let Some(model) = context.choice(&args.model)?.choose().await? {
        builder = builder.model(model);
    }
    let rag = if args.docs.is_empty() {
        context.open(builder.create(false)).await?
    } else {
        read_documents(args, builder, context).await?
    };
    let request = args.caller.request(&args.question.join(" "));
    let console = context.console;
    let answer = if console.json() || args.no_stream {
        let answer = rag.ask_with(&request).await?;
        if console.json() {
            console.value(&answer);
        } else {
            console.lines(&answer.text);
            print_sources(&answer, console);
        }
        answer
    } else {
        stream(rag.ask_stream(&request), console).await?
    };
    if !console.json() {
        by_words(&answer.skipped, console);
    }
    Ok(match answer.mode {
        Mode::Abstained | Mode::Empty => Exit::Nothing,
        Mode::Refused => Exit::Refused,
        _ => Exit::Done,
    })
}

/// The line in which an answer is printed. It ends also when the command is told to.
struct OpenLine<'a> {
    console: &'a Console,
    open: bool,
}

impl OpenLine<'_> {
    fn end(&mut self) {
        if std::mem::take(&mut self.open) {
            self.console.part("\n");
        }
    }
}

impl Drop for OpenLine<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Prints an answer while it is written. Of one that fails on the way, the part that came stands
/// there, in a line of its own.
async fn stream(mut stream: AnswerStream, console: &Console) -> Result<Answer> {
    let mut line = OpenLine { console, open: false };
    while let Some(event) = stream.next().await {
        match event {
            Ok(AnswerEvent::Text(text)) => {
                console.part(&text);
                line.open = !text.ends_with('\n');
            }
            Ok(AnswerEvent::End { answer, replaces }) => {
                line.end();
                if replaces {
                    console.note("the text above is withdrawn; the answer is:");
                    console.lines(&answer.text);
                }
                print_sources(&answer, console);
                return Ok(*answer);
            }
            Ok(_) => {}
            Err(error) => {
                line.end();
                return Err(error.into());
            }
        }
    }
    Err(Error::new(ErrorKind::Cancelled, "print the answer", "it has no end")
        .next("ask again")
        .into())
}

/// Opens an index and puts the documents into it: the one named on the command line, else one that
/// is thrown away.
async fn read_documents(
    args: &AskArgs,
    mut builder: RagBuilder,
    context: &Context<'_>,
) -> Result<Rag> {
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

/// What stands below the text.
fn print_sources(answer: &Answer, console: &Console) {
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
        console.note("(some passages share words with the question or come near it: `kuhaku search` lists them)");
    }
}
