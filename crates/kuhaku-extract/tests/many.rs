//! Values while the model writes, and many texts at once.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{
    Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, LlmProvider,
};
use kuhaku_extract::{
    EvidenceMode, ExtractRequest, ExtractionEvent, ExtractionSettings, ExtractionStatus as Status,
    Extractor, Fields, Schema,
};
use serde_json::{Value, json};
use support::{down, extractor, model, order, reply, says, scripted, user};

async fn events(extractor: &Extractor, request: ExtractRequest) -> Vec<ExtractionEvent> {
    let mut stream = extractor.extract_stream(request);
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    events
}

fn field(path: &str, value: Value, is_final: bool) -> (String, Value, bool) {
    (path.into(), value, is_final)
}

fn fields(events: &[ExtractionEvent]) -> Vec<(String, Value, bool)> {
    let one = |event: &ExtractionEvent| match event {
        ExtractionEvent::Field { path, value, is_final } => {
            Some((path.clone(), value.clone(), *is_final))
        }
        _ => None,
    };
    events.iter().filter_map(one).collect()
}

#[tokio::test]
async fn values_come_as_they_become_valid_and_once_more_when_they_are_final() {
    let flawed = r#"{"data": {"product": "green tea", "quantity": "many"}}"#;
    let good = r#"{"data": {"product": "tea", "quantity": "3"}, "new": false}"#;
    let extractor = extractor(order(), &model([flawed, good]));
    let events = events(&extractor, ExtractRequest::new("3 tea")).await;
    assert_eq!(
        fields(&events),
        [
            field("/product", json!("green tea"), false),
            field("/product", json!("tea"), false),
            field("/quantity", json!(3), false),
            field("/product", json!("tea"), true),
            field("/quantity", json!(3), true),
        ]
    );
    let Some(ExtractionEvent::End(result)) = events.last() else { panic!("no end") };
    assert_eq!((result.status, result.attempts), (Status::Complete, 2));
    assert_eq!(result.value, Some(json!({"product": "tea", "quantity": 3})));
}

#[tokio::test]
async fn a_stream_ends_with_the_error_of_its_request() {
    let extractor = extractor(order(), &model(Vec::<String>::new()));
    let mut stream = extractor.extract_stream("tea");
    assert_eq!(stream.next().await.unwrap().unwrap_err().code(), "core.unavailable");
    assert!(stream.next().await.is_none());
}

/// Answers with the number in the text, later texts sooner; fails for odd ones that end in 7.
#[derive(Debug, Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
    calls: AtomicUsize,
}

#[async_trait]
impl LlmProvider for Counting {
    fn id(&self) -> &str {
        "counting:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        self.calls.fetch_add(1, Ordering::SeqCst);
        let text = user(&request);
        let number = text.split("box ").nth(1).unwrap();
        let number: u64 =
            number.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
        tokio::time::sleep(Duration::from_millis(20 - number % 20)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        if number % 10 == 7 {
            return Err(Error::new(ErrorKind::Unavailable, "count", "it is a seven"));
        }
        Ok(ChatResponse::new("m", reply(json!({"product": "box", "quantity": number}))))
    }

    async fn stream(&self, _: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        unreachable!("nothing streams here")
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_keeps_the_order_bounds_what_runs_at_once_and_goes_on_after_failures() {
    let counting = Arc::new(Counting::default());
    let mut settings = ExtractionSettings::default();
    settings.batch_concurrency = 5;
    let extractor =
        Extractor::builder(order(), counting.clone()).settings(settings).build().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = seen.clone();
    let batch = extractor.batch().progress(move |at| {
        heard.lock().unwrap().push((at.done, at.complete, at.errors, at.total));
    });
    let outcomes = batch.run((0..30).map(|number| format!("box {number}"))).await;
    for (number, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(result) => assert_eq!(result.data.as_ref().unwrap()["quantity"], number),
            Err(error) => assert_eq!((error.code(), number % 10), ("core.unavailable", 7)),
        }
    }
    assert_eq!(counting.most.load(Ordering::SeqCst), 5);
    let seen = seen.lock().unwrap().clone();
    assert_eq!((seen.len(), seen[29]), (30, (30, 27, 3, Some(30))));
    let one = extractor.batch().concurrency(0).run(["box 1", "box 2"]).await;
    assert_eq!(one.len(), 2);
}

fn lines(texts: &[&str]) -> Vec<io::Result<String>> {
    texts.iter().map(|text| Ok((*text).to_owned())).collect()
}

fn written_lines(output: &Path) -> Vec<Value> {
    let written = std::fs::read_to_string(output).unwrap();
    written.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn lines_that_failed_for_a_reason_outside_of_them_are_worked_on_again() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.jsonl");
    let texts = ["\"tea\"", "no json", "\"coffee\"", "\"nuts\""];
    let good = || says(&reply(json!({"product": "x", "quantity": 1})));
    let run = async |script: Vec<kuhaku_core::Result<ChatResponse>>, texts: &[&str]| {
        let extractor = extractor(order(), &scripted(script));
        let batch = extractor.batch().concurrency(1);
        let progress = batch.run_jsonl(lines(texts).into_iter(), &output).await.unwrap();
        (progress.done, progress.skipped, progress.errors)
    };
    assert_eq!(run(vec![down(), good()], &texts[..3]).await, (3, 0, 2));
    let whole = std::fs::read_to_string(&output).unwrap();
    // Killed while the line that is worked on again stands at the end, and half of another.
    let again = whole.lines().next().unwrap();
    std::fs::write(&output, format!("{whole}{again}\n{{\"line\":4,\"of\":\"0f")).unwrap();
    assert_eq!(run(vec![good(), good()], &texts).await, (2, 2, 1), "a kept error counts");
    let written = written_lines(&output);
    let numbers: Vec<&Value> = written.iter().map(|line| &line["line"]).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    assert_eq!(written[0]["result"]["status"], "complete");
    assert_eq!(written[1]["error"]["code"], "extract.batch", "a wrong line stays wrong");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    assert_eq!(run(vec![], &texts).await, (0, 4, 1));
}

#[tokio::test(start_paused = true)]
async fn lines_of_a_batch_go_on_where_they_were_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.jsonl");
    let texts = [
        r#""box 1""#,
        "",
        r#"{"id": "b", "text": "box 2", "history": [{"role": "user", "text": "hi"}]}"#,
        "not json",
        r#"{"text": "box 7"}"#,
        r#"{"id": 5, "text": "box 5", "prior": {"product": "crate"}}"#,
    ];
    let counting = Arc::new(Counting::default());
    let extractor = Extractor::builder(order(), counting.clone()).build().unwrap();
    let batch = extractor.batch();
    let progress = batch.run_jsonl(lines(&texts[..3]).into_iter(), &output).await.unwrap();
    assert_eq!((progress.done, progress.complete, progress.skipped), (2, 2, 0));
    let whole = std::fs::read_to_string(&output).unwrap();
    // A kill left half a line behind.
    std::fs::write(&output, format!("{whole}{{\"line\":4,\"of")).unwrap();
    let progress = batch.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap();
    assert_eq!((progress.done, progress.errors, progress.skipped), (3, 2, 2));
    assert_eq!(counting.calls.load(Ordering::SeqCst), 4, "nothing was asked twice");
    let written = written_lines(&output);
    let numbers: Vec<&Value> = written.iter().map(|line| &line["line"]).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6]);
    assert_eq!((&written[1]["id"], &written[4]["id"]), (&json!("b"), &json!(5)));
    assert_eq!(written[0]["result"]["data"]["quantity"], 1);
    assert_eq!(written[2]["error"]["code"], "extract.batch");
    assert_eq!(written[3]["error"]["code"], "core.unavailable");
    assert_eq!(written[4]["result"]["data"], json!({"product": "box", "quantity": 5}));

    let again = batch.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap();
    assert_eq!((again.done, again.skipped), (1, 4), "a model that was down is asked again");
    let retried = written_lines(&output);
    let numbers: Vec<&Value> = retried.iter().map(|line| &line["line"]).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6], "each line once and in order");
    let other = batch.run_jsonl(lines(&["\"box 9\""]).into_iter(), &output).await.unwrap_err();
    assert!(other.to_string().contains("another input"), "{other}");
    std::fs::write(&output, "no batch\n").unwrap();
    let foreign = batch.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap_err();
    assert_eq!(foreign.code(), "extract.batch");
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "no batch\n", "it is left alone");
}

#[tokio::test]
async fn a_file_that_is_no_output_of_a_batch_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("package.json");
    let extractor = extractor(order(), &model(Vec::<String>::new()));
    let batch = extractor.batch();
    for text in [
        r#"{"name":"my-app"}"#,
        "tea",
        r#"{"line":7,"text":"tea"}"#,
        r#"{"line":7,"of":"ours?"}"#,
        "\n",
        &"x".repeat(1 << 20),
    ] {
        std::fs::write(&output, text).unwrap();
        let error = batch.run_jsonl(lines(&["\"tea\""]).into_iter(), &output).await.unwrap_err();
        assert_eq!(error.code(), "extract.batch", "{text:.40}");
        let said = error.to_string();
        assert!(said.contains("package.json") && said.contains("line 1 is not one of"), "{said}");
        assert!(std::fs::read_to_string(&output).unwrap() == text, "{text:.40}");
    }
    let error = batch.run_jsonl(lines(&["1"]).into_iter(), folder.path()).await.unwrap_err();
    assert!(error.to_string().contains("no regular file"), "{error}");
}

#[tokio::test]
async fn results_for_other_fields_or_another_evidence_mode_are_not_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.jsonl");
    let texts = ["\"3 tea\""];
    let with = |schema: Schema, evidence| {
        let mut settings = ExtractionSettings::default();
        settings.evidence = evidence;
        let reply = reply(json!({"product": "tea", "quantity": 3}));
        Extractor::builder(schema, model([reply])).settings(settings).build().unwrap().batch()
    };
    let first = with(order(), EvidenceMode::Off);
    assert_eq!(first.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap().complete, 1);
    let other = Schema::from_fields(Fields::new().text("product")).unwrap();
    let renamed = order().named("purchase").unwrap();
    for (schema, evidence) in
        [(other, EvidenceMode::Off), (renamed, EvidenceMode::Off), (order(), EvidenceMode::Drop)]
    {
        let batch = with(schema, evidence);
        let error = batch.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap_err();
        let next = error.next_step().unwrap();
        assert!(next.contains("another file") && next.contains("same fields"), "{error}: {next}");
    }
    let again = with(order(), EvidenceMode::Off);
    let progress = again.run_jsonl(lines(&texts).into_iter(), &output).await.unwrap();
    assert_eq!((progress.done, progress.skipped, progress.complete), (0, 1, 1));
}

#[tokio::test]
async fn two_runs_do_not_write_one_output() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.jsonl");
    let taken = std::fs::File::create(&output).unwrap();
    taken.lock().unwrap();
    let reply = reply(json!({"product": "tea", "quantity": 3}));
    let batch = extractor(order(), &model([reply])).batch();
    let error = batch.run_jsonl(lines(&["\"3 tea\""]).into_iter(), &output).await.unwrap_err();
    assert!(error.to_string().contains("another process writes it"), "{error}");
    drop(taken);
    let progress = batch.run_jsonl(lines(&["\"3 tea\""]).into_iter(), &output).await.unwrap();
    assert_eq!(progress.complete, 1);
}
