//! Having a model write the answer, whole or piece by piece.

use std::future::poll_fn;

use kuhaku_core::{
    ChatEvent, ChatRequest, ChatResponse, Error as CoreError, ErrorKind as CoreErrorKind, Fence,
    Finish, LlmProvider,
};
use kuhaku_index::Analyzer;

use crate::answer::{Answer, Mode};
use crate::engine::{Asked, RagEngine, label};
use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::limit::Limit;
use crate::observed;
use crate::output::{Against, Canary, Checked, Grounding, Held, OutputGuard, Told};
use crate::pieces::{Pieces, Step};
use crate::prompt::{is_no_answer, user};
use crate::record::RequestRecord;
use crate::retrieve::Hit;
use crate::streaming::Outlet;

/// How a model is called.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) model: &'a dyn LlmProvider,
    pub(crate) limit: Limit,
    /// Where pieces go while the model writes; the answer comes whole without it.
    pub(crate) outlet: Option<&'a Outlet>,
    /// How the index reads words.
    pub(crate) analyzer: &'a Analyzer,
    /// The question as it came: the caller knows what it holds.
    pub(crate) raw: &'a str,
}

/// What came of asking a model, or of doing without.
pub(crate) struct Written {
    pub(crate) mode: Mode,
    /// Masked, and free to leave.
    pub(crate) text: String,
    /// The service ended it before the model did.
    pub(crate) cut: bool,
    pub(crate) grounding: Option<Grounding>,
}

impl Written {
    pub(crate) fn extractive(text: String) -> Self {
        Self { mode: Mode::Extractive, text, cut: false, grounding: None }
    }
}

impl RagEngine {
    /// The model's answer; nothing when it says that the sources hold none.
    pub(crate) async fn generate(
        &self,
        call: Call<'_>,
        asked: &Asked,
        evidence: &[&Hit],
        answer: &mut Answer,
        record: &mut RequestRecord,
    ) -> Result<Option<Written>> {
        let fence = Fence::new(&self.runtime).adopt()?;
        let canary = Canary::new(&self.runtime).adopt()?;
        let system = self.prompt.system(&canary);
        let mut chat =
            ChatRequest::new(system, user(&fence, &self.masker, &asked.question, evidence))
                .temperature(self.model_settings.llm_temperature as f32)
                .max_output_tokens(self.model_settings.llm_max_tokens);
        chat.deadline = call.limit.deadline();
        record.model(call.model.id());
        let guard = OutputGuard::new(canary, self.against(call, evidence));
        let written = match call.outlet {
            Some(outlet) => self.stream(call, chat, &guard, outlet).await,
            None => {
                let reply = call.limit.of(async { call.model.chat(chat).await.adopt() }).await;
                reply.map(|reply| (reply, None))
            }
        };
        let (reply, held) = written.inspect_err(|error| record.failed_call(error))?;
        answer.usage = Some(reply.usage);
        record.usage(reply.usage);
        if held.is_none() && is_no_answer(&reply.text) {
            return Ok(None);
        }
        let checked = observed::output_guard(&self.runtime).measure(|span| {
            let checked = held.map_or_else(|| guard.check(reply.text.trim()), Err);
            match &checked {
                Ok(Checked { told: Told { grounding, .. }, .. }) => {
                    span.record("kuhaku.sentences", grounding.sentences);
                    span.record("kuhaku.cited", grounding.cited);
                    span.record("kuhaku.grounded", grounding.grounded);
                }
                Err(held) => {
                    span.record("kuhaku.held_back", held.as_str());
                }
            }
            checked
        });
        Ok(Some(match checked {
            Ok(checked) => {
                let cut = matches!(reply.finish, Finish::Length | Finish::ContentFilter);
                self.count_grounding(&checked);
                let grounding = Some(checked.told.grounding);
                Written { mode: Mode::Generated, text: checked.text, cut, grounding }
            }
            Err(held) => {
                held.count(&self.runtime);
                record.reason(held.as_str());
                let text = self.messages.withheld.clone();
                Written { mode: Mode::Refused, text, cut: false, grounding: None }
            }
        }))
    }

    /// What the output guard checks a reply against.
    fn against<'a>(&'a self, call: Call<'a>, evidence: &'a [&'a Hit]) -> Against<'a> {
        Against {
            masker: self.masker.as_ref(),
            recognisers: &self.recognisers,
            analyzer: call.analyzer,
            question: call.raw,
            hits: evidence,
            threshold: self.settings.grounding_threshold,
            mark: &self.messages.ungrounded,
            policy: self.settings.output_guard_policy,
        }
    }

    fn count_grounding(&self, checked: &Checked) {
        let Told { grounding, ungrounded } = &checked.told;
        let count = |name, label: &str, by: usize| {
            if by > 0 {
                self.runtime.count(name, label, u64::try_from(by).unwrap_or(u64::MAX));
            }
        };
        count("rag_sentences_total", "cited", grounding.cited);
        count("rag_sentences_total", "uncited", grounding.sentences - grounding.cited);
        for number in ungrounded {
            count("rag_ungrounded_citations_total", &label(*number), 1);
        }
        if checked.broken {
            count("rag_output_guard_failures_total", "passed", 1);
        }
    }

    /// Lets out what has been checked while the model writes. A reply that is held back ends there.
    async fn stream(
        &self,
        call: Call<'_>,
        chat: ChatRequest,
        guard: &OutputGuard<'_>,
        outlet: &Outlet,
    ) -> Result<(ChatResponse, Option<Held>)> {
        let mut pieces = Pieces::new(guard);
        let mut stream = call.limit.of(async { call.model.stream(chat).await.adopt() }).await?;
        loop {
            let next = async {
                let event = poll_fn(|context| stream.as_mut().poll_next(context)).await;
                event.unwrap_or_else(|| Err(cut())).adopt()
            };
            match call.limit.of(next).await {
                Ok(ChatEvent::Text(text)) => match pieces.push(&text) {
                    Step::Waits => {}
                    Step::Leaves(text) => outlet.send(&text),
                    Step::Stops(held) => {
                        return Ok((ChatResponse::new("", pieces.into_reply()), Some(held)));
                    }
                },
                Ok(ChatEvent::End { finish, usage, model }) => {
                    let reply = ChatResponse::new(model, pieces.into_reply());
                    return Ok((reply.finish(finish).usage(usage), None));
                }
                // Events of a later version of the contract say nothing of the text.
                Ok(_) => {}
                Err(error) => {
                    if let Step::Leaves(text) = pieces.cut_off() {
                        outlet.send(&text);
                    }
                    return Err(partial(error, outlet.sent()));
                }
            }
        }
    }
}

/// A stream that stops without saying that it is complete.
fn cut() -> CoreError {
    CoreError::new(CoreErrorKind::Unavailable, "read a streamed reply", "it ended before its end")
        .next("ask again")
}

/// A failure after so many characters have been given; the same failure when none have.
fn partial(error: Error, given: usize) -> Error {
    if given == 0 {
        return error;
    }
    let wrong = format!(
        "only its first {given} characters came; cannot {}: {}",
        error.tried(),
        error.wrong()
    );
    let next = error.next_step().unwrap_or("ask again").to_owned();
    Error::new(ErrorKind::PartialAnswer, "give the whole answer", wrong)
        .next(next)
        .with_status(error.status())
        .with_usage(error.usage())
        .caused_by(error)
}
