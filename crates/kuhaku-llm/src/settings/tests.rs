//! Settings as they are read and used.

use kuhaku_core::{Section as _, Sources};

use super::*;

fn load<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> LlmSettings {
    LlmSettings::load(&Sources::new().env(variables)).unwrap()
}

fn provider(settings: &LlmSettings, id: &str) -> Result<Arc<dyn LlmProvider>> {
    settings.provider(id, &HttpClient::builder().build()?, &Runtime::system())
}

#[test]
fn published_names_and_their_aliases_are_read() {
    let settings = load([("OPENAI_API_KEY", "k"), ("OLLAMA_HOST", "gpu:1"), ("HF_TOKEN", "h")]);
    assert!(settings.openai_api_key.is_some() && settings.huggingface_api_key.is_some());
    assert_eq!(settings.ollama_base_url.as_str(), "gpu:1");
    let defaults = load([]);
    assert_eq!(defaults.llm_provider, "auto");
    assert_eq!(defaults.openai_model, "gpt-4o-mini");
    assert_eq!((defaults.llm_timeout_seconds, defaults.retry_llm_max_attempts), (120, 3));
}

#[test]
fn a_service_and_a_model_make_a_provider() {
    let settings = load([("OPENAI_API_KEY", "k"), ("KUHAKU_OPENAI_COMPAT_BASE_URL", "http://h")]);
    let table = [
        ("openai", "openai:gpt-4o-mini"),
        (" OpenAI ", "openai:gpt-4o-mini"),
        ("openai:gpt-5", "openai:gpt-5"),
        ("ollama:old:7b", "ollama:old:7b"),
        ("openai_compat:m", "openai_compat:m"),
    ];
    for (id, expected) in table {
        assert_eq!(provider(&settings, id).unwrap().id(), expected);
    }
}

/// LLM-11: the part about names and variables.
#[test]
fn what_is_missing_or_unknown_is_named() {
    let table = [
        ("bogus", "anthropic, groq, huggingface, ollama, openai, openai_compat"),
        ("opnai", "did you mean `openai`?"),
        ("openai", "OPENAI_API_KEY"),
        ("openrouter", "it has models that are free"),
        ("ollama", "KUHAKU_OLLAMA_MODEL"),
        ("openai_compat", "KUHAKU_OPENAI_COMPAT_MODEL"),
        ("openai_compat:m", "KUHAKU_OPENAI_COMPAT_BASE_URL"),
        ("huggingface", "KUHAKU_HUGGINGFACE_BASE_URL"),
    ];
    for (id, named) in table {
        let error = provider(&load([]), id).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::InvalidSettings, "{id}");
        assert!(error.to_string().contains(named), "{id}: {error}");
    }
}

#[test]
fn a_planted_key_is_in_no_debug_text_and_no_error() {
    let planted = "planted-key-5up3r53cr3t";
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY"];
    let compat = ("KUHAKU_OPENAI_COMPAT_BASE_URL", "http://h");
    let settings = load(keys.map(|name| (name, planted)).into_iter().chain([compat]));
    assert!(!format!("{settings:?} {settings:#?}").contains(planted));
    for service in Service::ALL {
        match provider(&settings, service.name()) {
            Ok(provider) => assert!(!format!("{provider:?}").contains(planted)),
            Err(error) => assert!(!format!("{error} {error:?}").contains(planted)),
        }
    }
    let error = provider(&settings, planted).unwrap_err();
    assert!(!format!("{error} {error:?}").contains(planted));
}

#[test]
fn rules_are_checked_together() {
    let sources = Sources::new().env([
        ("KUHAKU_RETRY_LLM_MAX_ATTEMPTS", "0"),
        ("KUHAKU_RETRY_LLM_BACKOFF_BASE_SECONDS", "60"),
        ("KUHAKU_LLM_CONTEXT_TOKENS", "0"),
    ]);
    let error = LlmSettings::load(&sources).unwrap_err().to_string();
    for name in ["retry_llm_max_attempts", "retry_llm_backoff_base_seconds", "llm_context_tokens"] {
        assert!(error.contains(name), "{error}");
    }
}
