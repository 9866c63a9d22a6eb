//! From a service, a model and what opens it to a provider.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{
    Error, ErrorKind, HttpClient, LlmProvider, Resilience, Resilient, Result, Runtime,
};
use secrecy::{ExposeSecret, SecretString};

use crate::anthropic::Anthropic;
use crate::connection::Connection;
use crate::credentials::{Credentials, Key};
use crate::dialect::Dialect;
use crate::ollama::{self, Ollama};
use crate::openai::{Endpoint, OpenAi, address};
use crate::provider::HttpProvider;
use crate::service::Service;
use crate::tgi::Tgi;

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(120);
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

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
    service: Service,
    model: String,
    base_url: Option<String>,
    key: Option<SecretString>,
    project: Option<String>,
    location: Option<String>,
    context_tokens: Option<u32>,
    attempt_timeout: Duration,
    idle_timeout: Duration,
    resilience: Option<Resilience>,
}

/// What a service needs beyond what all need.
struct Parts {
    dialect: Arc<dyn Dialect>,
    credentials: Arc<dyn Credentials>,
    base_url: String,
}

impl ModelBuilder {
    /// A model of a service, by the name that the service has for it.
    pub fn new(service: Service, model: impl Into<String>) -> Self {
        Self {
            service,
            model: model.into(),
            base_url: None,
            key: None,
            project: None,
            location: None,
            context_tokens: None,
            attempt_timeout: ATTEMPT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            resilience: None,
        }
    }

    /// Where the service is, if not at its usual address. `openai_compat` and `huggingface` have
    /// none.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The key. For Vertex AI the content of a key file, or an access token; without one, the
    /// machine's identity is asked for.
    pub fn key(mut self, key: impl Into<SecretString>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The project of Google Cloud whose Vertex AI is asked.
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// The location of Vertex AI.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
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
        self.attempt_timeout = timeout;
        self
    }

    /// How long a stream may be silent between two pieces. 60 s unless set.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// How calls are retried and when the service is left alone. Its attempt timeout is replaced by
    /// [`attempt_timeout`](Self::attempt_timeout).
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.resilience = Some(resilience);
        self
    }

    /// The provider, with the layers of core around it. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when the model, the key or the address is missing or cannot
    /// be one, naming the variable to set; or when the service is not part of this build, naming
    /// the feature.
    pub fn build(self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn LlmProvider>> {
        let name = self.service.name();
        if self.model.trim().is_empty() {
            let next = format!("set {}", self.service.variable("model"));
            return Err(self.unusable("no model is named").next(next));
        }
        let Parts { dialect, credentials, base_url } = self.parts(http, runtime)?;
        self.check_address(&base_url)?;
        let connection = Connection {
            id: format!("{name}:{}", self.model.trim()),
            base_url: base_url.clone(),
            credentials,
            http: http.clone(),
            runtime: runtime.clone(),
            attempt_timeout: self.attempt_timeout,
            idle_timeout: self.idle_timeout,
            when_unreachable: dialect.when_unreachable(),
        };
        let provider = HttpProvider { connection, dialect, context_tokens: self.context_tokens };
        let resilience = self.resilience.unwrap_or_else(|| Resilience::new(runtime.clone(), "llm"));
        let resilience = resilience.attempt_timeout(self.attempt_timeout);
        Ok(Arc::new(Resilient::new(provider, base_url, resilience)))
    }

    fn parts(&self, http: &HttpClient, runtime: &Runtime) -> Result<Parts> {
        match self.service {
            Service::Anthropic => {
                let key = Key::header(Anthropic::KEY_HEADER, self.needed_key()?);
                let base_url = self.address_or("https://api.anthropic.com");
                Ok(Parts::new(Anthropic::new(self.model()), key, base_url))
            }
            Service::Ollama => {
                let written = self.base_url.as_deref().unwrap_or_default();
                let mut dialect = Ollama::new(self.model());
                if let Some(tokens) = self.context_tokens {
                    dialect = dialect.context(tokens);
                }
                Ok(Parts::new(dialect, self.optional_key(), ollama::base_url(written)))
            }
            Service::Vertex => self.vertex(http, runtime),
            Service::HuggingFace => {
                let (base_url, endpoint) = address(self.needed_address()?);
                let written = self.address_or("");
                if endpoint == Endpoint::Completions || !is_openai(&written) {
                    let base_url = written.trim_end_matches("/generate").to_owned();
                    return Ok(Parts::new(Tgi, self.optional_key(), base_url));
                }
                Ok(Parts::new(self.openai(endpoint), self.optional_key(), base_url))
            }
            Service::OpenAiCompat => {
                let (base_url, endpoint) = address(self.needed_address()?);
                Ok(Parts::new(self.openai(endpoint), self.optional_key(), base_url))
            }
            Service::OpenAi | Service::Groq | Service::OpenRouter => {
                let usual = match self.service {
                    Service::Groq => "https://api.groq.com/openai/v1",
                    Service::OpenRouter => "https://openrouter.ai/api/v1",
                    _ => "https://api.openai.com/v1",
                };
                let key = Key::bearer(self.needed_key()?);
                let (base_url, endpoint) = address(&self.address_or(usual));
                Ok(Parts::new(self.openai(endpoint), key, base_url))
            }
        }
    }

    #[cfg(not(feature = "vertex"))]
    fn vertex(&self, _: &HttpClient, _: &Runtime) -> Result<Parts> {
        let wrong = "Vertex AI is not part of this build";
        Err(self.unusable(wrong).next("turn on the feature `vertex`, or choose another provider"))
    }

    #[cfg(feature = "vertex")]
    fn vertex(&self, http: &HttpClient, runtime: &Runtime) -> Result<Parts> {
        use crate::google_auth::{ApplicationDefault, Identity};
        use crate::vertex::{Place, Vertex};

        let written = self.key.as_ref().map(|key| key.expose_secret().trim());
        let identity = match (written, &self.key) {
            (Some(content), Some(key)) if content.starts_with('{') => Identity::of_key_file(key)?,
            _ => Identity::of_machine(None),
        };
        let project = self.project.as_deref().or(identity.project()).unwrap_or_default();
        let place = Place::new(project, self.location.as_deref().unwrap_or("us-central1"))?;
        let base_url = self.address_or(&place.base_url());
        let dialect = Vertex::new(place, self.model())?
            .quota_project(identity.quota_project().map(str::to_owned));
        if let Some(token) = self.key.as_ref().filter(|_| written.is_some_and(is_token)) {
            return Ok(Parts::new(dialect, Key::bearer(token), base_url));
        }
        let credentials = ApplicationDefault::new(identity, http.clone(), runtime.clone());
        Ok(Parts::new(dialect, credentials, base_url))
    }

    fn openai(&self, endpoint: Endpoint) -> OpenAi {
        OpenAi { service: self.service, model: self.model().to_owned(), endpoint }
    }

    fn model(&self) -> &str {
        self.model.trim()
    }

    fn unusable(&self, wrong: &'static str) -> Error {
        let tried = format!("use the provider {}", self.service);
        Error::new(ErrorKind::InvalidSettings, tried, wrong)
    }

    fn address_or(&self, usual: &str) -> String {
        let set = self.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        set.unwrap_or(usual).trim_end_matches('/').to_owned()
    }

    fn needed_address(&self) -> Result<&str> {
        let set = self.base_url.as_deref().filter(|url| !url.trim().is_empty());
        set.ok_or_else(|| {
            let next = format!("set {} to where the server is", self.service.variable("base_url"));
            self.unusable("it has no address").next(next)
        })
    }

    /// Addresses are shown in errors and used as names of endpoints, so they hold no secret.
    fn check_address(&self, url: &str) -> Result<()> {
        let authority =
            url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        let authority = authority.and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
        let wrong = match authority {
            None | Some("") => "its address does not begin with http:// or https:// and a host",
            Some(authority) if authority.contains('@') => "its address holds a name or password",
            Some(_) if url.contains(['?', '#']) => "its address holds a query",
            Some(_) => return Ok(()),
        };
        let next = format!(
            "set {} to an address such as http://localhost:8000/v1, and put keys into {}",
            self.service.variable("base_url"),
            self.service.variable("api_key"),
        );
        Err(self.unusable(wrong).next(next))
    }

    fn set_key(&self) -> Option<&SecretString> {
        self.key.as_ref().filter(|key| !key.expose_secret().trim().is_empty())
    }

    fn needed_key(&self) -> Result<&SecretString> {
        self.set_key()
            .ok_or_else(|| self.unusable("its key is missing").next(self.service.how_to_open()))
    }

    fn optional_key(&self) -> Key {
        self.set_key().map_or_else(Key::none, Key::bearer)
    }
}

#[cfg(feature = "vertex")]
fn is_token(key: &str) -> bool {
    !key.is_empty() && !key.starts_with('{')
}

/// Whether a server of text-generation-inference is to be spoken to in OpenAI's language.
fn is_openai(url: &str) -> bool {
    url.ends_with("/v1") || url.ends_with("/chat/completions")
}

impl Parts {
    fn new(
        dialect: impl Dialect + 'static,
        credentials: impl Credentials + 'static,
        base_url: String,
    ) -> Self {
        Self { dialect: Arc::new(dialect), credentials: Arc::new(credentials), base_url }
    }
}

#[cfg(test)]
mod tests {
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
                builder.key = key.map(Into::into);
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
