//! The dialect of `generateContent`.

use kuhaku_core::{Capabilities, ChatRequest, ReplyFormat, Result};
use serde_json::Value;

use super::place::{self, Place};
use super::reader::Candidates;
use super::{body, fault};
use crate::dialect::{Dialect, Framing, Native, Reader, Wire};
use crate::fault::Fault;

/// A Gemini model on Vertex AI.
#[derive(Clone, Debug)]
pub(crate) struct Vertex {
    place: Place,
    model: String,
    quota_project: Option<String>,
}

impl Vertex {
    /// A model by its name.
    ///
    /// # Errors
    /// [`kuhaku_core::ErrorKind::InvalidSettings`] when the name is blank or cannot be part of an
    /// address.
    pub(crate) fn new(place: Place, model: &str) -> Result<Self> {
        Ok(Self { place, model: place::model(model)?, quota_project: None })
    }

    /// Sets which project a person's calls are charged to.
    pub(crate) fn quota_project(mut self, project: Option<String>) -> Self {
        self.quota_project = project;
        self
    }
}

impl Dialect for Vertex {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = true;
        capabilities
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn native(&self, format: &ReplyFormat, _streaming: bool) -> Native {
        match format {
            ReplyFormat::JsonSchema(schema) if body::schema(schema).is_none() => Native::No,
            _ => Native::Yes,
        }
    }

    fn wire(&self, request: &ChatRequest, streaming: bool) -> Result<Wire, Fault> {
        let method = if streaming { "streamGenerateContent?alt=sse" } else { "generateContent" };
        let wire = Wire::new(self.place.path(&self.model, method), body::of(request)?);
        Ok(charged(wire, self.quota_project.as_deref()))
    }

    fn reader(&self, _request: &ChatRequest) -> Box<dyn Reader> {
        Box::new(Candidates)
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        fault::of_status(status, body)
    }
}

/// Names the project that is charged, if it is not the one of the path.
pub(super) fn charged(wire: Wire, project: Option<&str>) -> Wire {
    match project {
        Some(project) => wire.header("x-goog-user-project", project),
        None => wire,
    }
}
