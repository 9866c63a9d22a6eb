//! What stands without quotes: words, comments, blanks; and what lies ahead.

use super::reader::{Reader, Stop};
use super::repair::RepairKind;
use super::strings::closers;

impl<'a> Reader<'a> {
    /// A value without quotes: up to what ends a value, brackets within it kept in pairs.
    pub(super) fn bare_word(&mut self, in_list: bool) -> Result<&'a str, Stop> {
        let rest = self.rest();
        if !in_list && let Some(end) = unopened(rest) {
            self.skip(end + 1);
            return Ok(rest.get(..end).unwrap_or_default());
        }
        let (mut depth, mut blank, mut end) = (0_usize, false, None);
        for (at, c) in rest.char_indices() {
            match c {
                '\n' | '\r' => end = Some(at),
                ',' | '}' | ']' if depth == 0 => end = Some(at),
                ')' if depth == 0 && in_list => end = Some(at),
                '{' | '[' | '(' => depth += 1,
                '}' | ']' | ')' => depth = depth.saturating_sub(1),
                '"' if blank || in_list => end = Some(at),
                '/' | '#' if blank => {
                    let then = rest.get(at..).unwrap_or_default();
                    if c == '#' || then.starts_with("//") || then.starts_with("/*") {
                        end = Some(at);
                    }
                }
                '`' if rest.get(at..).is_some_and(|it| it.starts_with("```")) => end = Some(at),
                // Behind a colon comes another value: where this one ends is anybody's guess.
                ':' if rest
                    .get(at + 1..)
                    .is_some_and(|it| it.starts_with([' ', '"', '{', '['])) =>
                {
                    self.skip(at);
                    return Err(Stop::Malformed);
                }
                _ => {}
            }
            if end.is_some() {
                break;
            }
            blank = c.is_whitespace();
        }
        let Some(end) = end else {
            self.skip_all();
            return Err(Stop::Truncated);
        };
        let word = rest.get(..end).unwrap_or_default().trim_end();
        if word.is_empty() {
            return Err(Stop::Malformed);
        }
        self.skip(end);
        if in_list && self.peek() == Some('"') && !blank {
            self.bump(); // the closing quote of a string that was never opened
        }
        Ok(word)
    }

    pub(super) fn ellipsis(&mut self) -> bool {
        let rest = self.rest();
        let length = if rest.starts_with("...") { 3 } else { '…'.len_utf8() };
        if !rest.starts_with("...") && !rest.starts_with('…') {
            return false;
        }
        let then = rest.get(length..).unwrap_or_default().trim_start();
        if !then.starts_with([',', ']', '}']) {
            return false;
        }
        self.note(RepairKind::Ellipsis, self.at());
        self.skip(length);
        true
    }

    /// Passes over blanks and comments.
    pub(super) fn blank(&mut self) -> Result<(), Stop> {
        loop {
            let rest = self.rest();
            let length = rest.find(|c| !is_blank(c)).unwrap_or(rest.len());
            self.skip(length);
            let rest = self.rest();
            let comment = if rest.starts_with("/*") {
                let Some(end) = rest.find("*/") else {
                    self.skip_all();
                    return Err(Stop::Truncated);
                };
                end + 2
            } else if rest.starts_with("//") || rest.starts_with('#') {
                if !self.is_last_line() { rest.find('\n') } else { unmatched(rest) }
                    .unwrap_or(rest.len())
            } else {
                return Ok(());
            };
            self.note(RepairKind::Comment, self.at());
            self.skip(comment);
        }
    }
}

pub(super) fn word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')
}

/// Blanks, and marks that nobody sees.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}' | '\u{2060}')
}

/// Where a comment in the last line ends: all of the reply may have come in one line, and then the
/// first bracket that closes nothing within the comment is the value's.
fn unmatched(comment: &str) -> Option<usize> {
    let mut depth = 0_usize;
    comment.find(|c: char| match c {
        '{' | '[' => {
            depth += 1;
            false
        }
        '}' | ']' if depth == 0 => true,
        '}' | ']' => {
            depth -= 1;
            false
        }
        _ => false,
    })
}

/// Where the string ends whose opening quote was left out: `tea, green", "next"`.
fn unopened(rest: &str) -> Option<usize> {
    let end = rest.find(|c: char| ":{}[]\n\"".contains(c))?;
    let (text, quote) = rest.split_at_checked(end)?;
    let behind = quote.strip_prefix('"')?.trim_start();
    let inside = text.chars().next_back().is_some_and(|c| !c.is_whitespace() && c != ',');
    (inside && behind.starts_with([',', '}'])).then_some(end)
}

/// How long a key may be for it to be recognised ahead.
const FAR: usize = 256;

/// Whether a key and its colon stand here.
pub(super) fn is_pair(text: &str) -> bool {
    behind_key(text).is_some_and(|rest| rest.starts_with(':'))
}

/// What follows the key that stands here.
pub(super) fn behind_key(text: &str) -> Option<&str> {
    let near = |c: &(usize, char)| c.0 < FAR;
    let end = match closers(text.chars().next()?) {
        Some(closers) => text
            .char_indices()
            .skip(1)
            .take_while(near)
            .find(|(_, c)| closers.contains(c))
            .map(|(at, c)| at + c.len_utf8()),
        None => {
            text.char_indices().take_while(near).find(|(_, c)| !word_char(*c)).map(|(at, _)| at)
        }
    };
    Some(text.get(end.filter(|end| *end > 0)?..)?.trim_start())
}
