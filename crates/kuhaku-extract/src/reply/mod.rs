//! The one parser of what models write: the first value that the caller accepts, out of fences,
//! prose, reasoning and the usual faults of JSON.
//!
//! The value holds nothing that the reply does not hold: what is broken off is [`Unparsed::Truncated`],
//! never completed, and what can be read in two ways is not read. Time is linear in the reply; the
//! stack does not grow with it.

mod bare;
mod partial;
mod reader;
mod repair;
mod strings;
mod surroundings;
mod words;

use std::fmt;
use std::ops::Range;

use serde_json::Value;

use reader::{Reader, Stop};
use repair::Repairs;
use surroundings::{after_reasoning, next_opener, note_surroundings};

pub use partial::{PartialReply, Piece, PieceKind};
pub use repair::{Repair, RepairKind};

/// How much of a reply is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplyLimits {
    /// The longest reply, in bytes; 4 MiB unless changed.
    pub max_bytes: usize,
    /// How deep lists and objects may stand in each other, from 1; 64 unless changed.
    pub max_depth: usize,
}

impl Default for ReplyLimits {
    fn default() -> Self {
        Self { max_bytes: 4 << 20, max_depth: 64 }
    }
}

impl ReplyLimits {
    /// With another limit of length, in bytes.
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// With another limit of depth. It is kept within 1 to 128.
    #[must_use]
    pub fn max_depth(self, max_depth: usize) -> Self {
        Self { max_depth: max_depth.clamp(1, 128), ..self }
    }
}

/// What the caller thinks of a value that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is what was asked for: the search ends.
    Satisfied,
    /// It will do if nothing better comes; the greatest number is kept, the first among equals.
    Usable(u32),
    /// It is something else.
    Refused,
}

/// A value out of a reply.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parsed {
    /// The value; it holds no text and no number that the reply does not hold.
    pub value: Value,
    /// What the caller thought of it; never [`Verdict::Refused`].
    pub verdict: Verdict,
    /// Where it stood in the reply, in bytes.
    pub range: Range<usize>,
    /// What was mended or passed over, in the order of first places, each kind once.
    pub repairs: Vec<Repair>,
}

/// Why a reply gave no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unparsed {
    /// It holds nothing that can be read as a value.
    NoJson,
    /// A value begins and does not end.
    Truncated,
    /// Lists and objects stand in each other deeper than the limit.
    TooDeep,
    /// It is longer than the limit.
    TooLarge,
    /// Values were read, and the caller accepted none.
    NotAccepted,
}

impl Unparsed {
    /// The name, as reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoJson => "no_json",
            Self::Truncated => "truncated",
            Self::TooDeep => "too_deep",
            Self::TooLarge => "too_large",
            Self::NotAccepted => "not_accepted",
        }
    }

    /// What was wrong, in words that quote nothing of the reply (R7).
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoJson => "it holds no JSON that can be read",
            Self::Truncated => "its JSON is cut off: a quote, bracket or brace is never closed",
            Self::TooDeep => "its JSON is nested too deep",
            Self::TooLarge => "it is too long",
            Self::NotAccepted => "its JSON is not of the form that was asked for",
        }
    }
}

impl fmt::Display for Unparsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl std::error::Error for Unparsed {}

/// How many elements of a list that was refused are shown to the caller one by one.
const MAX_UNWRAPPED: usize = 16;
/// How many values of one reply are shown to the caller before the search is given up.
const MAX_OFFERED: usize = 256;

/// Reads the first value in `text` that `accept` is satisfied with, else the best that it can use.
///
/// Objects and lists are looked for in order; a reply that is nothing but one string, number or
/// literal is offered too. What `accept` refuses is offered again without its wrapping: the elements
/// of a list, the value of an object's only key. Nothing within a value that is cut off is offered.
///
/// # Errors
///
/// [`Unparsed`] says why there is no value.
pub fn parse_reply(
    text: &str,
    limits: &ReplyLimits,
    accept: &mut dyn FnMut(&Value) -> Verdict,
) -> Result<Parsed, Unparsed> {
    if text.len() > limits.max_bytes {
        return Err(Unparsed::TooLarge);
    }
    let body = after_reasoning(text);
    let mut search = Search { text, body, accept, best: None, refused: 0, offered: 0 };
    let (mut truncated, mut deep) = (false, false);
    if let Some(value) = bare::whole(text.get(body..).unwrap_or_default())
        && search.offer(value, body..text.len(), Repairs::default())
    {
        return search.done();
    }
    // Work on candidates that come to nothing is bounded, so that the whole stays linear.
    let mut spare = text.len().saturating_mul(4).saturating_add(4096);
    let mut reader = Reader::new(text, limits.max_depth);
    let (mut at, mut rejoin) = (body, true);
    while let Some(start) = next_opener(text, at).filter(|_| search.offered < MAX_OFFERED) {
        match reader.read(start, &mut rejoin) {
            Ok(value) => {
                at = reader.at();
                if search.offer(value, start..at, reader.repairs()) {
                    return search.done();
                }
            }
            Err(Stop::Truncated) => {
                truncated = true;
                at = reader.at().max(start + 1); // behind a fence there may be another try
            }
            Err(Stop::TooDeep) => {
                deep = true;
                at = reader.out_of_it();
            }
            // Nothing within a broken object is the answer; a brace of prose may stand before it.
            Err(Stop::Malformed) if reader.is_sure() => at = reader.out_of_it(),
            Err(Stop::Malformed) => {
                let spent = reader.at().saturating_sub(start);
                at = if spare < spent { reader.at().max(start + 1) } else { start + 1 };
                spare = spare.saturating_sub(spent);
            }
        }
    }
    if search.best.is_some() {
        return search.done();
    }
    Err(match (truncated, deep, search.refused) {
        (true, ..) => Unparsed::Truncated,
        (_, true, _) => Unparsed::TooDeep,
        (.., 0) => Unparsed::NoJson,
        _ => Unparsed::NotAccepted,
    })
}

struct Search<'a> {
    text: &'a str,
    body: usize,
    accept: &'a mut dyn FnMut(&Value) -> Verdict,
    best: Option<(u32, Parsed, Repairs)>,
    refused: usize,
    offered: usize,
}

impl Search<'_> {
    /// True when the caller is satisfied.
    fn offer(&mut self, value: Value, range: Range<usize>, mut repairs: Repairs) -> bool {
        self.offered += 1;
        let mut verdict = (self.accept)(&value);
        let mut value = Some(value);
        if verdict == Verdict::Refused {
            let parts: Vec<Value> = match value.take() {
                Some(Value::Array(items)) => items.into_iter().take(MAX_UNWRAPPED).collect(),
                Some(Value::Object(map)) if map.len() == 1 => map.into_values().collect(),
                _ => Vec::new(),
            };
            let mut kept: Option<(u32, Value)> = None;
            for part in parts {
                self.offered += 1;
                match (self.accept)(&part) {
                    Verdict::Satisfied => {
                        (verdict, value) = (Verdict::Satisfied, Some(part));
                        break;
                    }
                    Verdict::Usable(worth) if kept.as_ref().is_none_or(|(old, _)| worth > *old) => {
                        kept = Some((worth, part));
                    }
                    Verdict::Usable(_) | Verdict::Refused => {}
                }
            }
            if let (None, Some((worth, part))) = (&value, kept) {
                (verdict, value) = (Verdict::Usable(worth), Some(part));
            }
            if value.is_some() {
                repairs.note(RepairKind::Wrapped, range.start);
            }
        }
        let Some(value) = value else {
            self.refused += 1;
            return false;
        };
        if self.refused > 0 {
            repairs.note(RepairKind::OtherValues, self.body);
        }
        let worth = match verdict {
            Verdict::Satisfied => u32::MAX,
            Verdict::Usable(worth) => worth,
            Verdict::Refused => 0,
        };
        let satisfied = verdict == Verdict::Satisfied;
        if satisfied || self.best.as_ref().is_none_or(|(old, ..)| worth > *old) {
            let repaired = Vec::new();
            self.best = Some((worth, Parsed { value, verdict, range, repairs: repaired }, repairs));
        }
        satisfied
    }

    fn done(self) -> Result<Parsed, Unparsed> {
        let (_, parsed, mut repairs) = self.best.ok_or(Unparsed::NoJson)?;
        note_surroundings(&mut repairs, self.text, self.body, &parsed.range);
        Ok(Parsed { repairs: repairs.into_sorted(), ..parsed })
    }
}
