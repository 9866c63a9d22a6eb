//! What happens when records cannot be written.

use std::fs;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kuhaku_core::{
    Announcement, Announcer, AuditError, AuditErrorKind, AuditLog, AuditRecord, AuditSink,
    CallbackSink, ChannelSink, JsonlOptions, Runtime, verify_audit,
};

use tracing::field::Field;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::{Counters, PATIENCE, ada, key, log_in, request, sink, trace};

/// A path whose folder cannot be made, since a file is in its place.
fn behind_a_file(folder: &std::path::Path) -> std::path::PathBuf {
    fs::write(folder.join("logs"), "a file").unwrap();
    log_in(folder)
}

/// AUD-04: the parts about the sink.
#[test]
fn a_log_that_cannot_be_written_leaves_requests_answered_and_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let counters = Counters::default();
    let log =
        AuditLog::builder(key(), sink(&behind_a_file(folder.path()), JsonlOptions::default()))
            .runtime(counters.runtime())
            .start()
            .unwrap();
    assert!(request(&log, 1, "ok").is_ok());
    log.flush(PATIENCE).unwrap();
    assert_eq!(counters.of("audit_records_total:ok"), 0);
    assert_eq!(counters.of("audit_failures_total:audit.write"), 1);
}

#[test]
fn lines_are_not_added_to_a_database_at_the_same_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit");
    let database = [b"SQLite format 3\0".as_slice(), &[7; 4096]].concat();
    std::fs::write(&path, &database).unwrap();
    let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
        .strict(PATIENCE)
        .start()
        .unwrap();
    assert_eq!(request(&log, 1, "ok").unwrap_err().code(), "audit.write");
    assert_eq!(std::fs::read(&path).unwrap(), database);
}

#[test]
fn lines_are_not_added_to_a_file_of_something_else_and_it_stays_as_it_was() {
    let long = [b"a snapshot\x01".as_slice(), &[0; 4096]].concat();
    for bytes in [&long[..], b"x", b"\n", b"{\"hits\":1}\n", b" {\"version\":1}\n"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index.snapshot");
        let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
            .strict(PATIENCE)
            .start()
            .unwrap();
        fs::write(&path, bytes).unwrap();
        for _ in 0..2 {
            let error = request(&log, 1, "ok").unwrap_err();
            assert_eq!(error.code(), "audit.write");
            assert!(error.wrong().contains("no audit log"), "{error}");
            assert!(error.next_step().is_some());
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert!(!path.with_file_name("index.anchor").exists());
    }
}

/// The anchor is there, and says that nothing was written yet.
#[cfg(target_os = "linux")]
#[test]
fn a_file_of_something_else_is_not_taken_over_by_a_log_that_never_had_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
        .strict(PATIENCE)
        .start()
        .unwrap();
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    assert!(request(&log, 1, "ok").is_err());
    assert!(path.with_file_name("audit.anchor").exists());
    fs::remove_file(&path).unwrap();
    fs::write(&path, "a snapshot").unwrap();
    assert!(request(&log, 2, "ok").unwrap_err().wrong().contains("no audit log"));
    assert_eq!(fs::read(&path).unwrap(), b"a snapshot");
}

/// A log that has lost its anchor goes on, and a first line that was cut short is one of its own.
#[test]
fn a_log_whose_anchor_is_gone_is_no_file_of_something_else() {
    for (kept, intact) in [(usize::MAX, false), (20, false), (5, false), (0, true)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        super::write(&path, JsonlOptions::default(), 1);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..kept.min(bytes.len())]).unwrap();
        fs::remove_file(path.with_file_name("audit.anchor")).unwrap();
        super::write(&path, JsonlOptions::default(), 1);
        assert_eq!(verify_audit(&path, &key()).unwrap().is_intact(), intact, "{kept}");
    }
}

/// Opening a pipe waits for its other end, which nobody holds here.
#[cfg(unix)]
#[test]
fn a_pipe_or_a_socket_in_the_place_of_a_file_is_refused_and_nothing_waits() {
    let pipe = |path: &std::path::Path| {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let socket = |path: &std::path::Path| {
        std::os::unix::net::UnixListener::bind(path).unwrap();
    };
    let ways: [&dyn Fn(&std::path::Path); 2] = [&pipe, &socket];
    for name in ["audit.jsonl", "audit.lock", "audit.anchor", "audit.anchor.new"] {
        for (way, make) in ways.iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("audit.jsonl");
            make(&folder.path().join(name));
            let error = kuhaku_core::check_audit_path(&path).unwrap_err();
            assert_eq!(error.code(), "audit.write", "{name} {way}");
            assert!(error.wrong().contains("a pipe"), "{error}");
            let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
                .strict(Duration::from_secs(10))
                .start()
                .unwrap();
            let error = request(&log, 1, "ok").unwrap_err();
            assert_eq!(error.code(), "audit.write", "{name} {way}");
            assert!(error.next_step().is_some());
            assert_eq!(verify_audit(&path, &key()).is_err(), name != "audit.anchor.new");
        }
    }
}

#[test]
fn a_log_is_not_kept_at_the_name_of_a_file_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["x.anchor", "x.lock"] {
        let path = folder.path().join(name);
        let sink = sink(&path, JsonlOptions::default());
        let refused = sink.check().is_err();
        let log = AuditLog::builder(key(), sink).strict(PATIENCE).start().unwrap();
        let code = request(&log, 1, "ok").err().map(|error| error.code());
        assert_eq!((refused, code), (true, Some("audit.write")), "{name}");
        assert!(!path.exists(), "{name}");
    }
}

/// Hears which codes are logged as errors, on all threads of the process.
#[derive(Clone, Debug, Default)]
struct LoggedErrors(Arc<Mutex<Vec<String>>>);

impl Subscriber for LoggedErrors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::ERROR && metadata.target().starts_with("kuhaku_core")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut |field: &Field, value: &dyn std::fmt::Debug| {
            self.0.lock().unwrap().push(format!("{field}={value:?}"));
        });
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// AUD-04: the parts about the sink.
#[test]
fn a_lost_record_is_logged_as_an_error_by_its_code_alone() {
    let logged = LoggedErrors::default();
    tracing::subscriber::set_global_default(logged.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let log =
        AuditLog::builder(key(), sink(&behind_a_file(folder.path()), JsonlOptions::default()))
            .start()
            .unwrap();
    request(&log, 1, "ok").unwrap();
    log.flush(PATIENCE).unwrap();
    let lines = logged.0.lock().unwrap();
    assert!(lines.contains(&"code=\"audit.write\"".into()), "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("tea") && !line.contains("a@b.com")));
}

/// AUD-04: the parts about the sink.
#[test]
fn a_strict_log_that_cannot_be_written_fails_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let counters = Counters::default();
    let log =
        AuditLog::builder(key(), sink(&behind_a_file(folder.path()), JsonlOptions::default()))
            .runtime(counters.runtime())
            .strict(PATIENCE)
            .start()
            .unwrap();
    let error = request(&log, 1, "ok").unwrap_err();
    assert_eq!(error.code(), "audit.write");
    assert!(error.next_step().is_some());
    assert_eq!(counters.of("audit_records_total:ok"), 0);
    assert_eq!(counters.of("audit_failures_total:audit.write"), 1);
}

/// ERR-02: the part about the audit's path.
#[test]
fn a_path_that_cannot_work_is_known_before_the_first_record_and_the_check_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let good = sink(&folder.path().join("a/b/audit.jsonl"), JsonlOptions::default());
    assert!(good.check().is_ok());
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());

    let bad = sink(&behind_a_file(folder.path()), JsonlOptions::default());
    assert_eq!(bad.check().unwrap_err().code(), "audit.write");
    let a_folder = sink(folder.path(), JsonlOptions::default());
    assert_eq!(a_folder.check().unwrap_err().code(), "audit.write");
    assert_eq!(fs::read(folder.path().join("logs")).unwrap(), b"a file");
}

/// A device that takes nothing stands for a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_records_and_not_requests_unless_the_log_is_strict() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    let counters = Counters::default();
    let start = |strict: bool| {
        let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
            .runtime(counters.runtime());
        if strict { log.strict(PATIENCE) } else { log }.start().unwrap()
    };
    let log = start(false);
    assert!(request(&log, 1, "ok").is_ok());
    log.flush(PATIENCE).unwrap();
    assert_eq!(request(&start(true), 2, "ok").unwrap_err().code(), "audit.write");
    assert_eq!(counters.of("audit_failures_total:audit.write"), 2);

    // There is room again: the chain begins with the first record that is written.
    fs::remove_file(&path).unwrap();
    request(&start(true), 3, "ok").unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.last_sequence), (1, 1));
}

/// Takes a record when it is told to.
#[derive(Debug)]
struct Gate {
    entered: Sender<()>,
    open: Mutex<Receiver<()>>,
}

impl AuditSink for Gate {
    fn write(&self, _record: &AuditRecord) -> Result<(), AuditError> {
        self.entered.send(()).unwrap();
        self.open.lock().unwrap().recv().unwrap();
        Ok(())
    }
}

fn gate() -> (Gate, Receiver<()>, Sender<()>) {
    let ((entered, entering), (opening, open)) = (channel(), channel());
    (Gate { entered, open: Mutex::new(open) }, entering, opening)
}

#[test]
fn a_sink_that_hangs_costs_records_beyond_the_capacity_and_no_request_waits() {
    let (gate, entering, opening) = gate();
    let counters = Counters::default();
    let log =
        AuditLog::builder(key(), gate).runtime(counters.runtime()).capacity(2).start().unwrap();
    request(&log, 0, "ok").unwrap();
    entering.recv().unwrap();
    // One is in the sink, two wait, two are too many.
    for hits in 1..=4 {
        request(&log, hits, "ok").unwrap();
    }
    assert_eq!(counters.of("audit_failures_total:audit.full"), 2);
    assert_eq!(log.flush(Duration::ZERO).unwrap_err().code(), "audit.timed_out");
    (0..3).for_each(|_| opening.send(()).unwrap());
    log.flush(PATIENCE).unwrap();
    assert_eq!(counters.of("audit_records_total:ok"), 3);
}

#[test]
fn a_strict_request_fails_when_the_sink_or_the_queue_keeps_it_too_long() {
    let (gate, entering, opening) = gate();
    let counters = Counters::default();
    let log = AuditLog::builder(key(), gate)
        .runtime(counters.runtime())
        .capacity(1)
        .strict(Duration::from_millis(20))
        .start()
        .unwrap();
    assert_eq!(request(&log, 0, "ok").unwrap_err().code(), "audit.timed_out");
    entering.recv().unwrap();
    assert_eq!(request(&log, 1, "ok").unwrap_err().code(), "audit.timed_out");
    assert_eq!(request(&log, 2, "ok").unwrap_err().kind(), &AuditErrorKind::Full);
    (0..2).for_each(|_| opening.send(()).unwrap());
    log.flush(PATIENCE).unwrap();
    assert_eq!(counters.of("audit_records_total:ok"), 2);
    assert_eq!(counters.of("audit_failures_total:audit.full"), 1);
}

#[test]
fn a_guard_that_is_dropped_waits_for_nothing_in_a_strict_log() {
    let (gate, _entering, opening) = gate();
    let counters = Counters::default();
    let a_day = Duration::from_secs(86_400);
    let log =
        AuditLog::builder(key(), gate).runtime(counters.runtime()).strict(a_day).start().unwrap();
    drop(log.begin("lookup", &trace(), &ada()));
    opening.send(()).unwrap();
    log.flush(PATIENCE).unwrap();
    assert_eq!(counters.of("audit_records_total:cancelled"), 1);
}

/// What a person heard.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Announcer for Heard {
    fn announce(&self, announcement: &Announcement) {
        self.0.lock().unwrap().push(announcement.text.clone());
    }
}

/// AUD-04: the part about those who run it.
#[test]
fn losses_are_announced_once_and_not_where_the_request_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = behind_a_file(folder.path());
    let heard = |strict: bool| {
        let heard = Heard::default();
        let runtime = Runtime::builder().announcer(heard.clone()).build();
        let log =
            AuditLog::builder(key(), sink(&path, JsonlOptions::default())).runtime(runtime.clone());
        let log = if strict { log.strict(PATIENCE) } else { log }.start().unwrap();
        for hits in 0..3 {
            assert_eq!(request(&log, hits, "ok").is_err(), strict);
        }
        log.flush(PATIENCE).unwrap();
        heard.0.lock().unwrap().clone()
    };
    let once = heard(false);
    assert_eq!(once.len(), 1, "{once:?}");
    assert!(once[0].contains("check the path of the audit log"), "{once:?}");
    assert!(heard(true).is_empty());
}

#[test]
fn a_sink_that_panics_costs_its_record_and_not_the_log() {
    let counters = Counters::default();
    let log = AuditLog::builder(
        key(),
        CallbackSink::new(|record: &AuditRecord| match record.outcome().as_str() {
            "bad" => std::panic::resume_unwind(Box::new("a custom sink")),
            _ => Ok(()),
        }),
    )
    .runtime(counters.runtime())
    .strict(PATIENCE)
    .start()
    .unwrap();
    assert_eq!(request(&log, 1, "bad").unwrap_err().code(), "audit.write");
    assert!(request(&log, 2, "ok").is_ok());
    assert_eq!(counters.of("audit_records_total:ok"), 1);
    assert_eq!(counters.of("audit_failures_total:audit.write"), 1);
}

#[test]
fn a_channel_gives_what_it_has_room_for_and_says_when_it_has_none() {
    let (sink, records) = ChannelSink::new(1);
    let log = AuditLog::builder(key(), sink).strict(PATIENCE).start().unwrap();
    request(&log, 1, "ok").unwrap();
    assert_eq!(request(&log, 2, "ok").unwrap_err().code(), "audit.full");
    assert_eq!(records.recv().unwrap().trace_id().as_str(), "0123456789ab");
    drop(records);
    assert_eq!(request(&log, 3, "ok").unwrap_err().code(), "audit.write");
}
