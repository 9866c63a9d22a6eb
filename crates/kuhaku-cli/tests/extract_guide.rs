//! The commands of `docs/extraction.md`, run as they stand there, give what stands there.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "support/ollama.rs"]
mod ollama;
mod support;

use std::path::Path;

use ollama::Ollama;
use support::{Place, ran};

const GUIDE: &str = include_str!("../../../docs/extraction.md");

/// What the model replies to each command of the guide that asks it, in the order of the guide.
const REPLIES: [&[&str]; 7] = [
    &[r#"{"data": {"product": "tea", "quantity": 3}}"#],
    &[r#"{"data": {"product": "tea", "quantity": null}}"#],
    &[r#"{"data": {"product": null, "quantity": 3}, "new": false, "clear": [], "append": [],
        "remove": []}"#],
    &[
        r#"{"data": {"product": "tea", "quantity": null}}"#,
        r#"{"data": {"product": null, "quantity": 3}, "new": false, "clear": [], "append": [],
            "remove": []}"#,
    ],
    &[r#"{"data": {"product": "tea", "quantity": 3}, "evidence": []}"#],
    &[
        r#"{"data": {"product": "tea", "quantity": 3}}"#,
        r#"{"data": {"product": "tea", "quantity": 3}}"#,
    ],
    &[],
];

/// The commands of the guide, each with what it prints.
fn commands() -> Vec<(&'static str, String)> {
    let mut commands: Vec<(&str, String)> = Vec::new();
    for block in GUIDE.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((command, String::new())),
                (None, Some((_, prints))) => prints.push_str(&format!("{line}\n")),
                (None, None) => panic!("a block begins with {line}"),
            }
        }
    }
    commands
}

#[test]
fn every_command_of_the_guide_prints_what_the_guide_says() {
    let place = Place::new();
    let server = Ollama::start(&REPLIES);
    let host = server.server.url().replace("http://", "");
    let program = Path::new(env!("CARGO_BIN_EXE_kuhaku"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let commands = commands();
    assert_eq!(commands.len(), 8);
    for (command, prints) in commands {
        // The place knows which variables a command may see.
        let mut shell = std::process::Command::new("sh");
        for (name, value) in place.command().get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.current_dir(place.path()).env("PATH", &path);
        shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]);
        let ran = ran(server.serve(&mut shell).output().unwrap());
        let printed = ran.stdout.replace(&host, "127.0.0.1:11434");
        assert_eq!(printed, prints, "{command}");
    }
    assert_eq!(server.chats().len(), REPLIES.iter().map(|replies| replies.len()).sum::<usize>());
}
