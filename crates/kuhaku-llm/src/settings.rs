//! The settings of models, services and calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{
    BreakerPolicy, Error, ErrorKind, HttpClient, LlmProvider, Resilience, Result, Runtime,
};
use secrecy::SecretString;

use crate::base_url::BaseUrl;
use crate::builder::ModelBuilder;
use crate::embedder_builder::EmbedderBuilder;
use crate::service::Service;

kuhaku_core::settings! {
    /// Settings of the services that models are asked of: top level, variables `KUHAKU_…`.
    pub struct LlmSettings in "" {
        /// Which service answers: the name of one, `auto` for the one that was chosen before or else
        /// the safest that is ready, `none` for no model.
        llm_provider: String = "auto".into();
        /// How long one attempt may take, in seconds; for a stream, until its first text.
        llm_timeout_seconds: u64 = 120, "from 1 to 86400" => |s| (1..=86_400).contains(s);
        /// How long a stream may be silent, in seconds.
        llm_idle_timeout_seconds: u64 = 60, "from 1 to 86400" => |s| (1..=86_400).contains(s);
        /// The longest input and reply together, in tokens: what is longer by estimate is refused
        /// before it is sent. Without it the service decides, but Ollama, which cuts in silence.
        llm_context_tokens: Option<u32> = None, "at least 1" => |n| n.is_none_or(|n| n > 0);
        /// Whether calls that failed for a moment are tried again.
        retry_enabled: bool = true;
        /// How often a call is tried, the first time included.
        retry_llm_max_attempts: u32 = 3, "from 1 to 100" => |n| (1..=100).contains(n);
        /// The longest first wait between attempts, in seconds. It doubles from wait to wait.
        retry_llm_backoff_base_seconds: f64 = 1.0, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// The longest wait between attempts that a service did not ask for, in seconds.
        retry_llm_backoff_max_seconds: f64 = 10.0, "from 0 to 3600"
            => |s| (0.0..=3600.0).contains(s);
        /// Whether a service that fails again and again is left alone for a while.
        circuit_breaker_enabled: bool = true;
        /// How many failures in a row open the circuit of a service.
        circuit_breaker_failure_threshold: u32 = 5, "from 1 to 1000" => |n| (1..=1000).contains(n);
        /// How long an open circuit stays open, in seconds.
        circuit_breaker_reset_timeout_seconds: f64 = 60.0, "from 0 to 86400"
            => |s| (0.0..=86_400.0).contains(s);
        /// How many probes must succeed before the circuit closes.
        circuit_breaker_success_threshold: u32 = 1, "from 1 to 1000" => |n| (1..=1000).contains(n);
        /// Where Ollama is.
        ollama_base_url: BaseUrl = "http://localhost:11434".into(), alias "OLLAMA_HOST";
        /// The key of an Ollama that wants one.
        ollama_api_key: Option<SecretString> = None, alias "OLLAMA_API_KEY";
        /// The model of Ollama. Without it, the newest that is pulled.
        ollama_model: Option<String> = None;
        /// How long Ollama keeps a model loaded: seconds, or a text such as `5m`.
        ollama_keep_alive: Option<String> = None;
        /// The key of Anthropic.
        anthropic_api_key: Option<SecretString> = None, alias "ANTHROPIC_API_KEY";
        /// The model of Anthropic.
        anthropic_model: String = "claude-sonnet-5".into();
        /// Where Anthropic's service is.
        anthropic_base_url: BaseUrl = "https://api.anthropic.com".into();
        /// The key of OpenAI.
        openai_api_key: Option<SecretString> = None, alias "OPENAI_API_KEY";
        /// The model of OpenAI.
        openai_model: String = "gpt-4o-mini".into();
        /// Where OpenAI's service is.
        openai_base_url: BaseUrl = "https://api.openai.com/v1".into();
        /// The key of Groq.
        groq_api_key: Option<SecretString> = None, alias "GROQ_API_KEY";
        /// The model of Groq.
        groq_model: String = "openai/gpt-oss-20b".into();
        /// Where Groq's service is.
        groq_base_url: BaseUrl = "https://api.groq.com/openai/v1".into();
        /// The key of OpenRouter.
        openrouter_api_key: Option<SecretString> = None, alias "OPENROUTER_API_KEY";
        /// The model of OpenRouter.
        openrouter_model: String = "google/gemma-4-31b-it:free".into();
        /// Where OpenRouter's service is.
        openrouter_base_url: BaseUrl = "https://openrouter.ai/api/v1".into();
        /// The project of Google Cloud whose Vertex AI is asked.
        vertex_project: Option<String> = None, alias "GOOGLE_CLOUD_PROJECT";
        /// The location of Vertex AI.
        vertex_location: String = "us-central1".into(), alias "GOOGLE_CLOUD_LOCATION";
        /// The key file that opens Vertex AI: of a service account, or of a person who has logged in.
        /// Without one, the machine is asked who it is.
        vertex_credentials_file: Option<PathBuf> = None, alias "GOOGLE_APPLICATION_CREDENTIALS";
        /// The model of Vertex AI.
        vertex_model: String = "gemini-2.5-flash".into();
        /// Where text-generation-inference is. With `/v1` at its end, messages go to its chat
        /// endpoint; without, one text goes to `/generate`.
        huggingface_base_url: Option<BaseUrl> = None;
        /// The token of Hugging Face, for servers that want one.
        huggingface_api_key: Option<SecretString> = None, alias "HF_TOKEN";
        /// The model's name, which the server itself does not need.
        huggingface_model: String = "tgi".into();
        /// Where the server is that speaks OpenAI's language: vLLM, LM Studio, llama.cpp. A URL that
        /// ends in `/completions` but not in `/chat/completions` means the older endpoint.
        openai_compat_base_url: Option<BaseUrl> = None;
        /// The key of that server, if it wants one.
        openai_compat_api_key: Option<SecretString> = None;
        /// The model of that server.
        openai_compat_model: Option<String> = None;
    }
    check |settings, problems| {
        let waits =
            [settings.retry_llm_backoff_base_seconds, settings.retry_llm_backoff_max_seconds];
        if let [base, most] = waits && base > most {
            let wrong = "must not be above retry_llm_backoff_max_seconds";
            problems.add("retry_llm_backoff_base_seconds", wrong);
        }
    }
}

impl LlmSettings {
    /// The provider that `id` names: a service, or a service, a colon and a model, as candidates and
    /// decisions are named. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when there is no such service, which names the nearest one;
    /// when a key, an address or a model is missing, which names the variable; or when the service
    /// is not part of this build, which names the feature.
    pub fn provider(
        &self,
        id: &str,
        http: &HttpClient,
        runtime: &Runtime,
    ) -> Result<Arc<dyn LlmProvider>> {
        let (service, model) = match id.split_once(':') {
            Some((service, model)) => (service.parse()?, Some(model)),
            None => (id.parse()?, None),
        };
        let resilience = self.resilience(runtime);
        self.builder(service, model)?.resilience(resilience).build(http, runtime)
    }

    /// Address, key and model of a service; `model` comes before the one that is set.
    fn builder(&self, service: Service, model: Option<&str>) -> Result<ModelBuilder> {
        let set = self.service(service);
        let model = model.or(set.model).unwrap_or_default();
        let mut builder = ModelBuilder::new(service, model)
            .attempt_timeout(Duration::from_secs(self.llm_timeout_seconds))
            .idle_timeout(Duration::from_secs(self.llm_idle_timeout_seconds));
        if let Some(url) = set.base_url {
            builder = builder.base_url(url);
        }
        if let Some(key) = set.key {
            builder = builder.key(key.clone());
        }
        if let Some(tokens) = self.llm_context_tokens {
            builder = builder.context_tokens(tokens);
        }
        match service {
            Service::Ollama => Ok(match &self.ollama_keep_alive {
                Some(time) => builder.keep_alive(time),
                None => builder,
            }),
            Service::Vertex => {
                if let Some(project) = &self.vertex_project {
                    builder = builder.project(project);
                }
                if let Some(path) = &self.vertex_credentials_file {
                    builder = builder.key(key_file(path)?);
                }
                Ok(builder.location(&self.vertex_location))
            }
            _ => Ok(builder),
        }
    }

    /// An embedding model of a service, where these settings say that the service is and with its key
    /// (for Vertex AI, project, location and key file). What concerns embeddings alone is left to set:
    /// dimension, prefixes, retries. Nothing is called.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when the key file of Vertex AI cannot be read.
    pub fn embedder(&self, service: Service, model: &str) -> Result<EmbedderBuilder> {
        let set = self.service(service);
        let mut builder = EmbedderBuilder::new(service, model)
            .attempt_timeout(Duration::from_secs(self.llm_timeout_seconds));
        if let Some(url) = set.base_url {
            builder = builder.base_url(url);
        }
        if let Some(key) = set.key {
            builder = builder.key(key.clone());
        }
        match service {
            Service::Ollama => Ok(match &self.ollama_keep_alive {
                Some(time) => builder.keep_alive(time),
                None => builder,
            }),
            Service::Vertex => {
                if let Some(project) = &self.vertex_project {
                    builder = builder.project(project);
                }
                if let Some(path) = &self.vertex_credentials_file {
                    builder = builder.key(key_file(path)?);
                }
                Ok(builder.location(&self.vertex_location))
            }
            _ => Ok(builder),
        }
    }

    /// The host that texts for a service go to under these settings, as it may be shown: without
    /// what may stand before it in an address.
    pub fn host(&self, service: Service) -> String {
        let set = self.service(service).base_url.unwrap_or_default().to_owned();
        let url = match service {
            Service::Ollama => crate::ollama::base_url(&set),
            Service::Vertex => crate::candidates::google(self).unwrap_or_default(),
            _ => set,
        };
        crate::candidates::host(&url)
    }

    /// What is set for a service.
    pub(crate) fn service(&self, service: Service) -> ServiceSettings<'_> {
        let (model, base_url, key) = match service {
            Service::Anthropic => (
                Some(&self.anthropic_model),
                Some(&self.anthropic_base_url),
                &self.anthropic_api_key,
            ),
            Service::Groq => {
                (Some(&self.groq_model), Some(&self.groq_base_url), &self.groq_api_key)
            }
            Service::HuggingFace => (
                Some(&self.huggingface_model),
                self.huggingface_base_url.as_ref(),
                &self.huggingface_api_key,
            ),
            Service::Ollama => {
                (self.ollama_model.as_ref(), Some(&self.ollama_base_url), &self.ollama_api_key)
            }
            Service::OpenAi => {
                (Some(&self.openai_model), Some(&self.openai_base_url), &self.openai_api_key)
            }
            Service::OpenAiCompat => (
                self.openai_compat_model.as_ref(),
                self.openai_compat_base_url.as_ref(),
                &self.openai_compat_api_key,
            ),
            Service::OpenRouter => (
                Some(&self.openrouter_model),
                Some(&self.openrouter_base_url),
                &self.openrouter_api_key,
            ),
            Service::Vertex => (Some(&self.vertex_model), None, &None),
        };
        let filled = |text: &&str| !text.trim().is_empty();
        ServiceSettings {
            model: model.map(String::as_str).filter(filled),
            base_url: base_url.map(BaseUrl::as_str).filter(filled),
            key: key.as_ref(),
        }
    }

    /// How calls are made under these settings.
    pub fn resilience(&self, runtime: &Runtime) -> Resilience {
        self.layers(runtime, "llm").attempts(self.attempts(self.retry_llm_max_attempts)).backoff(
            seconds(self.retry_llm_backoff_base_seconds),
            seconds(self.retry_llm_backoff_max_seconds),
        )
    }

    /// How embedding models are called: with these attempts and waits, in seconds, and otherwise as
    /// language models are. Without retries where these settings turn them off.
    pub fn embedding_resilience(
        &self,
        runtime: &Runtime,
        attempts: u32,
        first_wait: f64,
        longest_wait: f64,
    ) -> Resilience {
        self.layers(runtime, "embedding")
            .attempts(self.attempts(attempts))
            .backoff(seconds(first_wait), seconds(longest_wait))
    }

    fn attempts(&self, wanted: u32) -> u32 {
        if self.retry_enabled { wanted } else { 1 }
    }

    /// Attempt timeout and breaker.
    fn layers(&self, runtime: &Runtime, label: &'static str) -> Resilience {
        let resilience = Resilience::new(runtime.clone(), label)
            .attempt_timeout(Duration::from_secs(self.llm_timeout_seconds));
        if !self.circuit_breaker_enabled {
            return resilience.without_breaker();
        }
        resilience.breaker(BreakerPolicy::new(
            self.circuit_breaker_failure_threshold,
            seconds(self.circuit_breaker_reset_timeout_seconds),
            self.circuit_breaker_success_threshold,
        ))
    }
}

/// What is set for one service; blank texts are none.
#[derive(Clone, Copy)]
pub(crate) struct ServiceSettings<'a> {
    pub(crate) model: Option<&'a str>,
    pub(crate) base_url: Option<&'a str>,
    pub(crate) key: Option<&'a SecretString>,
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn key_file(path: &Path) -> Result<SecretString> {
    // A path that was given is one of the user's own settings and may be shown.
    let content = std::fs::read_to_string(path).map_err(|source| {
        let tried = format!("read the key file `{}`", path.display());
        Error::new(ErrorKind::InvalidSettings, tried, "it cannot be opened as text")
            .next("check KUHAKU_VERTEX_CREDENTIALS_FILE or GOOGLE_APPLICATION_CREDENTIALS")
            .caused_by(source)
    })?;
    Ok(content.into())
}

#[cfg(test)]
mod tests;
