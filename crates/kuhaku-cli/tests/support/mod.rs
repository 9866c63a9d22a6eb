//! Runs the command as a person would.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// 64 hex digits, so that the indexes of a test can be compared.
pub(crate) const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// How the variables begin by which a machine offers models.
const SERVICES: [&str; 7] =
    ["ANTHROPIC_", "GOOGLE_", "GROQ_", "HF_", "OLLAMA_", "OPENAI_", "OPENROUTER_"];

/// The folder of the repository's fixtures.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").canonicalize().unwrap()
}

/// A folder of its own, in which commands run.
pub(crate) struct Place(tempfile::TempDir);

/// What a command left behind.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Copies the handbook into this place, but for one page if named.
    pub(crate) fn handbook(&self, without: Option<&str>) -> PathBuf {
        let to = self.path().join("handbook");
        copy(&fixtures().join("handbook"), &to);
        if let Some(page) = without {
            std::fs::remove_file(to.join(page)).unwrap();
        }
        to
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kuhaku"));
        command.current_dir(self.path()).env("TMPDIR", self.path());
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy().to_uppercase();
            if text.starts_with("KUHAKU_") || SERVICES.iter().any(|it| text.starts_with(it)) {
                command.env_remove(name);
            }
        }
        // Nobody listens there, whatever runs on this machine.
        command.env("OLLAMA_HOST", "127.0.0.1:9");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command().args(arguments).output().unwrap())
    }

    /// Runs with `--json` and reads what is printed.
    pub(crate) fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let ran = ran(self.command().args(arguments).arg("--json").output().unwrap());
        let value = serde_json::from_str(&ran.stdout);
        (ran.code, value.unwrap_or_else(|e| panic!("{e}: {}{}", ran.stdout, ran.stderr)))
    }
}

pub(crate) fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// JSON without what differs between equal requests (D24), as text.
pub(crate) fn comparable(value: &Value) -> String {
    let mut value = value.clone();
    value.as_object_mut().unwrap().retain(|name, _| name != "trace_id" && !name.ends_with("_ms"));
    serde_json::to_string_pretty(&value).unwrap()
}
