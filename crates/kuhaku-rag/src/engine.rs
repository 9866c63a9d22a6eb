//! The pipeline from a question to an answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kuhaku_core::{
    AuditLog, InjectionGuard, LlmProvider, Masker, PiiMasker, Redactions, Runtime, TraceId,
};
use kuhaku_index::{ChunkIndex, ChunkReader, Filter};
use tracing::Span;

use crate::answer::{
    Answer, Citation, Found, JSON_VERSION, Mode, Retrieved, SearchAnswer, Skipped, Source, Timings,
};
use crate::builder::RagEngineBuilder;
use crate::citation::{citations, tag};
use crate::error::{Adopt as _, Result};
use crate::evidence::Evidence;
use crate::extract::{extract, opening};
use crate::generate::{Call, Written};
use crate::limit::Limit;
use crate::messages::Messages;
use crate::observed;
use crate::prompt::Prompt;
use crate::question::Question;
use crate::record::RequestRecord;
use crate::redactions;
use crate::request::AskRequest;
use crate::retrieve::{Hit, Retrieval, RetrievalRequest, Retriever};
use crate::settings::{ModelSettings, RagSettings};
use crate::streaming::Outlet;
use crate::withheld::{Afterwards, Withheld};

/// The longest question that is read, in bytes; the rest is cut off at a character.
const LONGEST_QUESTION: usize = 32 * 1024;

/// Answers questions from an index, within the asker's rights.
///
/// Immutable: to change a part, build another engine. Masking and the injection guard are always
/// on (R7). Polled within a runtime of Tokio, it needs the timer of the runtime.
#[derive(Clone, Debug)]
pub struct RagEngine {
    pub(crate) index: Arc<dyn ChunkIndex>,
    pub(crate) retriever: Arc<dyn Retriever>,
    pub(crate) evidence: Evidence,
    pub(crate) model: Option<Arc<dyn LlmProvider>>,
    pub(crate) masker: Arc<dyn Masker>,
    /// For the output guard, whatever the masker is.
    pub(crate) recognisers: PiiMasker,
    pub(crate) guard: InjectionGuard,
    pub(crate) settings: RagSettings,
    pub(crate) model_settings: ModelSettings,
    pub(crate) messages: Messages,
    pub(crate) prompt: Prompt,
    pub(crate) runtime: Runtime,
    pub(crate) audit: AuditLog,
    pub(crate) count_withheld: bool,
    pub(crate) afterwards: Afterwards,
}

/// A question that has passed masking, and what belongs to its request.
pub(crate) struct Asked {
    pub(crate) question: String,
    redactions: Redactions,
    trace_id: TraceId,
}

/// Why a question is not searched for.
enum Stop {
    Blank,
    Attack,
}

/// What was found for a question.
struct Findings {
    question: Question,
    hits: Vec<Weighed>,
    skipped: Vec<Skipped>,
}

/// Where and until when to look.
struct Search<'a> {
    reader: &'a Arc<dyn ChunkReader>,
    filter: Filter,
    limit: Limit,
}

/// A hit with the share of the question that it holds.
struct Weighed {
    hit: Hit,
    coverage: f64,
}

impl RagEngine {
    /// An engine over an index, with default parts.
    pub fn builder(index: Arc<dyn ChunkIndex>) -> RagEngineBuilder {
        RagEngineBuilder::new(index)
    }

    pub(crate) async fn answer(
        &self,
        request: &AskRequest,
        trace_id: TraceId,
        record: &mut RequestRecord,
        outlet: Option<&Outlet>,
    ) -> Result<Answer> {
        let asked = self.read(request, trace_id, record);
        let mut answer = self.respond(request, &asked, record, outlet).await?;
        answer.timings.total = record.begun().elapsed();
        record.answered(&answer);
        Ok(answer)
    }

    async fn respond(
        &self,
        request: &AskRequest,
        asked: &Asked,
        record: &mut RequestRecord,
        outlet: Option<&Outlet>,
    ) -> Result<Answer> {
        let messages = &self.messages;
        if let Some(stop) = self.screen(asked, record) {
            return Ok(match stop {
                Stop::Blank => plain(asked, Mode::Empty, &messages.empty_question),
                Stop::Attack => plain(asked, Mode::Refused, &messages.refused),
            });
        }
        let filter = self.filter(request);
        self.count_withheld(request, asked, &filter, record);
        let limit = Limit::new(record.begun(), self.settings.request_timeout_seconds);
        let reader = limit.of(async { self.index.reader(&request.scope).await.adopt() }).await?;
        if reader.visible_chunks() == 0 {
            record.reason("nothing_visible");
            return Ok(plain(asked, Mode::Empty, &messages.nothing_visible));
        }
        let search = Search { reader: &reader, filter, limit };
        let found = limit.of(self.retrieve(request, asked, search, record)).await?;
        let mut answer = plain(asked, Mode::Abstained, &messages.no_match);
        answer.timings.retrieve = record.begun().elapsed();
        let retrieved = |weighed: &Weighed| Retrieved::new(&weighed.hit, weighed.coverage);
        answer.retrieved = found.hits.iter().map(retrieved).collect();
        answer.skipped = found.skipped;
        let evidence: Vec<&Hit> = found
            .hits
            .iter()
            .filter(|weighed| self.evidence.is(&weighed.hit, weighed.coverage))
            .map(|weighed| &weighed.hit)
            .collect();
        if evidence.is_empty() {
            record.reason(if found.hits.is_empty() { "no_hits" } else { "low_coverage" });
            return Ok(answer);
        }
        let begun = Instant::now();
        let written = match &self.model {
            Some(model) => {
                let (analyzer, raw) = (reader.analyzer(), request.question.as_str());
                let call = Call { model: model.as_ref(), limit, outlet, analyzer, raw };
                let writing = self.generate(call, asked, &evidence, &mut answer, record);
                observed::generate(&self.runtime).run(writing).await?
            }
            None => {
                answer.skipped.push(Skipped::new("generate", "no_model"));
                let limit = self.settings.extractive_sentences;
                let by_meaning = |hit: &&Hit| hit.cosine.or(hit.rerank).is_some();
                let text = observed::extract(&self.runtime).measure(|_| {
                    let text = extract(&found.question, &evidence, reader.analyzer(), limit);
                    text.or_else(|| opening(&evidence).filter(|_| evidence.iter().any(by_meaning)))
                });
                // What was put together from masked pieces is masked as a whole before it leaves (R7).
                text.map(|text| self.masker.mask(&text).into_parts().0).map(Written::extractive)
            }
        };
        answer.timings.generate = begun.elapsed();
        record.generated(answer.timings.generate);
        match written {
            Some(written) => self.fill(&mut answer, written, &evidence),
            None => record.reason("no_answer_in_sources"),
        }
        Ok(answer)
    }

    pub(crate) async fn find(
        &self,
        request: &AskRequest,
        trace_id: TraceId,
        record: &mut RequestRecord,
    ) -> Result<SearchAnswer> {
        let asked = self.read(request, trace_id, record);
        let (mut skipped, mut hits) = (Vec::new(), Vec::new());
        match self.screen(&asked, record) {
            Some(Stop::Blank) => skipped.push(Skipped::new("retrieve", "empty_query")),
            Some(Stop::Attack) => skipped.push(Skipped::new("retrieve", "refused")),
            None => {
                let filter = self.filter(request);
                self.count_withheld(request, &asked, &filter, record);
                let limit = Limit::new(record.begun(), self.settings.request_timeout_seconds);
                let finding = async {
                    let reader = self.index.reader(&request.scope).await.adopt()?;
                    let search = Search { reader: &reader, filter, limit };
                    self.retrieve(request, &asked, search, record).await
                };
                let found = limit.of(finding).await?;
                (hits, skipped) = (found.hits, found.skipped);
                if hits.is_empty() {
                    record.reason("no_hits");
                }
            }
        }
        let total = record.begun().elapsed();
        let found = |Weighed { hit, coverage }: Weighed| Found {
            retrieved: Retrieved::new(&hit, coverage),
            headings: hit.chunk.headings,
            page: hit.chunk.page,
            text: hit.chunk.text,
        };
        let answer = SearchAnswer {
            version: JSON_VERSION,
            hits: hits.into_iter().map(found).collect(),
            redactions: asked.redactions,
            skipped,
            trace_id: asked.trace_id,
            timings: Timings { retrieve: total, generate: Duration::ZERO, total },
        };
        record.searched(&answer);
        Ok(answer)
    }

    /// The question that is asked, masked, under its trace id.
    fn read(&self, request: &AskRequest, trace_id: TraceId, record: &mut RequestRecord) -> Asked {
        let masked = observed::mask(&self.runtime).measure(|span| {
            let masked = self.masker.mask(shorten(&request.question));
            span.record("kuhaku.redactions", masked.redactions().total());
            masked
        });
        record.question(&request.question, &masked);
        redactions::count(&self.runtime, masked.redactions());
        let (question, _, redactions) = masked.into_parts();
        Asked { question: question.trim().into(), redactions, trace_id }
    }

    /// Why a question is not searched for, if it is not.
    fn screen(&self, asked: &Asked, record: &mut RequestRecord) -> Option<Stop> {
        if asked.question.is_empty() {
            record.reason("empty_question");
            return Some(Stop::Blank);
        }
        let family = observed::guard(&self.runtime).measure(|span| {
            let family = self.guard.screen(&asked.question).blocked();
            span.record("kuhaku.guard", family.map(|family| family.as_str()));
            family
        })?;
        record.attack(family);
        record.reason("question_held_back");
        Some(Stop::Attack)
    }

    /// Which chunks are eligible: those that hold today, unless the request says otherwise.
    fn filter(&self, request: &AskRequest) -> Filter {
        let mut filter = request.filter.clone();
        if request.any_validity {
            filter.valid_on = None;
        } else if filter.valid_on.is_none() {
            filter.valid_on = Some(self.runtime.today());
        }
        filter
    }

    /// Has what is withheld counted when the answer has been given, if that is wanted.
    fn count_withheld(
        &self,
        request: &AskRequest,
        asked: &Asked,
        filter: &Filter,
        record: &mut RequestRecord,
    ) {
        if self.count_withheld {
            record.count_withheld(Withheld {
                index: self.index.clone(),
                question: asked.question.clone(),
                scope: request.scope.clone(),
                filter: filter.clone(),
            });
        }
    }

    /// Chunks for a question, best first.
    async fn retrieve(
        &self,
        request: &AskRequest,
        asked: &Asked,
        search: Search<'_>,
        record: &mut RequestRecord,
    ) -> Result<Findings> {
        let finding = self.weigh(request, asked, search, record);
        observed::retrieve(&self.runtime).run(finding).await
    }

    /// Found in scope, checked again, put in order, cut, weighed.
    async fn weigh(
        &self,
        request: &AskRequest,
        asked: &Asked,
        Search { reader, filter, limit }: Search<'_>,
        record: &mut RequestRecord,
    ) -> Result<Findings> {
        let top_k = request.top_k.unwrap_or(self.settings.top_k);
        let retrieval = RetrievalRequest::new(asked.question.as_str(), reader.clone(), top_k)
            .filter(filter)
            .deadline(limit.deadline());
        let found = self.retriever.retrieve(&retrieval).await?;
        let Retrieval { hits, skipped, held_back } = found;
        record.found(hits.iter(), record.begun().elapsed());
        Span::current().record("kuhaku.hits", hits.len());
        Span::current().record("kuhaku.held_back", held_back);
        let question = Question::read(&asked.question, reader.as_ref()).await?;
        let weigh = |hit: Hit| {
            let coverage = question.coverage_of(&hit.chunk, reader.analyzer());
            Weighed { hit, coverage }
        };
        let hits = hits.into_iter().map(weigh).collect();
        Ok(Findings { question, hits, skipped })
    }

    /// Puts a text into an answer, with its sources and its verified citations.
    fn fill(&self, answer: &mut Answer, written: Written, evidence: &[&Hit]) {
        answer.mode = written.mode;
        answer.abstained = written.mode == Mode::Refused;
        answer.text = written.text;
        answer.grounding = written.grounding;
        if written.mode == Mode::Refused {
            answer.retrieved.clear();
            return;
        }
        answer.sources =
            evidence.iter().enumerate().map(|(at, hit)| Source::new(tag(at + 1), hit)).collect();
        let cited = observed::cite(&self.runtime).measure(|span| {
            let cited = citations(&answer.text, evidence.len());
            span.record("kuhaku.citations", cited.valid.len());
            cited
        });
        let source = |number: &usize| answer.sources.get(number.checked_sub(1)?);
        answer.citations = cited.valid.iter().filter_map(source).map(Citation::new).collect();
        if written.cut {
            answer.text.push_str("\n\n");
            answer.text.push_str(&self.messages.cut);
        }
        if cited.invalid.is_empty() {
            return;
        }
        let tags: Vec<String> = cited.invalid.iter().map(|number| tag(*number)).collect();
        for number in &cited.invalid {
            self.runtime.count("rag_unverified_citations_total", &label(*number), 1);
        }
        let warning = self.messages.unverified.replace("{tags}", &tags.join(", "));
        answer.text.push_str("\n\n");
        answer.text.push_str(&warning);
    }
}

/// An answer that is one of the messages.
fn plain(asked: &Asked, mode: Mode, text: &str) -> Answer {
    Answer {
        version: JSON_VERSION,
        mode,
        text: text.into(),
        citations: Vec::new(),
        sources: Vec::new(),
        retrieved: Vec::new(),
        redactions: asked.redactions.clone(),
        abstained: mode == Mode::Abstained,
        grounding: None,
        skipped: Vec::new(),
        usage: None,
        trace_id: asked.trace_id.clone(),
        timings: Timings::default(),
    }
}

/// The tag of a number as a label: the number is the model's, and labels stay within a fixed
/// vocabulary (R7).
pub(crate) fn label(number: usize) -> String {
    if number <= 100 { tag(number) } else { "[S:overflow]".into() }
}

/// The part of a question that is read.
fn shorten(question: &str) -> &str {
    let end = (0..=question.len().min(LONGEST_QUESTION))
        .rev()
        .find(|at| question.is_char_boundary(*at))
        .unwrap_or_default();
    question.get(..end).unwrap_or_default()
}
