//! `kuhaku extract`.

use std::io::{IsTerminal as _, stdin};
use std::path::Path;
use std::time::Duration;

use clap::CommandFactory as _;
use kuhaku::core::{Error, ErrorKind};
use kuhaku::extract::{Coercion, Grounding, Preview};
use kuhaku::{
    ExtractRequest, Extraction, ExtractionStatus, Extractor, ExtractorChoice, Prior, Result,
    Schema, one_line,
};
use serde_json::{Value, json};

use super::conversation;
use crate::args::{Args, ExtractArgs};
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;
use crate::fields::FieldArg;
use crate::input::{self, Limit};
use crate::progress::Texts;

/// How long the end waits for the last audit records.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// One run of the command: what it extracts by, and what it was told.
pub(super) struct Work<'a> {
    pub(super) args: &'a ExtractArgs,
    pub(super) console: &'a Console,
    pub(super) extractor: Extractor,
    /// How much of a text is read.
    pub(super) longest: Limit,
}

pub(crate) async fn run(args: &ExtractArgs, context: &Context<'_>) -> Result<Exit> {
    let schema = match schema(args) {
        // Fields that stand there twice, and the like: what was typed is wrong.
        Err(error) if args.schema.is_none() => {
            let wrong = format!("{}\n", error.wrong());
            let error = Args::command().error(clap::error::ErrorKind::ValueValidation, wrong);
            return Ok(context.console.usage(&error));
        }
        schema => schema?,
    };
    let mut sources = context.sources.clone();
    if let Some(mode) = &args.evidence {
        sources = sources.set("extraction.evidence", mode.as_str());
    }
    let choice = ExtractorChoice::from_sources(&sources, context.runtime())?
        .model(context.choice(&args.model)?);
    let most = choice.settings().max_text_bytes;
    let longest = Limit::text(most);
    let request = request(args, &schema, longest)?;
    // Before any model is chosen: a file that is not there needs none.
    let text = first_text(args, longest).await?;
    let batch = match (&args.jsonl, &args.out) {
        (Some(path), Some(out)) => {
            let (lines, count) = lines(path, out, most)?;
            Some((lines, count, out))
        }
        _ => None,
    };
    let extractor = choice.builder(schema).await?.build()?;
    let work = Work { args, console: context.console, extractor, longest };
    let outcome = match (batch, text) {
        (Some((lines, count, out)), _) => work.batch(lines, count, out).await,
        (None, Some(text)) if args.preview => work.preview(with_text(request, text)).await,
        (None, Some(text)) if !args.chat => work.one(with_text(request, text)).await,
        (None, text) => conversation::hold(&work, request, text).await,
    };
    // What is not written by then is counted as lost.
    let _ = work.extractor.flush(LAST_RECORDS).await;
    outcome
}

fn schema(args: &ExtractArgs) -> Result<Schema> {
    match &args.schema {
        Some(path) => Ok(Schema::parse(&input::file(path, "the schema", Limit::moderate())?)?),
        None => Ok(Schema::from_fields(FieldArg::list(&args.fields))?),
    }
}

/// The request without its text.
fn request(args: &ExtractArgs, schema: &Schema, longest: Limit) -> Result<ExtractRequest> {
    let mut request = ExtractRequest::default();
    if let Some(path) = &args.prior {
        let prior = input::file(path, "what is known", Limit::moderate())?;
        let prior: Value = serde_json::from_str(&prior).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            let tried = format!("read what is known from `{}`", path.display());
            Error::new(ErrorKind::InvalidInput, tried, format!("it is no JSON from {place}"))
                .next("give a result that `kuhaku extract --json` printed, or an object of values")
        })?;
        let prior = Prior::from(prior);
        fitting(schema, &prior, path)?;
        request = request.prior(prior);
    }
    if let Some(path) = &args.reference {
        let text = input::file(path, "the reference", longest)?;
        let reference = serde_json::from_str(&text).unwrap_or(Value::String(text));
        request = request.reference(reference);
    }
    if let Some(identity) = &args.identity {
        request = request.identity(identity);
    }
    if let Some(id) = &args.trace_id {
        request = request.trace_id(id.clone());
    }
    Ok(request)
}

/// What does not fit is left out of a conversation, but whoever names a file shall know of it.
fn fitting(schema: &Schema, prior: &Prior, path: &Path) -> Result<()> {
    let values = match prior {
        Prior::Result(result) => result.state.as_ref(),
        Prior::Data(values) => Some(values),
        _ => None,
    };
    let Some(values) = values else { return Ok(()) };
    let checked = schema.check(values, &Coercion::lenient());
    let Some(problem) = checked.problems.first() else { return Ok(()) };
    let place = one_line(&problem.path, 80);
    let wrong = format!("the value at `{place}` {}", problem.message);
    let tried = format!("go on from what is known in `{}`", path.display());
    Err(Error::new(ErrorKind::InvalidInput, tried, wrong)
        .next("correct the value, or leave it out and be asked for it")
        .into())
}

pub(super) fn with_text(mut request: ExtractRequest, text: String) -> ExtractRequest {
    request.text = text;
    request
}

/// The text that the command was given; none for a conversation that begins with a question.
async fn first_text(args: &ExtractArgs, longest: Limit) -> Result<Option<String>> {
    if let Some(path) = &args.file {
        return input::file(path, "the text", longest).map(Some);
    }
    if !args.text.is_empty() {
        return Ok(Some(args.text.join(" ")));
    }
    if args.jsonl.is_some() || args.chat || (stdin().is_terminal() && !args.preview) {
        return Ok(None);
    }
    input::all(longest).await.map(Some)
}

/// The lines of a batch. In JSON a byte of text may take six.
fn lines(
    path: &Path,
    out: &Path,
    longest: usize,
) -> Result<(impl Iterator<Item = std::io::Result<String>> + use<>, Option<u64>)> {
    input::lines(path, out, longest.saturating_mul(6).saturating_add(64 << 10))
}

impl Work<'_> {
    async fn one(&self, request: ExtractRequest) -> Result<Exit> {
        let result = self.extractor.extract(request).await?;
        self.show(&result);
        if !self.console.json() {
            self.remarks(&result);
            if let Some(question) = &result.question {
                self.console.note(question);
            }
        }
        Ok(exit(result.status))
    }

    async fn preview(&self, request: ExtractRequest) -> Result<Exit> {
        let Preview { system, user, format, .. } = self.extractor.preview(request).await?;
        let schema = match format {
            kuhaku::core::ReplyFormat::JsonSchema(schema) => Some(schema),
            _ => None,
        };
        let console = self.console;
        if console.json() {
            let preview = json!({"system": system, "user": user, "schema": schema});
            console.value(&json!({"version": 1, "preview": preview}));
            return Ok(Exit::Done);
        }
        console.line(Line::new().bold("system"));
        console.lines(&system);
        console.line(Line::new().bold("user"));
        console.lines(&user);
        if let Some(schema) = schema {
            console.line(Line::new().bold("schema"));
            console.line(schema.to_string());
        }
        Ok(Exit::Done)
    }

    async fn batch(
        &self,
        lines: impl Iterator<Item = std::io::Result<String>>,
        count: Option<u64>,
        out: &Path,
    ) -> Result<Exit> {
        let bar = Texts::new(count);
        let at = bar.clone();
        let mut batch = self.extractor.batch().progress(move |progress| at.at(progress));
        if let Some(texts) = self.args.concurrency {
            batch = batch.concurrency(texts as usize);
        }
        let work = batch.run_jsonl(lines, out);
        let ended = match &self.args.trace_id {
            Some(id) => id.clone().bind(work).await,
            None => work.await,
        };
        bar.finish();
        let ended = ended?;
        let (done, complete, errors) = (ended.done, ended.complete, ended.errors);
        let skipped = ended.skipped;
        if self.console.json() {
            let texts =
                json!({"done": done, "complete": complete, "errors": errors, "skipped": skipped});
            self.console.value(&json!({"version": 1, "texts": texts}));
        } else {
            let earlier =
                if skipped > 0 { format!(" and {skipped} done before") } else { String::new() };
            self.console
                .line(format!("{done} done{earlier}: {complete} complete, {errors} in error"));
        }
        Ok(if complete == done.saturating_add(skipped) { Exit::Done } else { Exit::Partial })
    }

    /// The values of a result that the schema names, a line each; with `--json` all of it. Of one
    /// that failed none: they are what was refused.
    pub(super) fn show(&self, result: &Extraction) {
        if self.console.json() {
            return self.console.value(result);
        }
        let is_shown = matches!(
            result.status,
            ExtractionStatus::Complete
                | ExtractionStatus::NeedsClarification
                | ExtractionStatus::Invalid
        );
        let data = result.data.as_ref().filter(|_| is_shown);
        let named = data.map(|data| self.extractor.schema().without_unknown_names(data));
        let Some(Value::Object(values)) = &named else { return };
        let named = self.args.fields.iter().map(|field| field.name.as_str());
        // In the order of the command line; what a schema file names comes in that of the alphabet.
        let mut names: Vec<&str> = named.filter(|name| values.contains_key(*name)).collect();
        names.extend(
            values
                .keys()
                .map(String::as_str)
                .filter(|name| !self.args.fields.iter().any(|field| field.name == *name)),
        );
        for name in names {
            let value = values.get(name).unwrap_or(&Value::Null);
            if value.is_null() {
                continue;
            }
            let text = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let line = Line::new().bold(name).text(format!(": {text}"));
            self.console.line(line.dim(found(result, name)));
        }
    }

    /// What else is to be said of a result.
    pub(super) fn remarks(&self, result: &Extraction) {
        for issue in &result.issues {
            if issue.code == "missing" && result.question.is_some() {
                continue;
            }
            let path = issue.path.as_deref().filter(|path| !path.is_empty());
            let place = path.map(|path| format!("{}: ", one_line(path, 80))).unwrap_or_default();
            let note = format!("{}: {place}{}", issue.code, one_line(&issue.message, 240));
            self.console.note(&note);
        }
    }
}

/// What is known of where a value came from.
fn found(result: &Extraction, name: &str) -> String {
    let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let Some(field) = result.fields.get(&path) else { return String::new() };
    match (&field.grounding, &field.evidence) {
        (Some(Grounding::Grounded), Some(quote)) => {
            let chars = &quote.span.chars;
            let text = one_line(&quote.text, 80);
            format!("  (\"{text}\", characters {} to {})", chars.start, chars.end)
        }
        (Some(Grounding::Mismatch), _) => "  (the text says something else)".into(),
        (Some(Grounding::Ungrounded), _) => "  (the text does not say it)".into(),
        _ => String::new(),
    }
}

/// What the exit status says of a result.
pub(super) fn exit(status: ExtractionStatus) -> Exit {
    match status {
        ExtractionStatus::Complete => Exit::Done,
        ExtractionStatus::NeedsClarification | ExtractionStatus::NoMatch => Exit::Nothing,
        ExtractionStatus::Blocked => Exit::Refused,
        ExtractionStatus::Invalid => Exit::Unmet,
        _ => Exit::Failed,
    }
}
