//! No dead setting (R13): each one, when changed, changes something that can be seen.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use kuhaku_core::{
    CandidateSource as _, ChatEvent, ChatRequest, HttpClient, LlmProvider, Result, Runtime,
    Section as _, Sources,
};
use kuhaku_llm::{LlmSettings, Service};
use kuhaku_testkit::transcript::{Ending, Reply, TranscriptServer};

/// Below the defaults of the limits that are set to a second here, and far above a second.
const PATIENCE: Duration = Duration::from_secs(30);

type Variables = BTreeMap<String, String>;

/// For every setting, a value other than the one in [`usual`]. A setting without a row fails the
/// test. `{server}` stands for the server.
const OTHER_VALUES: [(&str, &str); 36] = [
    ("LLM_CONTEXT_TOKENS", "1"),
    ("RETRY_ENABLED", "false"),
    ("RETRY_LLM_MAX_ATTEMPTS", "5"),
    ("RETRY_LLM_BACKOFF_BASE_SECONDS", "3600"),
    ("RETRY_LLM_BACKOFF_MAX_SECONDS", "0.001"),
    ("CIRCUIT_BREAKER_ENABLED", "false"),
    ("CIRCUIT_BREAKER_FAILURE_THRESHOLD", "4"),
    ("CIRCUIT_BREAKER_RESET_TIMEOUT_SECONDS", "0"),
    ("CIRCUIT_BREAKER_SUCCESS_THRESHOLD", "2"),
    ("OLLAMA_BASE_URL", "{server}/other"),
    ("OLLAMA_API_KEY", "other"),
    ("OLLAMA_MODEL", "other"),
    ("OLLAMA_KEEP_ALIVE", "7m"),
    ("ANTHROPIC_API_KEY", "other"),
    ("ANTHROPIC_MODEL", "other"),
    ("ANTHROPIC_BASE_URL", "{server}/other"),
    ("OPENAI_API_KEY", "other"),
    ("OPENAI_MODEL", "other"),
    ("OPENAI_BASE_URL", "{server}/other"),
    ("GROQ_API_KEY", "other"),
    ("GROQ_MODEL", "other"),
    ("GROQ_BASE_URL", "{server}/other"),
    ("OPENROUTER_API_KEY", "other"),
    ("OPENROUTER_MODEL", "other"),
    ("OPENROUTER_BASE_URL", "{server}/other"),
    ("VERTEX_PROJECT", "other"),
    ("VERTEX_LOCATION", "europe-west1"),
    ("VERTEX_CREDENTIALS_FILE", "key.json"),
    ("VERTEX_MODEL", "other"),
    ("HUGGINGFACE_BASE_URL", "{server}/other"),
    ("HUGGINGFACE_API_KEY", "other"),
    ("HUGGINGFACE_MODEL", "other"),
    ("OPENAI_COMPAT_BASE_URL", "{server}/other"),
    ("OPENAI_COMPAT_API_KEY", "other"),
    ("OPENAI_COMPAT_MODEL", "other"),
    ("LLM_PROVIDER", "vertex"),
];

/// The services that can be moved to a server here.
fn services() -> impl Iterator<Item = &'static str> {
    Service::ALL.into_iter().map(Service::name).filter(|name| *name != "vertex")
}

/// What is set but for the one setting: every service at the server, few attempts at once.
fn usual(server: &str) -> Variables {
    let mut set: Variables = [
        ("OLLAMA_MODEL", "m"),
        ("OPENAI_COMPAT_MODEL", "m"),
        ("RETRY_LLM_MAX_ATTEMPTS", "2"),
        ("RETRY_LLM_BACKOFF_BASE_SECONDS", "0"),
        ("RETRY_LLM_BACKOFF_MAX_SECONDS", "3600"),
        ("CIRCUIT_BREAKER_FAILURE_THRESHOLD", "2"),
        ("CIRCUIT_BREAKER_RESET_TIMEOUT_SECONDS", "3600"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    for service in services().map(str::to_uppercase) {
        set.insert(format!("{service}_BASE_URL"), format!("{server}/base"));
        set.insert(format!("{service}_API_KEY"), "k".into());
    }
    set
}

fn load(set: &Variables) -> LlmSettings {
    let variables = set.iter().map(|(name, value)| (format!("KUHAKU_{name}"), value));
    LlmSettings::load(&Sources::new().env(variables)).unwrap()
}

fn provider(set: &Variables, service: &str) -> Result<Arc<dyn LlmProvider>> {
    load(set).provider(service, &HttpClient::builder().build()?, &Runtime::system())
}

async fn ask(model: &dyn LlmProvider) -> &'static str {
    let request = ChatRequest::new("s", "q").deadline(Instant::now() + Duration::from_secs(1));
    model.chat(request).await.map_or_else(|error| error.code(), |_| "answered")
}

async fn serve(script: impl IntoIterator<Item = Reply>) -> TranscriptServer {
    TranscriptServer::start(script).await.unwrap()
}

/// The usual values for a server, with the changed one.
fn with(server: &TranscriptServer, changed: Option<(&str, &str)>) -> Variables {
    let mut set = usual(&server.url());
    if let Some((name, value)) = changed {
        set.insert(name.into(), value.replace("{server}", &server.url()));
    }
    set
}

fn answer() -> Reply {
    Reply::json(r#"{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}"#)
}

/// How each service is called.
async fn calls(changed: Option<(&str, &str)>) -> String {
    let mut seen = String::new();
    for service in services() {
        let server = serve([Reply::new(400)]).await;
        let model = provider(&with(&server, changed), service).unwrap();
        writeln!(seen, "{} {}", model.id(), ask(&model).await).unwrap();
        for request in server.requests() {
            let key = request.header("authorization").or(request.header("x-api-key"));
            let body = String::from_utf8_lossy(&request.body);
            writeln!(seen, "{} {key:?} {body}", request.path).unwrap();
        }
    }
    seen
}

/// What there is to choose from.
async fn candidates(changed: Option<(&str, &str)>) -> String {
    let server = serve([Reply::new(404)]).await;
    let http = HttpClient::builder().build().unwrap();
    let (mut seen, mut set) = (String::new(), with(&server, changed));
    for _ in 0..2 {
        for source in load(&set).candidates(&http) {
            if source.name() == "vertex" {
                writeln!(seen, "{:?}", source.probe().await).unwrap();
            }
        }
        // Its other settings count only with a project.
        set.entry("VERTEX_PROJECT".into()).or_insert_with(|| "p".into());
    }
    seen
}

/// How often a service that is down is called, and when it is let be.
async fn trouble(changed: Option<(&str, &str)>) -> String {
    let mut seen = String::new();
    let server = serve([Reply::new(503)]).await;
    let model = provider(&with(&server, changed), "openai_compat").unwrap();
    for _ in 0..6 {
        let outcome = ask(&model).await;
        writeln!(seen, "{outcome} {}", server.requests().len()).unwrap();
    }

    // Whether many attempts with short, but growing waits come to their end.
    let server = serve([Reply::new(503)]).await;
    let mut set = with(&server, changed);
    set.insert("RETRY_LLM_MAX_ATTEMPTS".into(), "40".into());
    let base = set.get_mut("RETRY_LLM_BACKOFF_BASE_SECONDS").unwrap();
    if base == "0" {
        *base = "0.001".into();
    }
    ask(&provider(&set, "openai_compat").unwrap()).await;
    writeln!(seen, "all attempts: {}", server.requests().len() == 40).unwrap();

    // Whether one good call is enough to trust a service again.
    let script = vec![Reply::new(503), Reply::new(503), Reply::new(503), Reply::new(503), answer()];
    let server = serve(script).await;
    let mut set = with(&server, changed);
    set.insert("CIRCUIT_BREAKER_RESET_TIMEOUT_SECONDS".into(), "0".into());
    let model = provider(&set, "openai_compat").unwrap();
    for _ in 0..3 {
        ask(&model).await;
    }
    writeln!(seen, "{:?}", tokio::join!(ask(&model), ask(&model))).unwrap();
    seen
}

/// What needs no failing service to be seen.
async fn places(changed: Option<(&str, &str)>) -> String {
    calls(changed).await + &candidates(changed).await
}

/// CFG-09: the part about models.
#[tokio::test]
async fn each_setting_changes_something_that_can_be_seen() {
    let usual = (places(None).await, trouble(None).await);
    assert_eq!(usual, (places(None).await, trouble(None).await), "what is seen is repeatable");
    for field in LlmSettings::fields() {
        let name = field.name.to_uppercase();
        if name.ends_with("_TIMEOUT_SECONDS") && name.starts_with("LLM_") {
            continue; // Seen below.
        }
        let row = OTHER_VALUES.iter().find(|(other, _)| *other == name);
        let row = row.unwrap_or_else(|| panic!("{name} has no row in OTHER_VALUES"));
        if places(Some(*row)).await == usual.0 {
            assert_ne!(trouble(Some(*row)).await, usual.1, "{name} has no effect");
        }
    }
}

#[tokio::test]
async fn both_limits_of_time_end_a_silent_service() {
    let piece = "data: {\"choices\": [{\"delta\": {\"content\": \"a\"}}]}\n\n";
    let begun = Reply::stream("text/event-stream").piece(piece).ending(Ending::Silence);
    for (name, reply) in
        [("LLM_TIMEOUT_SECONDS", Reply::silence()), ("LLM_IDLE_TIMEOUT_SECONDS", begun)]
    {
        let server = serve([reply]).await;
        let mut set = with(&server, Some((name, "1")));
        set.insert("RETRY_ENABLED".into(), "false".into());
        let model = provider(&set, "openai_compat").unwrap();
        let reading = async {
            let mut stream = model.stream(ChatRequest::new("s", "q")).await?;
            while let Some(event) = stream.next().await {
                if matches!(event?, ChatEvent::End { .. }) {
                    break;
                }
            }
            Ok::<_, kuhaku_core::Error>(())
        };
        let error = tokio::time::timeout(PATIENCE, reading).await.unwrap().unwrap_err();
        assert_eq!(error.code(), "core.timed_out", "{name}: {error}");
    }
}
