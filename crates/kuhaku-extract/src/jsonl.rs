//! Batches from lines of JSON to lines of JSON, which go on where they were interrupted.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{
    self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _,
};
use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;
use kuhaku_core::{ErrorKind as CoreErrorKind, Kind as _, Message};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::batch::{Batch, BatchProgress};
use crate::error::{Error, ErrorKind, Result};
use crate::request::ExtractRequest;
use crate::result::Extraction;

/// One text of a batch in JSON: an object with `text` and perhaps `id`, `history`, `reference`,
/// `prior`, or the text alone as a string.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Text(String),
    Whole {
        #[serde(default)]
        id: Option<Value>,
        text: String,
        #[serde(default)]
        history: Vec<Said>,
        #[serde(default)]
        reference: Option<Value>,
        #[serde(default)]
        prior: Option<Value>,
    },
}

#[derive(Deserialize)]
struct Said {
    role: String,
    text: String,
}

/// One line of the output.
#[derive(Deserialize, Serialize)]
struct Written<T> {
    /// Which line of the input it is about, from 1.
    line: usize,
    /// A fingerprint of that line, so that the output of another input is not taken for ours.
    of: String,
    id: Option<Value>,
    result: Option<T>,
    error: Option<Fault>,
}

#[derive(Deserialize, Serialize)]
struct Fault {
    code: String,
    message: String,
}

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
    /// line), `id`, and `result`, an [`Extraction`], or `error` with `code` and `message`; the other is
    /// null. A line that is wrong, and a text that fails, have an error and stop no other.
    ///
    /// Gives how it ended.
    ///
    /// # Errors
    /// `extract.batch` when the input cannot be read, or the output not be written, or when the output
    /// is that of another input.
    pub async fn run_jsonl(
        &self,
        input: impl Iterator<Item = io::Result<String>>,
        output: &Path,
    ) -> Result<BatchProgress> {
        let (mut file, mut done) = resume(output)?;
        let skipped = done.values().filter(|earlier| !earlier.again).count();
        let mut progress = BatchProgress { skipped, ..BatchProgress::default() };
        let mut failure = None;
        let lines = input
            .enumerate()
            .filter(|(_, text)| text.as_ref().map_or(true, |text| !text.trim().is_empty()));
        let todo = lines.map_while(|(at, text)| {
            let taken = text.map_err(|source| unusable("read the texts of a batch", source));
            let taken = taken.and_then(|text| {
                let of = fingerprint(&text);
                match done.remove(&(at + 1)) {
                    Some(earlier) if earlier.of != of => Err(foreign()),
                    Some(earlier) if !earlier.again => Ok(None),
                    _ => Ok(Some((at + 1, of, text))),
                }
            });
            taken.map_err(|error| failure = Some(error)).ok()
        });
        let work = todo.flatten().map(|(line, of, text)| self.line(line, of, text));
        let mut outcomes = Box::pin(stream::iter(work).buffered(self.concurrency));
        while let Some(worked) = outcomes.next().await {
            worked.append(&mut file)?;
            self.note(&mut progress, worked.outcome.as_ref());
        }
        drop(outcomes);
        match failure {
            Some(error) => Err(error),
            None => {
                drop(file);
                put_in_order(output)?;
                Ok(progress)
            }
        }
    }

    async fn line(&self, line: usize, of: String, text: String) -> Worked {
        let (id, request) = match read(&text) {
            Ok((id, request)) => (id, Ok(request)),
            Err(error) => (None, Err(error)),
        };
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
    fn append(&self, file: &mut File) -> Result<()> {
        let fault = |error: &Error| Fault { code: error.code().into(), message: error.to_string() };
        let written = Written {
            line: self.line,
            of: self.of.clone(),
            id: self.id.clone(),
            result: self.outcome.as_ref().ok(),
            error: self.outcome.as_ref().err().map(fault),
        };
        let bytes = serde_json::to_vec(&written).map_err(io::Error::other);
        let appended = bytes.and_then(|mut bytes| {
            bytes.push(b'\n');
            file.write_all(&bytes)?;
            file.flush()
        });
        appended.map_err(|source| unusable("write the results of a batch", source))
    }
}

fn read(text: &str) -> Result<(Option<Value>, ExtractRequest)> {
    let wrong = |wrong: &'static str| {
        Error::new(ErrorKind::Batch, "read a line of a batch", wrong)
            .next("write a text as a JSON string, or an object with `text`")
    };
    let line = serde_json::from_str(text);
    // Errors of serde quote the line, which is outside text (R7).
    match line.map_err(|_| wrong("it is no text and no object with the documented names"))? {
        Line::Text(text) => Ok((None, ExtractRequest::new(text))),
        Line::Whole { id, text, history, reference, prior } => {
            let mut request = ExtractRequest::new(text);
            for Said { role, text } in history {
                request.history.push(match role.as_str() {
                    "user" => Message::user(text),
                    "assistant" => Message::assistant(text),
                    _ => return Err(wrong("a role is neither `user` nor `assistant`")),
                });
            }
            request.reference = reference;
            request.prior = prior.map(Into::into);
            Ok((id, request))
        }
    }
}

/// What an earlier run wrote of a line of the input.
struct Earlier {
    of: String,
    /// Whether it failed for a reason outside of the text.
    again: bool,
    /// Where its line of the output begins, and how long it is, in bytes.
    place: (u64, usize),
}

/// As much of a result as tells why it failed.
#[derive(Deserialize)]
struct Ended {
    issues: Vec<Because>,
}

#[derive(Deserialize)]
struct Because {
    code: String,
}

impl Written<Ended> {
    fn is_to_be_done_again(&self) -> bool {
        let of_the_text = [
            ErrorKind::Batch,
            ErrorKind::Configuration,
            ErrorKind::Core(CoreErrorKind::InvalidInput),
            ErrorKind::Core(CoreErrorKind::ContextTooLong),
        ];
        let late = |result: &Ended| result.issues.iter().any(|it| it.code == "timed_out");
        self.error
            .as_ref()
            .is_some_and(|fault| !of_the_text.iter().any(|it| it.code() == fault.code))
            || self.result.as_ref().is_some_and(late)
    }
}

/// Reads the output of earlier runs: what stands there of each line of the input, the last that was
/// written; how many bytes whole lines take; and whether each line stands once and in order.
fn scan(file: &mut File, tried: &'static str) -> Result<(BTreeMap<usize, Earlier>, u64, bool)> {
    let (mut done, mut whole, mut ordered) = (BTreeMap::new(), 0_u64, true);
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line);
        let read = read.map_err(|source| unusable(tried, source))?;
        if read == 0 || line.last() != Some(&b'\n') {
            break;
        }
        let written: Written<Ended> = serde_json::from_slice(&line).map_err(|_| {
            let wrong = format!("line {number} of the output is not one of a batch");
            Error::new(ErrorKind::Batch, tried, wrong).next("name another file for the output")
        })?;
        ordered &= done.last_key_value().is_none_or(|(last, _)| *last < written.line);
        let again = written.is_to_be_done_again();
        done.insert(written.line, Earlier { of: written.of, again, place: (whole, read) });
        whole += u64::try_from(read).unwrap_or_default();
    }
    Ok((done, whole, ordered))
}

/// Opens the output for more lines: whole ones stay, what an interrupted run left of one goes. Gives
/// the lines of the input that are done.
fn resume(path: &Path) -> Result<(File, BTreeMap<usize, Earlier>)> {
    let tried = "go on with the results of a batch";
    let broken = |source| unusable(tried, source);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(path).map_err(broken)?;
    let (done, whole, _) = scan(&mut file, tried)?;
    file.set_len(whole).and_then(|()| file.seek(SeekFrom::End(0))).map_err(broken)?;
    Ok((file, done))
}

/// Puts lines that were worked on again in the places of the old ones. The file is replaced at once,
/// so that nothing is lost when that is interrupted.
fn put_in_order(path: &Path) -> Result<()> {
    let tried = "put the results of a batch in order";
    let broken = |source| unusable(tried, source);
    let path = path.canonicalize().map_err(broken)?;
    let mut file = File::open(&path).map_err(broken)?;
    let (done, _, ordered) = scan(&mut file, tried)?;
    if ordered {
        return Ok(());
    }
    let mut name = path.clone().into_os_string();
    name.push(".ordered");
    let rewrite = || {
        let mut fresh = BufWriter::new(File::create(&name)?);
        let mut line = Vec::new();
        for (start, length) in done.values().map(|it| it.place) {
            line.resize(length, 0);
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut line)?;
            fresh.write_all(&line)?;
        }
        let fresh = fresh.into_inner().map_err(io::IntoInnerError::into_error)?;
        fresh.set_permissions(file.metadata()?.permissions())?;
        fresh.sync_all()?;
        drop((fresh, file));
        std::fs::rename(&name, &path)
    };
    rewrite().map_err(broken)
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits: it tells inputs apart, and keeps nothing secret.
fn fingerprint(text: &str) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = text.trim_end().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

fn foreign() -> Error {
    let wrong = "the output has results of another input";
    Error::new(ErrorKind::Batch, "go on with the results of a batch", wrong)
        .next("name another file for the output, or give the same input as before")
}

fn unusable(tried: &'static str, source: io::Error) -> Error {
    Error::new(ErrorKind::Batch, tried, "the operating system refused")
        .next("check the file and the rights on its folder")
        .caused_by(source)
}
