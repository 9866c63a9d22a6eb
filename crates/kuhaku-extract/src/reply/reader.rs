//! One value, read with its faults, without recursion.

use serde_json::{Map, Value};

use super::bare;
use super::repair::{RepairKind, Repairs};
use super::strings::{Place, closers};
use super::words::{behind_key, is_pair, word_char};

/// Why a value was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It cannot be read, or in more ways than one.
    Malformed,
    /// The reply, or the fence around, ends within it.
    Truncated,
    /// It nests deeper than the limit.
    TooDeep,
}

#[derive(Debug)]
enum Frame {
    /// `implied`: the braces were left out, and the list around closes it.
    Object {
        map: Map<String, Value>,
        key: Option<String>,
        implied: bool,
    },
    List {
        items: Vec<Value>,
        closer: char,
        commas: usize,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Key,
    Value,
    Comma,
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
    max_depth: usize,
    stack: Vec<Frame>,
    sure: bool,
    repairs: Repairs,
    /// The last line break of the reply.
    last_line: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, max_depth: usize) -> Self {
        let (repairs, stack) = (Repairs::default(), Vec::new());
        let last_line = text.rfind('\n').unwrap_or(0);
        Self { text, at: 0, max_depth, stack, sure: false, repairs, last_line }
    }

    /// Where reading has come to, in bytes of the reply.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Whether a key with its colon was read: it is an object, not a brace of prose.
    pub(super) fn is_sure(&self) -> bool {
        self.sure
    }

    /// Where the value that could not be read is over, going by its brackets alone: behind the last
    /// of them, at the end of the fence, or at the end of the reply.
    pub(super) fn out_of_it(&self) -> usize {
        let mut depth = self.stack.len();
        for (at, c) in self.rest().char_indices() {
            match c {
                '{' | '[' => depth += 1,
                '}' | ']' => depth = depth.saturating_sub(1),
                '`' if self.rest().get(at..).is_some_and(|it| it.starts_with("```")) => depth = 0,
                _ => {}
            }
            if depth == 0 {
                return self.at + at + 1;
            }
        }
        self.text.len()
    }

    pub(super) fn repairs(&mut self) -> Repairs {
        std::mem::take(&mut self.repairs)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes).min(self.text.len());
    }

    /// Whether no line break follows.
    pub(super) fn is_last_line(&self) -> bool {
        self.at >= self.last_line
    }

    pub(super) fn skip_all(&mut self) {
        self.at = self.text.len();
    }

    pub(super) fn note(&mut self, kind: RepairKind, at: usize) {
        self.repairs.note(kind, at);
    }

    /// Reads the object or list that begins at `start`, and what a brace too many cut off from it; the
    /// latter only while `rejoin` stands, which falls when it came to nothing: once is cheap.
    pub(super) fn read(&mut self, start: usize, rejoin: &mut bool) -> Result<Value, Stop> {
        (self.at, self.sure) = (start, false);
        self.repairs.clear();
        let mut value = self.one()?;
        while let (Value::Object(map), true) = (&mut value, *rejoin) {
            let (end, known) = (self.at, self.repairs.clone());
            if !self.goes_on() {
                break;
            }
            match self.run(Frame::Object { map: Map::new(), key: None, implied: false }, Next::Key)
            {
                Ok(Value::Object(more)) => {
                    self.note(RepairKind::StrayCloser, end.saturating_sub(1));
                    for (key, value) in more {
                        insert(map, key, value, end, &mut self.repairs);
                    }
                }
                _ => {
                    (self.at, self.repairs) = (end, known);
                    *rejoin = false;
                }
            }
        }
        Ok(value)
    }

    /// Whether a comma, a key and its value follow the closing brace; then it was one too many.
    fn goes_on(&mut self) -> bool {
        let Some(rest) = self.rest().trim_start().strip_prefix(',') else { return false };
        let rest = rest.trim_start();
        if !behind_key(rest).is_some_and(|it| it.starts_with([':', '"'])) {
            return false;
        }
        self.at = self.text.len() - rest.len();
        true
    }

    fn one(&mut self) -> Result<Value, Stop> {
        match self.peek() {
            Some('{') => {
                self.bump();
                self.run(Frame::Object { map: Map::new(), key: None, implied: false }, Next::Key)
            }
            Some('[') => {
                self.bump();
                self.run(list(']'), Next::Value)
            }
            _ => Err(Stop::Malformed),
        }
    }

    fn run(&mut self, first: Frame, mut next: Next) -> Result<Value, Stop> {
        self.stack.clear();
        self.stack.push(first);
        loop {
            self.blank()?;
            let Some(c) = self.peek() else { return Err(self.cut_off()) };
            if c == '`' && self.rest().starts_with("```") {
                self.skip(3);
                return Err(Stop::Truncated);
            }
            let step = match next {
                Next::Key => self.key(c)?,
                Next::Value => self.value(c)?,
                Next::Comma => self.comma(c)?,
            };
            match step {
                Step::To(to) => next = to,
                Step::Done(value) => return Ok(value),
            }
        }
    }

    /// The reply ends here. A brace of prose with a word behind it was never an object.
    fn cut_off(&self) -> Stop {
        let prose = !self.sure && self.stack.len() == 1 && self.text.ends_with(word_char);
        match self.stack.first() {
            Some(Frame::Object { .. }) if prose => Stop::Malformed,
            _ => Stop::Truncated,
        }
    }

    fn key(&mut self, c: char) -> Result<Step, Stop> {
        let at = self.at;
        match c {
            '}' | ']' | ')' => {
                if !self.top_is_empty() {
                    self.note(RepairKind::StrayComma, at);
                }
                return self.close(c);
            }
            ',' => {
                self.note(RepairKind::StrayComma, at);
                self.bump();
                return Ok(Step::To(Next::Key));
            }
            _ => {}
        }
        if self.ellipsis() {
            return Ok(Step::To(Next::Comma));
        }
        if closers(c).is_some() {
            let mut quoted = self.quoted(Place::Key)?;
            if quoted.raw {
                quoted.text = quoted.text.trim_matches(['\r', '\n']).to_owned();
            }
            if quoted.colon {
                return self.colon(quoted.text);
            }
            self.blank()?;
            return match self.peek() {
                None => Err(Stop::Truncated),
                Some(':') => {
                    self.bump();
                    self.colon(quoted.text)
                }
                Some(',' | '}') if self.top_is_empty() => self.python_set(at, quoted.text),
                Some('"') if self.sure => {
                    self.note(RepairKind::MissingColon, self.at);
                    self.colon(quoted.text)
                }
                Some(_) => Err(Stop::Malformed),
            };
        }
        let rest = self.rest();
        let length = rest.find(|c| !word_char(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(Stop::Malformed);
        }
        let word = rest.get(..length).unwrap_or_default();
        self.skip(length);
        self.blank()?;
        match self.peek() {
            None => Err(self.cut_off()),
            Some(':') => {
                self.note(RepairKind::BareKey, at);
                self.bump();
                self.colon(word.to_owned())
            }
            Some(quote) if closers(quote).is_some() && self.sure => {
                self.note(RepairKind::StrayText, at);
                Ok(Step::To(Next::Key))
            }
            Some(_) => Err(Stop::Malformed),
        }
    }

    fn colon(&mut self, name: String) -> Result<Step, Stop> {
        self.sure = true;
        match self.stack.last_mut() {
            Some(Frame::Object { key, .. }) => {
                *key = Some(name);
                Ok(Step::To(Next::Value))
            }
            _ => Err(Stop::Malformed),
        }
    }

    fn value(&mut self, c: char) -> Result<Step, Stop> {
        let at = self.at;
        let in_list = matches!(self.stack.last(), Some(Frame::List { .. }));
        match c {
            '{' => {
                self.bump();
                self.push(Frame::Object { map: Map::new(), key: None, implied: false })?;
                Ok(Step::To(Next::Key))
            }
            '[' => {
                self.bump();
                self.push(list(']'))?;
                Ok(Step::To(Next::Value))
            }
            '(' => {
                self.note(RepairKind::PythonList, at);
                self.bump();
                self.push(list(')'))?;
                Ok(Step::To(Next::Value))
            }
            '}' | ']' | ')' => {
                if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
                    *key = None;
                    self.note(RepairKind::MissingValue, at);
                } else if !self.top_is_empty() {
                    self.note(RepairKind::StrayComma, at);
                }
                self.close(c)
            }
            ',' => {
                self.bump();
                if let Some(Frame::Object { key, .. }) = self.stack.last_mut() {
                    *key = None;
                    self.note(RepairKind::MissingValue, at);
                    return Ok(Step::To(Next::Key));
                }
                self.note(RepairKind::StrayComma, at);
                Ok(Step::To(Next::Value))
            }
            quote if closers(quote).is_some() => {
                let place = if in_list { Place::InList } else { Place::InObject };
                let text = self.quoted(place)?.text;
                self.put(Value::String(text), at)
            }
            _ if in_list && self.ellipsis() => Ok(Step::To(Next::Comma)),
            _ => {
                let word = self.bare_word(in_list)?;
                let value = bare::value(word, at, &mut self.repairs);
                self.put(value, at)
            }
        }
    }

    fn comma(&mut self, c: char) -> Result<Step, Stop> {
        let at = self.at;
        let in_list = match self.stack.last_mut() {
            Some(Frame::List { commas, .. }) => {
                *commas += usize::from(c == ',');
                true
            }
            _ => false,
        };
        let next = if in_list { Next::Value } else { Next::Key };
        match c {
            ',' => {
                self.bump();
                Ok(Step::To(next))
            }
            '}' | ']' | ')' => self.close(c),
            ':' if in_list => self.implied(at),
            _ if in_list || closers(c).is_some() => {
                self.note(RepairKind::MissingComma, at);
                Ok(Step::To(next))
            }
            _ if is_pair(self.rest()) => {
                self.note(RepairKind::MissingComma, at);
                Ok(Step::To(Next::Key))
            }
            _ => {
                let rest = self.rest();
                let stop = |c: char| "{}[],:\n".contains(c) || closers(c).is_some();
                let length = rest.find(stop).unwrap_or(rest.len());
                if length == 0 {
                    return Err(Stop::Malformed);
                }
                self.note(RepairKind::StrayText, at);
                self.skip(length);
                Ok(Step::To(Next::Comma))
            }
        }
    }

    /// A colon behind a string in a list: the braces of an object were left out.
    fn implied(&mut self, at: usize) -> Result<Step, Stop> {
        let Some(Frame::List { items, .. }) = self.stack.last_mut() else {
            return Err(Stop::Malformed);
        };
        let Some(Value::String(name)) = items.pop() else { return Err(Stop::Malformed) };
        self.note(RepairKind::MissingOpener, at);
        self.bump();
        self.push(Frame::Object { map: Map::new(), key: None, implied: true })?;
        self.colon(name)
    }

    /// `{'a', 'b'}`
    fn python_set(&mut self, at: usize, first: String) -> Result<Step, Stop> {
        self.note(RepairKind::PythonList, at);
        self.stack.pop();
        self.stack.push(Frame::List { items: vec![Value::String(first)], closer: '}', commas: 0 });
        Ok(Step::To(Next::Comma))
    }

    fn push(&mut self, frame: Frame) -> Result<(), Stop> {
        if self.stack.len() >= self.max_depth {
            return Err(Stop::TooDeep);
        }
        self.stack.push(frame);
        Ok(())
    }

    fn top_is_empty(&self) -> bool {
        match self.stack.last() {
            Some(Frame::Object { map, .. }) => map.is_empty(),
            Some(Frame::List { items, .. }) => items.is_empty(),
            None => true,
        }
    }

    /// Closes what the bracket here closes; one of the wrong kind by the only reading there is.
    fn close(&mut self, c: char) -> Result<Step, Stop> {
        let at = self.at;
        let (fits, implied) = match self.stack.last() {
            Some(Frame::List { closer, .. }) => (*closer == c, false),
            Some(Frame::Object { implied, .. }) => (c == '}', *implied),
            None => (false, false),
        };
        if fits {
            self.bump();
            return self.pop(at);
        }
        let parent = self.stack.len().checked_sub(2).and_then(|place| self.stack.get(place));
        let opened = |frame: &Frame| match frame {
            Frame::List { closer, .. } => *closer == c,
            Frame::Object { implied, .. } => c == '}' && !implied,
        };
        if !self.stack.iter().any(opened) {
            self.note(RepairKind::StrayCloser, at);
            self.bump();
            return Ok(Step::To(Next::Comma));
        }
        if !parent.is_some_and(opened) {
            return Err(Stop::Malformed);
        }
        // `["a"}, "key": 1` goes on with the object: the bracket was of the wrong kind. With an
        // object around that one, the pair could be of either.
        let behind = self.rest().get(c.len_utf8()..).unwrap_or_default().trim_start();
        let pair = behind.strip_prefix(',').is_some_and(|rest| is_pair(rest.trim_start()));
        if c == '}' && pair {
            let around = self.stack.len().checked_sub(3).and_then(|place| self.stack.get(place));
            if matches!(around, Some(Frame::Object { .. })) {
                return Err(Stop::Malformed);
            }
            self.note(RepairKind::StrayCloser, at);
            self.bump();
            return self.pop(at);
        }
        if !implied {
            self.note(RepairKind::MissingCloser, at);
        }
        self.pop(at) // and the bracket is met again by the frame around
    }

    fn pop(&mut self, at: usize) -> Result<Step, Stop> {
        let value = match self.stack.pop() {
            Some(Frame::Object { map, .. }) => Value::Object(map),
            // ("a") is what it holds.
            Some(Frame::List { mut items, closer: ')', commas: 0 }) if items.len() == 1 => {
                items.pop().unwrap_or_default()
            }
            Some(Frame::List { items, .. }) => Value::Array(items),
            None => return Err(Stop::Malformed),
        };
        if self.stack.is_empty() {
            return Ok(Step::Done(value));
        }
        self.put(value, at)
    }

    fn put(&mut self, value: Value, at: usize) -> Result<Step, Stop> {
        match self.stack.last_mut() {
            Some(Frame::Object { map, key, .. }) => {
                let Some(key) = key.take() else { return Err(Stop::Malformed) };
                insert(map, key, value, at, &mut self.repairs);
            }
            Some(Frame::List { items, .. }) => items.push(value),
            None => return Err(Stop::Malformed),
        }
        Ok(Step::To(Next::Comma))
    }
}

enum Step {
    To(Next),
    Done(Value),
}

fn list(closer: char) -> Frame {
    Frame::List { items: Vec::new(), closer, commas: 0 }
}

fn insert(map: &mut Map<String, Value>, key: String, value: Value, at: usize, to: &mut Repairs) {
    if map.insert(key, value).is_some() {
        to.note(RepairKind::DuplicateKey, at);
    }
}
