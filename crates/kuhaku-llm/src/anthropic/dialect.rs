//! The dialect of the Messages API.

use kuhaku_core::{Capabilities, ChatRequest, ReplyFormat};
use serde_json::Value;

use super::reader::Blocks;
use super::{body, fault};
use crate::dialect::{Dialect, Framing, Native, Reader, Wire};
use crate::fault::Fault;

/// The version of the API that is spoken; sent with every request.
const VERSION: &str = "2023-06-01";

/// One of Anthropic's models.
#[derive(Clone, Debug)]
pub(crate) struct Anthropic {
    model: String,
}

impl Anthropic {
    /// The header that carries the key.
    pub(crate) const KEY_HEADER: &'static str = "x-api-key";

    /// A model by its name.
    pub(crate) fn new(model: impl Into<String>) -> Self {
        Self { model: model.into() }
    }
}

impl Dialect for Anthropic {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = true;
        capabilities
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Free JSON has no mode, and a schema has one only within the subset.
    fn native(&self, format: &ReplyFormat, _streaming: bool) -> Native {
        match format {
            ReplyFormat::Text => Native::Yes,
            ReplyFormat::JsonSchema(schema) if body::schema(schema).is_some() => Native::Yes,
            _ => Native::No,
        }
    }

    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault> {
        let body = body::of(&self.model, request, streaming)?;
        Ok(Wire::new("/v1/messages", body).header("anthropic-version", VERSION))
    }

    fn reader(&self, _request: &ChatRequest) -> Box<dyn Reader> {
        Box::new(Blocks)
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        fault::of_status(status, body)
    }
}
