//! Standard output for results, standard error for everything else.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use kuhaku::Error;
use serde_json::{Value, json};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();

/// The two outputs. Colour is used on terminals only.
///
/// A reader that goes away early (`kuhaku … | head`) is no error: what cannot be written is dropped.
#[derive(Debug)]
pub(crate) struct Console {
    json: bool,
}

impl Console {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether results are JSON.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// A line of the result.
    pub(crate) fn line(&self, text: &str) {
        let _ = writeln!(anstream::stdout(), "{text}");
    }

    /// The result as JSON.
    pub(crate) fn value(&self, value: &impl serde::Serialize) {
        if let Ok(text) = serde_json::to_string_pretty(value) {
            self.line(&text);
        }
    }

    /// A remark.
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
    }

    /// An error: what was tried, what is wrong, what to do next.
    pub(crate) fn error(&self, error: &Error) {
        let (tried, wrong, code) = (error.tried(), error.wrong(), error.code());
        let mut stderr = anstream::stderr();
        let _ = writeln!(stderr, "{RED}error{RED:#}: cannot {tried}: {wrong} {DIM}[{code}]{DIM:#}");
        if let Some(next) = error.next_step() {
            let _ = writeln!(stderr, "{BOLD}next{BOLD:#}: {next}");
        }
        if self.json {
            let next: Value = error.next_step().into();
            let error = json!({ "code": code, "tried": tried, "wrong": wrong, "next": next });
            self.value(&json!({ "version": 1, "error": error }));
        }
    }

    /// Text that stands out on a terminal.
    pub(crate) fn bold(text: &str) -> String {
        format!("{BOLD}{text}{BOLD:#}")
    }

    /// Text that stands back on a terminal.
    pub(crate) fn dim(text: &str) -> String {
        format!("{DIM}{text}{DIM:#}")
    }
}
