//! The pipeline from a question to an answer.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kuhaku_core::{
    ChatRequest, Fence, InjectionGuard, LlmProvider, Masker, PiiMasker, Redactions, Runtime,
    Section as _, TraceId,
};
use kuhaku_index::{ChunkIndex, ChunkReader};

use crate::answer::{
    Answer, Citation, Found, JSON_VERSION, Mode, Retrieved, SearchAnswer, Skipped, Source, Timings,
};
use crate::citation::{citations, tag};
use crate::diversity::diversify;
use crate::error::{Adopt as _, Result};
use crate::extract::extract;
use crate::messages::Messages;
use crate::prompt::{Canary, Prompt, is_no_answer, user};
use crate::question::{Question, terms};
use crate::request::AskRequest;
use crate::retrieve::{Hit, RetrievalRequest, Retriever, SparseRetriever};
use crate::settings::{ModelSettings, RagSettings};

/// The longest question that is read, in bytes; the rest is cut off at a character.
const LONGEST_QUESTION: usize = 32 * 1024;

/// Answers questions from an index, within the asker's rights.
///
/// Immutable: to change a part, build another engine. Masking and the injection guard are always
/// on (R7).
#[derive(Clone, Debug)]
pub struct RagEngine {
    index: Arc<dyn ChunkIndex>,
    retriever: Arc<dyn Retriever>,
    model: Option<Arc<dyn LlmProvider>>,
    masker: Arc<dyn Masker>,
    guard: InjectionGuard,
    settings: RagSettings,
    model_settings: ModelSettings,
    messages: Messages,
    prompt: Prompt,
    runtime: Runtime,
}

/// Makes a [`RagEngine`].
#[derive(Clone, Debug)]
#[must_use]
pub struct RagEngineBuilder {
    index: Arc<dyn ChunkIndex>,
    retriever: Option<Arc<dyn Retriever>>,
    model: Option<Arc<dyn LlmProvider>>,
    masker: Arc<dyn Masker>,
    settings: RagSettings,
    model_settings: ModelSettings,
    messages: Messages,
    prompt: Prompt,
    runtime: Runtime,
}

impl RagEngineBuilder {
    /// Finds chunks another way. The engine checks the scope again on whatever it returns.
    pub fn retriever(mut self, retriever: impl Retriever + 'static) -> Self {
        self.retriever = Some(Arc::new(retriever));
        self
    }

    /// Writes answers with a model. Without one, answers are extractive.
    pub fn model(mut self, model: Arc<dyn LlmProvider>) -> Self {
        self.model = Some(model);
        self
    }

    /// Masks questions another way. It should be the masker that the documents were masked with.
    pub fn masker(mut self, masker: Arc<dyn Masker>) -> Self {
        self.masker = masker;
        self
    }

    /// Sets the settings of retrieval and answers.
    pub fn settings(mut self, settings: RagSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets the settings of the language model.
    pub fn model_settings(mut self, settings: ModelSettings) -> Self {
        self.model_settings = settings;
        self
    }

    /// Sets the sentences that stand in place of an answer.
    pub fn messages(mut self, messages: Messages) -> Self {
        self.messages = messages;
        self
    }

    /// Sets the application's part of the prompt.
    pub fn prompt(mut self, prompt: Prompt) -> Self {
        self.prompt = prompt;
        self
    }

    /// Sets clock, random bytes, metrics and announcements.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// The finished engine.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every setting that is out of range.
    pub fn build(self) -> Result<RagEngine> {
        self.settings.validate().adopt()?;
        self.model_settings.validate().adopt()?;
        let retriever =
            self.retriever.unwrap_or_else(|| Arc::new(SparseRetriever::new(self.settings.bm25())));
        Ok(RagEngine {
            index: self.index,
            retriever,
            model: self.model,
            masker: self.masker,
            guard: InjectionGuard::new(),
            settings: self.settings,
            model_settings: self.model_settings,
            messages: self.messages,
            prompt: self.prompt,
            runtime: self.runtime,
        })
    }
}

/// A question that has passed masking, and what belongs to its request.
struct Asked {
    question: String,
    redactions: Redactions,
    trace_id: TraceId,
    begun: Instant,
}

/// What was found for a question.
struct Retrieval {
    question: Question,
    hits: Vec<Weighed>,
}

/// A hit with the share of the question that it holds.
struct Weighed {
    hit: Hit,
    coverage: f64,
}

impl RagEngine {
    /// An engine over an index, with default parts.
    pub fn builder(index: Arc<dyn ChunkIndex>) -> RagEngineBuilder {
        RagEngineBuilder {
            index,
            retriever: None,
            model: None,
            masker: Arc::new(PiiMasker::new()),
            settings: RagSettings::default(),
            model_settings: ModelSettings::default(),
            messages: Messages::default(),
            prompt: Prompt::new(),
            runtime: Runtime::system(),
        }
    }

    /// Answers a question.
    ///
    /// # Errors
    /// Those of the index, of a custom retriever and of the model. Having no answer is no error:
    /// see [`Answer::mode`].
    pub async fn ask(&self, request: &AskRequest) -> Result<Answer> {
        let asked = self.begin(request)?;
        let mut answer = self.respond(request, &asked).await?;
        answer.timings.total = asked.begun.elapsed();
        Ok(answer)
    }

    async fn respond(&self, request: &AskRequest, asked: &Asked) -> Result<Answer> {
        let messages = &self.messages;
        if asked.question.is_empty() {
            return Ok(plain(asked, Mode::Empty, &messages.empty_question));
        }
        if self.guard.screen(&asked.question).blocked().is_some() {
            return Ok(plain(asked, Mode::Refused, &messages.refused));
        }
        let reader = self.index.reader(&request.scope).await.adopt()?;
        if reader.visible_chunks() == 0 {
            return Ok(plain(asked, Mode::Empty, &messages.nothing_visible));
        }
        let found = self.retrieve(request, asked, &reader).await?;
        let mut answer = plain(asked, Mode::Abstained, &messages.no_match);
        answer.timings.retrieve = asked.begun.elapsed();
        let retrieved = |weighed: &Weighed| Retrieved::new(&weighed.hit, weighed.coverage);
        answer.retrieved = found.hits.iter().map(retrieved).collect();
        let threshold = self.settings.rag_confidence_threshold;
        let evidence: Vec<&Hit> =
            found.hits.iter().filter(|w| w.coverage >= threshold).map(|w| &w.hit).collect();
        if evidence.is_empty() {
            return Ok(answer);
        }
        let begun = Instant::now();
        let written = match &self.model {
            Some(model) => self.generate(model, asked, &evidence, &mut answer).await?,
            None => {
                answer.skipped.push(Skipped::new("generate", "no_model"));
                let limit = self.settings.extractive_sentences;
                extract(&found.question, &evidence, reader.analyzer(), limit)
                    .map(|text| (Mode::Extractive, text))
            }
        };
        answer.timings.generate = begun.elapsed();
        if let Some((mode, text)) = written {
            self.fill(&mut answer, mode, text, &evidence);
        }
        Ok(answer)
    }

    /// Finds chunks without answering.
    ///
    /// # Errors
    /// Those of the index and of a custom retriever.
    pub async fn search(&self, request: &AskRequest) -> Result<SearchAnswer> {
        let asked = self.begin(request)?;
        let mut skipped = Vec::new();
        let mut hits = Vec::new();
        if asked.question.is_empty() {
            skipped.push(Skipped::new("retrieve", "empty_query"));
        } else if self.guard.screen(&asked.question).blocked().is_some() {
            skipped.push(Skipped::new("retrieve", "refused"));
        } else {
            let reader = self.index.reader(&request.scope).await.adopt()?;
            hits = self.retrieve(request, &asked, &reader).await?.hits;
        }
        let total = asked.begun.elapsed();
        let found = |Weighed { hit, coverage }: Weighed| Found {
            retrieved: Retrieved::new(&hit, coverage),
            headings: hit.chunk.headings,
            page: hit.chunk.page,
            text: hit.chunk.text,
        };
        Ok(SearchAnswer {
            version: JSON_VERSION,
            hits: hits.into_iter().map(found).collect(),
            redactions: asked.redactions,
            skipped,
            trace_id: asked.trace_id,
            timings: Timings { retrieve: total, generate: Duration::ZERO, total },
        })
    }

    fn begin(&self, request: &AskRequest) -> Result<Asked> {
        let begun = Instant::now();
        let trace_id = match &request.trace_id {
            Some(id) => id.clone(),
            None => self.runtime.trace_id().adopt()?,
        };
        let (question, _, redactions) = self.masker.mask(shorten(&request.question)).into_parts();
        Ok(Asked { question: question.trim().into(), redactions, trace_id, begun })
    }

    /// Chunks for a question, best first: found in scope, checked again, made diverse, cut, weighed.
    async fn retrieve(
        &self,
        request: &AskRequest,
        asked: &Asked,
        reader: &Arc<dyn ChunkReader>,
    ) -> Result<Retrieval> {
        let top_k = request.top_k.unwrap_or(self.settings.top_k);
        let mut filter = request.filter.clone();
        if request.any_validity {
            filter.valid_on = None;
        } else if filter.valid_on.is_none() {
            filter.valid_on = Some(self.runtime.today());
        }
        let pool = self.settings.rerank_candidates.max(top_k);
        let retrieval =
            RetrievalRequest::new(asked.question.as_str(), reader.clone(), pool).filter(filter);
        let mut hits = self.retriever.retrieve(&retrieval).await?;
        // A custom retriever may have other ways to chunks than the reader (R4).
        hits.retain(|hit| request.scope.sees(&hit.chunk.tags));
        let mut seen = HashSet::new();
        hits.retain(|hit| seen.insert(hit.chunk.id.clone()));
        let hits = diversify(hits, self.settings.max_chunks_per_document, top_k);
        let question = Question::read(&asked.question, reader.as_ref()).await?;
        let weigh = |hit: Hit| {
            let chunk = &hit.chunk;
            let text = [&chunk.title, "\n", &chunk.headings.join("\n"), "\n", &chunk.text].concat();
            let coverage = question.coverage(&terms(reader.analyzer(), &text));
            Weighed { hit, coverage }
        };
        let hits = hits.into_iter().map(weigh).collect();
        Ok(Retrieval { question, hits })
    }

    /// The model's answer; nothing when it says that the sources hold none.
    async fn generate(
        &self,
        model: &Arc<dyn LlmProvider>,
        asked: &Asked,
        evidence: &[&Hit],
        answer: &mut Answer,
    ) -> Result<Option<(Mode, String)>> {
        let fence = Fence::new(&self.runtime).adopt()?;
        let canary = Canary::new(&self.runtime).adopt()?;
        let system = self.prompt.system(&canary);
        let chat = ChatRequest::new(system, user(&fence, &self.masker, &asked.question, evidence))
            .temperature(self.model_settings.llm_temperature as f32)
            .max_output_tokens(self.model_settings.llm_max_tokens);
        let reply = model.chat(chat).await.adopt()?;
        answer.usage = Some(reply.usage);
        if is_no_answer(&reply.text) {
            return Ok(None);
        }
        if canary.leaked_by(&reply.text) {
            return Ok(Some((Mode::Refused, self.messages.withheld.clone())));
        }
        Ok(Some((Mode::Generated, reply.text.trim().into())))
    }

    /// Puts a text into an answer, with its sources and its verified citations.
    fn fill(&self, answer: &mut Answer, mode: Mode, text: String, evidence: &[&Hit]) {
        answer.mode = mode;
        answer.abstained = false;
        // What was put together from masked pieces is masked as a whole before it leaves (R7).
        answer.text = self.masker.mask(&text).into_parts().0;
        if mode == Mode::Refused {
            answer.retrieved.clear();
            return;
        }
        answer.sources =
            evidence.iter().enumerate().map(|(at, hit)| Source::new(tag(at + 1), hit)).collect();
        let cited = citations(&answer.text, evidence.len());
        let source = |number: &usize| answer.sources.get(number.checked_sub(1)?);
        answer.citations = cited.valid.iter().filter_map(source).map(Citation::new).collect();
        if cited.invalid.is_empty() {
            return;
        }
        let tags: Vec<String> = cited.invalid.iter().map(|number| tag(*number)).collect();
        for (number, tag) in cited.invalid.iter().zip(&tags) {
            // The number is the model's: labels stay within a fixed vocabulary (R7).
            let label = if *number <= 100 { tag } else { "[S:overflow]" };
            self.runtime.count("rag_unverified_citations_total", label, 1);
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
        skipped: Vec::new(),
        usage: None,
        trace_id: asked.trace_id.clone(),
        timings: Timings::default(),
    }
}

/// The part of a question that is read.
fn shorten(question: &str) -> &str {
    let end = (0..=question.len().min(LONGEST_QUESTION))
        .rev()
        .find(|at| question.is_char_boundary(*at))
        .unwrap_or_default();
    question.get(..end).unwrap_or_default()
}
