//! Lists of fields that come as data: from a command line, a file, another program.

use serde::Deserialize as _;
use serde_json::Value;

use super::ordered::Ordered;
use super::{Fields, Item, Kind};
use crate::{Error, ErrorKind, Result};

/// Deeper lists are no lists of fields.
const DEEPEST: usize = 32;

impl Fields {
    /// Reads fields from JSON text, in the order of writing.
    ///
    /// A list of names is a list of required texts: `["product", "note"]`. A map gives each name
    /// what it takes:
    ///
    /// | written | means |
    /// |---|---|
    /// | `"text"`, `"number"`, `"integer"`, `"boolean"`, `"date"` | a value of that kind |
    /// | `"number?"` | an optional one |
    /// | `["number", "unit price"]` | a kind and its description |
    /// | `{…}` | an object with those fields |
    /// | `[{…}]`, `["text"]` | a list of such items |
    ///
    /// ```
    /// use kuhaku_extract::{Fields, Schema};
    ///
    /// # fn main() -> kuhaku_extract::Result<()> {
    /// let fields = Fields::parse(r#"{"product": "text", "quantity": ["number", "how many"],
    ///     "note": "text?", "lines": [{"item": "text"}]}"#)?;
    /// assert!(Schema::from_fields(fields).is_ok());
    /// assert!(Fields::parse(r#""product""#).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Schema`], naming the field and what is wrong with it.
    pub fn parse(text: &str) -> Result<Self> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Ordered::deserialize(&mut reader);
        let read = read.and_then(|read| reader.end().map(|()| read));
        // The parser's own words may quote the text; where it stopped is enough.
        let read = read.map_err(|error| {
            wrong(&format!("it is no JSON from line {}, column {}", error.line(), error.column()))
        })?;
        fields(&read, "", DEEPEST)
    }

    /// Reads fields from a JSON value; see [`Self::parse`].
    ///
    /// # Errors
    /// [`ErrorKind::Schema`], naming the field and what is wrong with it.
    pub fn from_json(value: &Value) -> Result<Self> {
        super::compile::bounded(value)?;
        fields(&Ordered::from(value), "", DEEPEST)
    }
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::Schema, "read the list of fields", what.to_owned())
        .next("write a list of names, or a map from each name to what it takes")
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("`{path}`: ") }
}

fn fields(list: &Ordered, path: &str, depth: usize) -> Result<Fields> {
    let depth = depth.checked_sub(1).ok_or_else(|| wrong("it is nested too deep"))?;
    match list {
        Ordered::List(names) if path.is_empty() => {
            let names = names.iter().map(|name| {
                name.as_str().ok_or_else(|| wrong("a list of names holds something else"))
            });
            Ok(Fields::texts(names.collect::<Result<Vec<_>>>()?))
        }
        Ordered::Object(entries) => {
            let mut fields = Fields::new();
            for (name, takes) in entries {
                fields = field(fields, name, takes, &super::walk::below(path, name), depth)?;
            }
            Ok(fields)
        }
        _ => Err(wrong(&format!("{}it is neither names nor a map", at(path)))),
    }
}

fn field(fields: Fields, name: &str, takes: &Ordered, path: &str, depth: usize) -> Result<Fields> {
    if let Ordered::List(pair) = takes
        && let [takes, description] = pair.as_slice()
    {
        let text = description.as_str().filter(|text| kind(text).is_none());
        let text = text.ok_or_else(|| {
            let what = "a list holds one kind of item, and a pair is a kind and its description";
            wrong(&format!("{}{what}", at(path)))
        })?;
        return Ok(field(fields, name, takes, path, depth)?.described(text));
    }
    if let Some((item, true)) = takes.as_str().and_then(kind) {
        return Ok(fields.field(name, item).optional());
    }
    Ok(fields.field(name, item(takes, path, depth)?))
}

fn item(takes: &Ordered, path: &str, depth: usize) -> Result<Item> {
    let depth = depth.checked_sub(1).ok_or_else(|| wrong("it is nested too deep"))?;
    match takes {
        Ordered::Object(_) => Ok(fields(takes, path, depth)?.into()),
        Ordered::List(items) => match items.as_slice() {
            [one] => Ok(Item::list(item(one, path, depth)?)),
            many => {
                let many = many.len();
                Err(wrong(&format!("{}a list has one kind of item, not {many}", at(path))))
            }
        },
        Ordered::Scalar(_) => match takes.as_str().and_then(kind) {
            Some((kind, false)) => Ok(kind.into()),
            _ => {
                let kinds = "text, number, integer, boolean or date";
                Err(wrong(&format!("{}what it takes is none of {kinds}", at(path))))
            }
        },
    }
}

/// The kind that a word names, and whether it is optional.
fn kind(word: &str) -> Option<(Kind, bool)> {
    let (word, optional) = match word.strip_suffix('?') {
        Some(word) => (word, true),
        None => (word, false),
    };
    let kind = match word {
        "text" | "string" => Kind::Text,
        "number" => Kind::Number,
        "integer" => Kind::Integer,
        "boolean" => Kind::Boolean,
        "date" => Kind::Date,
        _ => return None,
    };
    Some((kind, optional))
}
