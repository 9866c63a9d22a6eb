//! What requests leave behind: records, counters, settings that matter.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{
    AuditKey, AuditLog, Capabilities, ChatRequest, ChatResponse, ChatStream, LlmProvider,
    MemorySink, MetricsSink, Runtime, Section as _, TraceId,
};
use kuhaku_extract::{
    EvidenceMode, ExtractRequest, ExtractionSettings, ExtractionStatus as Status, Extractor,
    Router, SecuritySettings,
};
use serde_json::{Value, json};
use support::{down, missing, model, order, reply, says, scripted, user};

const PATIENCE: Duration = Duration::from_secs(60);

fn log() -> (AuditLog, MemorySink) {
    let (sink, runtime) = (MemorySink::default(), Runtime::system());
    let key = AuditKey::random(&runtime).unwrap();
    (AuditLog::builder(key, sink.clone()).start().unwrap(), sink)
}

fn lines(sink: &MemorySink) -> Vec<Value> {
    sink.records().iter().map(|record| serde_json::to_value(record).unwrap()).collect()
}

/// AUD-07
#[tokio::test]
async fn an_extraction_leaves_one_record_without_content() {
    let (log, sink) = log();
    let replies = [says(&reply(json!({"product": "tea", "quantity": null}))), down()];
    let extractor = Extractor::builder(order().named("order").unwrap(), scripted(replies))
        .audit(log.clone())
        .build()
        .unwrap();
    let id = TraceId::new("request-7").unwrap();
    let request = ExtractRequest::new("mail a@b.com tea").identity("ada").trace_id(id);
    let result = extractor.extract(request).await.unwrap();
    assert_eq!(
        (result.trace_id.as_str(), result.status),
        ("request-7", Status::NeedsClarification)
    );
    extractor.extract("secret tea").await.unwrap_err();
    extractor.flush(PATIENCE).await.unwrap();
    let lines = lines(&sink);
    assert_eq!(lines.len(), 2);
    let first = &lines[0];
    assert_eq!(first["event"], "extraction");
    assert_eq!(first["input_excerpt"], "mail [EMAIL] tea");
    assert_eq!(
        (&first["outcome"], &first["trace_id"]),
        (&json!("needs_clarification"), &json!("request-7"))
    );
    assert_eq!(first["actor"]["identity"], "ada");
    let metadata = &first["attributes"];
    assert_eq!(metadata["schema"], "order");
    assert_eq!(metadata["status"], "needs_clarification");
    assert_eq!(metadata["issues"], json!(["missing"]));
    assert_eq!(metadata["llm"], "scripted:model");
    assert_eq!((&metadata["attempts"], &metadata["input_tokens"]), (&json!(1), &json!(100)));
    let second = &lines[1];
    assert_eq!(
        (&second["outcome"], &second["error"]),
        (&json!("error"), &json!("core.unavailable"))
    );
    assert_eq!(second["attributes"]["status"], "error");
    assert_eq!(second["attributes"].get("issues"), None);
}

/// A model that never answers.
#[derive(Debug)]
struct Hangs;

#[async_trait]
impl LlmProvider for Hangs {
    fn id(&self) -> &str {
        "hangs:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, _: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        std::future::pending().await
    }

    async fn stream(&self, _: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        std::future::pending().await
    }
}

/// AUD-07: requests that are given up, and those of routers (R8).
#[tokio::test]
async fn a_dropped_request_and_a_routed_one_leave_one_record_each() {
    let (log, sink) = log();
    let hangs = Extractor::builder(order(), Arc::new(Hangs)).audit(log.clone()).build().unwrap();
    let hanging = hangs.extract("tea");
    assert!(tokio::time::timeout(Duration::from_millis(20), hanging).await.is_err());
    let replies = [
        reply(json!({"choice": "extraction"})),
        reply(json!({"product": "tea", "quantity": 1})),
        reply(json!({"choice": null})),
    ];
    let routed = Extractor::builder(order(), model(replies)).audit(log.clone()).build().unwrap();
    let router = Router::builder([routed]).build().unwrap();
    router.extract("1 tea").await.unwrap();
    router.extract("nothing").await.unwrap();
    log.flush(PATIENCE).unwrap();
    let told: Vec<(Value, Value)> = lines(&sink)
        .into_iter()
        .map(|line| (line["event"].clone(), line["outcome"].clone()))
        .collect();
    let expected = [
        ("extraction", "cancelled"),
        ("extraction.route", "complete"),
        ("extraction.route", "no_match"),
    ];
    assert_eq!(told, expected.map(|(event, outcome)| (json!(event), json!(outcome))));
}

/// D36
#[tokio::test]
async fn an_audit_file_is_opened_with_the_first_request_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logs/extraction.jsonl");
    let mut settings = ExtractionSettings::default();
    settings.audit_log_path = Some(path.clone());
    for round in 1..=2 {
        let said = reply(json!({"product": "tea", "quantity": 1}));
        let extractor =
            Extractor::builder(order(), model([said])).settings(settings.clone()).build().unwrap();
        assert_eq!(path.exists(), round == 2);
        extractor.extract("mail a@b.com tea").await.unwrap();
        extractor.flush(PATIENCE).await.unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("mail [EMAIL] tea") && !text.contains("a@b.com"));
        assert_eq!(text.lines().filter(|line| line.contains("extraction")).count(), round);
    }
    // Without a path nothing is written, and an unusable one stops no request.
    settings.audit_log_path = Some(path.join("no-folder/x.jsonl"));
    let said = reply(json!({"product": "tea", "quantity": 1}));
    let extractor = Extractor::builder(order(), model([said])).settings(settings).build().unwrap();
    assert!(extractor.extract("tea").await.unwrap().is_complete());
}

#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl MetricsSink for Told {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        self.0.lock().unwrap().push(format!("{name} {label} {by}"));
    }

    fn record(&self, name: &'static str, labels: &[(&'static str, &str)], _value: f64) {
        let values: Vec<&str> = labels.iter().map(|(_, value)| *value).collect();
        self.0.lock().unwrap().push(format!("{name} {}", values.join(" ")));
    }
}

/// OBS-03, OBS-05 for extraction.
#[tokio::test]
async fn each_request_is_counted_by_how_it_ended_and_its_stages_are_timed() {
    let told = Told::default();
    let runtime = Runtime::builder().metrics(told.clone()).build();
    let replies =
        [says(&reply(json!({"product": "tea", "quantity": 1}))), down(), says("no"), says("no")];
    let mut security = SecuritySettings::default();
    security.sanitize = true;
    let extractor = Extractor::builder(order(), scripted(replies))
        .runtime(runtime)
        .security(security)
        .build()
        .unwrap();
    extractor.extract("tea for a@b.com").await.unwrap();
    extractor.extract("tea").await.unwrap_err();
    extractor.extract("tea").await.unwrap();
    let told = told.0.lock().unwrap();
    let requests: Vec<&String> =
        told.iter().filter(|it| it.starts_with("extraction_requests_total")).collect();
    assert_eq!(
        requests,
        [
            "extraction_requests_total complete 1",
            "extraction_requests_total error 1",
            "extraction_requests_total failed 1"
        ]
    );
    for line in [
        "masking_redactions_total [EMAIL] 1",
        "kuhaku_stage_duration_seconds mask ok",
        "kuhaku_stage_duration_seconds extraction_step ok",
        "kuhaku_stage_duration_seconds extraction ok",
        "kuhaku_stage_duration_seconds extraction core.unavailable",
    ] {
        assert!(told.iter().any(|it| it == line), "{line} is not in {told:?}");
    }
}

/// R13: every setting of the two sections changes what is seen here.
#[tokio::test]
async fn each_setting_changes_something() {
    type Change = fn(&mut ExtractionSettings);
    type Seen = (Status, u32, Option<String>, usize, Option<f32>, Option<u32>, Option<bool>);
    let run = async |change: Change| -> Seen {
        let mut settings = ExtractionSettings::default();
        change(&mut settings);
        let bad = says(&reply(json!({"product": "tea", "quantity": "1,5"})));
        let good = says(&reply(json!({"product": "coffee"})));
        let replies = scripted([bad, good]);
        let builder = Extractor::builder(order(), replies.clone()).settings(settings);
        let result = builder.build().unwrap().extract("tea").await;
        let requests = replies.requests();
        let first = requests.first();
        match result {
            Ok(result) => (
                result.status,
                result.attempts,
                result.question,
                result.fields.values().filter(|field| field.grounding.is_some()).count(),
                first.and_then(|it| it.temperature),
                first.and_then(|it| it.max_output_tokens),
                first.map(|it| {
                    it.deadline.is_some_and(|at| {
                        at.elapsed() == Duration::ZERO
                            && at - std::time::Instant::now() < Duration::from_secs(200)
                    })
                }),
            ),
            Err(_) => (Status::Blocked, 0, None, 0, None, None, None),
        }
    };
    let usual = run(|_| {}).await;
    let changes: [(&str, Change); 9] = [
        ("max_retries", |it| it.max_retries = 0),
        ("clarification_question", |it| it.clarification_question = "{fields}?".into()),
        ("evidence", |it| it.evidence = EvidenceMode::Report),
        ("number_format", |it| it.number_format = "comma".into()),
        ("temperature", |it| it.temperature = 1.0),
        ("max_tokens", |it| it.max_tokens = 7),
        ("token_budget", |it| it.token_budget = Some(1)),
        ("request_timeout_seconds", |it| it.request_timeout_seconds = 100.0),
        ("max_text_bytes", |it| it.max_text_bytes = 2),
    ];
    for (name, change) in changes {
        assert_ne!(run(change).await, usual, "{name}");
    }
    // In suites of their own: the file of the audit, the concurrency of batches.
    let elsewhere = ["audit_log_path", "batch_concurrency"];
    for field in ExtractionSettings::fields() {
        let known = changes.iter().any(|(name, _)| *name == field.name);
        assert!(known || elsewhere.contains(&field.name), "{} has no test", field.name);
    }
    // `security.sanitize` and `security.input_guard` are in the suite of the pipeline.
    assert_eq!(SecuritySettings::fields().len(), 2);
}

/// OBS-06
#[tokio::test]
async fn errors_and_issues_quote_nothing_of_the_text() {
    let said = reply(json!({"product": {"planted": "planted"}, "quantity": "planted"}));
    let scripted = model([&said, &said]);
    let result =
        Extractor::builder(order(), scripted.clone()).build().unwrap().extract("planted").await;
    let result = result.unwrap();
    assert!(result.issues.iter().all(|issue| !issue.message.contains("planted")), "R7");
    assert!(user(&scripted.requests()[1]).contains("planted"), "the model is told");
    assert!(missing(&result).is_empty());
}
