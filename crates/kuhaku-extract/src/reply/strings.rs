//! Strings in quotes, and the question which quote ends them.

use super::reader::{Reader, Stop};
use super::repair::RepairKind;

/// Where a string stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Key,
    InObject,
    InList,
}

/// A string that was read.
pub(super) struct Quoted {
    pub(super) text: String,
    /// A key whose closing quote was left out: the colon is read already.
    pub(super) colon: bool,
    /// Whether control characters stood in it as they are.
    pub(super) raw: bool,
}

const DOUBLE: &[char] = &['"'];
const SINGLE: &[char] = &['\''];
const SMART_DOUBLE: &[char] = &['“', '”', '„', '‟', '"'];
const SMART_SINGLE: &[char] = &['‘', '’', '‚', '‛', '\''];

/// The characters that can close a string which `open` opens.
pub(super) fn closers(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(DOUBLE),
        '\'' => Some(SINGLE),
        '“' | '”' | '„' => Some(SMART_DOUBLE),
        '‘' | '’' | '‚' => Some(SMART_SINGLE),
        _ => None,
    }
}

impl Reader<'_> {
    /// Reads the string whose opening quote stands here. A quote that is not escaped ends it when
    /// what follows can follow a string; in plain JSON that is every such quote.
    pub(super) fn quoted(&mut self, place: Place) -> Result<Quoted, Stop> {
        let start = self.at();
        let Some(closers) = self.peek().and_then(closers) else { return Err(Stop::Malformed) };
        match self.peek() {
            Some('\'') => self.note(RepairKind::SingleQuotes, start),
            Some('"') => {}
            _ => self.note(RepairKind::SmartQuotes, start),
        }
        self.bump();
        let (mut text, mut inner, mut raw) = (String::new(), 0_usize, false);
        loop {
            let rest = self.rest();
            let stop = rest.find(|c: char| c == '\\' || c < ' ' || closers.contains(&c));
            let Some(stop) = stop else {
                self.skip_all();
                return Err(Stop::Truncated);
            };
            text.push_str(rest.get(..stop).unwrap_or_default());
            self.skip(stop);
            match self.peek() {
                Some('\\') => self.escape(&mut text)?,
                Some(control) if control < ' ' => {
                    raw = true;
                    self.note(RepairKind::ControlCharacter, self.at());
                    text.push(control);
                    self.bump();
                    if control == '\n' && self.rest().starts_with("```") && !text.contains("```") {
                        self.skip(3); // the fence around ends within the string
                        return Err(Stop::Truncated);
                    }
                }
                Some(quote) => match self.role(quote, closers, &text, place, inner) {
                    Role::Ends => {
                        self.bump();
                        return Ok(Quoted { text, colon: false, raw });
                    }
                    Role::EndedAtColon => {
                        self.note(RepairKind::BareKey, start);
                        text.pop();
                        return Ok(Quoted { text, colon: true, raw });
                    }
                    Role::Doubled => {
                        self.note(RepairKind::InnerQuote, self.at());
                        self.bump();
                    }
                    Role::Inner(depth) => {
                        self.note(RepairKind::InnerQuote, self.at());
                        inner = depth;
                        text.push(quote);
                        self.bump();
                    }
                    Role::Unclear => return Err(Stop::Malformed),
                },
                None => return Err(Stop::Truncated),
            }
        }
    }

    /// What the quote that stands here is.
    fn role(&self, quote: char, closers: &[char], text: &str, place: Place, inner: usize) -> Role {
        let behind = self.rest().get(quote.len_utf8()..).unwrap_or_default();
        let next = behind.trim_start();
        let gap = behind.len() != next.len();
        let Some(follows) = next.chars().next() else { return Role::Ends };
        let ends = match (place, follows) {
            (Place::Key | Place::InList, ':') => true,
            // A value before a colon: somewhere a closing quote was left out.
            (Place::InObject, ':') => return Role::Unclear,
            (_, ',') if inner > 0 => {
                let then = next.get(1..).unwrap_or_default().trim_start().chars().next();
                then.is_none_or(|c| closers.contains(&c) || "{}[]".contains(c))
            }
            (_, ',' | '}' | ']') => true,
            (Place::InList, ')') => true,
            _ => false,
        };
        if ends {
            return Role::Ends;
        }
        let before = text.chars().next_back();
        if place == Place::Key && before == Some(':') && text.len() > 1 {
            return Role::EndedAtColon;
        }
        if next.starts_with("//") || next.starts_with("/*") || next.starts_with("```") {
            return Role::Ends;
        }
        if quote == '\'' || quote == '’' {
            // it's
            if before.is_some_and(char::is_alphanumeric) && !gap && follows.is_alphanumeric() {
                return Role::Inner(inner);
            }
        }
        if closers.contains(&follows) {
            // `"a" "b"` are two strings; the first of `"a "b""]` is one within.
            let then = next.get(follows.len_utf8()..).unwrap_or_default().trim_start();
            let closes = then.is_empty() || then.starts_with([',', '}', ']', ':']);
            return if closes && !gap && !text.is_empty() {
                Role::Inner(inner)
            } else {
                Role::Ends
            };
        }
        if text.is_empty() && !gap {
            return Role::Doubled; // `""value"`
        }
        let blank_before = before.is_none_or(char::is_whitespace);
        match (blank_before, gap) {
            (true, false) => Role::Inner(inner + 1),
            (false, true) if inner == 0 => Role::Ends,
            (_, true) => Role::Inner(inner.saturating_sub(1)),
            (false, false) => Role::Inner(inner),
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Stop> {
        let at = self.at();
        self.bump();
        let Some(escaped) = self.peek() else { return Err(Stop::Truncated) };
        self.bump();
        match escaped {
            '"' | '\\' | '/' => text.push(escaped),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => match self.unicode() {
                Some(c) => text.push(c),
                None if self.rest().len() < 4 => {
                    self.skip_all();
                    return Err(Stop::Truncated);
                }
                None => {
                    self.note(RepairKind::UnknownEscape, at);
                    text.push_str("\\u");
                }
            },
            '\'' => {
                self.note(RepairKind::UnknownEscape, at);
                text.push('\'');
            }
            other => {
                self.note(RepairKind::UnknownEscape, at);
                text.push('\\');
                text.push(other);
            }
        }
        Ok(())
    }

    /// The four digits behind `\u`, and a second escape when they are half of a character; nothing is
    /// read when they are no character.
    fn unicode(&mut self) -> Option<char> {
        let unit = |text: &str| {
            let digits = text.get(..4).filter(|it| it.bytes().all(|b| b.is_ascii_hexdigit()))?;
            u32::from_str_radix(digits, 16).ok()
        };
        let high = unit(self.rest())?;
        if !(0xD800..0xDC00).contains(&high) {
            let c = char::from_u32(high)?;
            self.skip(4);
            return Some(c);
        }
        let low = unit(self.rest().get(4..)?.strip_prefix("\\u")?)?;
        if !(0xDC00..0xE000).contains(&low) {
            return None;
        }
        let c = char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))?;
        self.skip(10);
        Some(c)
    }
}

enum Role {
    Ends,
    EndedAtColon,
    /// The opening quote, a second time.
    Doubled,
    /// Part of the text; so many quotes are open within it.
    Inner(usize),
    /// It can be read in two ways.
    Unclear,
}
