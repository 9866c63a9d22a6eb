//! A request has one record, however it ends (R8).

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use kuhaku_core::{
    AuditCode, AuditField, AuditId, AuditLog, AuditRecord, AuditValue, Error, ErrorKind, Masked,
    MemorySink, Placeholder, Redactions, TraceId,
};

use super::{HITS, PATIENCE, ada, key, request, trace};

/// What is on record after `requests`.
fn recorded(requests: impl FnOnce(&AuditLog)) -> Vec<AuditRecord> {
    let sink = MemorySink::default();
    let log = AuditLog::builder(key(), sink.clone()).start().unwrap();
    requests(&log);
    log.flush(PATIENCE).unwrap();
    sink.records()
}

fn only(records: &[AuditRecord]) -> &AuditRecord {
    assert_eq!(records.len(), 1);
    &records[0]
}

#[test]
fn a_finished_request_has_one_record_with_its_outcome() {
    let records = recorded(|log| request(log, 3, "ok").unwrap());
    let record = only(&records);
    assert_eq!((record.event().as_str(), record.outcome()), ("lookup", AuditCode::OK));
    assert_eq!(record.attribute("hits"), Some(&AuditValue::Count(3)));
    assert_eq!(record.error(), None);
}

#[test]
fn a_failed_request_has_one_record_with_the_code_and_not_the_text_of_its_error() {
    let failure = Error::new(ErrorKind::Unavailable, "ask the model", "it said a@b.com");
    let records = recorded(|log| log.begin("lookup", &trace(), &ada()).fail(&failure).unwrap());
    let record = only(&records);
    assert_eq!(record.outcome(), AuditCode::ERROR);
    assert_eq!(record.error(), Some(AuditCode::new("core.unavailable")));
    assert!(!serde_json::to_string(record).unwrap().contains("a@b.com"));
}

#[test]
fn a_request_that_returns_early_has_one_record_as_cancelled() {
    let records = recorded(|log| {
        let mut guard = log.begin("lookup", &trace(), &ada());
        guard.set(HITS, 2);
        drop(guard);
    });
    assert_eq!(only(&records).outcome(), AuditCode::CANCELLED);
    assert_eq!(only(&records).attribute("hits"), Some(&AuditValue::Count(2)));
}

#[test]
fn an_outcome_that_was_said_is_recorded_when_the_guard_is_dropped() {
    let records = recorded(|log| {
        let mut guard = log.begin("lookup", &trace(), &ada());
        guard.outcome("ok");
        drop(guard);
    });
    assert_eq!(only(&records).outcome(), AuditCode::OK);
}

#[test]
fn a_request_may_get_its_id_after_its_begin() {
    let records = recorded(|log| {
        let mut guard = log.begin("lookup", &TraceId::unknown(), &ada());
        guard.trace_id(&trace());
        guard.finish("ok").unwrap();
        log.begin("lookup", &TraceId::unknown(), &ada()).finish("ok").unwrap();
    });
    let ids: Vec<_> = records.iter().map(|record| record.trace_id().as_str()).collect();
    assert_eq!(ids, [trace().as_str(), "-"]);
}

#[test]
fn counts_of_what_was_masked_stand_under_their_placeholders() {
    const REDACTIONS: AuditField<Redactions> = AuditField::new("redactions");
    let mut redactions = Redactions::default();
    for placeholder in [Placeholder::Ip, Placeholder::Email, Placeholder::Email] {
        redactions.add(placeholder);
    }
    let records = recorded(|log| {
        let mut guard = log.begin("lookup", &trace(), &ada());
        guard.set(REDACTIONS, redactions.clone());
        guard.finish("ok").unwrap();
    });
    let value = serde_json::to_string(only(&records).attribute("redactions").unwrap()).unwrap();
    assert_eq!(value, r#"{"[EMAIL]":2,"[IP]":1}"#);
}

#[test]
fn a_future_that_is_dropped_while_it_waits_has_one_record_as_cancelled() {
    let records = recorded(|log| {
        let answering = async {
            let guard = log.begin("lookup", &trace(), &ada());
            std::future::pending::<()>().await;
            guard.finish("ok").unwrap();
        };
        // As servers move them between threads.
        let mut answering: Pin<Box<dyn Future<Output = ()> + Send + '_>> = Box::pin(answering);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(answering.as_mut().poll(&mut context), Poll::Pending);
        drop(answering);
    });
    assert_eq!(only(&records).outcome(), AuditCode::CANCELLED);
}

#[test]
fn a_request_that_panics_has_one_record_as_panic() {
    let records = recorded(|log| {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _guard = log.begin("lookup", &trace(), &ada());
            std::panic::resume_unwind(Box::new("a custom part"));
        }));
        assert!(caught.is_err());
    });
    assert_eq!(only(&records).outcome(), AuditCode::PANIC);
}

#[test]
fn records_arrive_in_the_order_in_which_requests_end_and_outlive_the_log() {
    let sink = MemorySink::default();
    let log = AuditLog::builder(key(), sink.clone()).start().unwrap();
    let first = log.begin("lookup", &trace(), &ada());
    let second = log.begin("lookup", &trace(), &ada());
    // The log may go before its guards do.
    drop(log);
    second.finish("second").unwrap();
    first.finish("first").unwrap();
    let outcomes: Vec<_> = sink.records().iter().map(|record| record.outcome().as_str()).collect();
    assert_eq!(outcomes, ["second", "first"]);
}

#[test]
fn the_keys_of_a_line_stand_in_one_order_and_hold_nothing_raw() {
    const MODEL: AuditField<AuditId> = AuditField::new("model");
    const CHUNKS: AuditField<Vec<AuditId>> = AuditField::new("chunks");
    let sink = MemorySink::default();
    let runtime = kuhaku_testkit::fixed_runtime("2026-03-01T12:00:00.1239Z".parse().unwrap());
    let log = AuditLog::builder(key(), sink.clone()).runtime(runtime).start().unwrap();
    let mut guard = log.begin("lookup", &trace(), &ada());
    guard.set(MODEL, AuditId::new("maker/model:8b").unwrap());
    guard.set(CHUNKS, vec![AuditId::new("a::0").unwrap(), AuditId::new("a::1").unwrap()]);
    let raw = "mail a@b.com tea";
    guard.input(raw, &Masked::replacing(raw, vec![(5..12, kuhaku_core::Placeholder::Email)]));
    guard.finish("ok").unwrap();
    log.flush(PATIENCE).unwrap();
    let line = serde_json::to_string(only(&sink.records())).unwrap();
    let hash = &line[line.find("\"input_hash\":\"").unwrap() + 14..][..64];
    assert!(hash.bytes().all(|digit| digit.is_ascii_hexdigit()));
    assert_eq!(
        line.replace(hash, "HASH"),
        "{\"version\":1,\"time\":\"2026-03-01T12:00:00.123Z\",\"trace_id\":\"0123456789ab\",\
         \"event\":\"lookup\",\"outcome\":\"ok\",\
         \"actor\":{\"identity\":\"ada\",\"authenticated\":true,\"roles\":[\"hr\",\"legal\"]},\
         \"input_hash\":\"HASH\",\"input_excerpt\":\"mail [EMAIL] tea\",\
         \"attributes\":{\"chunks\":[\"a::0\",\"a::1\"],\"model\":\"maker/model:8b\"},\"error\":null}",
    );
}

#[test]
fn equal_inputs_have_equal_hashes_under_one_key_and_others_under_another() {
    let hash = |key, raw: &str| {
        let sink = MemorySink::default();
        let log = AuditLog::builder(key, sink.clone()).start().unwrap();
        let mut guard = log.begin("lookup", &trace(), &ada());
        guard.input(raw, &Masked::replacing(raw, Vec::new()));
        drop(guard);
        log.flush(PATIENCE).unwrap();
        serde_json::to_value(only(&sink.records())).unwrap()["input_hash"].clone()
    };
    let other = kuhaku_core::AuditKey::derived_from(&[7; 32]);
    assert_eq!(hash(key(), "tea?"), hash(key(), "tea?"));
    assert_ne!(hash(key(), "tea?"), hash(key(), "tea!"));
    assert_ne!(hash(key(), "tea?"), hash(other, "tea?"));
}

#[test]
fn an_excerpt_is_cut_at_a_hundred_characters_whatever_their_size() {
    for character in ["a", "é", "\u{1F980}"] {
        let raw = character.repeat(101);
        let records = recorded(|log| {
            let mut guard = log.begin("lookup", &trace(), &ada());
            guard.input(&raw, &Masked::replacing(&raw, Vec::new()));
        });
        assert_eq!(only(&records).input_excerpt(), Some(&*character.repeat(100)));
    }
}

#[test]
fn free_text_is_no_id() {
    for bad in ["", "a b", "a@b.com", "é", "a\n", &"x".repeat(129)] {
        assert_eq!(AuditId::new(bad).unwrap_err().code(), "audit.invalid_input", "{bad:?}");
    }
}
