//! Old records can go, and what is left still verifies.

use std::fs;
use std::path::Path;
use std::time::Duration;

use kuhaku::core::{AuditLog, Timestamp};
use kuhaku::{SqliteSink, SqliteSinkOptions};

use super::{PATIENCE, first, key, log_in, request, sequences, sink, sql, strict, verified, write};

fn day(day: u32) -> Timestamp {
    format!("2026-03-{day:02}T12:00:00Z").parse().unwrap()
}

/// A log with one record for each day.
fn a_record_a_day(path: &Path, days: std::ops::RangeInclusive<u32>) -> SqliteSink {
    let sink = sink(path);
    for at in days {
        let log = strict(sink.clone(), kuhaku_testkit::fixed_runtime(day(at)));
        request(&log, u64::from(at), "ok").unwrap();
    }
    sink
}

#[test]
fn records_older_than_a_day_go_and_the_rest_verifies_and_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_record_a_day(&path, 1..=5);
    let pruned = sink.prune(day(4)).unwrap();
    assert_eq!((pruned.files, pruned.records), (0, 3));
    assert_eq!(sequences(&path), [4, 5]);
    assert!(verified(&path).is_intact(), "{:?}", verified(&path));
    assert_eq!(sink.prune(day(4)).unwrap().records, 0);
    // All may go: the anchor goes on.
    assert_eq!(sink.prune(day(30)).unwrap().records, 2);
    let empty = verified(&path);
    assert!(empty.is_intact(), "{empty:?}");
    assert_eq!((empty.records, empty.last_sequence, empty.files), (0, 5, 1));
    a_record_a_day(&path, 6..=6);
    assert_eq!(sequences(&path), [6]);
    assert!(verified(&path).is_intact());
}

#[test]
fn a_record_removed_by_hand_is_missed_where_one_removed_by_retention_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_record_a_day(&path, 1..=5);
    sink.prune(day(3)).unwrap();
    sql(&path, "DELETE FROM records WHERE sequence = 3").unwrap();
    assert_eq!(first(&verified(&path)).1.code(), "missing");
    assert_eq!(sink.prune(day(30)).unwrap_err().code(), "audit.damaged");
    assert_eq!(sequences(&path), [4, 5]);
}

#[test]
fn retention_keeps_what_does_not_verify_and_needs_the_anchor() {
    for tampering in [
        "UPDATE records SET line = replace(line, 'ada', 'eve') WHERE row = 1",
        "DELETE FROM anchor",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = log_in(folder.path());
        let sink = a_record_a_day(&path, 1..=3);
        sql(&path, tampering).unwrap();
        assert_eq!(sink.prune(day(30)).unwrap_err().code(), "audit.damaged");
        assert_eq!(sequences(&path), [1, 2, 3]);
        // A sink goes on writing all the same.
        a_record_a_day(&path, 4..=4);
        assert_eq!(sequences(&path), [1, 2, 3, 4]);
    }
}

#[test]
fn more_than_one_turn_of_old_records_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, 2500);
    let later = "2999-01-01T00:00:00Z".parse().unwrap();
    assert_eq!(sink(&path).prune(later).unwrap().records, 2500);
    assert!(verified(&path).is_intact());
}

#[test]
fn no_byte_of_a_record_that_was_removed_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let sink = a_record_a_day(&path, 1..=20);
    let left = |needle: &str| {
        fs::read_dir(path.parent().unwrap()).unwrap().any(|file| {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
        })
    };
    assert!(left("2026-03-05T12") && left("[EMAIL]"));
    sink.prune(day(6)).unwrap();
    assert!(!left("2026-03-05T12") && left("2026-03-06T12"));
    sink.prune(day(30)).unwrap();
    assert!(!left("2026-03-") && !left("[EMAIL]") && !left("0123456789ab"));
}

#[test]
fn a_log_that_keeps_records_for_some_days_removes_older_ones_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    a_record_a_day(&path, 1..=5);
    let two_days = Duration::from_secs(2 * 24 * 60 * 60);
    let keeping = SqliteSink::new(&path, key(), SqliteSinkOptions::default().keep(two_days));
    let on = |at: Timestamp| {
        let runtime = kuhaku_testkit::fixed_runtime(at);
        let log = AuditLog::builder(key(), keeping.clone()).runtime(runtime).start().unwrap();
        request(&log, 0, "ok").unwrap();
        log.flush(PATIENCE).unwrap();
        let verification = verified(&path);
        assert!(verification.is_intact(), "{verification:?}");
        verification.records
    };
    assert_eq!(on(day(6)), 3, "those of days 4, 5 and 6");
    // It looks again when an hour has passed, not with every record.
    assert_eq!(on("2026-03-06T12:30:00Z".parse().unwrap()), 4);
    assert_eq!(on(day(8)), 3, "two of day 6, and one of day 8");
}
