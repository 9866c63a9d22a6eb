//! What is stored: the line of a JSONL log, and columns that are a view of it.

use kuhaku::SqliteAuditReader;
use kuhaku::core::{AuditLog, JsonlOptions, JsonlSink, Runtime};
use sqlx::Row as _;

use super::{PATIENCE, key, log_in, request, sequences, sink, sql, strict, verified, write};

#[test]
fn a_row_has_the_line_that_a_file_of_lines_would_have() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, path) = (folder.path().join("audit.jsonl"), log_in(folder.path()));
    let clock =
        || -> Runtime { kuhaku_testkit::fixed_runtime("2026-03-01T12:00:00.5Z".parse().unwrap()) };
    let jsonl = JsonlSink::new(&lines, key(), JsonlOptions::default());
    let jsonl = AuditLog::builder(key(), jsonl).runtime(clock()).strict(PATIENCE).start().unwrap();
    let sqlite = strict(sink(&path), clock());
    for log in [&jsonl, &sqlite] {
        for (hits, outcome) in [(1, "ok"), (2, "empty"), (3, "ok")] {
            request(log, hits, outcome).unwrap();
        }
    }
    let rows = sql(&path, "SELECT line FROM records ORDER BY row").unwrap();
    let rows: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    let lines = std::fs::read_to_string(lines).unwrap();
    assert_eq!(rows, lines.lines().collect::<Vec<_>>());
}

#[test]
fn columns_answer_queries_and_cannot_say_something_else_than_the_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let day = "2026-03-01T12:00:00Z".parse().unwrap();
    let log = strict(sink(&path), kuhaku_testkit::fixed_runtime(day));
    request(&log, 1, "ok").unwrap();
    request(&log, 2, "empty").unwrap();
    let query = "SELECT sequence, time, trace_id, event FROM records
                 WHERE outcome = 'empty' AND time BETWEEN '2026-03-01' AND '2026-03-02'";
    let rows = sql(&path, query).unwrap();
    let columns: (i64, String, String, String) =
        (rows[0].get(0), rows[0].get(1), rows[0].get(2), rows[0].get(3));
    let text = str::to_owned;
    let expected = (2, text("2026-03-01T12:00:00.000Z"), text("0123456789ab"), text("lookup"));
    assert_eq!((rows.len(), columns), (1, expected));
    assert!(sql(&path, "UPDATE records SET outcome = 'ok'").is_err());
    assert!(verified(&path).is_intact());
}

#[test]
fn what_was_asked_is_masked_in_every_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, 3);
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"a@b.com"));
    }
}

#[test]
fn a_log_that_is_not_there_is_empty_and_reading_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let verification = verified(&path);
    assert!(verification.is_intact());
    assert_eq!((verification.records, verification.files), (0, 0));
    assert!(sequences(&path).is_empty());
    assert_eq!(sink(&path).prune(kuhaku::core::Timestamp::now()).unwrap().records, 0);
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}

/// AUD-05: the part about what is no record.
#[test]
fn a_row_that_is_no_record_is_an_error_and_reading_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, 100);
    sql(&path, "UPDATE records SET line = 'not json' WHERE row = 40").unwrap();
    let read: Vec<_> = SqliteAuditReader::open(&path).unwrap().collect();
    let bad: Vec<_> = read.iter().filter_map(|record| record.as_ref().err()).collect();
    assert_eq!((read.len(), bad.len(), bad[0].code()), (100, 1, "audit.bad_line"));
    assert!(bad[0].wrong().contains("line 40 "), "{}", bad[0].wrong());
    assert_eq!(read[40].as_ref().unwrap().line(), 41);
}

/// The facade calls it from asynchronous code.
#[tokio::test]
async fn a_log_can_be_used_on_a_thread_of_a_runtime_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, 3);
    assert_eq!((verified(&path).records, sequences(&path)), (3, vec![1, 2, 3]));
}
