//! A server that answers as Ollama does, with the replies of a script.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::process::Command;

use kuhaku_testkit::transcript::{RecordedRequest, Reply, TranscriptServer};
use serde_json::json;
use tokio::runtime::Runtime;

/// The server and what it runs on.
pub(crate) struct Ollama {
    pub(crate) server: TranscriptServer,
    pub(crate) runtime: Runtime,
}

impl Ollama {
    /// For commands each of which asks for the models first and then gets these replies.
    pub(crate) fn start(commands: &[&[&str]]) -> Self {
        let script = commands.iter().flat_map(|replies| {
            std::iter::once(models()).chain(replies.iter().map(|reply| chat(reply)))
        });
        Self::scripted(script)
    }

    pub(crate) fn scripted(script: impl IntoIterator<Item = Reply>) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(TranscriptServer::start(script)).unwrap();
        Self { server, runtime }
    }

    /// Lets a command use it.
    pub(crate) fn serve<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("OLLAMA_HOST", self.server.url())
    }

    /// The requests to a model, oldest first.
    pub(crate) fn chats(&self) -> Vec<RecordedRequest> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.json().is_some());
        requests
    }
}

/// What it says of its models.
pub(crate) fn models() -> Reply {
    Reply::json(r#"{"models": [{"name": "qwen3:4b"}]}"#)
}

/// What a model says.
pub(crate) fn chat(text: &str) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    let reply = json!({
        "model": "qwen3:4b", "message": message, "done": true, "done_reason": "stop",
        "prompt_eval_count": 700, "eval_count": 7,
    });
    Reply::json(reply.to_string())
}
