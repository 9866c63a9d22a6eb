//! `kuhaku index`: damage, copies, erasure, masking again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::path::Path;

use kuhaku::core::Masked;
use kuhaku::index::{
    Batch, ChunkIndex as _, ChunkRecord, DocumentRecord, FingerprintParts, IdKey, OpenOptions,
    SqliteIndex,
};
use kuhaku::{DocumentId, Runtime};
use support::Place;

/// A place with an index of three notes, one of which says `quagga`.
fn indexed() -> Place {
    let place = Place::new();
    place.write("notes/wifi.md", "# Wifi\n\nThe guest network is called Plover.\n");
    place.write("notes/animals.md", "# Quagga\n\nA quagga stands in the stable of Quaggaville.\n");
    place.write("notes/pay.txt", "Engineers earn 90 falcons a year.\n");
    assert_eq!(place.run(&["ingest", "notes", "--index", "kb"]).code, 0);
    place
}

fn id_of(place: &Place, source: &str) -> String {
    let (_, listed) = place.json(&["documents", "list", "--index", "kb"]);
    let documents = listed["documents"].as_array().unwrap();
    let found = documents.iter().find(|it| it["source"].as_str().unwrap().ends_with(source));
    found.unwrap()["id"].as_str().unwrap().to_owned()
}

/// All bytes below a folder, by file.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(bytes(&path));
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    all
}

fn holding(folder: &Path, word: &str) -> Vec<String> {
    let holds = |bytes: &[u8]| {
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    };
    bytes(folder).into_iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

/// D20
#[test]
fn no_byte_of_a_removed_document_is_left_after_compaction() {
    let place = indexed();
    assert!(!holding(&place.path().join("kb"), "quagga").is_empty());
    let id = id_of(&place, "animals.md");
    assert_eq!(place.run(&["search", "quagga", "--index", "kb"]).code, 0);
    assert_eq!(place.run(&["documents", "remove", &id, "--index", "kb"]).code, 0);
    let (code, compacted) = place.json(&["index", "compact", "--index", "kb"]);
    assert_eq!((code, &compacted["kept"], &compacted["log"]), (0, &0.into(), &0.into()));
    let left = holding(&place.path().join("kb"), "quagga");
    // The audit keeps what was asked, not what was stored.
    let left: Vec<_> = left.into_iter().filter(|name| !name.contains("kuhaku_audit")).collect();
    assert_eq!(left, [""; 0]);
    assert_eq!(place.run(&["search", "quagga", "--index", "kb"]).code, 3);
    assert_eq!(place.run(&["search", "plover", "--index", "kb"]).code, 0);
}

#[test]
fn a_copy_answers_as_the_index_did_and_nothing_is_overwritten() {
    let place = indexed();
    let copied = place.run(&["index", "backup", "copy", "--index", "kb"]);
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    let hits = |index| {
        let (_, found) = place.json(&["search", "guest network", "--index", index]);
        support::comparable(&found)
    };
    assert_eq!(hits("kb"), hits("copy"));
    let again = place.run(&["index", "backup", "copy", "--index", "kb"]);
    assert_eq!(again.code, 1);
    assert!(again.stderr.contains("next: "), "{}", again.stderr);
}

#[test]
fn damage_is_found_named_and_repaired_as_far_as_it_goes() {
    let place = indexed();
    let sound = place.run(&["index", "verify", "--index", "kb"]);
    assert_eq!((sound.code, sound.stdout.as_str()), (0, "sound: 3 documents with 3 passages\n"));
    let file = place.path().join("kb/index.sqlite3");
    let mut stored = fs::read(&file).unwrap();
    let at = stored.windows(12).position(|window| window == b"falcons a ye").unwrap();
    stored[at] = b'F' + 1;
    fs::write(&file, stored).unwrap();
    let (code, found) = place.json(&["index", "verify", "--index", "kb"]);
    assert_eq!(code, 6);
    assert_eq!(found["findings"][0]["kind"], "verify.terms");
    assert!(!found.to_string().contains("alcons"), "no content in findings");
    let repaired = place.run(&["index", "repair", "--index", "kb"]);
    assert_eq!(repaired.code, 0, "{}{}", repaired.stdout, repaired.stderr);
    assert!(repaired.stdout.contains("made anew"), "{}", repaired.stdout);
    assert_eq!(place.run(&["index", "verify", "--index", "kb"]).code, 0);
    assert_eq!(place.run(&["search", "engineers", "--index", "kb"]).code, 0);
}

#[test]
fn every_index_command_says_what_is_wrong_when_there_is_no_index() {
    let place = Place::new();
    place.write("taken/index.sqlite3", "not a database, but long enough to look at".repeat(99));
    for command in ["stats", "verify", "repair", "compact", "remask"] {
        for index in ["none", "taken"] {
            let ran = place.run(&["index", command, "--index", index]);
            assert_eq!(ran.code, 1, "{command} {index}: {}", ran.stdout);
            assert!(ran.stderr.contains("next: "), "{command} {index}: {}", ran.stderr);
        }
    }
    assert!(!place.path().join("none").exists());
}

async fn made_by_an_earlier_masker(folder: &Path) {
    let text = "Write to ada@example.com about the plover.";
    let mut options = OpenOptions::new(folder, Runtime::system()).create(true);
    options.fingerprint = FingerprintParts::default();
    options.fingerprint.masker = Some("pii-1".into());
    let index = SqliteIndex::open(options).await.unwrap();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let mut record = DocumentRecord::new(DocumentId::new("a").unwrap(), content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    index.apply(Batch::new().upsert(record)).await.unwrap();
    index.close().await;
}

/// D15
#[test]
fn an_index_of_an_earlier_masker_is_refused_with_the_way_out_and_masked_again() {
    let place = Place::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(made_by_an_earlier_masker(&place.path().join("kb")));
    let refused = place.run(&["search", "plover", "--index", "kb"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("kuhaku index remask"), "{}", refused.stderr);
    let (code, masked) = place.json(&["index", "remask", "--index", "kb"]);
    assert_eq!((code, &masked["changed"]), (0, &1.into()));
    assert_eq!(
        (masked["from"].as_str(), &masked["redactions"]["[EMAIL]"]),
        (Some("pii-1"), &1.into())
    );
    let found = place.run(&["search", "plover", "--index", "kb"]);
    assert!(found.stdout.contains("[EMAIL]"), "{}{}", found.stdout, found.stderr);
    assert_eq!(place.run(&["index", "compact", "--index", "kb"]).code, 0);
    assert_eq!(holding(&place.path().join("kb"), "ada@example"), [""; 0]);
    let again = place.run(&["index", "remask", "--index", "kb"]);
    assert!(again.stdout.contains("already"), "{}", again.stdout);
}
