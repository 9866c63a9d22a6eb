//! From a service and an embedding model to an embedder.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{Embedder, HttpClient, Resilience, Result, Runtime};
use secrecy::SecretString;

use crate::access::Access;
use crate::base_url::BaseUrl;
use crate::credentials::Key;
use crate::embeddings::{EmbeddingDialect, HttpEmbedder};
use crate::ollama::{self, OllamaEmbeddings};
use crate::openai::{OpenAiEmbeddings, address};
use crate::service::Service;

/// An embedding model to ask: which one, where, and how. Made by a chain; what is wrong fails
/// [`build`](Self::build), not the chain. `Debug` shows no secret.
///
/// ```
/// use kuhaku_core::{Embedder, HttpClient, Runtime};
/// use kuhaku_llm::{EmbedderBuilder, Service};
///
/// let http = HttpClient::builder().build()?;
/// let embedder = EmbedderBuilder::new(Service::Ollama, "nomic-embed-text")
///     .build(&http, &Runtime::system())?;
/// assert!(embedder.fingerprint().starts_with("ollama:nomic-embed-text;"));
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbedderBuilder {
    access: Access,
    dimension: Option<u32>,
    prefixes: Option<(String, String)>,
}

impl EmbedderBuilder {
    /// An embedding model of a service: `ollama`, `openai`, `openai_compat` or `vertex`.
    pub fn new(service: Service, model: impl Into<String>) -> Self {
        Self { access: Access::new(service, model.into()), dimension: None, prefixes: None }
    }

    /// Where the service is, if not at its usual address.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.access.base_url = Some(BaseUrl::from(url.into()));
        self
    }

    /// The key. For Vertex AI the content of a key file, or an access token.
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

    /// Asks for vectors of this length, which the model must be made for, and refuses others.
    pub fn dimension(mut self, numbers: u32) -> Self {
        self.dimension = Some(numbers);
        self
    }

    /// What the model was trained to see before a document and before a query. Vertex AI has tasks
    /// in their place.
    pub fn prefixes(mut self, document: impl Into<String>, query: impl Into<String>) -> Self {
        self.prefixes = Some((document.into(), query.into()));
        self
    }

    /// How long one attempt may take. 120 s unless set.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.access.attempt_timeout = timeout;
        self
    }

    /// How calls are retried. The attempt timeout in it is replaced by
    /// [`attempt_timeout`](Self::attempt_timeout).
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.access.resilience = Some(resilience);
        self
    }

    /// The embedder. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`](kuhaku_core::ErrorKind::InvalidSettings) when something is
    /// missing, naming the variable to set, or when the service does not embed.
    pub fn build(self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn Embedder>> {
        let access = &self.access;
        let model = access.model()?;
        match access.service {
            Service::Ollama => {
                let mut dialect = OllamaEmbeddings::new(model);
                if let Some((document, query)) = &self.prefixes {
                    dialect = dialect.prefixes(document, query);
                }
                if let Some(numbers) = self.dimension {
                    dialect = dialect.dimension(numbers);
                }
                if let Some(time) = &access.keep_alive {
                    dialect = dialect.keep_alive(time);
                }
                let base_url = ollama::base_url(&access.address_or(""));
                self.finish(dialect, access.optional_key(), base_url, http, runtime)
            }
            Service::OpenAi | Service::OpenAiCompat => {
                let (written, key) = match access.service {
                    Service::OpenAi => {
                        let key = Key::bearer(access.needed_key()?);
                        (access.address_or("https://api.openai.com/v1"), key)
                    }
                    _ => (access.needed_address()?, access.optional_key()),
                };
                let dialect = OpenAiEmbeddings {
                    service: access.service,
                    model: model.into(),
                    dimension: self.dimension,
                    prefixes: self.prefixes.clone().unwrap_or_default(),
                };
                let written = written.trim_end_matches("/embeddings");
                self.finish(dialect, key, address(written).0, http, runtime)
            }
            Service::Vertex => self.vertex(http, runtime),
            _ => Err(access
                .unusable("it has no embedding models")
                .next("choose ollama, openai, openai_compat or vertex")),
        }
    }

    fn finish(
        &self,
        dialect: impl EmbeddingDialect + 'static,
        key: Key,
        base_url: String,
        http: &HttpClient,
        runtime: &Runtime,
    ) -> Result<Arc<dyn Embedder>> {
        let connection = self.access.connection(base_url, Box::new(key), http, runtime)?;
        Ok(self.embedder(connection, dialect, runtime))
    }

    fn embedder(
        &self,
        connection: crate::connection::Connection,
        dialect: impl EmbeddingDialect + 'static,
        runtime: &Runtime,
    ) -> Arc<dyn Embedder> {
        let resilience = self.access.resilience(runtime, "embedding");
        let dimension = self.dimension.and_then(|numbers| usize::try_from(numbers).ok());
        Arc::new(HttpEmbedder::new(connection, dialect, resilience, dimension))
    }

    #[cfg(not(feature = "vertex"))]
    fn vertex(&self, _: &HttpClient, _: &Runtime) -> Result<Arc<dyn Embedder>> {
        Err(crate::service::vertex_is_absent(&self.access))
    }

    #[cfg(feature = "vertex")]
    fn vertex(&self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn Embedder>> {
        let google = crate::access::Google::of(&self.access, http, runtime)?;
        let base_url = self.access.address_or(&google.place.base_url());
        let model = self.access.model()?;
        let mut dialect = crate::vertex::VertexEmbeddings::new(google.place, model)?
            .quota_project(google.quota_project);
        if let Some(numbers) = self.dimension {
            dialect = dialect.dimension(numbers);
        }
        let connection = self.access.connection(base_url, google.credentials, http, runtime)?;
        Ok(self.embedder(connection, dialect, runtime))
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::ErrorKind;

    use super::*;

    #[test]
    fn what_is_missing_is_named_and_services_without_embeddings_say_so() {
        let http = HttpClient::builder().build().unwrap();
        for (service, named) in [
            (Service::OpenAi, "OPENAI_API_KEY"),
            (Service::OpenAiCompat, "KUHAKU_OPENAI_COMPAT_BASE_URL"),
            (Service::Groq, "choose ollama, openai, openai_compat or vertex"),
        ] {
            let built = EmbedderBuilder::new(service, "m").build(&http, &Runtime::system());
            let error = built.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::InvalidSettings, "{service}");
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
