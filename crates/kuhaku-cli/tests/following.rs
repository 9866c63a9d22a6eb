//! `kuhaku ingest --sync` and `--watch`.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use support::Place;

/// Tries a search until it ends as expected.
fn until(place: &Place, word: &str, code: i32) {
    let latest = Instant::now() + Duration::from_secs(30);
    while place.run(&["search", word, "--index", "kb"]).code != code {
        assert!(Instant::now() < latest, "{word} does not end with {code}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn documents_of_files_that_are_gone_go_when_asked() {
    let place = Place::new();
    place.write("notes/wifi.md", "The guest network is called Plover.\n");
    place.write("notes/pay.txt", "Engineers earn 90 falcons a year.\n");
    assert_eq!(place.run(&["ingest", "notes", "--index", "kb"]).code, 0);
    fs::remove_file(place.path().join("notes/pay.txt")).unwrap();
    let kept = place.run(&["ingest", "notes", "--index", "kb"]);
    assert_eq!(kept.stdout, "0 added, 0 updated, 1 unchanged\n");
    let (code, synced) = place.json(&["ingest", "notes", "--index", "kb", "--sync"]);
    assert_eq!((code, &synced["documents"][1]["outcome"]), (0, &"removed".into()));
    assert_eq!(synced["documents"][1]["source"], "notes/pay.txt");
    until(&place, "falcons", 3);
    until(&place, "plover", 0);
}

#[test]
fn a_folder_that_is_made_again_is_watched_again() {
    let place = Place::new();
    place.write("notes/wifi.md", "The guest network is called Plover.\n");
    let mut command = place.command();
    let arguments = ["ingest", "notes", "--index", "kb", "--watch", "--sync"];
    let mut child =
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(&place, "plover", 0);
    for word in ["falcons", "avocets"] {
        fs::remove_dir_all(place.path().join("notes")).unwrap();
        std::thread::sleep(Duration::from_secs(1));
        place.write("notes/pay.txt", format!("Engineers earn 90 {word} a year.\n"));
        until(&place, word, 0);
    }
    until(&place, "plover", 3);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn changes_in_a_watched_folder_are_followed_until_it_is_interrupted() {
    let place = Place::new();
    place.write("notes/wifi.md", "The guest network is called Plover.\n");
    // The index lies in the watched folder: its own changes must not wake the watch.
    let arguments = ["ingest", ".", "--index", "kb", "--watch", "--sync"];
    let mut command = place.command();
    let mut child =
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("watching") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "ended before it watched");
    }
    place.write("notes/new/pay.txt", "Engineers earn 90 falcons a year.\n");
    until(&place, "falcons", 0);
    place.write("notes/wifi.md", "The guest network is called Avocet.\n");
    until(&place, "avocet", 0);
    until(&place, "plover", 3);
    fs::remove_dir_all(place.path().join("notes/new")).unwrap();
    until(&place, "falcons", 3);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    let told: Vec<_> = said.lines().collect();
    assert!(said.starts_with("1 added, 0 updated, 0 unchanged"), "{said}");
    assert!(said.contains("1 removed"), "{said}");
    assert!(told.len() <= 6, "one line a change: {said}");
}
