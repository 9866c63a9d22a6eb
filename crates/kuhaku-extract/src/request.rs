//! What a caller asks for.

use kuhaku_core::{Message, TraceId};
use serde::Deserialize as _;
use serde_json::Value;

use crate::result::Extraction;

/// One text to extract from, with what helps to understand it.
///
/// ```
/// use kuhaku_core::Message;
/// use kuhaku_extract::ExtractRequest;
/// let request = ExtractRequest::new("the same for her, please")
///     .history([Message::user("a green tea for me"), Message::assistant("And for Ada?")])
///     .reference(serde_json::json!({"table": 7}));
/// # assert_eq!(request.history.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExtractRequest {
    /// The text: values are taken from here.
    pub text: String,
    /// The conversation before it, oldest first. It only says what the text refers to.
    pub history: Vec<Message>,
    /// What else the text may refer to: a menu, today's date, a customer's addresses.
    pub reference: Option<Value>,
    /// What is known from earlier turns.
    pub prior: Option<Prior>,
    /// Asks for missing values in place of the setting, for example in the caller's language.
    pub question: Option<String>,
    /// Who asks, for the audit; empty for nobody in particular.
    pub identity: String,
    /// The id of the request; a fresh one when absent.
    pub trace_id: Option<TraceId>,
}

/// What is known from earlier turns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Prior {
    /// The result of the turn before.
    Result(Box<Extraction>),
    /// Values from elsewhere, as an object; those that break the schema are left out, and a name that
    /// it does not have is an error.
    Data(Value),
}

impl From<Extraction> for Prior {
    fn from(result: Extraction) -> Self {
        Self::Result(Box::new(result))
    }
}

impl From<&Extraction> for Prior {
    fn from(result: &Extraction) -> Self {
        result.clone().into()
    }
}

impl From<Value> for Prior {
    /// A result in JSON is taken as the result; anything else as values.
    fn from(data: Value) -> Self {
        match Extraction::deserialize(&data) {
            Ok(result) => result.into(),
            Err(_) => Self::Data(data),
        }
    }
}

impl ExtractRequest {
    /// A text by itself.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the conversation before it, oldest first.
    #[must_use]
    pub fn history(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.history = messages.into_iter().collect();
        self
    }

    /// Sets what else the text may refer to.
    #[must_use]
    pub fn reference(mut self, reference: impl Into<Value>) -> Self {
        self.reference = Some(reference.into());
        self
    }

    /// Goes on from an earlier turn.
    #[must_use]
    pub fn prior(mut self, prior: impl Into<Prior>) -> Self {
        self.prior = Some(prior.into());
        self
    }

    /// Sets what asks for missing values; `{fields}` is replaced by what they are.
    #[must_use]
    pub fn question(mut self, template: impl Into<String>) -> Self {
        self.question = Some(template.into());
        self
    }

    /// Says who asks, for the audit.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = identity.into();
        self
    }

    /// Sets the id of the request.
    #[must_use]
    pub fn trace_id(mut self, id: TraceId) -> Self {
        self.trace_id = Some(id);
        self
    }
}

impl From<&str> for ExtractRequest {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for ExtractRequest {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}
