//! What the output guard does with a reply, and what it tells of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{
    AuditKey, AuditLog, Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind,
    LlmProvider, Masked, Masker, MemorySink, MetricsSink, PiiMasker, Placeholder, Runtime,
    Section as _, Sources,
};
use kuhaku_rag::{
    Answer, AnswerEvent, Messages, Mode, OutputPolicy, RagEngine, RagEngineBuilder, RagSettings,
};
use kuhaku_testkit::ScriptedLlm;
use support::{Base, anonymous};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const QUESTION: &str = "How many days of annual leave?";

#[derive(Clone, Debug, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl MetricsSink for Told {
    fn count(&self, name: &'static str, label: &str, by: u64) {
        self.0.lock().unwrap().push(format!("{name} {label} {by}"));
    }
}

impl Told {
    fn of(&self, name: &str) -> Vec<String> {
        let told = self.0.lock().unwrap();
        told.iter().filter_map(|it| it.strip_prefix(name)).map(|it| it.trim().into()).collect()
    }
}

async fn base() -> Base {
    let base = Base::new();
    let text =
        "# Leave\n\nEverybody has 25 days of annual leave per year. The desk of it is 5551234.\n";
    base.add("leave.md", text, &[]).await;
    base
}

fn says(reply: &str) -> Arc<ScriptedLlm> {
    Arc::new(ScriptedLlm::new([reply, reply]))
}

async fn ask(engine: RagEngineBuilder) -> (Answer, Told) {
    let told = Told::default();
    let runtime = Runtime::builder().metrics(told.clone()).build();
    let engine = engine.runtime(runtime).build().unwrap();
    (engine.ask(&anonymous(QUESTION)).await.unwrap(), told)
}

/// The pieces of an answer, and its end.
async fn stream(engine: &RagEngine) -> (String, Answer) {
    let mut stream = engine.ask_stream(&anonymous(QUESTION));
    let mut pieces = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            AnswerEvent::Text(text) => pieces.push_str(&text),
            AnswerEvent::End { answer, .. } => return (pieces, *answer),
            other => panic!("{other:?}"),
        }
    }
    panic!("no end")
}

/// OUT-01, through an engine: a claim that its source does not hold is marked, in the answer as a whole
/// and in pieces.
#[tokio::test]
async fn a_citation_that_does_not_hold_is_marked_and_counted() {
    let reply = "Everybody has 25 days of annual leave [S1]. You need to cancel your card. [S1] \
                 Nobody says who books it. There are 40 days of annual leave per year [S1].";
    let (answer, told) = ask(base().await.engine().model(says(reply))).await;
    let marked = "Everybody has 25 days of annual leave [S1]. You need to cancel your card. \
                  [S1][unverified] Nobody says who books it. There are 40 days of annual leave per \
                  year [S1][unverified].";
    assert_eq!((answer.mode, answer.text.as_str()), (Mode::Generated, marked));
    let grounding = answer.grounding.unwrap();
    assert_eq!((grounding.sentences, grounding.cited, grounding.grounded), (4, 3, 1));
    assert_eq!(told.of("rag_ungrounded_citations_total"), ["[S1] 1", "[S1] 1"]);
    assert_eq!(told.of("rag_sentences_total"), ["cited 3", "uncited 1"]);
    assert_eq!(answer.citations.len(), 1);
    let engine = base().await.engine().model(says(reply)).build().unwrap();
    assert_eq!(stream(&engine).await.0, marked);
    let value = serde_json::to_value(&answer).unwrap();
    assert_eq!(value["grounding"]["cited"], 3);
}

/// R13: the mark is the application's, and the threshold decides.
#[tokio::test]
async fn the_threshold_and_the_mark_are_the_applications() {
    let reply = "Everybody has blue shoes and long leave [S1].";
    for (threshold, mark, expected) in [(0.1, "(?)", ""), (0.9, "(?)", "(?)"), (0.9, "", "")] {
        let mut base = base().await;
        base.settings.grounding_threshold = threshold;
        let mut messages = Messages::default();
        messages.ungrounded = mark.into();
        let (answer, _) = ask(base.engine().messages(messages).model(says(reply))).await;
        let text = format!("Everybody has blue shoes and long leave [S1]{expected}.");
        assert_eq!(answer.text, text, "{threshold}");
    }
}

/// R13
#[test]
fn the_environment_sets_the_policy_and_the_threshold() {
    let load = |name: &str, value: &str| {
        RagSettings::load(&Sources::new().env([(format!("KUHAKU_RAG__{name}"), value)]))
    };
    let default = RagSettings::default();
    assert_eq!(default.output_guard_policy, OutputPolicy::Strict);
    let set = load("OUTPUT_GUARD_POLICY", "Permissive").unwrap();
    assert_eq!(set.output_guard_policy, OutputPolicy::Permissive);
    assert_eq!(load("GROUNDING_THRESHOLD", "0.7").unwrap().grounding_threshold, 0.7);
    for (name, value) in [("OUTPUT_GUARD_POLICY", "off"), ("GROUNDING_THRESHOLD", "1.5")] {
        let error = load(name, value).unwrap_err();
        assert!(error.wrong().contains(&name.to_lowercase()), "{error}");
    }
}

/// OUT-05: with the settings that there are when nothing is set.
#[tokio::test]
async fn personal_data_that_no_source_holds_is_held_back_by_default() {
    for (value, kind) in [
        ("4111 1111 1111 1111", "[CARD]"),
        ("TR33 0006 1005 1978 6457 8413 26", "[IBAN]"),
        ("ada@example.com", "[EMAIL]"),
        ("+90 532 123 45 67", "[PHONE]"),
        ("10000000146", "[NATIONAL_ID]"),
        ("sk-ABCDEFGHIJKLMNOP1234", "[TOKEN]"),
        ("10.0.0.1", "[IP]"),
    ] {
        let reply = format!("Everybody has 25 days [S1]. It is {value} by the way.");
        let (answer, told) = ask(base().await.engine().model(says(&reply))).await;
        assert_eq!((answer.mode, answer.abstained), (Mode::Refused, true), "{value}");
        assert_eq!(answer.text, Messages::default().withheld);
        assert!(answer.citations.is_empty() && answer.sources.is_empty());
        assert!(answer.retrieved.is_empty() && answer.grounding.is_none());
        assert_eq!(told.of("rag_pii_egress_total"), [format!("{kind} 1")]);
        assert_eq!(told.of("rag_requests_total"), ["personal_data_held_back 1"]);
        let all = serde_json::to_string(&answer).unwrap() + &told.0.lock().unwrap().join(" ");
        assert!(!all.contains(value), "{all}");
    }
}

#[tokio::test]
async fn what_a_source_or_the_question_holds_is_no_leak_and_is_masked_all_the_same() {
    let engine =
        base().await.engine().model(says("The desk of it has phone 555-1234 [S1]. See [EMAIL]."));
    let (answer, told) = ask(engine).await;
    assert_eq!(
        (answer.mode, answer.text.as_str()),
        (Mode::Generated, "The desk of it has phone [PHONE] [S1]. See [EMAIL].")
    );
    assert!(told.of("rag_pii_egress_total").is_empty());
    let engine = base().await.engine().model(says("Ask ada@example.com [S1].")).build().unwrap();
    for (question, mode) in [
        ("How many days of annual leave has ada@example.com?", Mode::Generated),
        ("How many days of annual leave has bob@example.com?", Mode::Refused),
    ] {
        let answer = engine.ask(&anonymous(question)).await.unwrap();
        assert_eq!(answer.mode, mode, "{question}");
    }
}

/// A masker that masks nothing: the recognisers look all the same.
#[derive(Debug)]
struct Nothing;

impl Masker for Nothing {
    fn id(&self) -> &str {
        "nothing"
    }

    fn mask(&self, text: &str) -> Masked {
        Masked::replacing(text, Vec::new())
    }
}

/// R7
#[tokio::test]
async fn a_masker_of_ones_own_does_not_turn_the_check_off() {
    let reply = format!("{} It is 4111 1111 1111 1111.", "Everybody has leave [S1]. ".repeat(20));
    let engine = base().await.engine().masker(Arc::new(Nothing)).model(says(&reply));
    let (answer, _) = ask(engine.clone()).await;
    assert_eq!(answer.mode, Mode::Refused);
    let (pieces, answer) = stream(&engine.model(says(&reply)).build().unwrap()).await;
    assert!(!pieces.is_empty() && !pieces.contains("4111"), "{pieces}");
    assert_eq!(answer.mode, Mode::Refused);
}

/// A masker that breaks on a word, one way or the other.
#[derive(Debug)]
enum Breaks {
    Panics(PiiMasker),
    Lies(PiiMasker),
}

impl Masker for Breaks {
    fn id(&self) -> &str {
        "breaks"
    }

    fn mask(&self, text: &str) -> Masked {
        match self {
            Self::Panics(_) if text.contains("crash") => {
                std::panic::resume_unwind(Box::new("a custom masker"))
            }
            Self::Lies(_) if text.contains("crash") => {
                Masked::replacing("another", vec![(0..7, Placeholder::Token)])
            }
            Self::Panics(masker) | Self::Lies(masker) => masker.mask(text),
        }
    }
}

/// OUT-06
#[tokio::test]
async fn a_check_that_breaks_holds_the_reply_back_unless_the_policy_is_permissive() {
    let reply = "Everybody has 25 days of annual leave [S1]. A crash is none.";
    for breaks in [Breaks::Panics, Breaks::Lies] {
        for (policy, mode, counted) in [
            (None, Mode::Refused, "blocked 1"),
            (Some(OutputPolicy::Strict), Mode::Refused, "blocked 1"),
            (Some(OutputPolicy::Permissive), Mode::Generated, "passed 1"),
        ] {
            let mut base = base().await;
            if let Some(policy) = policy {
                base.settings.output_guard_policy = policy;
            }
            let engine = || base.engine().masker(Arc::new(breaks(PiiMasker::new())));
            let (answer, told) = ask(engine().model(says(reply))).await;
            let text =
                if mode == Mode::Refused { Messages::default().withheld } else { reply.into() };
            assert_eq!((answer.mode, &answer.text), (mode, &text));
            assert_eq!(told.of("rag_output_guard_failures_total"), [counted]);
            let long = reply.repeat(20);
            let (pieces, answer) = stream(&engine().model(says(&long)).build().unwrap()).await;
            assert_eq!(answer.mode, mode);
            let whole = if mode == Mode::Refused { text } else { long };
            assert_eq!(answer.text, whole);
            assert!(mode == Mode::Generated || pieces == whole || reply.starts_with(&pieces));
        }
    }
    // What the application's masker does not mask then, kuhaku's own recognisers do.
    let mut base = base().await;
    base.settings.output_guard_policy = OutputPolicy::Permissive;
    let engine = base.engine().masker(Arc::new(Breaks::Panics(PiiMasker::new())));
    let (answer, _) = ask(engine.model(says("A crash at 5551234, phone 555-1234 [S1]."))).await;
    assert!(answer.text.contains("phone [PHONE]"), "{}", answer.text);
}

/// Gives its rules away, and remembers them for the test.
#[derive(Default)]
struct Leaks(Mutex<String>);

impl fmt::Debug for Leaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leaks")
    }
}

#[async_trait]
impl LlmProvider for Leaks {
    fn id(&self) -> &str {
        "leaks:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        let secret = request.system.rsplit(' ').next().unwrap().to_owned();
        let reply = format!("They say: {secret} [S1].");
        *self.0.lock().unwrap() = secret;
        Ok(ChatResponse::new("m", reply))
    }

    async fn stream(&self, _: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        Err(Error::new(ErrorKind::Unavailable, "stream", "this model does not"))
    }
}

/// All that is told to whoever listens to spans and events.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<String>>);

impl Visit for Listener {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?}\n"));
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// OUT-02: what was leaked is told to nobody.
#[tokio::test]
async fn a_canary_that_leaked_stands_in_no_log_record_metric_or_answer() {
    let (listener, sink, told) = (Listener::default(), MemorySink::default(), Told::default());
    let _guard = tracing::subscriber::set_default(listener.clone());
    let log = AuditLog::builder(AuditKey::from_bytes([7; 32]), sink.clone()).start().unwrap();
    let model = Arc::new(Leaks::default());
    let runtime = Runtime::builder().metrics(told.clone()).build();
    let engine = base().await.engine().model(model.clone()).audit(log).runtime(runtime);
    let engine = engine.build().unwrap();
    let answer = engine.ask(&anonymous(QUESTION)).await.unwrap();
    engine.flush(Duration::from_secs(60)).await.unwrap();
    assert_eq!(answer.mode, Mode::Refused);
    assert_eq!(told.of("rag_canary_detected_total"), ["reply 1"]);
    let heard = listener.0.lock().unwrap().clone();
    assert!(heard.contains("kuhaku.held_back=\"reply_held_back\""), "{heard}");
    let records = format!("{:?} {:?}", sink.records(), serde_json::to_string(&sink.records()));
    assert!(records.contains("reply_held_back"));
    let all = format!("{heard} {records} {:?} {answer:?} {engine:?}", told.0.lock().unwrap());
    let secret = model.0.lock().unwrap().clone();
    assert_eq!(secret.len(), 32);
    for part in secret.as_bytes().windows(8) {
        let part = std::str::from_utf8(part).unwrap();
        assert!(!all.to_lowercase().contains(part), "{part}");
    }
}
