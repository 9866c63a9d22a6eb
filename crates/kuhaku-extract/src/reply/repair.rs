//! What had to be mended or passed over for a reply to be read.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One way in which a reply was not plain JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// A closed block of reasoning stood in front, and was left out.
    Reasoning,
    /// The value stood in a code fence.
    Fence,
    /// Other text stood around the value.
    Prose,
    /// Other complete values stood before it and were not accepted.
    OtherValues,
    /// The value was the part of a list or of an object with one key.
    Wrapped,
    /// A comma with nothing after or before it.
    StrayComma,
    /// A comma was left out.
    MissingComma,
    /// A colon was left out.
    MissingColon,
    /// A word of Python or of another language for true, false or null.
    Literal,
    /// A string in single quotes.
    SingleQuotes,
    /// A string in typographic quotes.
    SmartQuotes,
    /// A quote within a string was not escaped.
    InnerQuote,
    /// A key without quotes, or with the closing one missing.
    BareKey,
    /// A string without quotes.
    BareString,
    /// A line break or another control character stood in a string unescaped.
    ControlCharacter,
    /// An escape that JSON does not know; its characters were kept.
    UnknownEscape,
    /// A comment was left out.
    Comment,
    /// Three dots stood for values that the model did not write; nothing was put in their place.
    Ellipsis,
    /// Words between values were left out.
    StrayText,
    /// A key without a value was left out.
    MissingValue,
    /// A bracket of the wrong kind, or one too many, was passed over.
    StrayCloser,
    /// A list or an object within the value was closed by the bracket around it.
    MissingCloser,
    /// A pair of key and value stood in a list without braces.
    MissingOpener,
    /// Parentheses or braces around a list, as Python writes tuples and sets.
    PythonList,
    /// A key was there more than once; the last value was kept.
    DuplicateKey,
    /// A number in a form that JSON does not have, `+5` or `.5`.
    NumberForm,
    /// A number that no number of JSON holds exactly; its digits were kept as text.
    ExactNumber,
    /// NaN or an infinity; kept as text, which no number field takes.
    NotANumber,
}

/// One kind of repair: where it was first needed, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Repair {
    /// What was done.
    pub kind: RepairKind,
    /// Where it was first needed, in bytes of the reply.
    pub at: usize,
    /// How often, at least 1.
    pub count: usize,
}

impl RepairKind {
    /// The name, as reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Fence => "fence",
            Self::Prose => "prose",
            Self::OtherValues => "other_values",
            Self::Wrapped => "wrapped",
            Self::StrayComma => "stray_comma",
            Self::MissingComma => "missing_comma",
            Self::MissingColon => "missing_colon",
            Self::Literal => "literal",
            Self::SingleQuotes => "single_quotes",
            Self::SmartQuotes => "smart_quotes",
            Self::InnerQuote => "inner_quote",
            Self::BareKey => "bare_key",
            Self::BareString => "bare_string",
            Self::ControlCharacter => "control_character",
            Self::UnknownEscape => "unknown_escape",
            Self::Comment => "comment",
            Self::Ellipsis => "ellipsis",
            Self::StrayText => "stray_text",
            Self::MissingValue => "missing_value",
            Self::StrayCloser => "stray_closer",
            Self::MissingCloser => "missing_closer",
            Self::MissingOpener => "missing_opener",
            Self::PythonList => "python_list",
            Self::DuplicateKey => "duplicate_key",
            Self::NumberForm => "number_form",
            Self::ExactNumber => "exact_number",
            Self::NotANumber => "not_a_number",
        }
    }
}

impl fmt::Display for RepairKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The repairs so far: one entry per kind, so that a hostile reply cannot make it grow.
#[derive(Clone, Debug, Default)]
pub(super) struct Repairs(Vec<Repair>);

impl Repairs {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn note(&mut self, kind: RepairKind, at: usize) {
        match self.0.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.count += 1,
            None => self.0.push(Repair { kind, at, count: 1 }),
        }
    }

    /// In the order of their first places.
    pub(super) fn into_sorted(mut self) -> Vec<Repair> {
        self.0.sort_by_key(|repair| (repair.at, repair.kind));
        self.0
    }
}
