//! What the suites of extraction share.

#![allow(dead_code, reason = "each suite uses a part of it")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;

use async_trait::async_trait;
use kuhaku_core::{
    Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, LlmProvider, Usage,
};
use kuhaku_extract::{Extraction, Extractor, Fields, Schema};
use kuhaku_testkit::ScriptedLlm;
use serde_json::Value;

/// The schema of the acceptance cases: `{product text, quantity number}`.
pub(crate) fn order() -> Schema {
    Schema::from_fields(Fields::new().text("product").number("quantity")).unwrap()
}

pub(crate) fn model<I>(replies: I) -> Arc<ScriptedLlm>
where
    I: IntoIterator,
    I::Item: ToString,
{
    Arc::new(ScriptedLlm::new(replies.into_iter().map(|reply| reply.to_string())))
}

pub(crate) fn down() -> kuhaku_core::Result<ChatResponse> {
    Err(Error::new(ErrorKind::Unavailable, "ask the model", "it is down"))
}

pub(crate) fn says(text: &str) -> kuhaku_core::Result<ChatResponse> {
    Ok(ChatResponse::new("m", text).usage(Usage::new(Some(100), Some(10))))
}

pub(crate) fn scripted(
    script: impl IntoIterator<Item = kuhaku_core::Result<ChatResponse>>,
) -> Arc<ScriptedLlm> {
    Arc::new(ScriptedLlm::with_outcomes(script))
}

pub(crate) fn extractor(schema: Schema, model: &Arc<ScriptedLlm>) -> Extractor {
    Extractor::builder(schema, model.clone()).build().unwrap()
}

/// The user text of a request.
pub(crate) fn user(request: &ChatRequest) -> &str {
    &request.messages[0].text
}

pub(crate) fn missing(result: &Extraction) -> Vec<&str> {
    result.missing_paths().collect()
}

pub(crate) fn codes(result: &Extraction) -> Vec<&str> {
    result.issues.iter().map(|issue| &*issue.code).collect()
}

/// A model under another name, and with other gifts.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) id: &'static str,
    pub(crate) native: bool,
    pub(crate) model: Arc<ScriptedLlm>,
}

#[async_trait]
impl LlmProvider for Named {
    fn id(&self) -> &str {
        self.id
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = self.native;
        capabilities
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        self.model.chat(request).await
    }

    async fn stream(&self, request: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        self.model.stream(request).await
    }
}

pub(crate) fn named(id: &'static str, model: &Arc<ScriptedLlm>) -> Arc<dyn LlmProvider> {
    Arc::new(Named { id, native: false, model: model.clone() })
}

pub(crate) fn native(model: &Arc<ScriptedLlm>) -> Arc<dyn LlmProvider> {
    Arc::new(Named { id: "native:model", native: true, model: model.clone() })
}

/// Wraps data as a reply.
pub(crate) fn reply(data: Value) -> String {
    serde_json::json!({"data": data}).to_string()
}
