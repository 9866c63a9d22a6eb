//! What differs between services, without any I/O: a dialect says what to send and what a reply
//! means; [`HttpProvider`](crate::provider::HttpProvider) does the rest once for all.

use std::fmt;

use kuhaku_core::{Capabilities, ChatRequest, Finish, ReplyFormat, Usage};
use serde_json::Value;

use crate::fault::Fault;

/// The language of one service for one model.
pub(crate) trait Dialect: Send + Sync + fmt::Debug {
    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// How streamed events are separated.
    fn framing(&self) -> Framing;

    /// Whether the service itself can hold a reply to a form.
    fn native(&self, format: &ReplyFormat, streaming: bool) -> Native;

    /// What to send. Its format is one for which [`Self::native`] is not [`Native::No`].
    ///
    /// # Errors
    /// When the service cannot express the request.
    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault>;

    /// Reads the reply to one attempt of `request`.
    fn reader(&self, request: &ChatRequest) -> Box<dyn Reader>;

    /// What an HTTP status outside of 2xx means. `body` is null when it was not JSON.
    ///
    /// [`Fault::of_status`] does most of it.
    fn failure(&self, status: u16, body: &Value) -> Fault;

    /// The next step when nobody answers at the address, if there is a better one than checking it.
    fn when_unreachable(&self) -> Option<String> {
        None
    }
}

/// Whether a service holds a reply to JSON or to a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Native {
    /// It does.
    Yes,
    /// It does if the model behind it can, or if the prompt says it too: the form also stands in
    /// the prompt.
    WithPrompt,
    /// It does not: the form stands in the prompt alone.
    No,
}

/// Reads one reply into a [`Draft`].
///
/// Nothing that a service sends may be trusted to have a shape: absent, null and odd values are
/// passed over where the reply makes sense without them.
pub(crate) trait Reader: Send {
    /// A whole reply with a status of 2xx.
    ///
    /// # Errors
    /// When it reports a failure, or holds nothing that could be a reply.
    fn reply(&mut self, body: &Value, draft: &mut Draft) -> Result<(), Fault>;

    /// One event of a stream: `name` is empty for services without named events, and `data` is a
    /// line for [`Framing::Lines`].
    ///
    /// # Errors
    /// When it reports a failure, or is malformed.
    fn event(&mut self, name: &str, data: &str, draft: &mut Draft) -> Result<(), Fault>;
}

/// How streamed events are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// A request in the words of a service. Credentials are added by the provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wire {
    /// What follows the base URL, with a leading slash.
    pub(crate) path: String,
    /// Headers beside the content type, without secrets.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// The JSON body.
    pub(crate) body: Value,
}

impl Wire {
    /// A `POST` of a JSON body.
    pub(crate) fn new(path: impl Into<String>, body: Value) -> Self {
        Self { path: path.into(), headers: Vec::new(), body }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// How far a reply has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Closing {
    /// More must come; a stream that ends here was cut.
    #[default]
    Open,
    /// It may end here, though more may come (a count of tokens, an end mark).
    Possible,
    /// It is over; what follows is not read.
    Reached,
}

/// A reply as far as it is known. Readers fill it in.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Text that was not passed on yet, untrimmed.
    pub(crate) text: String,
    /// Why the reply ended, as soon as it is known.
    pub(crate) finish: Option<Finish>,
    /// Tokens, as soon as they are known.
    pub(crate) usage: Usage,
    /// The model, as the service names it.
    pub(crate) model: Option<String>,
    /// Whether the reply may end.
    pub(crate) closing: Closing,
}

impl Draft {
    /// Takes the counts that are whole numbers and leaves the others as they were. No call uses
    /// zero tokens: a zero stands for a service that does not know.
    pub(crate) fn count(&mut self, input: Option<&Value>, output: Option<&Value>) {
        let number = |value: Option<&Value>| value?.as_u64().filter(|count| *count > 0);
        self.usage = Usage::new(
            number(input).or(self.usage.input_tokens),
            number(output).or(self.usage.output_tokens),
        );
    }

    /// Takes the model's name if it is one: spans show it, so a service must not put content there.
    pub(crate) fn name(&mut self, model: Option<&Value>) {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/@+".contains(&byte);
        let is_name = |name: &&str| (1..=128).contains(&name.len()) && name.bytes().all(letter);
        let name = model.and_then(Value::as_str).filter(is_name);
        if let (None, Some(name)) = (&self.model, name) {
            self.model = Some(name.into());
        }
    }
}

/// Parses an event.
///
/// # Errors
/// When it is not JSON.
pub(crate) fn json(data: &str) -> Result<Value, Fault> {
    serde_json::from_str(data).map_err(|_| Fault::malformed("an event of the stream is not JSON"))
}

/// A temperature as JSON, without the digits that widening to `f64` adds.
pub(crate) fn temperature(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}
