//! Extraction through the umbrella: the model by the settings, the conversation of the guide, the
//! handle without `async`, and the target of evaluations.

#![cfg(all(feature = "extract", feature = "llm"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, clippy::print_stdout, reason = "tests")]

mod settings;

/// The program of the guide, to the letter.
mod program {
    include!("tea_order.txt");

    pub(super) fn run() -> kuhaku::Result<()> {
        main()
    }
}

use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use kuhaku::core::{Announcement, Announcer};
use kuhaku::{ExtractorChoice, Fields, Runtime, Schema, Sources};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use serde_json::json;

const PROGRAM: &str = include_str!("tea_order.txt");
const GUIDE: &str = include_str!("../../../../docs/extraction.md");
/// Says that this process is the program of the guide.
const AS_PROGRAM: &str = "EXTRACTION_TEST_AS_PROGRAM";

const TEA: &str = r#"{"data": {"product": "tea", "quantity": null}}"#;
const THREE: &str = r#"{"data": {"product": null, "quantity": 3}, "new": false, "clear": [],
    "append": [], "remove": []}"#;

fn models() -> Reply {
    Reply::json(r#"{"models": [{"name": "qwen3:4b"}]}"#)
}

fn chat(text: &str) -> Reply {
    let reply = json!({
        "model": "qwen3:4b", "message": {"role": "assistant", "content": text}, "done": true,
        "done_reason": "stop", "prompt_eval_count": 700, "eval_count": 7,
    });
    Reply::json(reply.to_string())
}

/// What was announced.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.text.clone());
    }
}

fn order() -> Schema {
    Schema::from_fields(Fields::new().text("product").number("quantity")).unwrap()
}

fn choice(folder: &Path, variables: &[(&str, &str)]) -> (ExtractorChoice, Heard) {
    let heard = Heard::default();
    let runtime = Runtime::builder().announcer(heard.clone()).build();
    let sources = Sources::new()
        .env(variables.iter().copied())
        .set("project_dir", folder.display().to_string());
    (ExtractorChoice::from_sources(&sources, runtime).unwrap(), heard)
}

/// Runs the program of the guide when this test is its process.
#[test]
fn the_program_of_the_guide() {
    if std::env::var_os(AS_PROGRAM).is_some() {
        program::run().unwrap();
    }
}

/// EXT-01, FAC-08, against a server that answers as Ollama does.
#[test]
fn the_tea_order_of_the_guide_runs_word_for_word_and_prints_what_it_says() {
    assert!(GUIDE.contains(PROGRAM), "the guide shows another program");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let script = [models(), chat(TEA), chat(THREE)];
    let server = runtime.block_on(TranscriptServer::start(script)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_program_of_the_guide", "--nocapture"]).current_dir(&folder);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().to_uppercase();
        if text.starts_with("KUHAKU_") || text.ends_with("_API_KEY") || text.starts_with("GOOGLE_")
        {
            command.env_remove(name);
        }
    }
    let ran = command.env(AS_PROGRAM, "1").env("OLLAMA_HOST", server.url()).output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    let comments = PROGRAM.lines().filter_map(|line| Some(line.split_once("; // ")?.1));
    let expected = comments.collect::<Vec<_>>().join("\n");
    assert_eq!(expected.lines().count(), 4);
    assert!(printed.contains(&format!("\n{expected}\n")), "{printed}");
    let asked = server.requests().into_iter().filter(|it| it.json().is_some()).collect::<Vec<_>>();
    assert!(asked[1].mentions("3 boxes") && asked[1].mentions(r#"\"product\":\"tea\""#));
}

/// RES-01: what is sent where is said before it is sent.
#[tokio::test]
async fn the_model_is_chosen_and_what_goes_where_is_announced() {
    let server = TranscriptServer::start([models(), chat(TEA)]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (choice, heard) = choice(folder.path(), &[("OLLAMA_HOST", &server.url())]);
    let order = choice.builder(order()).await.unwrap().build().unwrap();
    let heard = heard.0.lock().unwrap().clone();
    let says = format!("texts to extract from go to {}", server.url().replace("http://", ""));
    assert!(heard.len() == 1 && heard[0].contains(&says), "{heard:?}");
    assert_eq!(server.requests().len(), 1, "nothing is sent before it is asked");
    let result = order.extract("tea please").await.unwrap();
    assert_eq!(result.llm.as_deref(), Some("ollama:qwen3:4b"));
}

/// LLM-11
#[tokio::test]
async fn without_a_model_there_is_no_extractor_and_the_error_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, next) in [
        ("KUHAKU_LLM_PROVIDER", "none", "KUHAKU_LLM_PROVIDER"),
        ("KUHAKU_AUTO", "0", "turn it on"),
        ("KUHAKU_LLM_PROVIDER", "auto", "OPENAI_API_KEY"),
    ] {
        let (choice, heard) =
            choice(folder.path(), &[("OLLAMA_HOST", "127.0.0.1:9"), (name, value)]);
        let error = choice.builder(order()).await.map(drop).unwrap_err();
        assert_eq!(error.code(), "core.capability_unavailable", "{error}");
        assert!(error.next_step().unwrap().contains(next), "{error}");
        assert!(heard.0.lock().unwrap().is_empty(), "there is no going on without a model");
    }
}

#[test]
fn one_error_lists_every_setting_that_is_wrong() {
    let sources = Sources::new().env([
        ("KUHAKU_EXTRACTION__MAX_RETRIES", "99"),
        ("KUHAKU_EXTRACTION__SECURITY__SANITIZE", "perhaps"),
        ("KUHAKU_LLM_TIMEOUT_SECONDS", "0"),
    ]);
    let error = ExtractorChoice::from_sources(&sources, Runtime::system()).unwrap_err();
    assert_eq!(error.code(), "core.invalid_settings");
    for name in ["extraction.max_retries", "extraction.security.sanitize", "llm_timeout_seconds"] {
        assert!(error.wrong().contains(name), "{error}");
    }
}

#[test]
fn errors_of_extraction_keep_their_codes_and_say_what_to_do() {
    let error: kuhaku::Error = Schema::from_fields(Fields::new().text("")).unwrap_err().into();
    assert_eq!(error.code(), "extract.schema");
    assert!(error.to_string().starts_with("cannot ") && error.next_step().is_some(), "{error}");
}

#[cfg(feature = "blocking")]
#[test]
fn a_program_without_a_runtime_extracts_streams_and_previews() {
    use kuhaku::{ExtractionEvent, Extractor, blocking};
    use kuhaku_testkit::ScriptedLlm;

    let model = Arc::new(ScriptedLlm::new([TEA, THREE, TEA]));
    let order = Extractor::builder(order(), model).build().unwrap();
    let order = blocking::Extractor::new(order).unwrap();
    assert!(order.preview("tea please").unwrap().user.contains("tea please"));
    let first = order.extract("tea please").unwrap();
    let next = kuhaku::ExtractRequest::new("3 boxes").prior(&first);
    let mut events: Vec<_> = order.extract_stream(next).map(Result::unwrap).collect();
    let Some(ExtractionEvent::End(end)) = events.pop() else { panic!("no end") };
    assert_eq!(end.data, Some(json!({"product": "tea", "quantity": 3})));
    assert!(matches!(&events[0], ExtractionEvent::Field { path, .. } if path == "/quantity"));
    let many = order.batch(["tea please", " "], |batch| batch.concurrency(1));
    let many: Vec<_> = many.into_iter().map(|it| it.unwrap().status.as_str()).collect();
    assert_eq!(many, ["needs_clarification", "needs_clarification"]);
}

/// RTE-05
#[cfg(feature = "eval")]
#[tokio::test]
async fn extractors_and_routers_are_targets_of_an_evaluation() {
    use kuhaku::core::Usage;
    use kuhaku::eval::{
        Case, Dataset, Evaluation, Expected, Measure, Sample, Scorer, Summary, Target as _,
    };
    use kuhaku::{ExtractionTarget, Extractor, Router};
    use kuhaku_testkit::ScriptedLlm;

    let three = r#"{"data": {"product": "tea", "quantity": 3}}"#;
    let extractor = |replies: &[&str]| {
        let model = Arc::new(ScriptedLlm::new(replies.iter().copied()));
        Extractor::builder(order().named("order").unwrap(), model).build().unwrap()
    };
    let target = ExtractionTarget::extractor(extractor(&[three, TEA, "no", "no"]));
    assert_eq!(target.name(), "extract order");
    let sample = |text: &str| Sample::new("q", text);
    let complete = target.run(&sample("3 boxes of tea")).await;
    assert_eq!(complete.object, Some(json!({"product": "tea", "quantity": 3})));
    assert_eq!((complete.abstained, complete.usage), (Some(false), Usage::default()));
    let asks = target.run(&sample("tea please")).await;
    assert_eq!(
        (asks.abstained, asks.object.unwrap()["product"].clone()),
        (Some(true), "tea".into())
    );
    assert_eq!(target.run(&sample("tea")).await.failed.as_deref(), Some("failed"));
    assert_eq!(target.run(&sample("tea")).await.failed.as_deref(), Some("core.unavailable"));

    let choices = [r#"{"data": {"choice": "order"}}"#, three, r#"{"data": {"choice": null}}"#];
    let complaint = Schema::from_fields(Fields::texts(["what"])).unwrap().named("complaint");
    let complaint = Extractor::builder(complaint.unwrap(), Arc::new(ScriptedLlm::default()));
    let router = Router::builder([extractor(&choices), complaint.build().unwrap()]);
    let router = router.build().unwrap();
    let target = ExtractionTarget::router(router);
    let routed = target.run(&sample("3 boxes of tea")).await;
    assert_eq!(
        routed.object,
        Some(json!({"schema": "order", "data": {"product": "tea", "quantity": 3}}))
    );
    let none = target.run(&sample("nice weather")).await;
    assert_eq!(none.object, Some(json!({"schema": null, "data": null})));
    assert_eq!(none.abstained, Some(true));

    let expected = Expected::default().object(json!({"product": "tea", "quantity": 4}));
    let case = Case::new(sample("4 boxes of tea"), expected);
    let scorer = Scorer::new(Measure::list("field_accuracy,exact_object").unwrap());
    let dataset = Dataset::new("orders", [case]).unwrap();
    let target = ExtractionTarget::extractor(extractor(&[three]));
    let run = Evaluation::new(&dataset, scorer).run(&target).await.unwrap();
    let table = Summary::new(&run).to_markdown();
    assert!(table.contains("0.500") && table.contains("0.000"), "{table}");
}
