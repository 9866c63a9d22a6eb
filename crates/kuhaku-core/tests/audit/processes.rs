//! Several threads of several processes write to one log.

use std::process::{Command, Stdio};
use std::thread;

use kuhaku_core::{AuditLog, AuditReader, JsonlOptions, verify_audit};

use super::{PATIENCE, key, log_in, request, sink};

const THREADS: u64 = 8;
const PROCESSES: u64 = 2;
const RECORDS: u64 = 500;

/// Names the log to the processes that the test starts from its own binary.
const LOG: &str = "KUHAKU_TEST_AUDIT_LOG";

fn write_from_all_threads(path: &std::path::Path) {
    // Small files, so that the processes also rotate against each other.
    let sink = sink(path, JsonlOptions::default().max_bytes(256 * 1024));
    let log = AuditLog::builder(key(), sink).strict(PATIENCE).start().unwrap();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (1..=RECORDS).for_each(|n| request(&log, n, "ok").unwrap()));
        }
    });
}

#[test]
fn eight_threads_in_each_of_two_processes_lose_and_break_nothing() {
    if let Some(path) = std::env::var_os(LOG) {
        return write_from_all_threads(path.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let name = thread::current().name().unwrap().to_owned();
    let start = |_| {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name])
            .env(LOG, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let writers: Vec<_> = (0..PROCESSES).map(start).collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let all = THREADS * PROCESSES * RECORDS;
    let records: Vec<_> = AuditReader::open(&path).unwrap().map(Result::unwrap).collect();
    assert_eq!(records.len() as u64, all);
    let sequences = records.iter().map(|record| record.object()["sequence"].as_u64().unwrap());
    assert!(sequences.eq(1..=all));
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{:?}", verification.findings);
    assert_eq!((verification.records, verification.last_sequence), (all, all));
    assert!(verification.files > 1);
}
