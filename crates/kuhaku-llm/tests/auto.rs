//! Which model answers when the settings leave it open.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kuhaku_core::{
    Announcement, Announcer, Capability, Consent, ConsentStep, DecisionMemory, HttpClient, Reason,
    Resolution, Resolver, Result, Runtime, Section as _, Sources,
};
use kuhaku_llm::LlmSettings;
use kuhaku_testkit::transcript::{Reply, TranscriptServer};

/// Settings with these variables; Ollama is where nobody listens unless they say otherwise.
fn settings(variables: &[(&str, &str)]) -> LlmSettings {
    let nobody = [("KUHAKU_OLLAMA_BASE_URL", "http://127.0.0.1:9")];
    let sources = Sources::new().env(nobody).env(variables.iter().copied());
    LlmSettings::load(&sources).unwrap()
}

async fn resolve(settings: &LlmSettings) -> Result<Resolution> {
    resolver(settings, Runtime::system()).resolve().await
}

fn resolver(settings: &LlmSettings, runtime: Runtime) -> Resolver {
    let http = HttpClient::builder().build().unwrap();
    let capability = Capability::new("llm", "a language model", "questions");
    let mut resolver = Resolver::new(runtime, capability);
    for source in settings.candidates(&http) {
        resolver = resolver.source(source);
    }
    if settings.llm_provider != "auto" {
        resolver = resolver.requested(&settings.llm_provider);
    }
    resolver
}

/// Somebody who picks the option with a name in it, and all that they hear and are asked.
#[derive(Clone, Debug)]
struct Person {
    picks: &'static str,
    log: Arc<Mutex<Vec<String>>>,
}

impl Person {
    fn who_picks(picks: &'static str) -> Self {
        Self { picks, log: Arc::default() }
    }

    /// One run of a program with this person before it: what is decided, and what they saw of it.
    async fn run(&self, settings: &LlmSettings, memory: &Path) -> (Resolution, Vec<String>) {
        self.log.lock().unwrap().clear();
        let runtime = Runtime::builder().announcer(self.clone()).build();
        let resolver = resolver(settings, runtime).memory(DecisionMemory::at(memory));
        let resolution = resolver.consent(self.clone()).resolve().await.unwrap();
        (resolution, self.log.lock().unwrap().clone())
    }
}

impl Announcer for Person {
    fn announce(&self, announcement: &Announcement) {
        self.log.lock().unwrap().push(announcement.text.clone());
    }
}

#[async_trait]
impl Consent for Person {
    fn is_interactive(&self) -> bool {
        true
    }

    async fn choose(&self, _question: &str, options: &[String]) -> Option<usize> {
        self.log.lock().unwrap().push(format!("asked: {}", options.join(", ")));
        options.iter().position(|option| option.contains(self.picks))
    }

    async fn confirm(&self, _step: &ConsentStep) -> bool {
        false
    }
}

/// A file that is not there yet, in a folder of the test's own.
fn fresh_memory(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder.join("decisions.json")
}

const TAGS: &str = r#"{"models": [
    {"name": "old:7b", "modified_at": "2024-05-01T10:00:00.1+02:00", "details": {"families": ["qwen2"]}},
    {"name": "nomic-embed-text:latest", "modified_at": "2025-09-01T10:00:00Z"},
    {"name": "sorter:latest", "modified_at": "2025-09-01T10:00:00Z", "details": {"families": ["nomic-bert"]}},
    {"name": "new:3b", "modified_at": "2025-05-01T10:00:00Z", "details": {"families": null}}
]}"#;

/// LLM-07: the part without a terminal.
#[tokio::test]
async fn without_a_terminal_the_safest_ready_service_is_taken() {
    let (openai, groq, openrouter) =
        (("OPENAI_API_KEY", "k"), ("GROQ_API_KEY", "k"), ("OPENROUTER_API_KEY", "k"));
    let table: [(&[(&str, &str)], &str); 3] = [
        (&[openai, groq, openrouter], "openrouter"),
        (&[openai, groq], "openai"),
        (&[groq], "groq"),
    ];
    for (keys, expected) in table {
        let resolution = resolve(&settings(keys)).await.unwrap();
        assert_eq!(resolution.candidate.id, expected);
        assert_eq!(resolution.ready.len(), keys.len());
    }
}

/// LLM-09: the part about models and keys.
#[tokio::test]
async fn of_ollama_the_newest_model_that_answers_is_taken_unless_a_key_is_set() {
    let server = TranscriptServer::start([Reply::json(TAGS)]).await.unwrap();
    let url = server.url();
    let host = ("KUHAKU_OLLAMA_BASE_URL", url.as_str());
    let resolution = resolve(&settings(&[host])).await.unwrap();
    assert_eq!(resolution.candidate.id, "ollama:new:3b");
    assert_eq!(resolution.ready, ["ollama:new:3b", "ollama:old:7b"]);
    assert!(url.ends_with(resolution.candidate.host.as_deref().unwrap()));
    let resolution = resolve(&settings(&[host, ("OPENAI_API_KEY", "k")])).await.unwrap();
    assert_eq!(resolution.candidate.id, "openai");
}

/// LLM-08
#[tokio::test]
async fn somebody_at_a_terminal_is_asked_once_and_their_choice_is_remembered() {
    let memory = fresh_memory("asked-once");
    let settings = settings(&[("OPENAI_API_KEY", "k"), ("GROQ_API_KEY", "k")]);
    let person = Person::who_picks("groq");
    let (resolution, seen) = person.run(&settings, &memory).await;
    assert_eq!(
        (resolution.candidate.id.as_str(), resolution.reason),
        ("groq", Reason::PickedByPerson)
    );
    assert!(seen[0].starts_with("asked: openai") && seen[0].contains("groq"), "{seen:?}");

    let (resolution, seen) = person.run(&settings, &memory).await;
    assert_eq!((resolution.candidate.id.as_str(), resolution.reason), ("groq", Reason::Remembered));
    let [announced] = seen.as_slice() else { panic!("{seen:?}") };
    assert!(announced.contains("as last chosen"), "{announced}");
    assert!(announced.ends_with("questions go to api.groq.com"), "{announced}");
}

/// LLM-09: the part about memory.
#[tokio::test]
async fn an_ollama_that_was_chosen_is_kept_when_a_key_is_set_until_its_model_is_gone() {
    let memory = fresh_memory("ollama-kept");
    let server = TranscriptServer::start([Reply::json(TAGS)]).await.unwrap();
    let url = server.url();
    let host = ("KUHAKU_OLLAMA_BASE_URL", url.as_str());
    let person = Person::who_picks("old:7b");
    let (resolution, _) = person.run(&settings(&[host]), &memory).await;
    assert_eq!(resolution.candidate.id, "ollama:old:7b");

    let key = ("OPENAI_API_KEY", "k");
    let (resolution, seen) = person.run(&settings(&[host, key]), &memory).await;
    assert_eq!(
        (resolution.candidate.id.as_str(), resolution.reason),
        ("ollama:old:7b", Reason::Remembered)
    );
    assert!(!seen.iter().any(|line| line.starts_with("asked")), "{seen:?}");

    let (resolution, _) = person.run(&settings(&[key]), &memory).await;
    assert_eq!(
        (resolution.candidate.id.as_str(), resolution.reason),
        ("openai", Reason::OnlyOption)
    );
}

#[tokio::test]
async fn a_model_that_is_set_is_the_only_candidate_and_must_be_pulled() {
    let server = TranscriptServer::start([Reply::json(TAGS)]).await.unwrap();
    let url = server.url();
    let with = |model| {
        settings(&[
            ("KUHAKU_OLLAMA_BASE_URL", url.as_str()),
            ("KUHAKU_OLLAMA_MODEL", model),
            ("KUHAKU_LLM_PROVIDER", "ollama"),
        ])
    };
    let resolution = resolve(&with("old:7b")).await.unwrap();
    assert_eq!(
        (resolution.candidate.id.as_str(), resolution.reason),
        ("ollama:old:7b", Reason::Requested)
    );
    let error = resolve(&with("absent")).await.unwrap_err().to_string();
    assert!(error.contains("ollama pull absent"), "{error}");
}

/// LLM-11
#[tokio::test]
async fn with_nothing_set_the_error_says_what_to_set_for_each_service() {
    let error = resolve(&settings(&[])).await.unwrap_err().to_string();
    for step in [
        "ANTHROPIC_API_KEY",
        "GROQ_API_KEY",
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "KUHAKU_HUGGINGFACE_BASE_URL",
        "KUHAKU_OPENAI_COMPAT_BASE_URL",
        "start Ollama at 127.0.0.1:9",
    ] {
        assert!(error.contains(step), "{step} is not in: {error}");
    }
}

#[tokio::test]
async fn an_answer_that_is_not_ollamas_makes_no_candidate() {
    for reply in
        [Reply::json("[]"), Reply::json("{\"models\": 1}"), Reply::new(500), Reply::reset()]
    {
        let server = TranscriptServer::start([reply]).await.unwrap();
        let url = server.url();
        let error = resolve(&settings(&[("KUHAKU_OLLAMA_BASE_URL", &url)])).await.unwrap_err();
        assert!(error.to_string().contains("start Ollama"), "{error}");
    }
}
