//! What an extraction costs beside its model: `cargo bench -p kuhaku-extract --bench overhead`.
//!
//! Ten fields, a text of 2 KB, a model that answers at once. What counts is that the median of a plain
//! extraction stays below 100 µs (a goal, D40). The others say what the options add.

#![allow(clippy::unwrap_used, reason = "a bench ends when something is wrong")]

use std::sync::Arc;

use async_trait::async_trait;
use divan::{Bencher, black_box};
use kuhaku_core::{
    Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, LlmProvider, Result,
};
use kuhaku_extract::{
    EvidenceMode, ExtractRequest, ExtractionSettings, Extractor, Fields, Schema, SecuritySettings,
};
use serde_json::{Map, Value, json};

fn main() {
    divan::main();
}

/// Answers at once, and always the same.
#[derive(Debug)]
struct Instantly {
    native: bool,
    reply: String,
}

#[async_trait]
impl LlmProvider for Instantly {
    fn id(&self) -> &str {
        "instant:model"
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        capabilities.json_schema = self.native;
        capabilities
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        black_box(request);
        Ok(ChatResponse::new("m", self.reply.as_str()))
    }

    async fn stream(&self, _: ChatRequest) -> Result<ChatStream> {
        Err(Error::new(ErrorKind::Unavailable, "stream", "this model does not"))
    }
}

fn schema() -> Schema {
    let fields = (0..5).fold(Fields::new(), |fields, n| {
        let fields = fields.text(format!("text_{n}")).described("what the person says of it");
        fields.number(format!("number_{n}"))
    });
    Schema::from_fields(fields).unwrap()
}

fn data() -> Value {
    let values = (0..5).flat_map(|n| {
        [(format!("text_{n}"), json!(format!("value {n}"))), (format!("number_{n}"), json!(n))]
    });
    Value::Object(Map::from_iter(values))
}

fn text() -> String {
    let stated: Vec<String> = (0..5).map(|n| format!("value {n} and {n}")).collect();
    let mut text = "The shop sells many things, and people ask for them. ".repeat(38);
    text.push_str(&stated.join(", "));
    text
}

/// Times one turn. `prior` says whether it goes on from an earlier one.
fn turn(
    bencher: Bencher,
    native: bool,
    prior: bool,
    change: impl Fn(&mut ExtractionSettings, &mut SecuritySettings),
) {
    let (mut settings, mut security) = Default::default();
    change(&mut settings, &mut security);
    let reply = json!({"data": data(), "new": false}).to_string();
    let extractor = Extractor::builder(schema(), Arc::new(Instantly { native, reply }))
        .settings(settings)
        .security(security)
        .build()
        .unwrap();
    let mut request = ExtractRequest::new(text());
    if prior {
        request = request.prior(json!({"text_0": "earlier", "number_0": 9}));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    bencher.bench_local(|| {
        let result = runtime.block_on(extractor.extract(black_box(request.clone()))).unwrap();
        assert!(result.is_complete());
        result
    });
}

#[divan::bench]
fn plain(bencher: Bencher) {
    turn(bencher, false, false, |_, _| {});
}

#[divan::bench]
fn native(bencher: Bencher) {
    turn(bencher, true, false, |_, _| {});
}

#[divan::bench]
fn with_prior(bencher: Bencher) {
    turn(bencher, false, true, |_, _| {});
}

#[divan::bench]
fn with_evidence(bencher: Bencher) {
    turn(bencher, false, false, |settings, _| settings.evidence = EvidenceMode::Report);
}

#[divan::bench]
fn with_masking_and_guard(bencher: Bencher) {
    turn(bencher, false, false, |_, security| {
        (security.sanitize, security.input_guard) = (true, true);
    });
}
