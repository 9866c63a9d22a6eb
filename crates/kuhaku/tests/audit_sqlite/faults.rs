//! What happens when records cannot be written.

use std::fs;
use std::path::{Path, PathBuf};

use kuhaku::core::{AuditLog, AuditSink as _, Runtime};
use kuhaku::{SqliteAuditReader, SqliteSink, SqliteSinkOptions};

use super::{PATIENCE, key, log_in, request, sequences, sink, sql, strict, verified, write};

/// A path whose folder cannot be made, since a file is in its place.
fn behind_a_file(folder: &Path) -> PathBuf {
    fs::write(folder.join("logs"), "a file").unwrap();
    log_in(folder)
}

/// AUD-04: the parts about the sink.
#[test]
fn a_log_that_cannot_be_written_leaves_requests_answered_unless_it_is_strict() {
    let folder = tempfile::tempdir().unwrap();
    let path = behind_a_file(folder.path());
    let log = AuditLog::builder(key(), sink(&path)).start().unwrap();
    assert!(request(&log, 1, "ok").is_ok());
    log.flush(PATIENCE).unwrap();
    let error = request(&strict(sink(&path), Runtime::system()), 1, "ok").unwrap_err();
    assert_eq!((error.code(), error.next_step().is_some()), ("audit.write", true));
}

/// ERR-02: the part about the audit's path.
#[test]
fn a_path_that_cannot_work_is_known_before_the_first_record_and_the_check_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let good = folder.path().join("a/b/audit.sqlite3");
    assert!(sink(&good).check().is_ok());
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    assert_eq!(sink(&behind_a_file(folder.path())).check().unwrap_err().code(), "audit.write");
    assert_eq!(sink(folder.path()).check().unwrap_err().code(), "audit.write");
    write(&good, 1);
    let files = || fs::read_dir(good.parent().unwrap()).unwrap().count();
    let before = files();
    assert!(sink(&good).check().is_ok());
    assert_eq!(files(), before);
}

#[test]
fn a_file_of_another_kind_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "dear diary ".repeat(100)).unwrap();
    let other = folder.path().join("other.sqlite3");
    sql(&other, "CREATE TABLE notes (text); PRAGMA application_id = 77").unwrap();
    for path in [text, other] {
        let before = fs::read(&path).unwrap();
        assert_eq!(sink(&path).check().unwrap_err().code(), "audit.write");
        let log = strict(sink(&path), Runtime::system());
        assert_eq!(request(&log, 1, "ok").unwrap_err().code(), "audit.write");
        assert_eq!(sink(&path).verify().unwrap_err().code(), "audit.read");
        assert_eq!(SqliteAuditReader::open(&path).unwrap_err().code(), "audit.read");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_file_that_was_put_in_the_place_of_an_open_one_gets_the_next_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let log = strict(sink(&path), Runtime::system());
    request(&log, 1, "ok").unwrap();
    let away = folder.path().join("away");
    fs::rename(path.parent().unwrap(), &away).unwrap();
    request(&log, 2, "ok").unwrap();
    assert_eq!((sequences(&path), verified(&path).is_intact()), (vec![1], true));
    // Neither into the void nor into what was moved away.
    let moved = away.join("kuhaku_audit.sqlite3");
    assert_eq!((sequences(&moved), verified(&moved).is_intact()), (vec![1], true));

    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    fs::create_dir_all(&path).unwrap();
    assert_eq!(request(&log, 3, "ok").unwrap_err().code(), "audit.write");
    fs::remove_dir(&path).unwrap();
    request(&log, 4, "ok").unwrap();
    assert_eq!(sequences(&path), [1]);
}

#[test]
fn records_come_after_a_failure_as_if_there_had_been_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let log = strict(sink(&path), Runtime::system());
    request(&log, 1, "ok").unwrap();
    sql(&path, "CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT raise(ABORT, 'x'); END")
        .unwrap();
    assert_eq!(request(&log, 2, "ok").unwrap_err().code(), "audit.write");
    sql(&path, "DROP TRIGGER full").unwrap();
    request(&log, 3, "ok").unwrap();
    assert_eq!((sequences(&path), verified(&path).is_intact()), (vec![1, 2], true));
}

#[cfg(unix)]
#[test]
fn the_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let log = strict(sink(&path), Runtime::system());
    request(&log, 1, "ok").unwrap();
    let names = || {
        let mut names = Vec::new();
        for file in fs::read_dir(path.parent().unwrap()).unwrap() {
            let file = file.unwrap();
            names.push(file.file_name().into_string().unwrap());
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{names:?}");
        }
        names.sort_unstable();
        names
    };
    let of = |suffix: &str| format!("kuhaku_audit.{suffix}");
    assert_eq!(names(), ["lock", "sqlite3", "sqlite3-shm", "sqlite3-wal"].map(of));
    // The one file holds everything when the log has ended.
    drop(log);
    assert_eq!(names(), ["lock", "sqlite3"].map(of));
}

/// Power cannot be cut here; what can be seen is that it works the same.
#[test]
fn a_log_that_is_forced_to_the_disk_is_the_same_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let forced = SqliteSink::new(&path, key(), SqliteSinkOptions::default().sync(true));
    let log = strict(forced, Runtime::system());
    (1..=3).for_each(|hits| request(&log, hits, "ok").unwrap());
    assert_eq!((sequences(&path), verified(&path).is_intact()), (vec![1, 2, 3], true));
}
