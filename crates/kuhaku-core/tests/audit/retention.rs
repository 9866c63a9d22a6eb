//! Old files can go, and what is left still verifies.

use std::fs;
use std::path::Path;

use kuhaku_core::{AuditLog, JsonlOptions, JsonlSink, Runtime, Timestamp, verify_audit};

use super::{PATIENCE, key, log_in, request, sink};

fn day(day: u32) -> Timestamp {
    format!("2026-03-{day:02}T12:00:00Z").parse().unwrap()
}

/// A log with one record and one file for each day.
fn a_file_a_day(path: &Path, days: std::ops::RangeInclusive<u32>) -> JsonlSink {
    let sink = sink(path, JsonlOptions::default().max_bytes(1));
    for at in days {
        let runtime: Runtime = kuhaku_testkit::fixed_runtime(day(at));
        let log = AuditLog::builder(key(), sink.clone()).runtime(runtime).strict(PATIENCE);
        request(&log.start().unwrap(), u64::from(at), "ok").unwrap();
    }
    sink
}

#[test]
fn files_older_than_a_day_go_and_the_rest_verifies_and_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_file_a_day(&path, 1..=5);
    let pruned = sink.prune(day(4)).unwrap();
    assert_eq!((pruned.files, pruned.records), (3, 3));
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.last_sequence), (2, 5));

    assert_eq!(sink.prune(day(4)).unwrap().files, 0);
    // The newest file is never removed.
    assert_eq!(sink.prune(day(30)).unwrap().files, 1);
    a_file_a_day(&path, 6..=6);
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.last_sequence), (2, 6));
}

#[test]
fn a_file_removed_by_hand_is_missed_where_one_removed_by_retention_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_file_a_day(&path, 1..=5);
    let second = path.with_file_name("kuhaku_audit.000000000002.jsonl");
    let saved = fs::read(&second).unwrap();
    sink.prune(day(3)).unwrap();
    // As if a crash had come before the removal.
    fs::write(&second, saved).unwrap();
    assert!(verify_audit(&path, &key()).unwrap().is_intact());
    assert_eq!(sink.prune(day(3)).unwrap().files, 1);
    fs::remove_file(path.with_file_name("kuhaku_audit.000000000003.jsonl")).unwrap();
    assert!(!verify_audit(&path, &key()).unwrap().is_intact());
}

#[test]
fn retention_keeps_a_file_that_does_not_verify_and_needs_the_anchor() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_file_a_day(&path, 1..=3);
    let first = path.with_file_name("kuhaku_audit.000000000001.jsonl");
    let changed = fs::read_to_string(&first).unwrap().replace("ada", "eve");
    fs::write(&first, changed).unwrap();
    assert_eq!(sink.prune(day(30)).unwrap_err().code(), "audit.damaged");
    assert!(first.exists());
    fs::remove_file(&first).unwrap();
    assert_eq!(sink.prune(day(3)).unwrap().records, 1);
    fs::remove_file(path.with_file_name("kuhaku_audit.anchor")).unwrap();
    a_file_a_day(&path, 4..=5);
    assert!(sink.prune(day(30)).is_ok());
}

#[test]
fn there_is_nothing_to_prune_where_there_is_no_log_and_nothing_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let sink = sink(&log_in(folder.path()), JsonlOptions::default());
    assert_eq!(sink.prune(day(1)).unwrap(), kuhaku_core::Pruned::default());
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}
