//! What an asker gets back (D25).

use std::ops::Range;
use std::time::Duration;

use kuhaku_core::{ChunkId, Redactions, TraceId, Usage};
use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::output::Grounding;
use crate::retrieve::Hit;

/// The version of the JSON that [`Answer`] and [`SearchAnswer`] serialise to.
pub(crate) const JSON_VERSION: u32 = 1;

/// How an answer came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// A model wrote it from the sources.
    Generated,
    /// Sentences of the sources, verbatim: no model is configured.
    Extractive,
    /// Nothing that the caller may see answers the question.
    Abstained,
    /// The question, or the model's reply, was held back for safety.
    Refused,
    /// The question was blank, or the caller sees nothing at all.
    Empty,
}

impl Mode {
    /// The stable name, as in the JSON of answers and in the audit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Generated => "generated",
            Self::Extractive => "extractive",
            Self::Abstained => "abstained",
            Self::Refused => "refused",
            Self::Empty => "empty",
        }
    }
}

/// A chunk that an answer rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Source {
    /// The tag by which the text cites it: `[S1]`.
    pub tag: String,
    /// The chunk.
    pub chunk: ChunkId,
    /// The document's title.
    pub title: String,
    /// Where the document came from.
    pub source: String,
    /// The document's type.
    pub doc_type: String,
    /// The headings above the chunk, outermost first.
    pub headings: Vec<String>,
    /// The page or slide, from 1.
    pub page: Option<u32>,
    /// The chunk's bytes in the document's canonical text.
    pub range: Range<usize>,
    /// The chunk's text.
    pub text: String,
}

impl Source {
    pub(crate) fn new(tag: String, hit: &Hit) -> Self {
        let chunk = &hit.chunk;
        Self {
            tag,
            chunk: chunk.id.clone(),
            title: chunk.title.clone(),
            source: chunk.source.clone(),
            doc_type: chunk.doc_type.clone(),
            headings: chunk.headings.clone(),
            page: chunk.page,
            range: chunk.range.clone(),
            text: chunk.text.clone(),
        }
    }
}

/// A tag of the text and what it stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Citation {
    /// The tag: `[S1]`.
    pub tag: String,
    /// The chunk that it stands for.
    pub chunk: ChunkId,
    /// The document's title.
    pub title: String,
    /// Where the document came from.
    pub source: String,
    /// The headings above the chunk, outermost first.
    pub headings: Vec<String>,
    /// The page or slide, from 1.
    pub page: Option<u32>,
}

impl Citation {
    pub(crate) fn new(source: &Source) -> Self {
        Self {
            tag: source.tag.clone(),
            chunk: source.chunk.clone(),
            title: source.title.clone(),
            source: source.source.clone(),
            headings: source.headings.clone(),
            page: source.page,
        }
    }
}

/// A chunk that was found, best first, with the raw signals (R9).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Retrieved {
    /// The chunk.
    pub chunk: ChunkId,
    /// The document's title.
    pub title: String,
    /// Where the document came from.
    pub source: String,
    /// Its BM25 score: above 0, comparable within one question only.
    pub bm25: Option<f64>,
    /// The cosine of its vector with the question's, from -1 to 1.
    pub cosine: Option<f64>,
    /// The probability that it answers the question, by a reranker, from 0 to 1.
    pub rerank: Option<f64>,
    /// The share of the question's informative words that it holds, from 0 to 1.
    pub coverage: f64,
}

impl Retrieved {
    pub(crate) fn new(hit: &Hit, coverage: f64) -> Self {
        Self {
            chunk: hit.chunk.id.clone(),
            title: hit.chunk.title.clone(),
            source: hit.chunk.source.clone(),
            bm25: hit.bm25,
            cosine: hit.cosine,
            rerank: hit.rerank,
            coverage,
        }
    }
}

/// A stage that did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Skipped {
    /// The stage.
    pub stage: &'static str,
    /// Why it did not run, as a stable word.
    pub reason: &'static str,
    /// What went wrong and what to do about it, where something did, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Skipped {
    pub(crate) fn new(stage: &'static str, reason: &'static str) -> Self {
        Self { stage, reason, detail: None }
    }

    pub(crate) fn because(mut self, error: &Error) -> Self {
        let next = error.next_step().map(|next| format!("; next: {next}")).unwrap_or_default();
        self.detail = Some(format!("cannot {}: {}{next}", error.tried(), error.wrong()));
        self
    }
}

/// How long the stages of a request took. Serialised as milliseconds under names ending in `_ms`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Timings {
    /// Finding chunks.
    #[serde(rename = "retrieve_ms", serialize_with = "milliseconds")]
    pub retrieve: Duration,
    /// Waiting for the model.
    #[serde(rename = "generate_ms", serialize_with = "milliseconds")]
    pub generate: Duration,
    /// The whole request.
    #[serde(rename = "total_ms", serialize_with = "milliseconds")]
    pub total: Duration,
}

fn milliseconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}

/// An answer, with everything that it rests on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Answer {
    /// The version of this form, for readers of its JSON.
    pub version: u32,
    /// How the answer came about.
    pub mode: Mode,
    /// The text, with tags such as `[S1]`.
    pub text: String,
    /// The tags of the text that stand for a source, in number order.
    pub citations: Vec<Citation>,
    /// The evidence: `[S1]` is the first.
    pub sources: Vec<Source>,
    /// All that was found, evidence or not.
    pub retrieved: Vec<Retrieved>,
    /// What was masked in the question.
    pub redactions: Redactions,
    /// Nothing that the caller may see answers the question, or what the model wrote was held back.
    pub abstained: bool,
    /// How a generated answer rests on its sources; absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grounding: Option<Grounding>,
    /// Stages that did not run, and why.
    pub skipped: Vec<Skipped>,
    /// What the model used; absent when none was called.
    pub usage: Option<Usage>,
    /// The request.
    pub trace_id: TraceId,
    /// How long it took.
    #[serde(flatten)]
    pub timings: Timings,
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchAnswer {
    /// The version of this form, for readers of its JSON.
    pub version: u32,
    /// The hits, best first.
    pub hits: Vec<Found>,
    /// What was masked in the query.
    pub redactions: Redactions,
    /// The query was held back for safety, or blank.
    pub skipped: Vec<Skipped>,
    /// The request.
    pub trace_id: TraceId,
    /// How long it took.
    #[serde(flatten)]
    pub timings: Timings,
}

/// A chunk that a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The chunk and the signals.
    #[serde(flatten)]
    pub retrieved: Retrieved,
    /// The headings above the chunk, outermost first.
    pub headings: Vec<String>,
    /// The page or slide, from 1.
    pub page: Option<u32>,
    /// The chunk's text.
    pub text: String,
}
