//! Asking models until a reply can be used: each again after a bad one, then the next.

use std::future::poll_fn;

use kuhaku_core::{
    ChatEvent, ChatRequest, ChatResponse, Error as CoreError, ErrorKind as CoreErrorKind, Finish,
    LlmProvider, Usage,
};
use serde_json::Value;

use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::issue::{Issue, IssueKind};
use crate::limit::Limit;
use crate::partials::Outlet;
use crate::parts::Core;
use crate::prompt::{Again, Prompt};
use crate::reply::{Repair, Verdict, parse_reply};
use crate::schema::Problem;

/// The most faults that a model is told of at once.
const MOST_FAULTS: usize = 20;

/// Says of a value whether it has the form of a reply, and if so what is wrong with its data.
pub(crate) type Read<'a> = &'a (dyn Fn(&Value) -> Option<Vec<Problem>> + Send + Sync);

/// What is asked.
pub(crate) struct Ask<'a> {
    pub(crate) core: &'a Core,
    pub(crate) prompt: &'a Prompt<'a>,
    pub(crate) read: Read<'a>,
    pub(crate) limit: Limit,
    /// Where values go while the model writes.
    pub(crate) outlet: Option<&'a Outlet>,
    /// What the request has used before.
    pub(crate) used: Usage,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The reply that is used: one that fits, else the last that had data.
    pub(crate) reply: Option<Value>,
    pub(crate) repairs: Vec<Repair>,
    /// The model that wrote it; without a usable reply, the last that replied at all.
    pub(crate) llm: Option<String>,
    /// Why there is no better one, unless its own data say so.
    pub(crate) issues: Vec<Issue>,
    pub(crate) attempts: u32,
    pub(crate) usage: Usage,
}

/// What one call gave.
enum Reply {
    Fits(Value, Vec<Repair>),
    /// Data that break the schema.
    Flawed(Value, Vec<Repair>, Again),
    Unreadable(Again),
}

/// Why nobody is asked any more.
enum End {
    Fits,
    Issue(Issue),
}

impl Ask<'_> {
    /// # Errors
    /// That of the last model, with what all have used, when none replied.
    pub(crate) async fn run(self) -> Result<Asked> {
        let mut asked = Asked::default();
        let mut unreadable: Option<Issue> = None;
        let mut failure: Option<Error> = None;
        let mut end = None;
        'models: for model in &self.core.models {
            let mut again: Option<Again> = None;
            for _ in 0..=self.core.settings.max_retries {
                if let Some(issue) = self.exhausted(&asked) {
                    end = Some(End::Issue(issue));
                    break 'models;
                }
                asked.attempts += 1;
                match self.call(model.as_ref(), again.as_ref(), &mut asked).await {
                    Ok(reply) => {
                        let wrote = Some(model.id().to_owned());
                        match reply {
                            Reply::Fits(value, repairs) => {
                                (asked.reply, asked.repairs) = (Some(value), repairs);
                                asked.llm = wrote;
                                end = Some(End::Fits);
                                break 'models;
                            }
                            Reply::Flawed(value, repairs, fault) => {
                                (asked.reply, asked.repairs) = (Some(value), repairs);
                                asked.llm = wrote;
                                again = Some(fault);
                            }
                            Reply::Unreadable(fault) => {
                                let reason = fault.wrong.first().cloned().unwrap_or_default();
                                unreadable = Some(Issue::unreadable(reason));
                                if asked.reply.is_none() {
                                    asked.llm = wrote;
                                }
                                again = Some(fault);
                            }
                        }
                    }
                    Err(error) => {
                        failure = Some(error);
                        if self.limit.is_over() {
                            break 'models;
                        }
                        continue 'models;
                    }
                }
            }
        }
        let replied = asked.reply.is_some() || unreadable.is_some();
        if !replied {
            match (failure, end) {
                // What the request used before leaves nothing to ask with.
                (None, Some(End::Issue(issue))) => asked.issues.push(issue),
                (failure, _) => {
                    let error = failure.unwrap_or_else(|| self.limit.passed());
                    return Err(error.with_usage(asked.usage));
                }
            }
            return Ok(asked);
        }
        if asked.reply.is_none() {
            asked.issues.extend(unreadable);
        }
        match end {
            Some(End::Fits) => {}
            Some(End::Issue(issue)) => asked.issues.push(issue),
            None if self.limit.is_over() => asked.issues.push(late()),
            None => {}
        }
        Ok(asked)
    }

    /// Why there is no further call, if there is none.
    fn exhausted(&self, asked: &Asked) -> Option<Issue> {
        if asked.attempts > 0 && self.limit.is_over() {
            return Some(late());
        }
        (self.left(asked) == Some(0)).then(|| {
            Issue::new(
                IssueKind::Retryable,
                "token_budget",
                "the tokens for one request are used up; raise extraction.token_budget",
            )
        })
    }

    /// How many tokens the request may still use, if that is limited.
    fn left(&self, asked: &Asked) -> Option<u64> {
        let used = self.used.plus(asked.usage);
        let used = used.input_tokens.unwrap_or(0).saturating_add(used.output_tokens.unwrap_or(0));
        self.core.settings.token_budget.map(|budget| budget.saturating_sub(used))
    }

    async fn call(
        &self,
        model: &dyn LlmProvider,
        again: Option<&Again>,
        asked: &mut Asked,
    ) -> Result<Reply> {
        let native = model.capabilities().json_schema;
        let user = self.prompt.user(&self.core.runtime, native, again)?;
        let settings = &self.core.settings;
        let most = self.left(asked).and_then(|left| u32::try_from(left).ok());
        let mut request = ChatRequest::new(self.prompt.system(), user)
            .temperature(settings.temperature as f32)
            .max_output_tokens(most.map_or(settings.max_tokens, |m| m.min(settings.max_tokens)))
            .format(self.prompt.format(native));
        request.deadline = self.limit.deadline();
        let response = match self.outlet {
            Some(outlet) => self.stream(model, request, outlet).await,
            None => self.limit.of(async { model.chat(request).await.adopt() }).await,
        };
        match response {
            Ok(response) => {
                asked.usage = asked.usage.plus(response.usage);
                if matches!(response.finish, Finish::ContentFilter | Finish::Refusal) {
                    // What is left of it says nothing of what the text lacks.
                    let wrong = "the model declined, or a filter of its service cut the reply";
                    let again = Again { reply: None, wrong: vec![wrong.to_owned()] };
                    return Ok(Reply::Unreadable(again));
                }
                Ok(self.parse(response.text))
            }
            Err(error) => {
                asked.usage = asked.usage.plus(error.usage());
                if !is_bad_reply(&error) {
                    return Err(error);
                }
                Ok(Reply::Unreadable(Again { reply: None, wrong: vec![error.wrong().to_owned()] }))
            }
        }
    }

    fn parse(&self, text: String) -> Reply {
        let mut accept = |value: &Value| match (self.read)(value) {
            None => Verdict::Refused,
            Some(problems) if problems.is_empty() => Verdict::Satisfied,
            // The fewer faults the better.
            Some(problems) => {
                let faults = u32::try_from(problems.len()).unwrap_or(u32::MAX);
                Verdict::Usable(u32::MAX - 1 - faults.min(u32::MAX - 2))
            }
        };
        match parse_reply(&text, &self.core.reply_limits, &mut accept) {
            Ok(parsed) if parsed.verdict == Verdict::Satisfied => {
                Reply::Fits(parsed.value, parsed.repairs)
            }
            Ok(parsed) => {
                let problems = (self.read)(&parsed.value).unwrap_or_default();
                let fault = |problem: &Problem| format!("{}: {}", problem.path, problem.message);
                let wrong = problems.iter().take(MOST_FAULTS).map(fault).collect();
                let again = Again { reply: Some(text), wrong };
                Reply::Flawed(parsed.value, parsed.repairs, again)
            }
            Err(unparsed) => {
                let wrong = vec![format!("{}: {}", unparsed.as_str(), unparsed.reason())];
                Reply::Unreadable(Again { reply: Some(text), wrong })
            }
        }
    }

    async fn stream(
        &self,
        model: &dyn LlmProvider,
        request: ChatRequest,
        outlet: &Outlet,
    ) -> Result<ChatResponse> {
        let mut text = String::new();
        let mut partial = outlet.reader();
        let mut stream = self.limit.of(async { model.stream(request).await.adopt() }).await?;
        loop {
            let next = async {
                let event = poll_fn(|context| stream.as_mut().poll_next(context)).await;
                event.unwrap_or_else(|| Err(cut())).adopt()
            };
            // Parts that are always there leave the timer no turn.
            if self.limit.is_over() {
                return Err(self.limit.passed());
            }
            match self.limit.of(next).await? {
                ChatEvent::Text(part) => {
                    partial.push(&part);
                    text.push_str(&part);
                    if text.len() > self.core.reply_limits.max_bytes {
                        return Ok(ChatResponse::new(model.id(), text)); // refused as too long
                    }
                }
                ChatEvent::End { finish, usage, model } => {
                    return Ok(ChatResponse::new(model, text).finish(finish).usage(usage));
                }
                // Events of a later version of the contract say nothing of the text.
                _ => {}
            }
        }
    }
}

/// Whether the model has replied, with something that its adapter could not use.
fn is_bad_reply(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Core(
            CoreErrorKind::MalformedResponse
                | CoreErrorKind::EmptyResponse
                | CoreErrorKind::ResponseTooLarge
                | CoreErrorKind::Refused
        )
    )
}

fn late() -> Issue {
    let message = "the time for one request is over; raise extraction.request_timeout_seconds";
    Issue::new(IssueKind::Retryable, "timed_out", message)
}

/// A stream that stops without saying that it is complete.
fn cut() -> CoreError {
    CoreError::new(CoreErrorKind::Unavailable, "read a streamed reply", "it ended before its end")
        .next("ask again")
}
