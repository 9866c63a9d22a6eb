//! Standard output for results, standard error for everything else. The only place that prints.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _, stdin};
use std::sync::{Arc, OnceLock};

use anstyle::{AnsiColor, Style};
use kuhaku::Error;
use kuhaku::core::{Announcement, Announcer, ErrorKind, Masker as _, PiiMasker, Placeholder};
use serde_json::json;

use crate::exit::Exit;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();

/// A line in pieces. Text comes from outside as often as not, so that control characters in it are
/// shown as `·` and never reach a terminal; style is added here alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line(Vec<(Style, String)>);

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    pub(crate) fn text(self, text: impl Into<String>) -> Self {
        self.piece(PLAIN, text)
    }

    /// Adds text that stands out on a terminal.
    pub(crate) fn bold(self, text: impl Into<String>) -> Self {
        self.piece(BOLD, text)
    }

    /// Adds text that stands back on a terminal.
    pub(crate) fn dim(self, text: impl Into<String>) -> Self {
        self.piece(DIM, text)
    }

    fn piece(mut self, style: Style, text: impl Into<String>) -> Self {
        self.0.push((style, text.into()));
        self
    }

    fn render(&self) -> String {
        let piece = |(style, text): &(Style, String)| format!("{style}{}{style:#}", plain(text));
        self.0.iter().map(piece).collect()
    }
}

impl<S: Into<String>> From<S> for Line {
    fn from(text: S) -> Self {
        Self::new().text(text)
    }
}

/// The two outputs. Colour is used on terminals only.
///
/// A reader that goes away early (`kuhaku … | head`) is no error: what cannot be written is dropped. A
/// result that cannot be written for another reason is an error of the command, which
/// [`end`](Self::end) tells. Clones know the same of that.
#[derive(Clone, Debug)]
pub(crate) struct Console {
    json: bool,
    lost: Arc<OnceLock<io::Error>>,
}

impl Console {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, lost: Arc::default() }
    }

    fn wrote(&self, outcome: io::Result<()>) {
        if let Some(error) = outcome.err().filter(|it| it.kind() != io::ErrorKind::BrokenPipe) {
            // The first tells the reason.
            let _ = self.lost.set(error);
        }
    }

    /// How the command ends: as it says, unless a part of its result could not be written.
    pub(crate) fn end(&self, exit: Exit) -> Exit {
        self.wrote(anstream::stdout().flush());
        let Some(error) = self.lost.get() else { return exit };
        let wrong = format!("the operating system refused: {}", error.kind());
        let lost = kuhaku::core::Error::new(ErrorKind::Storage, "write to standard output", wrong)
            .next("check what it is redirected to, such as the room on the disk");
        self.error(&lost.into());
        Exit::Failed
    }

    /// Whether results are JSON.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// A line of the result.
    pub(crate) fn line(&self, line: impl Into<Line>) {
        self.wrote(writeln!(anstream::stdout(), "{}", line.into().render()));
    }

    /// Lines of the result.
    pub(crate) fn lines(&self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }

    /// A part of the result that goes on, shown at once. Only its line breaks act on a terminal.
    pub(crate) fn part(&self, text: &str) {
        let mut stdout = anstream::stdout();
        for part in text.split_inclusive('\n') {
            let line = part.trim_end_matches(['\r', '\n']);
            let end = if part.ends_with('\n') { "\n" } else { "" };
            self.wrote(write!(stdout, "{}{end}", plain(line)));
        }
        self.wrote(stdout.flush());
    }

    /// The result as JSON.
    pub(crate) fn value(&self, value: &impl serde::Serialize) {
        if let Ok(text) = serde_json::to_string_pretty(value) {
            self.wrote(writeln!(anstream::stdout(), "{}", escaped(&text)));
        }
    }

    /// A remark. It may name what was typed, so it is masked, like all that logs may keep (R7).
    pub(crate) fn note(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{}", Line::new().dim(masked(text)).render());
    }

    /// Asks for a line, where somebody at a terminal types behind it.
    pub(crate) fn prompt(&self, text: &str) {
        if !stdin().is_terminal() {
            return;
        }
        let mut stderr = anstream::stderr();
        let _ = write!(stderr, "{}", Line::new().dim(text).render());
        let _ = stderr.flush();
    }

    /// What is wrong with the arguments. Help that was asked for is no error.
    pub(crate) fn usage(&self, error: &clap::Error) -> Exit {
        let shown = error.to_string();
        let masked = masked(&shown);
        if masked == shown {
            // Help goes to standard output.
            self.wrote(error.print());
        } else {
            masked.lines().for_each(|line| {
                let _ = writeln!(anstream::stderr(), "{}", plain(line));
            });
        }
        if error.use_stderr() { Exit::Usage } else { Exit::Done }
    }

    /// An error: what was tried, what is wrong, what to do next. All of it is masked, but for the
    /// addresses of services.
    pub(crate) fn error(&self, error: &Error) {
        let code = error.code();
        let tried = masked_but_services(error.tried());
        let wrong = masked_but_services(error.wrong());
        let next = error.next_step().map(masked_but_services);
        let mut stderr = anstream::stderr();
        let line = Line::new()
            .piece(RED, "error")
            .text(format!(": cannot {tried}: {wrong} "))
            .dim(format!("[{code}]"));
        let _ = writeln!(stderr, "{}", line.render());
        if let Some(next) = &next {
            let _ =
                writeln!(stderr, "{}", Line::new().bold("next").text(format!(": {next}")).render());
        }
        if self.json {
            let error = json!({ "code": code, "tried": tried, "wrong": wrong, "next": next });
            self.value(&json!({ "version": 1, "error": error }));
        }
    }
}

impl Announcer for Console {
    fn announce(&self, announcement: &Announcement) {
        // Nobody asked for a model; `kuhaku doctor` says that there is none. One that was named or
        // chosen earlier and cannot be used is spoken of apart from this.
        if ["resolution.llm.none", "rag.retrieval.sparse"].contains(&announcement.key.as_str()) {
            return;
        }
        let line = Line::new().dim(masked_but_hosts(&announcement.text));
        let _ = writeln!(anstream::stderr(), "{}", line.render());
    }
}

/// A text masked, but for addresses of machines: who is to know where text goes must see them.
pub(crate) fn masked_but_hosts(text: &str) -> String {
    masked_but(text, |_, _| true)
}

/// A text masked, but for the addresses of services, which come from the settings: those with a port
/// or in a URL. An address within a path or a word may be of a document.
fn masked_but_services(text: &str) -> String {
    masked_but(text, |before, after| {
        let before = before.strip_suffix('[').unwrap_or(before);
        let after = after.strip_prefix(']').unwrap_or(after);
        let within = |c: char| c.is_alphanumeric() || "/\\.-_:@%".contains(c);
        let rest =
            after.strip_prefix(':').map(|it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
        let port = rest.is_some_and(|rest| {
            rest.len() + 1 < after.len() && !rest.starts_with(|c| within(c) && c != '/')
        });
        let url = before.ends_with("http://") || before.ends_with("https://");
        url && (port || !after.starts_with(|c| within(c) && c != '/'))
            || port && !before.ends_with(within)
    })
}

/// A text masked, but for the addresses of machines of which `shown` says so, given what stands before
/// and after one.
fn masked_but(text: &str, shown: impl Fn(&str, &str) -> bool) -> String {
    let ip = Placeholder::Ip.as_str();
    let masked = PiiMasker::new().mask(text);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in masked.text().match_indices(ip) {
        let source = masked.map().to_source(at..at + ip.len());
        let (before, after) = (text.get(..source.start), text.get(source.end..));
        let original = text.get(source);
        let keep = before.zip(after).is_some_and(|(before, after)| shown(before, after));
        out.push_str(masked.text().get(done..at).unwrap_or_default());
        out.push_str(original.filter(|_| keep).unwrap_or(ip));
        done = at + ip.len();
    }
    out + masked.text().get(done..).unwrap_or_default()
}

/// A text masked.
pub(crate) fn masked(text: &str) -> String {
    PiiMasker::new().mask(text).into_parts().0
}

/// Characters by which text could steer a terminal, or show itself in another order than it has.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text that is only text.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().any(steers) {
        text.chars().map(|c| if steers(c) { '·' } else { c }).collect()
    } else {
        text.into()
    }
}

/// JSON whose strings write such characters as escapes. Outside strings only line breaks occur.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) && c != '\n' {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn text_cannot_steer_the_terminal() {
        let hostile = "a\u{1b}[2J\u{9b}31m\u{7}\r\n\u{202e}b";
        assert_eq!(plain(hostile), "a·[2J·31m····b");
        let line = Line::new().bold(hostile).dim("c").render();
        assert_eq!(line, format!("{BOLD}a·[2J·31m····b{BOLD:#}{DIM}c{DIM:#}"));
    }

    #[test]
    fn what_is_masked_of_a_decision_is_not_where_text_goes() {
        let text = "llm: m (sk-ABCDEFGHIJKLMNOP1234); questions go to 127.0.0.1:8000";
        let shown = "llm: m ([TOKEN]); questions go to 127.0.0.1:8000";
        assert_eq!(masked_but_hosts(text), shown);
        assert_eq!(masked_but_hosts("to [::1]:80 and a@b.com"), "to [::1]:80 and [EMAIL]");
    }

    #[test]
    fn errors_show_where_a_service_is_and_mask_what_may_be_of_a_document() {
        for text in [
            "start Ollama at 127.0.0.1:1, or set OLLAMA_HOST",
            "call http://10.20.30.40:1/v1/chat/completions",
            "call http://10.20.30.40/v1",
            "call http://10.20.30.40",
            "call http://[::1]:80/v1",
            "10.20.30.40:8000/v1",
        ] {
            assert_eq!(masked_but_services(text), text);
        }
        for (text, shown) in [
            ("read `kb/10.20.30.40.txt`", "read `kb/[IP].txt`"),
            ("find 10.20.30.40", "find [IP]"),
            ("read /kb/10.20.30.40:80/a", "read /kb/[IP]:80/a"),
            ("read `10.20.30.40:a`", "read `[IP]:a`"),
            ("call http://10.20.30.40:1/a@b.com", "call http://10.20.30.40:1/[EMAIL]"),
        ] {
            assert_eq!(masked_but_services(text), shown);
        }
    }

    #[test]
    fn json_says_the_same_without_characters_that_steer() {
        let value = json!({ "a": "x\u{9b}31m\u{202e}\u{1b}é" });
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.chars().any(|c| steers(c) && c != '\n'));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }
}
