//! Whatever is done to a log is seen, and seen where it was done.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use kuhaku_core::{AuditDamage, JsonlOptions, Verification, verify_audit};
use proptest::prelude::*;

use super::{key, write};

const RECORDS: u64 = 7;

/// The lines of a log, with their line ends, and its anchor.
fn original() -> &'static (Vec<Vec<u8>>, Vec<u8>) {
    static ORIGINAL: OnceLock<(Vec<Vec<u8>>, Vec<u8>)> = OnceLock::new();
    ORIGINAL.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        write(&path, JsonlOptions::default(), RECORDS);
        let bytes = fs::read(&path).unwrap();
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        (lines, fs::read(folder.path().join("audit.anchor")).unwrap())
    })
}

fn lines() -> Vec<Vec<u8>> {
    original().0.clone()
}

/// A log of these bytes, cut into files before the lines of the given numbers.
fn place(folder: &Path, lines: &[Vec<u8>]) -> PathBuf {
    let path = folder.join("audit.jsonl");
    fs::write(&path, lines.concat()).unwrap();
    fs::write(folder.join("audit.anchor"), &original().1).unwrap();
    path
}

fn verified(lines: &[Vec<u8>]) -> Verification {
    let folder = tempfile::tempdir().unwrap();
    verify_audit(place(folder.path(), lines), &key()).unwrap()
}

/// The line and the kind of what was found first.
fn first(verification: &Verification) -> (u64, AuditDamage) {
    let finding = verification.findings.first().expect("the tampering was not seen");
    (finding.line, finding.damage.clone())
}

#[test]
fn an_untouched_log_is_intact() {
    let verification = verified(&lines());
    assert!(verification.is_intact(), "{verification:?}");
    assert_eq!(verification.records, RECORDS);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn one_changed_byte_is_located(
        line in 0..RECORDS as usize,
        at in any::<prop::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        let mut lines = lines();
        let at = at.index(lines[line].len());
        lines[line][at] ^= flip;
        let (found, damage) = first(&verified(&lines));
        prop_assert_eq!(found, line as u64 + 1);
        prop_assert!(matches!(damage, AuditDamage::Altered | AuditDamage::Malformed));
    }

    #[test]
    fn a_line_cut_anywhere_is_located(
        line in 0..RECORDS as usize,
        at in any::<prop::sample::Index>(),
        keep_line_end in any::<bool>(),
    ) {
        let mut lines = lines();
        let length = lines[line].len();
        lines[line].truncate(1 + at.index(length - 2));
        if keep_line_end {
            lines[line].push(b'\n');
        }
        prop_assert_eq!(first(&verified(&lines)), (line as u64 + 1, AuditDamage::Malformed));
    }

    #[test]
    fn dropped_lines_are_located_and_counted(
        from in 0..RECORDS as usize,
        count in 1..=RECORDS as usize,
    ) {
        let count = count.min(RECORDS as usize - from);
        let mut lines = lines();
        lines.drain(from..from + count);
        let (from, missing) = (from as u64 + 1, count as u64);
        let expected = if from + missing > RECORDS {
            AuditDamage::Truncated { from, missing }
        } else {
            AuditDamage::Missing { from, missing }
        };
        prop_assert_eq!(first(&verified(&lines)), (from, expected));
    }

    #[test]
    fn lines_in_another_order_are_located(
        one in 0..RECORDS as usize,
        distance in 1..RECORDS as usize,
    ) {
        let other = (one + distance) % RECORDS as usize;
        let mut lines = lines();
        lines.swap(one, other);
        let (found, damage) = first(&verified(&lines));
        prop_assert_eq!(found, one.min(other) as u64 + 1);
        let missing = matches!(damage, AuditDamage::Missing { .. });
        prop_assert!(missing);
    }

    #[test]
    fn a_line_that_is_there_twice_or_is_foreign_is_located(
        line in 0..RECORDS as usize,
        before in 0..=RECORDS as usize,
        foreign in any::<bool>(),
    ) {
        let mut lines = lines();
        let twice = lines[line].clone();
        lines.insert(before, if foreign { b"{\"outcome\":\"ok\"}\n".to_vec() } else { twice });
        let (found, damage) = first(&verified(&lines));
        if foreign {
            prop_assert_eq!((found, damage), (before as u64 + 1, AuditDamage::Malformed));
        } else if before <= line {
            // The copy runs ahead: what it skipped is missing, or the original comes late.
            prop_assert!(found == before as u64 + 1 || found == line as u64 + 2);
        } else {
            prop_assert_eq!((found, damage), (before as u64 + 1, AuditDamage::OutOfOrder));
        }
    }

    #[test]
    fn an_end_that_is_cut_off_anywhere_is_located(at in any::<prop::sample::Index>()) {
        let all = lines().concat();
        let kept = &all[..at.index(all.len())];
        let whole = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
        let verification = verified(&[kept.to_vec()]);
        let (found, damage) = first(&verification);
        prop_assert_eq!(found, whole + 1);
        let cut = matches!(damage, AuditDamage::Truncated { .. } | AuditDamage::Malformed);
        prop_assert!(cut);
        prop_assert_eq!(verification.records, whole);
    }

    #[test]
    fn a_changed_anchor_is_seen(at in any::<prop::sample::Index>(), flip in 1..=255_u8) {
        let folder = tempfile::tempdir().unwrap();
        let path = place(folder.path(), &lines());
        let mut anchor = original().1.clone();
        let at = at.index(anchor.len());
        anchor[at] ^= flip;
        fs::write(folder.path().join("audit.anchor"), anchor).unwrap();
        prop_assert_eq!(first(&verify_audit(path, &key()).unwrap()).1, AuditDamage::AnchorAltered);
    }
}

/// The next record must not cover up what was done before it.
#[test]
fn writing_on_after_tampering_does_not_hide_it() {
    let anchor = |folder: &Path| folder.join("audit.anchor");
    type Tampering = fn(&Path, &Path);
    let tamperings: [(Tampering, u64, AuditDamage); 5] = [
        (
            |log, _| fs::write(log, lines()[..5].concat()).unwrap(),
            6,
            AuditDamage::Missing { from: 6, missing: 2 },
        ),
        (
            |log, _| {
                let whole = lines().concat();
                fs::write(log, &whole[..whole.len() - 9]).unwrap();
            },
            7,
            AuditDamage::Malformed,
        ),
        (|log, _| fs::remove_file(log).unwrap(), 1, AuditDamage::Missing { from: 1, missing: 7 }),
        (|_, anchor| fs::remove_file(anchor).unwrap(), 8, AuditDamage::Restarted),
        (|_, anchor| fs::write(anchor, "{}").unwrap(), 8, AuditDamage::Restarted),
    ];
    for (tamper, line, damage) in tamperings {
        let folder = tempfile::tempdir().unwrap();
        let path = place(folder.path(), &lines());
        tamper(&path, &anchor(folder.path()));
        assert!(!verify_audit(&path, &key()).unwrap().is_intact(), "{damage:?}");
        write(&path, JsonlOptions::default(), 3);
        let verification = verify_audit(&path, &key()).unwrap();
        assert_eq!(first(&verification), (line, damage));
        assert_eq!(verification.findings.len(), 1, "{verification:?}");
    }
}

/// Tampering at the borders of files.
#[test]
fn rotated_files_that_are_removed_swapped_or_joined_are_seen() {
    let fresh = || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        write(&path, JsonlOptions::default().max_bytes(1), 4);
        (folder, path)
    };
    let rotated = |path: &Path, n: u64| path.with_file_name(format!("audit.{n:012}.jsonl"));

    let (_folder, path) = fresh();
    fs::remove_file(rotated(&path, 2)).unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert_eq!(first(&verification), (1, AuditDamage::Missing { from: 2, missing: 1 }));
    assert_eq!(verification.findings[0].file, rotated(&path, 3));

    let (_folder, path) = fresh();
    let (one, two) = (rotated(&path, 1), rotated(&path, 2));
    let (first_bytes, second_bytes) = (fs::read(&one).unwrap(), fs::read(&two).unwrap());
    fs::write(&one, second_bytes).unwrap();
    fs::write(&two, first_bytes).unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert_eq!(first(&verification), (1, AuditDamage::Missing { from: 1, missing: 1 }));
    assert_eq!(verification.findings[0].file, one);

    let (_folder, path) = fresh();
    fs::remove_file(&path).unwrap();
    let verification = verify_audit(&path, &key()).unwrap();
    assert_eq!(first(&verification), (2, AuditDamage::Truncated { from: 4, missing: 1 }));
    assert_eq!(verification.findings[0].file, rotated(&path, 3));
}

#[test]
fn what_is_found_in_a_file_of_line_ends_is_counted_and_not_kept_for_ever() {
    let verification = verified(&[b"\n".repeat(5000)]);
    assert_eq!((verification.findings.len(), verification.omitted), (1000, 4000));
}
