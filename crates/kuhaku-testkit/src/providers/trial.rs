//! One case at work: the provider, the server that it talks to, and the rules that hold always.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{ChatRequest, ChatResponse, Error, LlmProvider, Message};

use super::case::{Endpoint, ProviderCase};
use super::leaks;
use super::streamed::{Streamed, collect};
use crate::transcript::{Reply, TranscriptServer};

/// The key of every provider under test.
pub(super) const KEY: &str = "planted-key-5up3r53cr3t";

/// Stands in every question; content, so it must not be seen outside of requests.
pub(super) const QUESTION: &str = "planted-question: how long is the notice period?";

/// Stands in replies that must not be quoted.
pub(super) const CONTENT: &str = "planted-content";

/// More than any step that is not meant to wait takes on a busy machine.
pub(super) const SOON: Duration = Duration::from_secs(5);

/// The short limit in cases about limits, far below [`SOON`].
pub(super) const SHORT: Duration = Duration::from_millis(150);

/// How a case went if nothing was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    NotOffered,
}

/// A verdict, or what was seen in place of what the case asks for.
pub(super) type Checked<T = Verdict> = Result<T, String>;

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($seen:tt)+) => {
        if !$condition {
            return Err(format!($($seen)+));
        }
    };
}
pub(super) use ensure;

/// Takes what the service offers, or ends the case as not offered.
macro_rules! offered {
    ($reply:expr) => {
        match $reply {
            Some(reply) => reply,
            None => return Ok($crate::providers::trial::Verdict::NotOffered),
        }
    };
}
pub(super) use offered;

/// A provider with the server behind it.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) server: TranscriptServer,
    pub(super) provider: Arc<dyn LlmProvider>,
}

/// The provider under test.
#[derive(Clone, Copy)]
pub(super) struct Trial<'a> {
    pub(super) case: &'a dyn ProviderCase,
}

impl Trial<'_> {
    /// A provider that is patient and tries once, before a server that follows a script.
    pub(super) async fn serve(self, script: impl IntoIterator<Item = Reply>) -> Checked<Pair> {
        self.serve_with(script, |_| ()).await
    }

    /// The same with changes to how the provider is made.
    pub(super) async fn serve_with(
        self,
        script: impl IntoIterator<Item = Reply>,
        change: impl FnOnce(&mut Endpoint),
    ) -> Checked<Pair> {
        let server = TranscriptServer::start(script).await.map_err(|error| error.to_string())?;
        let mut endpoint = Endpoint {
            base_url: server.url(),
            key: KEY.to_owned().into(),
            attempts: 1,
            backoff: Duration::from_millis(1),
            attempt_timeout: SOON * 2,
            idle_timeout: SOON * 2,
        };
        change(&mut endpoint);
        let provider = self.case.provider(&endpoint);
        leaks::check("the provider's Debug", &format!("{provider:?} {provider:#?}"))?;
        leaks::check("the provider's id", provider.id())?;
        ensure!(server.connections() == 0, "making the provider called the service");
        Ok(Pair { server, provider })
    }

    /// A streamed reply with this body in one piece.
    pub(super) fn stream_reply(self, body: impl Into<Vec<u8>>) -> Reply {
        Reply::stream(self.case.stream_type()).piece(body)
    }
}

impl Pair {
    /// One whole reply; errors are checked for leaks on the way.
    pub(super) async fn chat(&self, request: ChatRequest) -> Checked<Result<ChatResponse, Error>> {
        let outcome = self.provider.chat(request).await;
        if let Err(error) = &outcome {
            leaks::check_error(error)?;
        }
        Ok(outcome)
    }

    /// A reply that must be there.
    pub(super) async fn answer(&self, request: ChatRequest) -> Checked<ChatResponse> {
        self.chat(request).await?.map_err(|error| format!("chat failed: {error}"))
    }

    /// An error that must be there.
    pub(super) async fn failure(&self, request: ChatRequest) -> Checked<Error> {
        match self.chat(request).await? {
            Ok(response) => Err(format!("chat succeeded with {response:?}")),
            Err(error) => Ok(error),
        }
    }

    /// A stream to its end or failure.
    pub(super) async fn stream(&self, request: ChatRequest) -> Checked<Streamed> {
        collect(self.provider.stream(request).await).await
    }

    /// A stream that must end well.
    pub(super) async fn whole_stream(&self, request: ChatRequest) -> Checked<Streamed> {
        let streamed = self.stream(request).await?;
        match &streamed.outcome {
            Ok(_) => Ok(streamed),
            Err(error) => Err(format!("the stream failed after {:?}: {error}", streamed.pieces)),
        }
    }

    /// A stream that must fail: its text until then, and why.
    pub(super) async fn broken_stream(&self, request: ChatRequest) -> Checked<(String, Error)> {
        let streamed = self.stream(request).await?;
        let text = streamed.text();
        match streamed.outcome {
            Ok(end) => Err(format!("the stream ended as if complete, after {text:?}: {end:?}")),
            Err(error) => Ok((text, error)),
        }
    }
}

/// A request without options.
pub(super) fn plain() -> ChatRequest {
    ChatRequest::new("Answer from the sources only.", QUESTION)
}

/// A conversation with every option but a deadline and a format.
pub(super) fn full() -> ChatRequest {
    let mut request = plain().temperature(0.5).max_output_tokens(64);
    request.messages.push(Message::assistant("Which contract?"));
    request.messages.push(Message::user("The one of Ada, §4: \"naïve\" 日本."));
    request.stop = vec!["END".into(), "###".into()];
    request.seed = Some(7);
    request
}
