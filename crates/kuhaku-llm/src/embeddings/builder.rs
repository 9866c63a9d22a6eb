//! From a service and a model to an embedder.

use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{Embedder, Error, ErrorKind, HttpClient, Resilience, Result, Runtime};
use secrecy::SecretString;

use super::dialect::EmbeddingDialect;
use super::embedder::HttpEmbedder;
use crate::connection::Connection;
use crate::credentials::{Credentials, Key};
use crate::ollama::{self, OllamaEmbeddings};
use crate::service::Service;

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(120);

/// An embedding model to ask: which one, where, and how. Made by a chain; what is wrong fails
/// [`build`](Self::build), not the chain. `Debug` shows no secret.
///
/// Vectors have length 1, also where a service gives others. No text is ever cut: one that is
/// longer than the model takes is an error.
///
/// ```
/// use kuhaku_core::{Embedder, HttpClient, Runtime};
/// use kuhaku_llm::{EmbedderBuilder, Service};
///
/// let http = HttpClient::builder().build()?;
/// let embedder = EmbedderBuilder::new(Service::Ollama, "nomic-embed-text")
///     .dimension(768)
///     .build(&http, &Runtime::system())?;
/// assert!(embedder.fingerprint().starts_with("ollama:nomic-embed-text"));
/// # Ok::<(), kuhaku_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct EmbedderBuilder {
    service: Service,
    model: String,
    base_url: Option<String>,
    key: Option<SecretString>,
    project: Option<String>,
    location: Option<String>,
    dimension: Option<u32>,
    prefixes: Option<(String, String)>,
    attempt_timeout: Duration,
    resilience: Option<Resilience>,
}

impl EmbedderBuilder {
    /// A model of a service, by the name that the service has for it.
    pub fn new(service: Service, model: impl Into<String>) -> Self {
        Self {
            service,
            model: model.into(),
            base_url: None,
            key: None,
            project: None,
            location: None,
            dimension: None,
            prefixes: None,
            attempt_timeout: ATTEMPT_TIMEOUT,
            resilience: None,
        }
    }

    /// Where the service is, if not at its usual address.
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

    /// The location of Vertex AI; `us-central1` unless set.
    pub fn location(mut self, location: impl Into<String>) -> Self {
        self.location = Some(location.into());
        self
    }

    /// Asks for vectors of this many numbers, and refuses others. Not every model can be reduced.
    pub fn dimension(mut self, numbers: u32) -> Self {
        self.dimension = Some(numbers);
        self
    }

    /// What stands before a document and before a query, for models of Ollama whose training wants
    /// it and whose prefixes are not known here. Vertex AI is told the purpose instead.
    pub fn prefixes(mut self, document: impl Into<String>, query: impl Into<String>) -> Self {
        self.prefixes = Some((document.into(), query.into()));
        self
    }

    /// How long one attempt may take. 120 s unless set.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.attempt_timeout = timeout;
        self
    }

    /// How calls are retried and when the service is left alone. Each batch is a call of its own.
    pub fn resilience(mut self, resilience: Resilience) -> Self {
        self.resilience = Some(resilience);
        self
    }

    /// The embedder. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when the service has no embeddings here, when the model or the
    /// place is missing, or when the service is not part of this build.
    pub fn build(self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn Embedder>> {
        if self.model.trim().is_empty() {
            return Err(self.unusable("no model is named", "name an embedding model"));
        }
        if self.dimension == Some(0) {
            return Err(self.unusable("a vector has no numbers", "set a dimension of at least 1"));
        }
        match self.service {
            Service::Ollama => self.ollama(http, runtime),
            Service::Vertex => self.vertex(http, runtime),
            _ => {
                let wrong = "its embeddings are not supported";
                Err(self.unusable(wrong, "choose ollama or vertex for embeddings"))
            }
        }
    }

    fn ollama(&self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn Embedder>> {
        let mut dialect = OllamaEmbeddings::new(self.model.trim());
        if let Some((document, query)) = &self.prefixes {
            dialect = dialect.prefixes(document, query);
        }
        if let Some(numbers) = self.dimension {
            dialect = dialect.dimension(numbers);
        }
        let base_url = ollama::base_url(self.base_url.as_deref().unwrap_or_default());
        let key = self.key.as_ref().map_or_else(Key::none, Key::bearer);
        Ok(self.embedder(dialect, Arc::new(key), base_url, http, runtime))
    }

    #[cfg(not(feature = "vertex"))]
    fn vertex(&self, _: &HttpClient, _: &Runtime) -> Result<Arc<dyn Embedder>> {
        let wrong = "Vertex AI is not part of this build";
        Err(self.unusable(wrong, "turn on the feature `vertex`, or choose another provider"))
    }

    #[cfg(feature = "vertex")]
    fn vertex(&self, http: &HttpClient, runtime: &Runtime) -> Result<Arc<dyn Embedder>> {
        use crate::google_auth::Access;
        use crate::vertex::{Place, VertexEmbeddings};

        let access = Access::by(self.key.as_ref(), http, runtime)?;
        let project = self.project.as_deref().or(access.project.as_deref()).unwrap_or_default();
        let place = Place::new(project, self.location.as_deref().unwrap_or("us-central1"))?;
        let usual = place.base_url();
        let base_url = self.base_url.as_deref().unwrap_or(&usual).trim().trim_end_matches('/');
        let base_url = base_url.to_owned();
        let mut dialect =
            VertexEmbeddings::new(place, &self.model)?.quota_project(access.quota_project);
        if let Some(numbers) = self.dimension {
            dialect = dialect.dimension(numbers);
        }
        Ok(self.embedder(dialect, access.credentials, base_url, http, runtime))
    }

    fn embedder(
        &self,
        dialect: impl EmbeddingDialect + 'static,
        credentials: Arc<dyn Credentials>,
        base_url: String,
        http: &HttpClient,
        runtime: &Runtime,
    ) -> Arc<dyn Embedder> {
        let connection = Connection {
            id: format!("{}:{}", self.service, self.model.trim()),
            base_url,
            credentials,
            http: http.clone(),
            runtime: runtime.clone(),
            attempt_timeout: self.attempt_timeout,
            idle_timeout: self.attempt_timeout,
            when_unreachable: None,
        };
        let resilience = self.resilience.clone();
        let resilience =
            resilience.unwrap_or_else(|| Resilience::new(runtime.clone(), "embedding"));
        let resilience = resilience.attempt_timeout(self.attempt_timeout);
        let dimension = self.dimension.and_then(|numbers| usize::try_from(numbers).ok());
        Arc::new(HttpEmbedder::new(connection, dialect, resilience, dimension))
    }

    fn unusable(&self, wrong: &'static str, next: &'static str) -> Error {
        let tried = format!("embed with the provider {}", self.service);
        Error::new(ErrorKind::InvalidSettings, tried, wrong).next(next)
    }
}
