//! The parts of a reply that are complete while the rest still arrives.
//!
//! Plain JSON behind prose, fences and a closed block of reasoning. A reply with other faults gives no
//! further pieces from where they begin; the whole is read by [`super::parse_reply`] in the end, and
//! only that counts.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::bare;
use super::repair::Repairs;
use super::surroundings::{opened, reasoning_tags};

/// A value that is complete.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Piece {
    /// Its JSON Pointer (RFC 6901) within the reply's object.
    pub pointer: String,
    /// What it is.
    pub kind: PieceKind,
}

/// What a complete value is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PieceKind {
    /// A string, number, boolean or null; what follows it has been seen.
    Scalar(Value),
    /// An object, all of whose values were given before.
    Object,
    /// A list, all of whose values were given before.
    List,
}

/// Pointers longer than this, in bytes, are not built.
const MAX_POINTER: usize = 1024;
/// A list or object deeper than this ends the reading.
const MAX_DEPTH: usize = 64;

/// Reads a reply in parts, in time linear in its length.
///
/// ```
/// use kuhaku_extract::{PartialReply, PieceKind};
/// let mut reply = PartialReply::default();
/// assert!(reply.push("{\"data\": {\"product\": \"gre").is_empty());
/// let pieces = reply.push("en tea\", \"quantity\": 1");
/// assert_eq!(pieces[0].pointer, "/data/product");
/// assert_eq!(pieces[0].kind, PieceKind::Scalar("green tea".into()));
/// assert_eq!(pieces.len(), 1); // 1 may become 12
/// ```
#[derive(Clone, Debug, Default)]
pub struct PartialReply {
    state: State,
    /// The text of the string or word being read, a string with its quotes; before the first brace,
    /// what may be a tag of reasoning.
    token: String,
    escaped: bool,
    stack: Vec<Level>,
    pointer: String,
    scalar: Option<Value>,
    /// Whether a key with its colon was read: it is an object, not a brace of prose.
    sure: bool,
}

#[derive(Clone, Debug)]
struct Level {
    /// Of a list: the place of the value being read.
    place: Option<usize>,
    /// The length of the pointer up to here.
    length: usize,
    /// Whether a value or a pair was read.
    filled: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Lead,
    Reasoning(usize),
    Prose,
    Key,
    KeyText,
    Colon,
    Value,
    ValueText,
    Word,
    Comma,
    Over,
}

impl PartialReply {
    /// Takes the next part of the reply; gives what is complete with it, in order.
    pub fn push(&mut self, part: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for c in part.chars() {
            match self.state {
                State::Over => break,
                State::Lead => self.lead(c, &mut pieces),
                _ => self.step(c, &mut pieces),
            }
        }
        pieces
    }

    fn lead(&mut self, c: char, pieces: &mut Vec<Piece>) {
        if self.token.is_empty() && c.is_whitespace() {
            return;
        }
        self.token.push(c);
        match lead(&self.token) {
            Lead::Unclear => {}
            Lead::Tag(place) => {
                self.state = State::Reasoning(place);
                self.token.clear();
            }
            Lead::Plain => {
                self.state = State::Prose;
                for c in std::mem::take(&mut self.token).chars() {
                    self.step(c, pieces);
                }
            }
        }
    }

    fn step(&mut self, c: char, pieces: &mut Vec<Piece>) {
        match self.state {
            State::Lead | State::Over => {}
            State::Reasoning(tag) => self.reasoning(c, tag),
            State::Prose => {
                if c == '{' {
                    self.open(None);
                }
            }
            State::Key => match c {
                '"' => self.begin(c, State::KeyText),
                '}' if self.stack.last().is_some_and(|level| !level.filled) => self.close(pieces),
                c if c.is_whitespace() => {}
                '{' if !self.sure && self.stack.len() == 1 => {
                    self.lost(); // a brace of prose, and another
                    self.open(None);
                }
                _ => self.lost(),
            },
            State::KeyText | State::ValueText => self.text(c),
            State::Colon => match c {
                ':' => {
                    self.sure = true;
                    self.state = State::Value;
                }
                c if c.is_whitespace() => {}
                _ => self.lost(),
            },
            State::Value => match c {
                '"' => self.begin(c, State::ValueText),
                '{' => self.open(None),
                '[' => self.open(Some(0)),
                ']' if self.stack.last().is_some_and(|it| it.place.is_some() && !it.filled) => {
                    self.close(pieces);
                }
                c if c.is_whitespace() => {}
                c if c.is_ascii_alphanumeric() || c == '-' => self.begin(c, State::Word),
                _ => self.lost(),
            },
            State::Word => {
                if c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.') {
                    self.token.push(c);
                    return;
                }
                match word(&self.token) {
                    Some(value) => {
                        self.scalar = Some(value);
                        self.state = State::Comma;
                        self.comma(c, pieces);
                    }
                    None => self.lost(),
                }
            }
            State::Comma => self.comma(c, pieces),
        }
    }

    /// Waits for the closing tag of the block.
    fn reasoning(&mut self, c: char, tag: usize) {
        match c {
            '<' => self.token.clear(),
            '>' => {
                let name = reasoning_tags().get(tag).copied().unwrap_or_default();
                let closed = self.token.strip_prefix("</");
                if closed.is_some_and(|it| it.eq_ignore_ascii_case(name)) {
                    self.state = State::Lead; // another block may follow
                }
                return self.token.clear();
            }
            _ => {}
        }
        if self.token.len() < 32 {
            self.token.push(c);
        }
    }

    fn begin(&mut self, c: char, state: State) {
        self.token.clear();
        self.token.push(c);
        self.escaped = false;
        self.state = state;
    }

    fn text(&mut self, c: char) {
        self.token.push(c);
        if self.escaped {
            self.escaped = false;
            return;
        }
        match c {
            '\\' => self.escaped = true,
            '"' => {
                let Ok(text) = serde_json::from_str::<String>(&self.token) else {
                    return self.lost();
                };
                if self.state == State::KeyText {
                    self.name(&text);
                } else {
                    self.scalar = Some(Value::String(text));
                    self.state = State::Comma;
                }
            }
            c if c < ' ' => self.lost(),
            _ => {}
        }
    }

    fn name(&mut self, key: &str) {
        let Some(level) = self.stack.last() else { return self.lost() };
        if level.length + key.len() > MAX_POINTER {
            return self.lost();
        }
        self.pointer.truncate(level.length);
        self.pointer.push('/');
        self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        self.state = State::Colon;
    }

    fn open(&mut self, place: Option<usize>) {
        if self.stack.len() >= MAX_DEPTH {
            return self.lost();
        }
        self.stack.push(Level { place, length: self.pointer.len(), filled: false });
        match place {
            None => self.state = State::Key,
            Some(_) => {
                self.pointer.push_str("/0");
                self.state = State::Value;
            }
        }
    }

    /// Behind a value: only a comma or a closing bracket makes it complete.
    fn comma(&mut self, c: char, pieces: &mut Vec<Piece>) {
        if c.is_whitespace() {
            return;
        }
        let Some(level) = self.stack.last_mut() else { return self.lost() };
        let fits = match c {
            ',' => true,
            '}' => level.place.is_none(),
            ']' => level.place.is_some(),
            _ => false,
        };
        if !fits {
            return self.lost();
        }
        level.filled = true;
        if let Some(value) = self.scalar.take() {
            let pointer = self.pointer.clone();
            pieces.push(Piece { pointer, kind: PieceKind::Scalar(value) });
        }
        if c != ',' {
            return self.close(pieces);
        }
        match &mut level.place {
            None => self.state = State::Key,
            Some(place) => {
                *place += 1;
                let place = *place;
                self.pointer.truncate(level.length);
                self.pointer.push_str(&format!("/{place}"));
                self.state = State::Value;
            }
        }
    }

    fn close(&mut self, pieces: &mut Vec<Piece>) {
        let Some(level) = self.stack.pop() else { return self.lost() };
        self.pointer.truncate(level.length);
        let kind = if level.place.is_some() { PieceKind::List } else { PieceKind::Object };
        pieces.push(Piece { pointer: self.pointer.clone(), kind });
        self.state = if self.stack.is_empty() { State::Over } else { State::Comma };
    }

    /// A brace of prose is passed over; in the middle of an object nothing more is certain.
    fn lost(&mut self) {
        self.stack.clear();
        self.pointer.clear();
        self.scalar = None;
        self.state = if self.sure { State::Over } else { State::Prose };
    }
}

enum Lead {
    Unclear,
    Plain,
    Tag(usize),
}

/// Whether the reply begins with reasoning; unclear while it still might.
fn lead(text: &str) -> Lead {
    let start = text.trim_start();
    let begins = |tag: &&str| {
        let whole = format!("<{tag}>");
        start.len() < whole.len()
            && whole.get(..start.len()).is_some_and(|it| it.eq_ignore_ascii_case(start))
    };
    if let Some(place) = reasoning_tags().iter().position(|tag| opened(start, tag).is_some()) {
        return Lead::Tag(place);
    }
    if reasoning_tags().iter().any(begins) { Lead::Unclear } else { Lead::Plain }
}

/// A literal or number of plain JSON, exactly.
fn word(token: &str) -> Option<Value> {
    serde_json::from_str::<IgnoredAny>(token).ok()?;
    Some(bare::value(token, 0, &mut Repairs::default()))
}
