//! Whatever is done to a log is seen, and seen where it was done.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kuhaku::core::{AuditDamage, Runtime};
use sqlx::Row as _;

use super::{first, request, sink, sql, strict, verified, write};

const RECORDS: u64 = 7;

/// The bytes of a log.
fn original() -> &'static Vec<u8> {
    static ORIGINAL: OnceLock<Vec<u8>> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.sqlite3");
        write(&path, RECORDS);
        sql(&path, "PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        fs::read(path).unwrap()
    })
}

fn fresh(folder: &Path) -> PathBuf {
    let path = folder.join("audit.sqlite3");
    fs::write(&path, original()).unwrap();
    path
}

/// What is found first in a log to which this was done.
fn after(statements: impl Into<String>) -> (u64, AuditDamage) {
    let folder = tempfile::tempdir().unwrap();
    let path = fresh(folder.path());
    sql(&path, statements).unwrap();
    first(&verified(&path))
}

fn lines() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let rows = sql(&fresh(folder.path()), "SELECT line FROM records ORDER BY row").unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

#[test]
fn an_untouched_log_is_intact() {
    let folder = tempfile::tempdir().unwrap();
    let verification = verified(&fresh(folder.path()));
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!((verification.records, verification.files), (RECORDS, 1));
    assert_eq!(verification.last_sequence, RECORDS);
}

#[test]
fn one_flipped_byte_of_a_row_is_located() {
    let folder = tempfile::tempdir().unwrap();
    let path = fresh(folder.path());
    for (row, line) in (1..).zip(lines()) {
        for at in (row..line.len()).step_by(61) {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1 << (at % 8);
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let flipped =
                format!("UPDATE records SET line = CAST(x'{hex}' AS TEXT) WHERE row = {row}");
            sql(&path, flipped).unwrap();
            let (found, damage) = first(&verified(&path));
            assert_eq!(found, row as u64, "byte {at}");
            assert!(matches!(damage, AuditDamage::Altered | AuditDamage::Malformed), "{damage:?}");
            let hex: String = line.bytes().map(|byte| format!("{byte:02x}")).collect();
            let back =
                format!("UPDATE records SET line = CAST(x'{hex}' AS TEXT) WHERE row = {row}");
            sql(&path, back).unwrap();
        }
    }
    assert!(verified(&path).is_intact());
}

#[test]
fn removed_rows_are_located_and_counted() {
    for (from, missing) in [(1, 1), (1, 3), (4, 1), (3, 2), (7, 1), (6, 2), (1, 7)] {
        let expected = if from + missing > RECORDS {
            AuditDamage::Truncated { from, missing }
        } else {
            AuditDamage::Missing { from, missing }
        };
        let removed =
            format!("DELETE FROM records WHERE row BETWEEN {from} AND {}", from + missing - 1);
        let row = if from == 1 && from + missing > RECORDS {
            1
        } else if from + missing > RECORDS {
            from
        } else {
            from + missing
        };
        assert_eq!(after(removed), (row, expected));
    }
}

#[test]
fn rows_that_are_put_in_are_located() {
    // Those from the fourth on move by one, and another takes its place.
    let at_four = |line: &str| {
        format!(
            "UPDATE records SET row = -row WHERE row >= 4;
             UPDATE records SET row = 1 - row WHERE row < 0;
             INSERT INTO records (row, line) SELECT 4, {line}"
        )
    };
    assert_eq!(after(at_four("'{\"outcome\":\"ok\"}'")), (4, AuditDamage::Malformed));
    assert_eq!(after(at_four("'no record'")), (4, AuditDamage::Malformed));
    assert_eq!(after(at_four("line FROM records WHERE row = 2")), (4, AuditDamage::OutOfOrder));
    let numbers = |row: i64| format!("INSERT INTO records (row, line) VALUES ({row}, 'no record')");
    assert_eq!(after(numbers(100)), (100, AuditDamage::Malformed));
    assert_eq!(after(numbers(i64::MAX)), (i64::MAX as u64, AuditDamage::Malformed));
    assert_eq!(after(numbers(i64::MIN)), (0, AuditDamage::Malformed));
    assert_eq!(after(numbers(-1)), (0, AuditDamage::Malformed));
}

#[test]
fn rows_in_another_order_are_located() {
    let swapped = "UPDATE records SET row = 0 WHERE row = 3;
                   UPDATE records SET row = 3 WHERE row = 5;
                   UPDATE records SET row = 5 WHERE row = 0";
    assert_eq!(after(swapped), (3, AuditDamage::Missing { from: 3, missing: 2 }));
}

#[test]
fn an_anchor_that_is_changed_or_removed_is_seen() {
    let older = "UPDATE anchor SET line = replace(line, '\"last\":7', '\"last\":6')";
    assert_eq!(after(older), (1, AuditDamage::AnchorAltered));
    assert_eq!(after("UPDATE anchor SET line = ''"), (1, AuditDamage::AnchorAltered));
    assert_eq!(after("DELETE FROM anchor"), (1, AuditDamage::AnchorMissing));
    // A line has its own kind of seal, and cannot stand for an anchor.
    let line = "UPDATE anchor SET line = (SELECT line FROM records WHERE row = 7)";
    assert_eq!(after(line), (1, AuditDamage::AnchorAltered));
}

/// The next record must not cover up what was done before it.
#[test]
fn writing_on_after_tampering_does_not_hide_it() {
    for (tampering, row, damage) in [
        ("DELETE FROM records WHERE row > 5", 6, AuditDamage::Missing { from: 6, missing: 2 }),
        ("DELETE FROM records", 1, AuditDamage::Missing { from: 1, missing: 7 }),
        ("UPDATE records SET line = substr(line, 9) WHERE row = 7", 7, AuditDamage::Malformed),
        ("DELETE FROM anchor", 8, AuditDamage::Restarted),
        ("UPDATE anchor SET line = '{}'", 8, AuditDamage::Restarted),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = fresh(folder.path());
        sql(&path, tampering).unwrap();
        assert!(!verified(&path).is_intact(), "{tampering}");
        write(&path, 3);
        let verification = verified(&path);
        assert_eq!(first(&verification), (row, damage), "{tampering}");
        assert_eq!(verification.findings.len(), 1, "{verification:?}");
    }
}

#[test]
fn a_log_with_other_tables_is_refused_by_writers_and_readers() {
    for tampering in [
        "CREATE TRIGGER gone AFTER INSERT ON records BEGIN DELETE FROM records; END",
        "DROP TABLE anchor",
        "ALTER TABLE records DROP COLUMN outcome",
        "CREATE TABLE more (a)",
        "PRAGMA application_id = 1",
        "PRAGMA user_version = 2",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = fresh(folder.path());
        sql(&path, tampering).unwrap();
        assert_eq!(sink(&path).verify().unwrap_err().code(), "audit.read", "{tampering}");
        let log = strict(sink(&path), Runtime::system());
        assert_eq!(request(&log, 1, "ok").unwrap_err().code(), "audit.write", "{tampering}");
    }
}

#[test]
fn bytes_that_sqlite_makes_no_sense_of_are_an_error_and_no_panic() {
    for (from, to) in [(0, 16), (16, 100), (100, 4096), (4096, usize::MAX)] {
        let folder = tempfile::tempdir().unwrap();
        let path = fresh(folder.path());
        let mut bytes = original().clone();
        let to = to.min(bytes.len());
        bytes[from..to].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let seen = match sink(&path).verify() {
            Ok(verification) => !verification.is_intact(),
            Err(error) => matches!(error.code(), "audit.read" | "audit.damaged"),
        };
        assert!(seen, "{from}..{to}");
    }
}
