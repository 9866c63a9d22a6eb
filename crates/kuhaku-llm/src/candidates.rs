//! What could answer when the settings leave it open: for each service, whether it is usable and
//! which host text would go to. Only Ollama is asked, at the address that is set, which models it
//! has.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{Candidate, CandidateSource, HttpClient, HttpRequest, Timestamp};
use serde_json::Value;

use crate::ollama;
use crate::service::Service;
use crate::settings::LlmSettings;

/// How long Ollama may take to say which models it has.
const PROBE_LIMIT: Duration = Duration::from_millis(500);

/// The most that is read of its answer, in bytes.
const MOST: usize = 4 << 20;

/// The services in the order in which a person is asked, with the rank that decides when nobody is.
const RANKS: [(Service, u32); 8] = [
    (Service::OpenAi, 10),
    (Service::Anthropic, 11),
    (Service::Vertex, 12),
    (Service::Groq, 13),
    (Service::OpenRouter, 5),
    (Service::HuggingFace, 15),
    (Service::OpenAiCompat, 16),
    (Service::Ollama, 20),
];

impl LlmSettings {
    /// What could answer under these settings, for a [`Resolver`](kuhaku_core::Resolver). The id of
    /// whichever it chooses is for [`provider`](Self::provider).
    ///
    /// Nothing is sent but a question to Ollama, where the settings say it is, for its models.
    pub fn candidates(&self, http: &HttpClient) -> Vec<ServiceCandidates> {
        let settings = Arc::new(self.clone());
        let source = |(service, rank)| {
            let (settings, http) = (Arc::clone(&settings), http.clone());
            ServiceCandidates { service, rank, settings, http }
        };
        RANKS.into_iter().map(source).collect()
    }
}

/// What one service could do under some settings. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct ServiceCandidates {
    service: Service,
    rank: u32,
    settings: Arc<LlmSettings>,
    http: HttpClient,
}

#[async_trait]
impl CandidateSource for ServiceCandidates {
    fn name(&self) -> &str {
        self.service.name()
    }

    async fn probe(&self) -> Vec<Candidate> {
        match self.service {
            Service::Ollama => self.ollama().await,
            _ => vec![self.by_settings()],
        }
    }
}

impl ServiceCandidates {
    fn candidate(&self, id: String, label: &str, url: &str) -> Candidate {
        let candidate = Candidate::new(id, label).rank(self.rank);
        match host(url) {
            host if host.is_empty() => candidate,
            host => candidate.host(host),
        }
    }

    /// Ready when everything is set that the service needs.
    fn by_settings(&self) -> Candidate {
        let set = self.settings.service(self.service);
        let label = set.model.unwrap_or(self.service.name());
        let google = google(&self.settings).unwrap_or_default();
        let vertex = self.service == Service::Vertex;
        let url = set.base_url.unwrap_or(if vertex { &google } else { "" });
        let candidate = self.candidate(self.service.name().into(), label, url);
        let ready = match self.service {
            Service::Vertex if cfg!(not(feature = "vertex")) => {
                return candidate.missing("turn on the feature `vertex` of this build");
            }
            // Whether the machine itself has an identity is not known without asking; who names
            // the service says that it has one.
            Service::Vertex => {
                let named = self.settings.llm_provider.trim().eq_ignore_ascii_case("vertex");
                self.settings.vertex_project.is_some()
                    && (named || self.settings.vertex_credentials_file.is_some())
            }
            Service::HuggingFace => set.base_url.is_some(),
            Service::OpenAiCompat => set.base_url.is_some() && set.model.is_some(),
            _ => set.key.is_some(),
        };
        if ready { candidate } else { candidate.missing(self.service.how_to_open()) }
    }

    /// One candidate per model that is pulled and answers questions, the newest first.
    async fn ollama(&self) -> Vec<Candidate> {
        let set = self.settings.service(Service::Ollama);
        let url = ollama::base_url(set.base_url.unwrap_or_default());
        let named =
            |model: &str| self.candidate(format!("ollama:{model}"), model, &url).last_resort();
        let unnamed = || self.candidate("ollama".into(), "Ollama", &url).last_resort();
        let pulled = self.pulled(&url).await;
        match (pulled, set.model) {
            (None, model) => {
                let step = format!("start Ollama at {}, or set OLLAMA_HOST", host(&url));
                vec![model.map_or_else(unnamed, named).missing(step)]
            }
            (Some(pulled), Some(model)) => {
                let latest = format!("{model}:latest");
                let has = pulled.iter().any(|name| name == model || *name == latest);
                let candidate = named(model);
                let step = || format!("pull the model with `ollama pull {model}`");
                vec![if has { candidate } else { candidate.missing(step()) }]
            }
            (Some(pulled), None) if pulled.is_empty() => {
                let step = "pull a model, for example with `ollama pull llama3.2`";
                vec![unnamed().missing(step)]
            }
            (Some(pulled), None) => pulled.iter().map(|model| named(model)).collect(),
        }
    }

    /// The models that are pulled; `None` when nobody answers as Ollama does.
    async fn pulled(&self, url: &str) -> Option<Vec<String>> {
        let mut request = HttpRequest::get(format!("{url}/api/tags")).attempt_timeout(PROBE_LIMIT);
        if let Some(key) = self.settings.service(Service::Ollama).key {
            request = request.bearer(key);
        }
        let reply = self.http.send(request, MOST).await.ok().filter(|reply| reply.is_success())?;
        let body: Value = serde_json::from_slice(reply.body()).ok()?;
        let mut models: Vec<_> = body.get("models")?.as_array()?.iter().filter_map(read).collect();
        models.sort_by(|(one, _), (other, _)| other.cmp(one));
        Some(models.into_iter().map(|(_, name)| name).collect())
    }
}

/// When a model was changed, and its name; `None` for models that only embed.
fn read(model: &Value) -> Option<(Option<Timestamp>, String)> {
    let name = model.get("name").and_then(Value::as_str)?;
    let families = model.pointer("/details/families").and_then(Value::as_array);
    let mut families = families.into_iter().flatten().filter_map(Value::as_str);
    if name.contains("embed") || families.any(|family| family.ends_with("bert")) {
        return None;
    }
    let changed = model.get("modified_at").and_then(Value::as_str);
    Some((changed.and_then(|time| time.parse().ok()), name.to_owned()))
}

/// Where Vertex AI is, if that is known.
#[cfg(feature = "vertex")]
pub(crate) fn google(settings: &LlmSettings) -> Option<String> {
    let project = settings.vertex_project.as_deref()?;
    let place = crate::vertex::Place::new(project, &settings.vertex_location);
    place.ok().map(|place| place.base_url())
}

#[cfg(not(feature = "vertex"))]
pub(crate) fn google(_: &LlmSettings) -> Option<String> {
    None
}

/// Host and port of an address, without what may stand before them.
pub(crate) fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_shown_without_credentials() {
        let table = [
            ("https://api.openai.com/v1", "api.openai.com"),
            ("http://me:planted@h:8000/v1", "h:8000"),
            ("http://h?key=planted", "h"),
            ("", ""),
        ];
        for (url, shown) in table {
            assert_eq!(host(url), shown, "{url}");
        }
    }
}
