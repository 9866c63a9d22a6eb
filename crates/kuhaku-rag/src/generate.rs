//! Having a model write the answer, whole or piece by piece.

use std::future::poll_fn;

use kuhaku_core::{
    ChatEvent, ChatRequest, ChatResponse, Error as CoreError, ErrorKind as CoreErrorKind, Fence,
    Finish, LlmProvider,
};

use crate::answer::{Answer, Mode};
use crate::engine::{Asked, RagEngine};
use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::limit::Limit;
use crate::pieces::{Pieces, Step};
use crate::prompt::{Canary, is_no_answer, user};
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
}

/// What came of asking a model, or of doing without.
pub(crate) struct Written {
    pub(crate) mode: Mode,
    pub(crate) text: String,
    /// The service ended it before the model did.
    pub(crate) cut: bool,
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
        let written = match call.outlet {
            Some(outlet) => self.stream(call, chat, &canary, outlet).await,
            None => call.limit.of(async { call.model.chat(chat).await.adopt() }).await,
        };
        let reply = written.inspect_err(|error| record.failed_call(error))?;
        answer.usage = Some(reply.usage);
        record.usage(reply.usage);
        if is_no_answer(&reply.text) {
            return Ok(None);
        }
        if canary.leaked_by(&reply.text) {
            record.reason("reply_held_back");
            let text = self.messages.withheld.clone();
            return Ok(Some(Written { mode: Mode::Refused, text, cut: false }));
        }
        let cut = matches!(reply.finish, Finish::Length | Finish::ContentFilter);
        Ok(Some(Written { mode: Mode::Generated, text: reply.text.trim().into(), cut }))
    }

    /// Lets out what has been checked while the model writes. A reply that leaks ends there.
    async fn stream(
        &self,
        call: Call<'_>,
        chat: ChatRequest,
        canary: &Canary,
        outlet: &Outlet,
    ) -> Result<ChatResponse> {
        let mut pieces = Pieces::new(canary, self.masker.as_ref());
        let mut stream = call.limit.of(async { call.model.stream(chat).await.adopt() }).await?;
        loop {
            let next = async {
                let event = poll_fn(|context| stream.as_mut().poll_next(context)).await;
                event.unwrap_or_else(|| Err(cut())).adopt()
            };
            match call.limit.of(next).await {
                Ok(ChatEvent::Text(text)) => match pieces.push(&text) {
                    Step::Held => {}
                    Step::Leaves(text) => outlet.send(&text),
                    Step::Leak => return Ok(ChatResponse::new("", pieces.into_reply())),
                },
                Ok(ChatEvent::End { finish, usage, model }) => {
                    let reply = ChatResponse::new(model, pieces.into_reply());
                    return Ok(reply.finish(finish).usage(usage));
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
