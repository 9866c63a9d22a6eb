//! One provider for every dialect: the rules that hold for all services are here.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{
    Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, Finish, HttpStream,
    LlmProvider, Result,
};
use secrecy::SecretString;

use crate::connection::{Answer, Connection};
use crate::dialect::{Dialect, Draft, Framing};
use crate::excess::too_long;
use crate::fault::Fault;
use crate::quote::texts_of;
use crate::stream::{self, Reading};
use crate::structured::{Form, prompted};
use crate::tokens;
use crate::trim::Trimmer;

/// A model behind a service. One call is one attempt: the layers of core are put around it.
#[derive(Clone)]
pub(crate) struct HttpProvider {
    pub(crate) connection: Connection,
    pub(crate) dialect: Arc<dyn Dialect>,
    /// The longest input and reply together, if it is known better than by the dialect.
    pub(crate) context_tokens: Option<u32>,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider").field("id", &self.connection.id).finish_non_exhaustive()
    }
}

/// One call: what is asked, in which form, and what must not be quoted.
pub(crate) struct Call {
    /// What the dialect is given.
    sent: ChatRequest,
    /// What the reply must be.
    pub(crate) form: Form,
    secrets: Vec<SecretString>,
}

/// What came of asking.
enum Opened {
    /// A reply of success, not yet read.
    Reply(HttpStream),
    /// A reply that the service reported as an error.
    Salvaged(ChatResponse),
}

impl HttpProvider {
    fn call(&self, request: ChatRequest, streaming: bool) -> Result<Call> {
        let form = Form::of(&request.format)?;
        let native = self.dialect.native(&request.format, streaming);
        let sent = prompted(request, native, &self.connection.runtime)?;
        let call = Call { sent, form, secrets: Vec::new() };
        self.check_length(&call.sent).map_err(|fault| self.error(fault, &call))?;
        Ok(call)
    }

    /// Nothing is sent that the model would have to cut.
    fn check_length(&self, request: &ChatRequest) -> Result<(), Fault> {
        let Some(context) = self.capabilities().context_tokens else { return Ok(()) };
        let reply = u64::from(request.max_output_tokens.unwrap_or_default());
        let most = u64::from(context).saturating_sub(reply);
        let input = tokens::of_request(request);
        if input <= most { Ok(()) } else { Err(too_long(Some((input, most)))) }
    }

    /// The error of a fault, without secrets and texts of the call.
    pub(crate) fn error(&self, fault: Fault, call: &Call) -> Error {
        let service = self.connection.id.split(':').next().and_then(|name| name.parse().ok());
        let fault = match service {
            Some(service) => fault.naming_settings_of(service),
            None => fault,
        };
        self.connection.error(fault, &call.secrets, texts_of(&call.sent))
    }

    async fn open(&self, call: &mut Call, streaming: bool) -> Result<Opened> {
        let wire = self.dialect.wire(&call.sent, streaming);
        let wire = wire.map_err(|fault| self.error(fault, call))?;
        let Answer { stream, secrets } = self.connection.post(&wire).await?;
        call.secrets = secrets;
        if stream.is_success() {
            return Ok(Opened::Reply(stream));
        }
        let meaning = |status, body: &_| self.dialect.failure(status, body);
        let mut fault = self.connection.refused(stream, meaning).await;
        let written = fault.salvage.take().filter(|_| call.form.is_json());
        match written.map(|text| call.form.settle(text, Finish::Stop)) {
            Some(Ok(text)) => Ok(Opened::Salvaged(ChatResponse::new(self.model(), text))),
            _ => Err(self.error(fault, call)),
        }
    }

    /// Reads a whole reply.
    async fn read(&self, stream: HttpStream, call: &Call) -> Result<ChatResponse> {
        let mut draft = Draft::default();
        let body = self.connection.json(stream).await?;
        let read = body
            .and_then(|body| self.dialect.reader(&call.sent).reply(&body, &mut draft))
            .and_then(|()| {
                let finish = draft.finish.unwrap_or(Finish::Stop);
                let text = Trimmer::default().push(&draft.text).unwrap_or_default();
                let text = call.form.settle(given(text, finish)?, finish)?;
                let model = draft.model.take().unwrap_or_else(|| self.model().to_owned());
                Ok(ChatResponse::new(model, text).finish(finish).usage(draft.usage))
            });
        read.map_err(|fault| self.error(fault, call).with_usage(draft.usage))
    }

    /// The model's name as it was set.
    pub(crate) fn model(&self) -> &str {
        let id = &self.connection.id;
        id.split_once(':').map_or(id, |(_, model)| model)
    }
}

/// Passes a text on, or says why there is none.
pub(crate) fn given(text: String, finish: Finish) -> Result<String, Fault> {
    if !text.is_empty() {
        return Ok(text);
    }
    let (kind, wrong, next) = match finish {
        Finish::Refusal => (
            ErrorKind::Refused,
            "the model declined to answer",
            "ask differently, or choose another model",
        ),
        Finish::ContentFilter => (
            ErrorKind::Refused,
            "a filter of the service removed the whole reply",
            "ask differently, or choose another service",
        ),
        Finish::Length => (
            ErrorKind::EmptyResponse,
            "the token limit was reached before there was any text",
            "raise the limit of output tokens; models that reason need more",
        ),
        _ => (
            ErrorKind::EmptyResponse,
            "the reply holds no text",
            "ask again, or choose another model",
        ),
    };
    Err(Fault::new(kind, wrong).next(next))
}

#[async_trait]
impl LlmProvider for HttpProvider {
    fn id(&self) -> &str {
        &self.connection.id
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = self.dialect.capabilities();
        capabilities.context_tokens = self.context_tokens.or(capabilities.context_tokens);
        capabilities
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        let mut call = self.call(request, false)?;
        match self.open(&mut call, false).await? {
            Opened::Reply(stream) => self.read(stream, &call).await,
            Opened::Salvaged(response) => Ok(response),
        }
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let mut call = self.call(request, true)?;
        let stream = match self.open(&mut call, true).await? {
            Opened::Reply(stream) => stream,
            Opened::Salvaged(response) => return Ok(stream::of_response(response)),
        };
        let kind = stream.header("content-type").unwrap_or_default();
        let whole = kind.starts_with("application/json");
        if whole && self.dialect.framing() == Framing::Events {
            // The service did not stream: the reply, or the report of a failure, is in one piece.
            return self.read(stream, &call).await.map(stream::of_response);
        }
        let reader = self.dialect.reader(&call.sent);
        Ok(Reading::new(self.clone(), call, stream, reader).into_stream())
    }
}
