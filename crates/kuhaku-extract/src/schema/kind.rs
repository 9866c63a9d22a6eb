//! What a value is, in the words of fields.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a value is, or what a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Kind {
    /// Text.
    Text,
    /// A number, whole or not; never NaN and never infinite.
    Number,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A day as `YYYY-MM-DD`; in JSON it is text.
    Date,
    /// One of a few given values.
    Choice,
    /// Named values.
    Object,
    /// Values in order.
    List,
    /// JSON's null.
    Null,
    /// Anything, or one of several kinds.
    Any,
}

impl Kind {
    /// The name, as lists of fields and results write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Date => "date",
            Self::Choice => "choice",
            Self::Object => "object",
            Self::List => "list",
            Self::Null => "null",
            Self::Any => "any",
        }
    }

    /// What a value is by itself: [`Self::Integer`] for numbers without a fraction part in
    /// writing, never [`Self::Date`], [`Self::Choice`] or [`Self::Any`].
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::List,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
