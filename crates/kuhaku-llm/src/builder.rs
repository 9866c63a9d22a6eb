//! From a service, a model and what opens it to a provider.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{HttpClient, LlmProvider, Resilience, Resilient, Result, Runtime};
use secrecy::SecretString;

use crate::access::Access;
use crate::anthropic::Anthropic;
use crate::base_url::BaseUrl;
use crate::credentials::{Credentials, Key};
use crate::dialect::Dialect;
use crate::ollama::{self, Ollama};
use crate::openai::{Endpoint, OpenAi, address};
use crate::provider::HttpProvider;
use crate::service::Service;
use crate::tgi::Tgi;

/// A model to ask: which one, where, and how. Made by a chain; what is wrong fails
/// [`build`](Self::build), not the chain. `Debug` shows no secret.
///
/// ```
/// use kuhaku_core::{HttpClient, Runtime};
/// use kuhaku_llm::{LlmProvider, ModelBuilder, Service};
///
/// let http = HttpClient::builder().build()?;
/// let model = ModelBuilder::new(Service::OpenAiCompat, "qwen3")
///     .base_url("http://localhost:8000")
///     .context_tokens(32_768)
///     .build(&http, &Runtime::system())?;
/// assert_eq!(model.id(), "openai_compat:qwen3");
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ModelBuilder {
    access: Access,
    context_tokens: Option<u32>,
}

/// What a service needs beyond what all need.
struct Parts {
    dialect: Arc<dyn Dialect>,
    credentials: Box<dyn Credentials>,
    base_url: String,
}

impl ModelBuilder {
    /// A model of a service, by the name that the service has for it.
    pub fn new(service: Service, model: impl Into<String>) -> Self {
        Self { access: Access::new(service, model.into()), context_tokens: None }
    }

    /// Where the service is, if not at its usual address. `openai_compat` and `huggingface` have
    /// none.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.access.base_url = Some(BaseUrl::from(url.into()));
        self
    }

    /// The key. For Vertex AI the content of a key file, or an access token; without one, the
    /// machine's identity is asked for.
    pub fn key(mut self, key: impl Into<SecretString>) -> Self {
        self.access.key = Some(key.into());
        self
    }

    /// The project of Google Cloud whose Vertex AI is asked.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.access.project = Some(project.into());
        self
    }

    /// The location of Vertex AI.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.access.location = Some(location.into());
        self
    }

    /// How long Ollama keeps the model loaded: seconds, or a text such as `5m`.
    pub fn keep_alive(mut self, time: impl Into<String>) -> Self {
        self.access.keep_alive = Some(time.into());
        self
    }

    /// The longest input and reply together, in tokens. What is longer by estimate is refused
    /// before it is sent, with an error that says by how much.
    pub fn context_tokens(mut self, tokens: u32) -> Self {
        self.context_tokens = Some(tokens);
        self
    }

    /// How long one attempt may take; for a stream, until its first text. 120 s unless set.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.access.attempt_timeout = timeout;
        self
    }

    /// How long a stream may be silent between two pieces. 60 s unless set.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.access.idle_timeout = timeout;
        self
    }

    /// How calls are retried and when the service is left alone. Its attempt timeout is replaced by
    /// [`attempt_timeout`](Self::attempt_timeout).
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.access.resilience = Some(resilience);
        self
    }

    /// The provider, with the layers of core around it. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`](kuhaku_core::ErrorKind::InvalidSettings) when the model, the
    /// key or the address is missing or cannot be one, naming the variable to set; or when the
    /// service is not part of this build, naming the feature.
    pub fn build(self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn LlmProvider>> {
        let Self { access, context_tokens } = &self;
        let Parts { dialect, credentials, base_url } = self.parts(http, runtime)?;
        let mut connection = access.connection(base_url.clone(), credentials, http, runtime)?;
        connection.when_unreachable = dialect.when_unreachable();
        let provider = HttpProvider { connection, dialect, context_tokens: *context_tokens };
        let resilience = access.resilience(runtime, "llm");
        Ok(Arc::new(Resilient::new(provider, base_url, resilience)))
    }

    fn parts(&self, http: &HttpClient, runtime: &Runtime) -> Result<Parts> {
        let access = &self.access;
        let model = access.model()?;
        let openai = |endpoint| OpenAi { service: access.service, model: model.into(), endpoint };
        match access.service {
            Service::Anthropic => {
                let key = Key::header(Anthropic::KEY_HEADER, access.needed_key()?);
                let base_url = access.address_or("https://api.anthropic.com");
                Ok(Parts::new(Anthropic::new(model), key, base_url))
            }
            Service::Ollama => {
                let mut dialect = Ollama::new(model);
                if let Some(tokens) = self.context_tokens {
                    dialect = dialect.context(tokens);
                }
                if let Some(time) = &access.keep_alive {
                    dialect = dialect.keep_alive(time);
                }
                let base_url = ollama::base_url(&access.address_or(""));
                Ok(Parts::new(dialect, access.optional_key(), base_url))
            }
            Service::Vertex => self.vertex(http, runtime),
            Service::HuggingFace => {
                let written = access.needed_address()?;
                let (base_url, endpoint) = address(&written);
                let messages = written.ends_with("/v1") || written.ends_with("/chat/completions");
                if messages && endpoint == Endpoint::Chat {
                    return Ok(Parts::new(openai(endpoint), access.optional_key(), base_url));
                }
                let base_url = written.trim_end_matches("/generate").to_owned();
                Ok(Parts::new(Tgi, access.optional_key(), base_url))
            }
            Service::OpenAiCompat => {
                let (base_url, endpoint) = address(&access.needed_address()?);
                Ok(Parts::new(openai(endpoint), access.optional_key(), base_url))
            }
            Service::OpenAi | Service::Groq | Service::OpenRouter => {
                let usual = match access.service {
                    Service::Groq => "https://api.groq.com/openai/v1",
                    Service::OpenRouter => "https://openrouter.ai/api/v1",
                    _ => "https://api.openai.com/v1",
                };
                let key = Key::bearer(access.needed_key()?);
                let (base_url, endpoint) = address(&access.address_or(usual));
                Ok(Parts::new(openai(endpoint), key, base_url))
            }
        }
    }

    #[cfg(not(feature = "vertex"))]
    fn vertex(&self, _: &HttpClient, _: &Runtime) -> Result<Parts> {
        Err(crate::service::vertex_is_absent(&self.access))
    }

    #[cfg(feature = "vertex")]
    fn vertex(&self, http: &HttpClient, runtime: &Runtime) -> Result<Parts> {
        let google = crate::access::Google::of(&self.access, http, runtime)?;
        let base_url = self.access.address_or(&google.place.base_url());
        let dialect = crate::vertex::Vertex::new(google.place, self.access.model()?)?
            .quota_project(google.quota_project);
        Ok(Parts { dialect: Arc::new(dialect), credentials: google.credentials, base_url })
    }
}

impl Parts {
    fn new(
        dialect: impl Dialect + 'static,
        credentials: impl Credentials + 'static,
        base_url: String,
    ) -> Self {
        Self { dialect: Arc::new(dialect), credentials: Box::new(credentials), base_url }
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::ErrorKind;

    use super::*;

    fn build(builder: ModelBuilder) -> Result<Arc<dyn LlmProvider>> {
        builder.build(&HttpClient::builder().build()?, &Runtime::system())
    }

    /// LLM-03
    #[cfg(feature = "vertex")]
    #[test]
    fn a_provider_is_named_by_service_and_model() {
        for service in Service::ALL {
            let builder = ModelBuilder::new(service, " m ").key("k".to_owned()).project("p");
            let builder = match service {
                Service::HuggingFace | Service::OpenAiCompat => builder.base_url("http://h"),
                _ => builder,
            };
            assert_eq!(build(builder).unwrap().id(), format!("{service}:m"));
        }
    }

    /// LLM-11: the part about variables.
    #[test]
    fn what_is_missing_is_named_with_its_variable() {
        let table = [
            (Service::OpenAi, "OPENAI_API_KEY"),
            (Service::Anthropic, "ANTHROPIC_API_KEY"),
            (Service::Groq, "GROQ_API_KEY"),
            (Service::OpenRouter, "OPENROUTER_API_KEY"),
            (Service::HuggingFace, "KUHAKU_HUGGINGFACE_BASE_URL"),
            (Service::OpenAiCompat, "KUHAKU_OPENAI_COMPAT_BASE_URL"),
        ];
        for (service, variable) in table {
            for key in [None, Some(" ".to_owned())] {
                let mut builder = ModelBuilder::new(service, "m");
                builder.access.key = key.map(Into::into);
                let error = build(builder).unwrap_err();
                assert_eq!(*error.kind(), ErrorKind::InvalidSettings);
                assert!(error.to_string().contains(variable), "{error}");
            }
        }
        let error = build(ModelBuilder::new(Service::OpenAi, "").key("k".to_owned())).unwrap_err();
        assert!(error.to_string().contains("KUHAKU_OPENAI_MODEL"), "{error}");
    }

    #[test]
    fn an_address_holds_no_secret() {
        for url in
            ["http://me:planted@h/v1", "http://h/v1?key=planted", "h:8000", "ftp://h", "http://"]
        {
            let builder = ModelBuilder::new(Service::OpenAiCompat, "m").base_url(url);
            let error = build(builder).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::InvalidSettings, "{url}");
            assert!(!format!("{error} {error:?}").contains("planted"), "{error}");
        }
    }

    #[cfg(not(feature = "vertex"))]
    #[test]
    fn a_service_that_is_not_compiled_in_names_its_feature() {
        let error = build(ModelBuilder::new(Service::Vertex, "m").project("p")).unwrap_err();
        assert!(error.to_string().contains("feature `vertex`"), "{error}");
    }
}
