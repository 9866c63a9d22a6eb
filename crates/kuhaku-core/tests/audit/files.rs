//! The files of a log: when they appear, how they are read, how they are cut into pieces.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use kuhaku_core::{
    AuditErrorKind, AuditKey, AuditLog, AuditReader, JsonlOptions, StoredRecord, verify_audit,
};

use super::{key, log_in, request, sink, write};

const LINE: &str = concat!(
    "{\"version\":1,\"time\":\"2026-03-01T12:00:00.000Z\",\"trace_id\":\"0123456789ab\",",
    "\"event\":\"lookup\",\"outcome\":\"ok\",",
    "\"actor\":{\"identity\":\"ada\",\"authenticated\":true,\"roles\":[\"hr\",\"legal\"]},",
    "\"input_hash\":\"844b31d8a4817e1bb687833ed86467aa5257b60bc814f26bb3335ddbda0281cb\",",
    "\"input_excerpt\":\"mail [EMAIL] tea\",\"attributes\":{\"hits\":3},\"error\":null,\"sequence\":1,",
    "\"previous\":\"0000000000000000000000000000000000000000000000000000000000000000\",",
    "\"hash\":\"948e8222722739c94c5ece62d970ac23e84aad31f814a1fdd31d9f938e105b25\"}\n",
);

fn records(path: &Path) -> Vec<StoredRecord> {
    AuditReader::open(path).unwrap().map(Result::unwrap).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// AUD-01
#[test]
fn the_file_and_its_folder_appear_with_the_first_record_and_never_when_disabled() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let disabled = AuditLog::disabled();
    request(&disabled, 1, "ok").unwrap();
    drop(disabled.begin("lookup", &super::trace(), &super::ada()));
    let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default()))
        .strict(super::PATIENCE)
        .start()
        .unwrap();
    assert!(names(folder.path()).is_empty());
    request(&log, 1, "ok").unwrap();
    assert_eq!(records(&path).len(), 1);
}

#[test]
fn a_line_on_disk_is_the_record_with_its_place_in_the_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, JsonlOptions::default(), 2);
    let records = records(&path);
    let [first, second] = &records[..] else { panic!("{records:?}") };
    assert_eq!((first.line(), second.line()), (1, 2));
    assert_eq!(first.file(), path);
    assert_eq!(first.object()["sequence"], 1);
    assert_eq!(first.text("previous"), Some(&*"0".repeat(64)));
    assert_eq!(second.object()["sequence"], 2);
    assert_eq!(second.text("previous"), first.text("hash"));
    assert_eq!(second.text("outcome"), Some("ok"));
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact());
    assert_eq!(Some(&*verification.last_hash), second.text("hash"));
    assert_eq!(verification.last_sequence, 2);
}

/// The bytes of version 1. The hash was computed with another implementation of HMAC-SHA-256, over
/// `kuhaku.audit.line`, a zero byte, and the line up to its last field.
#[test]
fn the_line_format_does_not_change_unnoticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let runtime = kuhaku_testkit::fixed_runtime("2026-03-01T12:00:00Z".parse().unwrap());
    let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default())).runtime(runtime);
    request(&log.start().unwrap(), 3, "ok").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), LINE);
}

#[cfg(unix)]
#[test]
fn files_belong_to_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = AuditLog::builder(key(), sink(&path, JsonlOptions::default())).start().unwrap();
    request(&log, 1, "ok").unwrap();
    log.flush(super::PATIENCE).unwrap();
    let modes = std::fs::read_dir(folder.path()).unwrap().map(|entry| {
        let entry = entry.unwrap();
        (entry.file_name(), entry.metadata().unwrap().permissions().mode() & 0o777)
    });
    let open: Vec<_> = modes.filter(|(_, mode)| *mode != 0o600).collect();
    assert!(open.is_empty(), "{open:?}");
}

/// AUD-05
#[test]
fn a_missing_file_is_empty_and_bad_lines_are_reported_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    assert_eq!(AuditReader::open(&path).unwrap().count(), 0);
    fs::write(&path, "{\"a\":1}\nnot json\n{\"b\":2}\n").unwrap();
    let (good, bad): (Vec<_>, Vec<_>) = AuditReader::open(&path).unwrap().partition(Result::is_ok);
    let good: Vec<_> =
        good.into_iter().map(|record| record.unwrap().object().to_string()).collect();
    assert_eq!(good, ["{\"a\":1}", "{\"b\":2}"]);
    assert_eq!(bad.len(), 1);
    let warning = bad[0].as_ref().unwrap_err();
    assert_eq!(warning.kind(), &AuditErrorKind::BadLine);
    assert!(warning.wrong().starts_with("line 2 "));
    assert!(!warning.to_string().contains("not json"));
}

#[test]
fn any_bytes_at_all_can_be_read_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    for bytes in [&b""[..], b"\n", b"\xff\xfe\n{}", b"{\"sequence\":1}\n", b"[]\nnull", b"{\"a\":"]
    {
        fs::write(&path, bytes).unwrap();
        let _ = AuditReader::open(&path).unwrap().count();
        // There is no anchor, which is damage by itself.
        assert!(!verify_audit(&path, &key()).unwrap().is_intact(), "{bytes:?}");
        fs::write(folder.path().join("audit.anchor"), bytes).unwrap();
        assert!(!verify_audit(&path, &key()).unwrap().is_intact(), "{bytes:?}");
        fs::remove_file(folder.path().join("audit.anchor")).unwrap();
    }
}

#[test]
fn a_log_that_is_not_there_is_intact_and_looking_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let verification = verify_audit(log_in(folder.path()), &key()).unwrap();
    assert!(verification.is_intact());
    assert_eq!((verification.records, verification.files), (0, 0));
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_log_verifies_under_its_own_key_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    write(&path, JsonlOptions::default(), 1);
    let other = AuditKey::from_bytes([8; 32]);
    assert!(!verify_audit(&path, &other).unwrap().is_intact());
    assert!(!format!("{:?}", key()).contains('7'));
}

#[test]
fn a_full_file_is_put_aside_and_the_chain_goes_on_in_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let options = JsonlOptions::default().max_bytes(1200).sync(true);
    // Several runs, so that the end of the chain is found again each time.
    for _ in 0..3 {
        write(&path, options.clone(), 3);
    }
    let files = names(path.parent().unwrap());
    let rotated: Vec<_> = files.iter().filter(|name| name.contains(".0")).collect();
    assert!(rotated.len() > 2, "{files:?}");
    assert_eq!(rotated[0], "kuhaku_audit.000000000001.jsonl");
    for name in &rotated {
        assert!(fs::metadata(path.with_file_name(name)).unwrap().len() <= 1200);
    }
    let sequences: Vec<_> =
        records(&path).iter().map(|record| record.object()["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=9).collect::<Vec<_>>());
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.files), (9, rotated.len() + 1));
}

/// What a process leaves that is killed between its steps.
#[test]
fn a_crash_between_the_steps_of_a_write_leaves_a_log_that_verifies_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = log_in(folder.path());
    let anchor = path.with_file_name("kuhaku_audit.anchor");
    write(&path, JsonlOptions::default(), 2);

    // After the line and before the anchor.
    let before = fs::read(&anchor).unwrap();
    write(&path, JsonlOptions::default(), 1);
    fs::write(&anchor, before).unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.unanchored), (3, 1));
    write(&path, JsonlOptions::default(), 1);
    assert_eq!(verify_audit(&path, &key()).unwrap().unanchored, 0);

    // Within the line.
    let mut log = OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(b"{\"version\":1,\"ti").unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact() && verification.unfinished, "{verification:?}");
    write(&path, JsonlOptions::default(), 1);

    // After the move of a full file and before the anchor.
    fs::rename(&path, path.with_file_name("kuhaku_audit.000000000001.jsonl")).unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact(), "{verification:?}");
    write(&path, JsonlOptions::default(), 1);
    let verification = verify_audit(&path, &key()).unwrap();
    assert!(verification.is_intact() && !verification.unfinished, "{verification:?}");
    assert_eq!((verification.records, verification.last_sequence), (6, 6));
    assert_eq!(records(&path).len(), 6);
}
