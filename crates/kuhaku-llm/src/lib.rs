//! Language models behind one contract.
//!
//! The contract is [`LlmProvider`] of `kuhaku-core`, re-exported here: messages in, one reply or a
//! stream out, with usage, finish reason and deadline. Whatever takes a model in kuhaku takes an
//! `Arc<dyn LlmProvider>`; a provider of your own is one more implementation.
//!
//! ```no_run
//! use kuhaku_core::{HttpClient, Runtime};
//! use kuhaku_llm::{ChatRequest, Finish, LlmProvider, ModelBuilder, Service};
//!
//! # async fn ask() -> kuhaku_core::Result<()> {
//! let http = HttpClient::builder().build()?;
//! let model = ModelBuilder::new(Service::Ollama, "qwen3:4b").build(&http, &Runtime::system())?;
//! let request = ChatRequest::new("Answer in one word.", "What colour is grass?")
//!     .temperature(0.0)
//!     .max_output_tokens(8);
//! let response = model.chat(request).await?;
//! if response.finish == Finish::Length {
//!     // The limit cut the reply.
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Services
//!
//! | name | service | endpoint | held to a schema by the service |
//! |---|---|---|---|
//! | `ollama` | a local or remote Ollama | `/api/chat` | yes |
//! | `openai` | OpenAI | `/chat/completions` | yes, in its strict subset |
//! | `anthropic` | Anthropic | `/v1/messages` | yes |
//! | `vertex` | Google Vertex AI, feature `vertex` | `generateContent` | yes |
//! | `groq` | Groq | `/chat/completions` | by some models, not streamed |
//! | `openrouter` | OpenRouter | `/chat/completions` | by some models |
//! | `huggingface` | text-generation-inference | `/generate`, or `/chat/completions` for `…/v1` | yes |
//! | `openai_compat` | vLLM, LM Studio, llama.cpp | `/chat/completions` or `/completions` | by some servers |
//!
//! Where a service does not hold a reply to a schema, the schema stands in the prompt. Either way the
//! reply is checked against it before it is given, which takes the feature `schema`; a reply that
//! breaks it is an error, and is never asked for again in silence. A structured reply is streamed in
//! one piece, once it was checked. `docs/providers.md` has what the suite of the testkit finds of
//! each service.
//!
//! # Map
//!
//! | for | take |
//! |---|---|
//! | one model | [`ModelBuilder`] |
//! | one embedding model | [`EmbedderBuilder`] |
//! | a model by its name in settings | [`LlmSettings::provider`] |
//! | a model when the settings leave it open | [`LlmSettings::candidates`] and core's `Resolver` |
//! | one model after the other | core's `Fallback` |
//!
//! Inside, a *dialect* says without any I/O what to send to a service and what its replies mean;
//! one provider does the I/O for all of them, with the layers of core around it.
//!
//! # Invariants
//!
//! - R2: this crate depends on `kuhaku-core` alone.
//! - R3: nothing is contacted that the caller did not configure.
//! - R6: a schema enters a prompt between the borders of a fence.
//! - R7: no key, question or reply is in an error, a log line or a `Debug` text. What a service says
//!   about a failure is quoted in one short line, without what it shares with keys and texts. An
//!   address with a password in it is refused, and not shown ([`BaseUrl`]).
//! - R11: no global client, tracer or runtime.
//! - R12: dropping a future or a stream ends its request.
//! - Usage that a service did not report is absent, never zero.
//! - A stream that ends without [`ChatEvent::End`] was cut, and says so.
//! - Nothing is cut in silence: what is longer than [`ModelBuilder::context_tokens`] by estimate is
//!   not sent, and a reply that a limit cut says [`Finish::Length`].

mod access;
mod anthropic;
mod base_url;
mod builder;
mod candidates;
mod connection;
mod credentials;
mod dialect;
mod embedder_builder;
mod embeddings;
mod excess;
mod fault;
#[cfg(feature = "vertex")]
mod google_auth;
mod lowering;
mod ollama;
mod openai;
mod provider;
mod quote;
mod schema;
mod service;
mod settings;
mod stream;
mod structured;
mod tgi;
mod tokens;
mod trim;
mod turns;
#[cfg(feature = "vertex")]
mod vertex;
mod words;

pub use base_url::BaseUrl;
pub use builder::ModelBuilder;
pub use candidates::ServiceCandidates;
pub use embedder_builder::EmbedderBuilder;
pub use service::Service;
pub use settings::LlmSettings;

pub use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Finish, LlmProvider, Message,
    ReplyFormat, Role, Usage,
};
