//! Three hundred values of all kinds on every way through the command, and a search for them in all
//! bytes that it leaves (R7).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]
#![cfg(unix)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use kuhaku_testkit::{Planted, planted};
use support::{Place, Ran, ran};

const COUNT: usize = 300;
/// Sentences per page.
const PAGE: usize = 6;

/// Sentences that fit into the name of a file and into a line of front matter.
fn lines(values: &[Planted]) -> impl Iterator<Item = &str> {
    let sentences = values.iter().map(|it| it.sentence.as_str());
    sentences.filter(|it| !it.contains(['\n', '/', '"', '\\', '\0']) && it.len() < 120)
}

/// Pages with values in their text, headings, titles, metadata and names.
fn write_pages(place: &Place, values: &[Planted]) {
    for (number, page) in values.chunks(PAGE).enumerate() {
        let text: Vec<&str> = page.iter().map(|it| it.sentence.as_str()).collect();
        let shown = lines(page).next();
        let value = shown.unwrap_or("nothing");
        let markdown = format!(
            "---\ntitle: \"Page {number}: {value}\"\nowner: \"{value}\"\n---\n\n\
             # About: {value}\n\n{}\n\n## Pagemarker{number}\n\nThe end.\n",
            text.join("\n\n")
        );
        place.write(&format!("pages/page-{number}: {value}.md"), markdown);
        place.write(&format!("pages/plain-{number}.txt"), text.join("\n\n"));
    }
}

/// Everything that the command has printed and left in files, but for the pages themselves.
fn written(place: &Place, printed: &[Ran]) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    collect(place.path(), &mut all);
    for (number, ran) in printed.iter().enumerate() {
        all.push((format!("stdout {number}"), ran.stdout.clone().into_bytes()));
        all.push((format!("stderr {number}"), ran.stderr.clone().into_bytes()));
    }
    all
}

fn collect(folder: &Path, all: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all.push((
            format!("the name {}", path.display()),
            path.to_string_lossy().into_owned().into(),
        ));
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name == "pages") {
                continue;
            }
            collect(&path, all);
        } else {
            all.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

fn holds(bytes: &[u8], needle: &str) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
}

/// Which values stand where.
fn found(all: &[(String, Vec<u8>)], values: &[Planted]) -> Vec<String> {
    let text: Vec<(&String, String)> = all
        .iter()
        .map(|(name, bytes)| (name, String::from_utf8_lossy(bytes).into_owned()))
        .collect();
    let needles = values.iter().flat_map(|it| it.needles.iter().map(move |needle| (it, needle)));
    let mut found = Vec::new();
    for (it, needle) in needles {
        for (name, text) in text.iter().filter(|(_, text)| text.contains(needle.as_str())) {
            let at = text.find(needle.as_str()).unwrap_or_default();
            let near: String = text.get(..at).unwrap_or_default().chars().rev().take(30).collect();
            let near: String = near.chars().rev().collect();
            found.push(format!("{:?} {needle:?} in {name} after {near:?}", it.kind));
        }
    }
    found
}

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal to a command that runs, after a while, and waits for its end.
fn interrupted(place: &Place, arguments: &[&str], signal: &str, after: u64) -> Ran {
    let child = start(place, arguments);
    sleep(Duration::from_millis(after));
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
    ran(child.wait_with_output().unwrap())
}

#[test]
fn no_planted_value_stands_in_any_byte_that_the_command_writes_or_prints() {
    let place = Place::new();
    let values = planted(11, COUNT);
    write_pages(&place, &values);
    let mut printed = Vec::new();
    for (signal, after) in [("-KILL", 15), ("-INT", 25), ("-KILL", 60), ("-INT", 90)] {
        printed.push(interrupted(&place, &["ingest", "pages", "--index", "kb"], signal, after));
    }
    let ingest = place.run(&["ingest", "pages", "--index", "kb"]);
    assert_eq!(ingest.code, 0, "{}{}", ingest.stdout, ingest.stderr);
    printed.push(ingest);
    printed.push(place.run(&["ingest", "pages", "--index", "kb", "--json"]));

    let marked = place.run(&["search", "pagemarker7", "--index", "kb"]);
    assert!(marked.stdout.contains("Pagemarker7"), "{}{}", marked.stdout, marked.stderr);
    printed.push(marked);
    for (number, it) in values.iter().enumerate().filter(|(number, _)| number % 5 == 0) {
        let command = if number % 2 == 0 { "ask" } else { "search" };
        printed.push(place.run(&[command, &it.sentence, "--index", "kb"]));
    }
    for it in values.iter().take(12) {
        printed.push(place.run(&["ask", &it.sentence, "--index", "kb", "--json"]));
    }
    for it in lines(&values).take(40) {
        let missing = format!("none: {it}");
        for arguments in [
            ["ingest", &missing, "--index", "kb"],
            ["ask", "--index", &missing, "What?"],
            ["ask", "--docs", &missing, "What?"],
            ["search", "What?", "--role", &format!("--{it}")],
        ] {
            let failed = place.run(&arguments);
            assert_ne!(failed.code, 0, "{arguments:?}");
            printed.push(failed);
        }
    }
    printed.push(place.run(&["documents", "--index", "kb"]));
    printed.push(place.run(&["documents", "--index", "kb", "--json"]));
    printed.push(place.run(&["quarantine", "--index", "kb"]));
    printed.push(place.run(&["doctor", "--index", "kb"]));
    printed.push(place.run(&["audit", "show", "--index", "kb"]));
    printed.push(place.run(&["audit", "show", "--index", "kb", "--json"]));

    let found = found(&written(&place, &printed), &values);
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_search_for_values_finds_them_where_they_are() {
    let place = Place::new();
    let values = planted(11, 30);
    let value = &values[0];
    place.write("kb/leak", &value.sentence);
    let all = written(&place, &[]);
    assert!(found(&all, &values).iter().any(|line| line.contains("kb/leak")));
    assert!(all.iter().any(|(_, bytes)| holds(bytes, &value.value)));
}
