//! Language models behind one contract.
//!
//! The contract is [`LlmProvider`] of `kuhaku-core`, re-exported here: messages in, one reply or a
//! stream out, with usage, finish reason and deadline. Whatever takes a model in kuhaku takes an
//! `Arc<dyn LlmProvider>`; a provider of your own is one more implementation.
//!
//! ```
//! use kuhaku_llm::{ChatRequest, Message};
//! let request = ChatRequest::new("Answer in one word.", "What colour is grass?")
//!     .temperature(0.0)
//!     .max_output_tokens(8);
//! assert_eq!(request.messages, [Message::user("What colour is grass?")]);
//! ```
//!
//! # Providers
//!
//! Eight come with the issue "Providers"; none is here yet.
//!
//! | name | service |
//! |---|---|
//! | `ollama` | a local or remote Ollama |
//! | `openai` | OpenAI |
//! | `anthropic` | Anthropic |
//! | `vertex` | Google Vertex AI, over REST |
//! | `groq` | Groq |
//! | `openrouter` | OpenRouter |
//! | `huggingface` | Hugging Face text-generation-inference |
//! | `openai_compat` | any server that speaks OpenAI's chat or completions endpoint |
//!
//! # Invariants
//!
//! - R2: this crate depends on `kuhaku-core` alone.
//! - R3: nothing is contacted that the caller did not configure.
//! - R11: no global client, tracer or runtime.
//! - R12: dropping a future or a stream ends its request.
//! - Usage that a service did not report is absent, never zero.
//! - A stream that ends without [`ChatEvent::End`] was cut, and says so.

mod access;
mod anthropic;
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

pub use builder::ModelBuilder;
pub use candidates::ServiceCandidates;
pub use embedder_builder::EmbedderBuilder;
pub use service::Service;
pub use settings::LlmSettings;

pub use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Finish, LlmProvider, Message,
    ReplyFormat, Role, Usage,
};
