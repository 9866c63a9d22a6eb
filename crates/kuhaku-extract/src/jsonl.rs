//! Batches from lines of JSON to lines of JSON, which go on where they were interrupted.

use std::io;
use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};

use crate::batch::{Batch, BatchProgress};
use crate::batch_file::{BatchFile, Fault, Written, fingerprint};
use crate::error::{Error, ErrorKind, Result};
use crate::line::read;
use crate::result::Extraction;
use crate::schema::Schema;
use crate::settings::EvidenceMode;

impl Batch {
    /// Extracts from the texts of lines of JSON, and appends a line for each to the file `output`, in
    /// their order. A file that is there already is gone on with: what an interrupted run has done
    /// stays done, a last line that it did not finish is written anew. Texts that failed for a reason
    /// outside of them, such as a model that was down or the time that was over, are worked on again;
    /// their new lines stand at the end until the run ends, and then in the places of the old ones.
    ///
    /// An input line is a text as a JSON string, or an object with `text` and perhaps `id`, `history`
    /// (objects with `role`, `user` or `assistant`, and `text`), `reference` and `prior`. Blank lines
    /// are left out. An output line has `line` (of the input, from 1), `of` (a fingerprint of that
    /// line), `by` (a fingerprint of the schema and the evidence mode), `id`, and `result`, an
    /// [`Extraction`], or `error` with `code` and `message`; the other is null. A line that is wrong,
    /// and a text that fails, have an error and stop no other.
    ///
    /// Gives how it ended; what an earlier run had done counts as complete or in error too. The output
    /// is locked meanwhile. It must not be the file that the input is read from.
    ///
    /// # Errors
    /// `extract.batch` when the input cannot be read, or the output not be written; when the output
    /// is no regular file, has lines that are not of a batch, or is that of another input, schema or
    /// evidence mode; when another run writes it. Such a file is left as it is.
    pub async fn run_jsonl(
        &self,
        input: impl Iterator<Item = io::Result<String>>,
        output: &Path,
    ) -> Result<BatchProgress> {
        let core = &self.extractor.core;
        let by = by(&core.schema, core.settings.evidence);
        let longest = core.settings.max_text_bytes;
        let (mut file, mut done) = BatchFile::resume(output, &by, longest)?;
        let mut progress = BatchProgress::default();
        for kept in done.values().filter(|earlier| !earlier.again) {
            progress.skipped += 1;
            progress.complete += usize::from(kept.complete);
            progress.errors += usize::from(kept.error);
        }
        let mut failure = None;
        let lines = input
            .enumerate()
            .filter(|(_, text)| text.as_ref().map_or(true, |text| !text.trim().is_empty()));
        let todo = lines.map_while(|(at, text)| {
            let taken = text.map_err(unreadable);
            let taken = taken.and_then(|text| {
                let of = fingerprint(&text);
                match done.remove(&(at + 1)) {
                    Some(earlier) if earlier.of != of => Err(foreign(output)),
                    Some(earlier) if !earlier.again => Ok(None),
                    _ => Ok(Some((at + 1, of, text))),
                }
            });
            taken.map_err(|error| failure = Some(error)).ok()
        });
        let work = todo.flatten().map(|(line, of, text)| self.line(line, of, text));
        let mut outcomes = Box::pin(stream::iter(work).buffered(self.concurrency));
        while let Some(worked) = outcomes.next().await {
            file.append(&worked.written(&by))?;
            self.note(&mut progress, worked.outcome.as_ref());
        }
        drop(outcomes);
        match failure {
            Some(error) => Err(error),
            None => {
                file.put_in_order()?;
                Ok(progress)
            }
        }
    }

    async fn line(&self, line: usize, of: String, text: String) -> Worked {
        let (id, request) = read(&text);
        let outcome = match request {
            Ok(request) => self.extractor.extract(request).await,
            Err(error) => Err(error),
        };
        Worked { line, of, id, outcome }
    }
}

/// A text that is done.
struct Worked {
    line: usize,
    of: String,
    id: Option<Value>,
    outcome: Result<Extraction>,
}

impl Worked {
    fn written(&self, by: &str) -> Written<&Extraction> {
        let fault = |error: &Error| Fault { code: error.code().into(), message: error.to_string() };
        Written {
            line: self.line,
            of: self.of.clone(),
            by: by.to_owned(),
            id: self.id.clone(),
            result: self.outcome.as_ref().ok(),
            error: self.outcome.as_ref().err().map(fault),
        }
    }
}

/// What decides on results besides the texts, as a fingerprint.
fn by(schema: &Schema, evidence: EvidenceMode) -> String {
    let words = [Some(schema.name()), schema.description(), schema.instructions()];
    fingerprint(&json!([words, schema.document(), evidence.as_str()]).to_string())
}

fn foreign(output: &Path) -> Error {
    let tried = format!("go on with the results of a batch in `{}`", output.display());
    Error::new(ErrorKind::Batch, tried, "it has results of another input")
        .next("name another file for the output, or give the same input as before")
}

fn unreadable(source: io::Error) -> Error {
    Error::new(ErrorKind::Batch, "read the texts of a batch", "the operating system refused")
        .next("check the file and the rights on its folder")
        .caused_by(source)
}
