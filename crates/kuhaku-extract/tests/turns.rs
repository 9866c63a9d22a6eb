//! One turn after the other: what is missing is asked for, and nothing valid is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kuhaku_core::{Capabilities, ChatRequest, ChatResponse, ChatStream, LlmProvider, Usage};
use kuhaku_extract::{
    ExtractRequest, Extraction, ExtractionSettings, ExtractionStatus as Status, Extractor, Fields,
    Provenance, Schema,
};
use serde_json::{Value, json};
use support::{
    codes, down, extractor, missing, model, named, native, order, reply, says, scripted, user,
};

/// EXT-01
#[tokio::test]
async fn a_missing_value_is_asked_for_and_the_reply_completes_the_same_order() {
    let first = r#"{"data":{"product":"tea","quantity":null}}"#;
    let second = r#"{"data":{"product":null,"quantity":3},"new":false}"#;
    let model = model([first, second]);
    let order = extractor(order(), &model);
    let result = order.extract("tea please").await.unwrap();
    assert_eq!(result.status, Status::NeedsClarification);
    assert_eq!(missing(&result), ["/quantity"]);
    assert_eq!(result.question.as_deref(), Some("Could you also tell me: quantity?"));
    assert_eq!((codes(&result), result.attempts), (vec!["missing"], 1));
    assert_eq!(result.value, None);

    let next = ExtractRequest::new("3 boxes").prior(&result);
    let result = order.extract(next).await.unwrap();
    assert_eq!(result.status, Status::Complete);
    assert_eq!(result.data, Some(json!({"product": "tea", "quantity": 3})));
    assert_eq!(result.value, result.data);
    assert_eq!((result.question, result.missing.len()), (None, 0));
    assert_eq!(result.fields["/product"].provenance, Provenance::Prior);
    assert_eq!(result.fields["/quantity"].provenance, Provenance::Source);
}

/// Spec 5.1: unknown keys are kept in `data`, dropped from `value`.
#[tokio::test]
async fn names_that_the_schema_lacks_stay_in_the_data_and_leave_value_and_state() {
    let item = json!({"type": "object", "properties": {"p": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {
        "product": {"type": "string"}, "lines": {"type": "array", "items": item},
        "free": {"type": "object"},
        "open": {"type": "object", "properties": {"a": {}}, "additionalProperties": true},
    }});
    let said = json!({"product": "tea", "password": "hunter2", "lines": [{"p": "x", "q": 1}],
        "free": {"b": 1}, "open": {"b": 1}});
    let named = json!({"product": "tea", "lines": [{"p": "x"}], "free": {"b": 1},
        "open": {"b": 1}});
    let model = model([
        reply(said.clone()),
        reply(json!({"product": "tea", "quantity": 1,
        "password": "hunter2"})),
    ]);
    let result =
        extractor(Schema::from_json(&schema).unwrap(), &model).extract("tea").await.unwrap();
    assert_eq!((result.status, &result.data), (Status::Complete, &Some(said)));
    assert_eq!((&result.value, &result.state), (&Some(named.clone()), &Some(named)));
    let result = extractor(order(), &model).extract("tea").await.unwrap();
    assert_eq!(result.value, Some(json!({"product": "tea", "quantity": 1})));
    assert_eq!(result.state, result.value);
}

/// EXT-18
#[tokio::test]
async fn a_prior_of_something_else_is_refused_and_the_model_is_not_asked() {
    let idle = model([reply(json!({"product": "tea", "quantity": 1})), reply(json!({}))]);
    let order = extractor(order(), &idle);
    let result = order.extract("1 tea").await.unwrap();
    let other = Schema::from_fields(Fields::texts(["color"])).unwrap();
    let red = model([reply(json!({"color": "red"}))]);
    let red = extractor(other, &red).extract("red").await.unwrap();
    let mut later = serde_json::to_value(&result).unwrap();
    later["version"] = json!(99);
    for (prior, says) in [
        (json!({"error": {"code": "x"}, "version": 1}), "the error of a request"),
        (json!({"color": "red"}), "lacks: /color"),
        (serde_json::to_value(&red).unwrap(), "lacks: /color"),
        (later, "version 99"),
    ] {
        let error = order.extract(ExtractRequest::new("x").prior(prior)).await.unwrap_err();
        assert_eq!(error.code(), "extract.configuration");
        assert!(error.to_string().contains(says) && !error.to_string().contains("red"), "{error}");
    }
    assert_eq!(idle.requests().len(), 1);
}

/// EXT-02
#[tokio::test]
async fn a_new_order_carries_nothing_over_from_the_finished_one() {
    let model = model([r#"{"data":{"product":"coffee","quantity":null},"new":true}"#]);
    let request = ExtractRequest::new("a coffee").prior(json!({"product": "tea", "quantity": 3}));
    let result = extractor(order(), &model).extract(request).await.unwrap();
    assert_eq!(result.status, Status::NeedsClarification);
    assert_eq!(result.data.as_ref().unwrap()["product"], "coffee");
    assert_eq!(missing(&result), ["/quantity"]);
    assert_eq!(result.fields["/product"].provenance, Provenance::Source);
    assert!(result.corrections.is_empty());
}

/// EXT-02
#[tokio::test]
async fn a_new_order_of_which_nothing_can_be_used_leaves_the_last_one_as_it_was() {
    for reply in [r#"{"data":"coffee","new":true}"#, r#"{"data":[1],"new":true}"#, r#"{"new":true"#]
    {
        let model = model([reply, reply, reply]);
        let prior = json!({"product": "tea", "quantity": 3});
        let request = ExtractRequest::new("a coffee").prior(prior.clone());
        let result = extractor(order(), &model).extract(request).await.unwrap();
        assert_ne!(result.status, Status::Complete, "{reply}");
        let state = result.state.unwrap();
        assert_eq!(
            (&state["product"], &state["quantity"]),
            (&prior["product"], &prior["quantity"])
        );
    }
}

/// EXT-03
#[tokio::test]
async fn an_unreadable_reply_is_asked_for_again_with_what_was_wrong() {
    let valid = r#"{"data":{"product":"tea","quantity":2}}"#;
    let scripted = model(["not json", valid]);
    let result = extractor(order(), &scripted).extract("2 tea").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 2));
    let requests = scripted.requests();
    let again = user(&requests[1]);
    assert!(again.contains("not json") && again.contains("no_json"), "{again}");
    assert!(!user(&requests[0]).contains("could not be used"));
    // W-70: the reply stands between borders.
    let border = again.find("<reply-").unwrap();
    assert!(again[border..].contains(">:\n<reply-"));
    let said = again.find("not json").unwrap();
    assert!(border < said && said < again.rfind("</reply-").unwrap());

    let garbage = model(["not json", "{\"data\": {\"product\": \"te"]);
    let result = extractor(order(), &garbage).extract("2 tea").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Failed, 2));
    assert_eq!(codes(&result), ["parse_error"]);
    assert_eq!((result.data, result.state, result.value), (None, None, None));
}

/// EXT-04
#[tokio::test]
async fn a_wrong_value_is_asked_for_again_and_its_data_are_kept_when_it_stays_wrong() {
    let many = r#"{"data":{"product":"tea","quantity":"many"}}"#;
    let two = r#"{"data":{"product":"tea","quantity":2}}"#;
    let scripted = model([many, two]);
    let result = extractor(order(), &scripted).extract("tea").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 2));
    assert!(user(&scripted.requests()[1]).contains("/quantity"));

    let result = extractor(order(), &model([many, many])).extract("tea").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Failed, 2));
    assert_eq!(codes(&result), ["schema_error"]);
    assert_eq!(result.issues[0].path.as_deref(), Some("/quantity"));
    assert_eq!(result.data, Some(json!({"product": "tea", "quantity": "many"})));
    assert_eq!(result.state, Some(json!({"product": "tea"})));
    assert!(!result.issues[0].message.contains("many"), "R7");
}

/// EXT-05
#[tokio::test]
async fn the_next_model_is_asked_when_one_gives_nothing_usable_or_is_down() {
    let (bad, good) =
        (r#"{"data":{"quantity":"many"}}"#, r#"{"data":{"product":"tea","quantity":2}}"#);
    let run = async |a: Vec<kuhaku_core::Result<ChatResponse>>,
                     b: Vec<kuhaku_core::Result<ChatResponse>>| {
        let extractor = Extractor::builder(order(), named("a:m", &scripted(a)))
            .fallback(named("b:m", &scripted(b)))
            .build()
            .unwrap();
        extractor.extract("2 tea").await
    };
    let result = run(vec![says("no"), says("no")], vec![says(good)]).await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 3));
    assert_eq!(result.llm.as_deref(), Some("b:m"));
    assert_eq!(result.usage, Usage::new(Some(300), Some(30)), "summed over all calls");

    let result = run(vec![down()], vec![says(good)]).await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 2));

    let error = run(vec![down()], vec![down()]).await.unwrap_err();
    assert_eq!(error.code(), "core.unavailable");

    let result = run(vec![says(bad), says(bad)], vec![says("no"), says("no")]).await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Failed, 4));
    assert_eq!(result.data.as_ref().unwrap()["quantity"], "many");
    assert_eq!(
        (result.llm.as_deref(), codes(&result)),
        (Some("a:m"), vec!["schema_error", "missing"])
    );

    // Missing values lead to no other call.
    let result = run(vec![says(&reply(json!({"product": "tea"})))], vec![]).await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::NeedsClarification, 1));
}

/// EXT-06
#[tokio::test]
async fn a_blank_text_calls_no_model() {
    let idle = model(Vec::<String>::new());
    let result = extractor(order(), &idle).extract(" \n").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::NeedsClarification, 0));
    assert_eq!(missing(&result), ["/product", "/quantity"]);
    assert_eq!(idle.requests().len(), 0);

    let fields = Fields::new().text("note").optional();
    let optional = Schema::from_fields(fields).unwrap();
    let result = extractor(optional, &idle).extract("").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 0));

    let prior = ExtractRequest::new("  ").prior(json!({"product": "tea"}));
    let result = extractor(order(), &idle).extract(prior).await.unwrap();
    assert_eq!(missing(&result), ["/quantity"]);
    assert_eq!(result.state.unwrap()["product"], "tea");
}

/// EXT-08: the part about results.
#[tokio::test]
async fn data_hold_what_values_were_read_as() {
    let scripted = model([r#"{"data":{"product":"tea","quantity":"5"}}"#]);
    let result = extractor(order(), &scripted).extract("5 tea").await.unwrap();
    assert_eq!(result.data, Some(json!({"product": "tea", "quantity": 5})));
    assert_eq!(result.coercions[0].path, "/quantity");
    for wrong in
        [r#"{"data":{"product":5,"quantity":1}}"#, r#"{"data":{"product":"a","quantity":NaN}}"#]
    {
        let result = extractor(order(), &model([wrong, wrong])).extract("tea").await.unwrap();
        assert_eq!(
            (result.status, codes(&result)),
            (Status::Failed, vec!["schema_error"]),
            "{wrong}"
        );
    }
}

/// EXT-09: the part about questions.
#[tokio::test]
async fn a_question_names_descriptions_before_names_and_each_once() {
    let line = Fields::new().text("item").number("price").described("unit price");
    let schema = || Schema::from_fields(Fields::new().list("lines", line.clone())).unwrap();
    let lines = |prices: [Value; 3]| {
        let line = |price: &Value| json!({"item": "tea", "price": price});
        reply(json!({"lines": prices.iter().map(line).collect::<Vec<_>>()}))
    };
    let one = model([lines([json!(1), json!(null), json!(3)])]);
    let result = extractor(schema(), &one).extract("tea").await.unwrap();
    assert_eq!(missing(&result), ["/lines/1/price"]);
    assert_eq!(result.missing[0].name, "price");
    assert_eq!(result.question.as_deref(), Some("Could you also tell me: unit price?"));

    let two = model([lines([json!(null), json!(null), json!(3)])]);
    let request = ExtractRequest::new("tea").question("Eksik: {fields}.");
    let result = extractor(schema(), &two).extract(request).await.unwrap();
    assert_eq!(result.question.as_deref(), Some("Eksik: unit price."));

    let mut settings = ExtractionSettings::default();
    settings.clarification_question = String::new();
    let silent = Extractor::builder(schema(), model([lines([json!(null), json!(1), json!(2)])]))
        .settings(settings)
        .build()
        .unwrap();
    let result = silent.extract("tea").await.unwrap();
    assert_eq!((result.status, result.question), (Status::NeedsClarification, None));
}

/// EXT-11
#[tokio::test]
async fn a_wrong_earlier_value_is_not_shown_and_a_failed_turn_loses_nothing() {
    let scripted = model([r#"{"data":{"product":null,"quantity":4}}"#]);
    let prior = json!({"product": "tea", "quantity": "many"});
    let request = ExtractRequest::new("4").prior(prior);
    let result = extractor(order(), &scripted).extract(request).await.unwrap();
    assert_eq!(result.value, Some(json!({"product": "tea", "quantity": 4})));
    assert!(!user(&scripted.requests()[0]).contains("many"));

    let lots = r#"{"data":{"product":null,"quantity":"lots"}}"#;
    let scripted = model([lots, lots, r#"{"data":{"product":"coffee","quantity":null}}"#]);
    let order = extractor(order(), &scripted);
    let request = ExtractRequest::new("lots").prior(json!({"product": "tea", "quantity": 3}));
    let failed = order.extract(request).await.unwrap();
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(failed.data.as_ref().unwrap()["quantity"], "lots");
    assert_eq!(failed.state, Some(json!({"product": "tea", "quantity": 3})));
    // Over the wire and back, as a service without state would have it.
    let stored: Extraction =
        serde_json::from_str(&serde_json::to_string(&failed).unwrap()).unwrap();
    assert_eq!(stored, failed);
    let result = order.extract(ExtractRequest::new("coffee").prior(stored)).await.unwrap();
    assert_eq!(result.value, Some(json!({"product": "coffee", "quantity": 3})));
    assert_eq!(result.corrections.len(), 1);
    assert_eq!(result.fields["/product"].provenance, Provenance::Corrected);
}

fn basket() -> Schema {
    let fields = Fields::new().list("items", kuhaku_extract::Kind::Text).text("note").optional();
    Schema::from_fields(fields).unwrap()
}

/// EXT-12
#[tokio::test]
async fn values_are_cleared_and_lists_emptied_replaced_and_changed_when_the_text_says_so() {
    let prior = json!({"items": ["a"], "note": "hot"});
    let table = [
        (
            json!({"data": {"items": null, "note": null}, "clear": ["/note"]}),
            json!({"items": ["a"]}),
        ),
        (json!({"data": {"items": []}, "clear": ["/items"]}), json!({"items": [], "note": "hot"})),
        (json!({"data": {"items": ["b"]}}), json!({"items": ["b"], "note": "hot"})),
        (json!({"data": {"items": []}}), json!({"items": ["a"], "note": "hot"})),
        (
            json!({"data": {}, "append": [{"path": "/items", "values": ["b"]}]}),
            json!({"items": ["a", "b"], "note": "hot"}),
        ),
        (
            json!({"data": {}, "remove": [{"path": "/items", "values": ["A"]}]}),
            json!({"items": [], "note": "hot"}),
        ),
    ];
    for (said, expected) in table {
        let scripted = model([&said]);
        let request = ExtractRequest::new("remove the note").prior(prior.clone());
        let result = extractor(basket(), &scripted).extract(request).await.unwrap();
        let state = result.state.clone().unwrap();
        let kept = |name: &str| state.get(name).filter(|it| !it.is_null());
        assert_eq!(kept("items"), expected.get("items"), "{said}");
        assert_eq!(kept("note"), expected.get("note"), "{said}");
        assert_eq!(result.status, Status::Complete, "{said}");
    }
    let cleared = model([json!({"data": {}, "clear": ["/note"]})]);
    let request = ExtractRequest::new("no note").prior(prior);
    let result = extractor(basket(), &cleared).extract(request).await.unwrap();
    assert_eq!(result.corrections[0].path, "/note");
    assert_eq!(
        (&result.corrections[0].from, &result.corrections[0].to),
        (&json!("hot"), &json!(null))
    );
}

/// EXT-13: the part about results.
#[tokio::test]
async fn a_union_that_is_null_is_one_missing_value() {
    let schema = Schema::from_json(&json!({
        "type": "object", "required": ["q"],
        "properties": {"q": {"anyOf": [{"type": "integer"}, {"type": "number"}]}},
    }))
    .unwrap();
    let result = extractor(schema, &model([r#"{"data":{"q":null}}"#])).extract("?").await.unwrap();
    assert_eq!((missing(&result), result.status), (vec!["/q"], Status::NeedsClarification));
}

#[tokio::test]
async fn a_default_stands_for_what_no_turn_says_and_not_for_what_one_has_said() {
    let schema = Schema::from_json(&json!({
        "type": "object", "required": ["product", "size"],
        "properties": {"product": {"type": "string"}, "size": {"type": "string", "default": "m"}},
    }))
    .unwrap();
    let said = model([reply(json!({"product": "tea", "size": null}))]);
    let result = extractor(schema.clone(), &said).extract("tea").await.unwrap();
    assert_eq!(result.value, Some(json!({"product": "tea", "size": "m"})));
    assert_eq!(result.fields["/size"].provenance, Provenance::Default);
    let again = model([reply(json!({"product": "tea", "size": null}))]);
    let request = ExtractRequest::new("tea").prior(json!({"size": "l"}));
    let result = extractor(schema, &again).extract(request).await.unwrap();
    assert_eq!(result.value, Some(json!({"product": "tea", "size": "l"})));
}

/// W-71
#[tokio::test]
async fn a_service_that_holds_to_a_schema_is_given_the_form_of_the_whole_reply() {
    let scripted = model([r#"{"data":{"product":null,"quantity":3},"new":false}"#]);
    let extractor = Extractor::builder(order(), native(&scripted)).build().unwrap();
    let request = ExtractRequest::new("3").prior(json!({"product": "tea"}));
    assert!(extractor.extract(request).await.unwrap().is_complete());
    let request = &scripted.requests()[0];
    let kuhaku_core::ReplyFormat::JsonSchema(form) = &request.format else { panic!("no form") };
    assert_eq!(form.pointer("/properties/data"), Some(extractor.schema().wire()));
    for key in ["new", "clear", "append", "remove"] {
        assert!(form["properties"][key].is_object() && user(request).contains(key), "{key}");
    }
    assert!(!user(request).contains("JSON Schema of"));
}

/// A model that takes its time.
#[derive(Debug)]
struct Slow(Duration, &'static str);

#[async_trait]
impl LlmProvider for Slow {
    fn id(&self) -> &str {
        "slow:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku_core::Result<ChatResponse> {
        assert!(request.deadline.is_some());
        tokio::time::sleep(self.0).await;
        Ok(ChatResponse::new("m", self.1))
    }

    async fn stream(&self, _: ChatRequest) -> kuhaku_core::Result<ChatStream> {
        unreachable!("nothing streams here")
    }
}

/// R12
#[tokio::test]
async fn the_time_of_a_request_is_bounded_over_all_its_calls() {
    let mut settings = ExtractionSettings::default();
    (settings.request_timeout_seconds, settings.max_retries) = (0.2, 5);
    let within = |model: Slow| {
        Extractor::builder(order(), Arc::new(model)).settings(settings.clone()).build().unwrap()
    };
    let begun = Instant::now();
    let error = within(Slow(Duration::from_secs(60), "")).extract("tea").await.unwrap_err();
    assert_eq!(error.code(), "core.timed_out");
    let failed = within(Slow(Duration::from_millis(120), "no")).extract("tea").await.unwrap();
    assert_eq!(failed.status, Status::Failed);
    assert_eq!(codes(&failed), ["parse_error", "timed_out"]);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn once_the_tokens_of_a_request_are_used_up_nobody_is_asked_again() {
    let mut settings = ExtractionSettings::default();
    (settings.token_budget, settings.max_retries) = (Some(150), 5);
    let scripted = scripted([says("no"), says("no"), says("no"), says("no")]);
    let extractor =
        Extractor::builder(order(), scripted.clone()).settings(settings).build().unwrap();
    let result = extractor.extract("tea").await.unwrap();
    assert_eq!(codes(&result), ["parse_error", "token_budget"]);
    assert_eq!((result.attempts, result.usage), (2, Usage::new(Some(200), Some(20))));
    // What may still be written is bounded by what is left.
    assert_eq!(scripted.requests()[1].max_output_tokens, Some(40));
}

#[tokio::test]
async fn a_reply_that_a_provider_could_not_use_is_asked_for_again() {
    let unusable = || {
        let kind = kuhaku_core::ErrorKind::MalformedResponse;
        Err(kuhaku_core::Error::new(kind, "read the reply", "the reply breaks the schema at /data"))
    };
    let scripted = scripted([unusable(), says(&reply(json!({"product": "tea", "quantity": 1})))]);
    let result = extractor(order(), &scripted).extract("tea").await.unwrap();
    assert_eq!((result.status, result.attempts), (Status::Complete, 2));
    assert!(user(&scripted.requests()[1]).contains("the reply breaks the schema at /data"));
}
