//! The dialect of `/api/chat`.

use kuhaku_core::{Capabilities, ChatRequest, ReplyFormat};
use serde_json::Value;

use super::reader::Messages;
use super::window::{self, Expected};
use super::{body, fault};
use crate::dialect::{Dialect, Framing, Native, Reader, Wire};
use crate::fault::Fault;

/// The largest window that is asked for unless the settings say otherwise, in tokens. Current
/// models take at least as much; memory is used for the window of a request, not for the limit.
const CONTEXT: u32 = 32_768;

/// A model that an Ollama server has.
#[derive(Clone, Debug)]
pub(crate) struct Ollama {
    model: String,
    context: u32,
    keep_alive: Option<String>,
}

impl Ollama {
    /// A model by its name.
    pub(crate) fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), context: CONTEXT, keep_alive: None }
    }

    /// Sets the largest window, in tokens.
    pub(crate) fn context(mut self, tokens: u32) -> Self {
        self.context = tokens;
        self
    }

    /// Sets how long the server keeps the model loaded: seconds, or a text such as `5m`.
    pub(crate) fn keep_alive(mut self, time: impl Into<String>) -> Self {
        self.keep_alive = Some(time.into());
        self
    }
}

impl Dialect for Ollama {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = true;
        capabilities.context_tokens = Some(self.context);
        capabilities
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    /// The grammar holds the form, but the model does not see it: it writes better when told.
    fn native(&self, format: &ReplyFormat, _streaming: bool) -> Native {
        match format {
            ReplyFormat::Text => Native::Yes,
            _ => Native::WithPrompt,
        }
    }

    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault> {
        let num_ctx = window::needed(request, self.context)?;
        let keep_alive = self.keep_alive.as_deref();
        let body = body::of(&self.model, keep_alive, num_ctx, request, streaming)?;
        Ok(Wire::new("/api/chat", body))
    }

    fn reader(&self, request: &ChatRequest) -> Box<dyn Reader> {
        let window = window::needed(request, self.context).unwrap_or(self.context);
        Box::new(Messages::new(Expected::of(request, u64::from(window))))
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        fault::of_status(&self.model, status, body)
    }

    fn when_unreachable(&self) -> Option<String> {
        Some("start Ollama (`ollama serve`), or set its address in the settings".into())
    }
}
