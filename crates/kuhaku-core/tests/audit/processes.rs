//! Several threads of several processes write to one log, and some of them die.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use kuhaku_core::{AuditLog, AuditReader, JsonlOptions, verify_audit};

use super::{PATIENCE, key, log_in, request, sink};

const THREADS: u64 = 8;
const PROCESSES: u64 = 2;
const RECORDS: u64 = 500;

/// Names the log to the processes that a test starts from its own binary.
const LOG: &str = "KUHAKU_TEST_AUDIT_LOG";

/// The test that runs, as a process that writes to the log at `path`. `shell` comes before it.
fn this_test(path: &Path, shell: &str) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{shell} exec \"$0\" --exact \"$1\"")])
        .arg(std::env::current_exe().unwrap())
        .arg(thread::current().name().unwrap())
        .env(LOG, path)
        .stdout(Stdio::null());
    command
}

fn log_of_parent() -> Option<PathBuf> {
    std::env::var_os(LOG).map(PathBuf::from)
}

fn write_from_all_threads(path: &Path) {
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
    if let Some(path) = log_of_parent() {
        return write_from_all_threads(&path);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let writers: Vec<_> = (0..PROCESSES).map(|_| this_test(&path, "").spawn().unwrap()).collect();
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

/// A killed process may leave a piece of a line or a rotation half done, and never a broken chain.
#[test]
fn processes_that_are_killed_while_they_write_leave_a_log_that_verifies() {
    if let Some(path) = log_of_parent() {
        return write_from_all_threads(&path);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let mut known = 0;
    for _ in 0..5 {
        let mut writer = this_test(&path, "").spawn().unwrap();
        let written = loop {
            let verification = verify_audit(&path, &key()).unwrap();
            if verification.records > known + 50 || writer.try_wait().unwrap().is_some() {
                break verification.records;
            }
        };
        writer.kill().unwrap();
        writer.wait().unwrap();
        let verification = verify_audit(&path, &key()).unwrap();
        assert!(verification.is_intact(), "{:?}", verification.findings);
        assert!(verification.records >= written && written > known);
        known = verification.records;
    }
}

/// A file that may not grow stands for a disk that is full in the middle of a line.
#[test]
fn a_disk_that_fills_up_within_a_line_breaks_no_chain() {
    if let Some(path) = log_of_parent() {
        let options = JsonlOptions::default();
        let log = AuditLog::builder(key(), sink(&path, options.clone())).strict(PATIENCE);
        let log = log.start().unwrap();
        let written = (0..100).take_while(|n| request(&log, *n, "ok").is_ok()).count();
        assert!((1..100).contains(&written), "{written}");
        // A log that is not strict goes on answering.
        let log = AuditLog::builder(key(), sink(&path, options)).start().unwrap();
        return (0..100).for_each(|n| request(&log, n, "ok").unwrap());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    // The signal is ignored, so that the write fails instead.
    let limited = this_test(&path, "trap '' XFSZ; ulimit -f 8;").status().unwrap();
    assert!(limited.success());
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact() && !verification.unfinished, "{verification:?}");
    super::write(&path, JsonlOptions::default(), 1);
    let after = verify_audit(&path, &key()).unwrap();
    assert!(after.is_intact(), "{after:?}");
    assert_eq!(after.records, verification.records + 1);
}
