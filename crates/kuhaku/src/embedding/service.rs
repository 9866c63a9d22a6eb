//! Embedding models of services.

use std::sync::Arc;

use kuhaku_core::{Embedder, Error, ErrorKind, HttpClient, Runtime};
use kuhaku_llm::{LlmSettings, Service};
use kuhaku_rag::{EmbeddingProvider, RagSettings};

use crate::error::Result;

/// The length of vectors that Vertex AI is asked for unless one is set.
const VERTEX_DIMENSION: u32 = 768;

/// The service of a provider; none for those that are no service.
pub(super) fn service(provider: EmbeddingProvider) -> Option<Service> {
    match provider {
        EmbeddingProvider::Vertex => Some(Service::Vertex),
        EmbeddingProvider::OpenAi => Some(Service::OpenAi),
        EmbeddingProvider::OpenAiCompatible => Some(Service::OpenAiCompat),
        EmbeddingProvider::Ollama => Some(Service::Ollama),
        _ => None,
    }
}

/// The model that is asked unless one is set.
fn usual(service: Service) -> Option<&'static str> {
    match service {
        Service::Vertex => Some("gemini-embedding-001"),
        Service::OpenAi => Some("text-embedding-3-small"),
        _ => None,
    }
}

/// The model that is asked.
///
/// # Errors
/// `core.invalid_settings` when none is set and the service has no usual one.
pub(super) fn model(service: Service, settings: &RagSettings) -> Result<String> {
    let set = settings.embedding_model.as_deref().map(str::trim).filter(|name| !name.is_empty());
    let named = set.or(usual(service));
    Ok(named.map(ToOwned::to_owned).ok_or_else(|| {
        let tried = format!("make vectors with {service}");
        Error::new(ErrorKind::InvalidSettings, tried, "no embedding model is named")
            .next("set KUHAKU_RAG__EMBEDDING_MODEL to one that the server has")
    })?)
}

/// The embedder. Nothing is called.
///
/// # Errors
/// `core.invalid_settings` when a key, an address or a model is missing, or prefixes are set for
/// Vertex AI, which has tasks in their place.
pub(super) fn embedder(
    service: Service,
    settings: &RagSettings,
    llm: &LlmSettings,
    runtime: &Runtime,
) -> Result<Arc<dyn Embedder>> {
    let http = HttpClient::builder().build()?;
    let resilience = llm.embedding_resilience(
        runtime,
        settings.retry_embedding_max_attempts,
        settings.retry_embedding_backoff_base_seconds,
        settings.retry_embedding_backoff_max_seconds,
    );
    let model = model(service, settings)?;
    let mut builder = llm.embedder(service, &model)?.resilience(resilience);
    let usual = (service == Service::Vertex).then_some(VERTEX_DIMENSION);
    if let Some(numbers) = settings.embedding_dimension.or(usual) {
        builder = builder.dimension(numbers);
    }
    let (document, query) = (&settings.embedding_document_prefix, &settings.embedding_query_prefix);
    if document.is_some() || query.is_some() {
        if service == Service::Vertex {
            let wrong = "Vertex AI is told what a text is for, and takes no prefixes";
            return Err(Error::new(ErrorKind::InvalidSettings, "make vectors with vertex", wrong)
                .next("unset rag.embedding_document_prefix and rag.embedding_query_prefix")
                .into());
        }
        builder = builder
            .prefixes(document.clone().unwrap_or_default(), query.clone().unwrap_or_default());
    } else if service != Service::Vertex && is_e5(&model) {
        builder = builder.prefixes("passage: ", "query: ");
    }
    Ok(builder.build(&http, runtime)?)
}

/// Whether a model was trained with the prefixes of e5 (Wang et al. 2022, section 4), by its name.
fn is_e5(model: &str) -> bool {
    let model = model.to_ascii_lowercase();
    let has = |part: &str| model.split(['/', '-', '_', '.', ':']).any(|one| one == part);
    has("e5") && !has("instruct")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(provider: EmbeddingProvider, settings: &RagSettings) -> Result<String> {
        let service = service(provider).unwrap();
        let embedder = embedder(service, settings, &LlmSettings::default(), &Runtime::system())?;
        Ok(embedder.fingerprint().to_owned())
    }

    fn settings(change: impl FnOnce(&mut RagSettings)) -> RagSettings {
        let mut settings = RagSettings::default();
        change(&mut settings);
        settings
    }

    /// ING-10: the part about e5, for models behind a server.
    #[test]
    fn only_e5_gets_words_before_a_text_unless_they_are_set() {
        let named = |model: &str| settings(|s| s.embedding_model = Some(model.into()));
        for (model, has) in [
            ("multilingual-e5-small", true),
            ("hf.co/intfloat/multilingual-e5-large:latest", true),
            ("e5-mistral-7b-instruct", false),
            ("bge-m3", false),
        ] {
            let shown = built(EmbeddingProvider::Ollama, &named(model)).unwrap();
            assert_eq!(shown.contains("passage: "), has, "{shown}");
        }
        let mut set = named("multilingual-e5-small");
        set.embedding_query_prefix = Some("find: ".into());
        let shown = built(EmbeddingProvider::Ollama, &set).unwrap();
        assert!(shown.contains("document=\"\";query=\"find: \""), "{shown}");
    }

    #[test]
    fn the_dimension_that_is_set_is_asked_for() {
        let set = settings(|s| {
            s.embedding_model = Some("m".into());
            s.embedding_dimension = Some(256);
        });
        let shown = built(EmbeddingProvider::Ollama, &set).unwrap();
        assert!(shown.contains("dimension=256"), "{shown}");
    }

    #[test]
    fn a_server_without_a_usual_model_needs_one_named() {
        for provider in [EmbeddingProvider::Ollama, EmbeddingProvider::OpenAiCompatible] {
            let error = built(provider, &RagSettings::default()).unwrap_err();
            assert_eq!(error.code(), "core.invalid_settings");
            assert!(error.to_string().contains("KUHAKU_RAG__EMBEDDING_MODEL"), "{error}");
        }
        // The key is what is missing there.
        let error = built(EmbeddingProvider::OpenAi, &RagSettings::default()).unwrap_err();
        assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
    }

    #[test]
    fn prefixes_are_refused_where_nothing_reads_them() {
        let set = settings(|s| s.embedding_document_prefix = Some("passage: ".into()));
        let error = built(EmbeddingProvider::Vertex, &set).unwrap_err();
        assert!(error.to_string().contains("rag.embedding_document_prefix"), "{error}");
    }
}
