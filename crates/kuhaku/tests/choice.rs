//! Which model answers by the settings: chosen, announced, remembered, and asked for only where
//! somebody is.

#![cfg(feature = "llm")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use kuhaku::core::{Announcement, Announcer, Consent, ConsentStep, Reason};
use kuhaku::{ModelChoice, Runtime, Sources};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};

const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "k");
const GROQ: (&str, &str) = ("GROQ_API_KEY", "k");
const OPENROUTER: (&str, &str) = ("OPENROUTER_API_KEY", "k");

/// What was announced.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<Announcement>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.clone());
    }
}

impl Heard {
    fn only(&self) -> Announcement {
        let heard = self.0.lock().unwrap();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard[0].clone()
    }
}

/// Somebody who picks the option that names this, and counts questions.
#[derive(Clone, Debug)]
struct Person {
    picks: &'static str,
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Person {
    fn picking(picks: &'static str) -> Self {
        Self { picks, asked: Arc::default() }
    }
}

#[async_trait]
impl Consent for Person {
    fn is_interactive(&self) -> bool {
        true
    }

    async fn choose(&self, _question: &str, options: &[String]) -> Option<usize> {
        self.asked.lock().unwrap().push(options.to_vec());
        options.iter().position(|option| option.starts_with(self.picks))
    }

    async fn confirm(&self, _step: &ConsentStep) -> bool {
        false
    }
}

/// A choice in a folder, under these variables; Ollama is where nobody listens unless they say so.
fn choice(folder: &Path, variables: &[(&str, &str)]) -> (ModelChoice, Heard) {
    let heard = Heard::default();
    let runtime = Runtime::builder().announcer(heard.clone()).build();
    let sources = Sources::new()
        .env([("OLLAMA_HOST", "127.0.0.1:9")])
        .env(variables.iter().copied())
        .set("project_dir", folder.display().to_string());
    (ModelChoice::from_sources(&sources, runtime).unwrap(), heard)
}

async fn chosen(choice: &ModelChoice) -> Option<String> {
    choice.choose().await.unwrap().map(|model| model.id().to_owned())
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// LLM-07, RES-01
#[tokio::test]
async fn without_a_terminal_the_safest_answers_and_what_goes_where_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let sends = "questions and the passages found for them go to";
    for (keys, id, says, prominent) in [
        (
            &[OPENAI, GROQ, OPENROUTER][..],
            "openrouter:google/gemma-4-31b-it:free",
            "the first of those that are ready (openai, groq, openrouter), since nobody picked one",
            true,
        ),
        (
            &[OPENAI, GROQ],
            "openai:gpt-4o-mini",
            "the first of those that are ready (openai, groq), since nobody picked one",
            true,
        ),
        (&[GROQ], "groq:openai/gpt-oss-20b", "the only one that is ready", false),
    ] {
        let (choice, heard) = choice(folder.path(), keys);
        assert_eq!(chosen(&choice).await.unwrap(), id);
        let heard = heard.only();
        assert!(heard.text.contains(says) && heard.text.contains(sends), "{}", heard.text);
        assert_eq!(heard.prominent, prominent, "{}", heard.text);
    }
    assert!(is_empty(folder.path()), "nobody has chosen anything");
}

/// LLM-08
#[tokio::test]
async fn somebody_at_a_terminal_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    for (times, reason) in [(1, "as picked"), (0, "as last chosen")] {
        let person = Person::picking("groq");
        let (choice, heard) = choice(folder.path(), &[OPENAI, GROQ]);
        let choice = choice.consent(person.clone());
        assert_eq!(chosen(&choice).await.unwrap(), "groq:openai/gpt-oss-20b");
        assert_eq!(person.asked.lock().unwrap().len(), times);
        assert!(heard.only().text.contains(reason));
    }
    assert!(folder.path().join(".kuhaku/decisions.json").exists());
}

/// LLM-09
#[tokio::test]
async fn a_local_model_that_was_chosen_stays_when_a_key_is_set() {
    let folder = tempfile::tempdir().unwrap();
    let tags = r#"{"models": [{"name": "new:3b"}, {"name": "old:7b"}]}"#;
    let server = TranscriptServer::start([Reply::json(tags)]).await.unwrap();
    let url = server.url();
    let ollama = ("OLLAMA_HOST", url.as_str());
    let (auto, _) = choice(folder.path(), &[ollama, OPENAI]);
    assert_eq!(chosen(&auto).await.unwrap(), "openai:gpt-4o-mini");
    let (named, _) = choice(
        folder.path(),
        &[ollama, OPENAI, ("KUHAKU_LLM_PROVIDER", "ollama"), ("KUHAKU_OLLAMA_MODEL", "old:7b")],
    );
    assert_eq!(chosen(&named).await.unwrap(), "ollama:old:7b");
    let (auto, heard) = choice(folder.path(), &[ollama, OPENAI]);
    assert_eq!(chosen(&auto).await.unwrap(), "ollama:old:7b");
    assert!(heard.only().text.contains("as last chosen"));
}

/// LLM-11: without any, answers go on without a model.
#[tokio::test]
async fn with_nothing_ready_there_is_no_model_and_that_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let (choice, heard) = choice(folder.path(), &[]);
    for _ in 0..2 {
        assert_eq!(chosen(&choice).await, None);
    }
    let without = "going on without a language model: answers are sentences of the documents";
    assert_eq!(heard.only().text, without);
    let error = choice.preview().await.unwrap_err();
    assert_eq!(error.code(), "core.capability_unavailable");
    for variable in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GROQ_API_KEY", "OPENROUTER_API_KEY"] {
        assert!(error.next_step().unwrap().contains(variable), "{error}");
    }
    assert!(is_empty(folder.path()));
}

#[tokio::test]
async fn no_model_and_no_choosing_can_be_set() {
    let folder = tempfile::tempdir().unwrap();
    let (none, heard) = choice(folder.path(), &[OPENAI, ("KUHAKU_LLM_PROVIDER", "None")]);
    assert_eq!((chosen(&none).await, none.preview().await.unwrap()), (None, None));
    assert!(heard.0.lock().unwrap().is_empty());
    for off in ["0", "No", "OFF", "false"] {
        let (choice, heard) = choice(folder.path(), &[OPENAI, ("KUHAKU_AUTO", off)]);
        assert_eq!(chosen(&choice).await, None, "{off}");
        assert!(heard.only().text.starts_with("going on without a language model"));
    }
}

/// LLM-11
#[tokio::test]
async fn a_service_that_is_named_and_unusable_is_an_error_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    for (name, code, next) in [
        ("openai", "core.capability_unavailable", "OPENAI_API_KEY"),
        ("huggingface", "core.capability_unavailable", "KUHAKU_HUGGINGFACE_BASE_URL"),
        ("ollama", "core.capability_unavailable", "start Ollama at 127.0.0.1:9"),
        ("antropic", "core.invalid_settings", "did you mean `anthropic`?"),
    ] {
        let (choice, heard) = choice(folder.path(), &[("KUHAKU_LLM_PROVIDER", name)]);
        for error in [
            choice.choose().await.map(drop).unwrap_err(),
            choice.preview().await.map(drop).unwrap_err(),
        ] {
            assert_eq!(error.code(), code, "{error}");
            assert!(error.next_step().unwrap().contains(next), "{error}");
            assert!(!error.to_string().contains("a model,"), "{error}");
        }
        assert!(heard.0.lock().unwrap().is_empty());
    }
    assert!(is_empty(folder.path()), "what does not work is not remembered");
}

#[tokio::test]
async fn a_preview_says_the_same_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (choice, heard) = choice(folder.path(), &[OPENAI, GROQ]);
    let person = Person::picking("groq");
    let choice = choice.consent(person.clone());
    let preview = choice.preview().await.unwrap().unwrap();
    assert_eq!((preview.candidate.id.as_str(), preview.reason), ("openai", Reason::WouldAsk));
    assert_eq!(preview.candidate.host.as_deref(), Some("api.openai.com"));
    assert!(person.asked.lock().unwrap().is_empty() && heard.0.lock().unwrap().is_empty());
    assert!(is_empty(folder.path()));
}
