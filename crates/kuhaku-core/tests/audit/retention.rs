//! Old files can go, and what is left still verifies.

use std::fs;
use std::path::Path;
use std::time::Duration;

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

#[test]
fn a_log_that_keeps_files_for_some_days_removes_older_ones_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    a_file_a_day(&path, 1..=5);
    let two_days = Duration::from_secs(2 * 24 * 60 * 60);
    let keeping = sink(&path, JsonlOptions::default().max_bytes(1).keep(two_days));
    let on = |at: Timestamp| {
        let runtime = kuhaku_testkit::fixed_runtime(at);
        let log = AuditLog::builder(key(), keeping.clone()).runtime(runtime).start().unwrap();
        request(&log, 0, "ok").unwrap();
        log.flush(PATIENCE).unwrap();
        let verification = verify_audit(&path, &key()).unwrap();
        assert!(verification.is_intact(), "{verification:?}");
        verification.records
    };
    assert_eq!(on(day(6)), 3, "those of days 4, 5 and 6");
    // It looks again when an hour has passed, not with every record.
    let minutes_later = "2026-03-06T12:30:00Z".parse().unwrap();
    assert_eq!(on(minutes_later), 4);
    assert_eq!(on(day(8)), 3, "two of day 6, and one of day 8");
}

#[test]
fn a_file_that_says_it_is_young_is_kept_without_being_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_file_a_day(&path, 1..=3);
    let first = path.with_file_name("kuhaku_audit.000000000001.jsonl");
    let changed = fs::read_to_string(&first).unwrap().replace("lookup", "lookep");
    fs::write(&first, changed).unwrap();
    assert_eq!(sink.prune(day(1)).unwrap().files, 0);
    assert_eq!(sink.prune(day(2)).unwrap_err().code(), "audit.damaged");
}
