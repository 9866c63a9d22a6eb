//! Several threads of several processes write to one log, and some of them die.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use kuhaku::core::{AuditLog, Runtime};

use super::{PATIENCE, key, log_in, request, sequences, sink, strict, verified, write};

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
    let log = strict(sink(path), Runtime::system());
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
    assert!(sequences(&path).into_iter().eq(1..=all));
    let verification = verified(&path);
    assert!(verification.is_intact(), "{:?}", verification.findings);
    assert_eq!((verification.records, verification.last_sequence), (all, all));
}

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
            let verification = verified(&path);
            assert!(verification.is_intact(), "while it is written: {verification:?}");
            if verification.records > known + 50 || writer.try_wait().unwrap().is_some() {
                break verification.records;
            }
        };
        writer.kill().unwrap();
        writer.wait().unwrap();
        let verification = verified(&path);
        assert!(verification.is_intact(), "{:?}", verification.findings);
        assert!(verification.records >= written && written > known);
        known = verification.records;
    }
}

/// A file that may not grow stands for a disk that is full.
#[test]
fn a_disk_that_fills_up_costs_records_and_breaks_no_chain() {
    if let Some(path) = log_of_parent() {
        let log = strict(sink(&path), Runtime::system());
        let written = (0..100).take_while(|n| request(&log, *n, "ok").is_ok()).count();
        assert!((1..100).contains(&written), "{written}");
        // A log that is not strict goes on answering.
        let log = AuditLog::builder(key(), sink(&path)).start().unwrap();
        (0..100).for_each(|n| request(&log, n, "ok").unwrap());
        return log.flush(PATIENCE).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    // The signal is ignored, so that the write fails instead.
    let limited = this_test(&path, "trap '' XFSZ; ulimit -f 128;").status().unwrap();
    assert!(limited.success());
    let verification = verified(&path);
    assert!(verification.is_intact() && verification.records > 0, "{verification:?}");
    write(&path, 1);
    let after = verified(&path);
    assert!(after.is_intact(), "{after:?}");
    assert_eq!(after.records, verification.records + 1);
}
