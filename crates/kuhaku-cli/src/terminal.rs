//! Asking the person at the terminal.

use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use async_trait::async_trait;
use kuhaku::core::{Consent, ConsentStep, may_ask};
use tokio::sync::oneshot;

use crate::console::plain;

/// The person at the terminal, if there is one who may be asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    interactive: bool,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let at_terminal = stdin().is_terminal() && stderr().is_terminal();
        Self { interactive: may_ask(at_terminal, |name| std::env::var(name).ok()) }
    }
}

#[async_trait]
impl Consent for Terminal {
    fn is_interactive(&self) -> bool {
        self.interactive
    }

    async fn choose(&self, question: &str, options: &[String]) -> Option<usize> {
        let mut text = format!("{}\n", plain(question));
        for (at, option) in options.iter().enumerate() {
            text.push_str(&format!("  {}. {}\n", at + 1, plain(option)));
        }
        text.push_str("Number, or Enter to leave it open: ");
        picked(&answer(&text).await?, options.len())
    }

    async fn confirm(&self, step: &ConsentStep) -> bool {
        let question = format!("{} [y/N] ", plain(&step.to_string()));
        answer(&question).await.is_some_and(|answer| is_yes(&answer))
    }
}

/// The position of the option that somebody has typed the number of.
fn picked(answer: &str, options: usize) -> Option<usize> {
    let number: usize = answer.trim().parse().ok()?;
    number.checked_sub(1).filter(|at| *at < options)
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// What is typed after a question. Read on a thread of its own, which is left behind when the command
/// is interrupted meanwhile.
async fn answer(question: &str) -> Option<String> {
    let mut out = anstream::AutoStream::auto(stderr());
    let _ = out.write_all(question.as_bytes());
    let _ = out.flush();
    let (answered, answer) = oneshot::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = stdin().read_line(&mut line).is_ok();
        // Nobody waits any more when the command has ended.
        let _ = answered.send(read.then_some(line));
    });
    answer.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_that_is_there_picks_and_only_a_clear_yes_consents() {
        for (answer, expected) in
            [("1\n", Some(0)), (" 2 ", Some(1)), ("3", None), ("0", None), ("", None), ("x", None)]
        {
            assert_eq!(picked(answer, 2), expected, "{answer}");
        }
        for (answer, expected) in [("y\n", true), ("YES", true), ("", false), ("yep", false)] {
            assert_eq!(is_yes(answer), expected, "{answer}");
        }
    }
}
