//! A schema built at run time: fields, one after the other.

use serde_json::{Value, json};

use super::Kind;
use super::ordered::Ordered;
use crate::{Error, ErrorKind, Result};

/// A list of fields, in the order in which they are asked for.
///
/// A field is required unless it is made [`optional`](Self::optional); a required one is asked for
/// when the text lacks it. What describes a field follows it.
///
/// ```
/// use kuhaku_extract::{Coercion, Fields, Schema};
/// use serde_json::json;
///
/// # fn main() -> kuhaku_extract::Result<()> {
/// let line = Fields::new().text("item").number("price").described("unit price");
/// let fields = Fields::new()
///     .text("customer")
///     .list("lines", line)
///     .date("due").described("the day of delivery").example("2024-05-31")
///     .one_of("size", ["small", "large"]).optional();
/// let schema = Schema::from_fields(fields)?;
///
/// let lines = json!([{"item": "tea", "price": "3.5"}, {"item": "cup", "price": null}]);
/// let checked = schema.check(&json!({"customer": "Ada", "lines": lines}), &Coercion::lenient());
/// let missing: Vec<_> = checked.missing.iter().map(|m| (m.path.as_str(), m.label())).collect();
/// assert_eq!(missing, [("/due", "the day of delivery"), ("/lines/1/price", "unit price")]);
/// assert_eq!(checked.value["lines"][0]["price"], 3.5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Fields {
    fields: Vec<Field>,
    /// What is wrong with the list, to be said all at once.
    wrong: Vec<String>,
}

#[derive(Clone, Debug)]
struct Field {
    name: String,
    item: Item,
    optional: bool,
    description: Option<String>,
    examples: Vec<Value>,
    default: Option<Value>,
}

/// What a field or an item of a list takes.
#[derive(Clone, Debug)]
pub struct Item(What);

#[derive(Clone, Debug)]
enum What {
    Plain(Kind),
    OneOf(Vec<String>),
    Object(Fields),
    List(Box<Item>),
}

impl Item {
    /// One of these texts.
    pub fn one_of<I>(options: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self(What::OneOf(options.into_iter().map(Into::into).collect()))
    }

    /// A list of such items.
    pub fn list(item: impl Into<Self>) -> Self {
        Self(What::List(Box::new(item.into())))
    }
}

impl From<Kind> for Item {
    /// `Text`, `Number`, `Integer`, `Boolean`, `Date` and `Any`; the others need more than a kind
    /// and make the list of fields wrong.
    fn from(kind: Kind) -> Self {
        Self(What::Plain(kind))
    }
}

impl From<Fields> for Item {
    fn from(fields: Fields) -> Self {
        Self(What::Object(fields))
    }
}

impl Fields {
    /// No fields yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Required texts of these names.
    pub fn texts<I>(names: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        names.into_iter().fold(Self::new(), Self::text)
    }

    /// Adds a text.
    pub fn text(self, name: impl Into<String>) -> Self {
        self.field(name, Kind::Text)
    }

    /// Adds a number.
    pub fn number(self, name: impl Into<String>) -> Self {
        self.field(name, Kind::Number)
    }

    /// Adds a whole number.
    pub fn integer(self, name: impl Into<String>) -> Self {
        self.field(name, Kind::Integer)
    }

    /// Adds a truth value.
    pub fn boolean(self, name: impl Into<String>) -> Self {
        self.field(name, Kind::Boolean)
    }

    /// Adds a day, written `YYYY-MM-DD`.
    pub fn date(self, name: impl Into<String>) -> Self {
        self.field(name, Kind::Date)
    }

    /// Adds a choice of one of several texts.
    pub fn one_of<I>(self, name: impl Into<String>, options: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.field(name, Item::one_of(options))
    }

    /// Adds an object with fields of its own.
    pub fn object(self, name: impl Into<String>, fields: Fields) -> Self {
        self.field(name, fields)
    }

    /// Adds a list: of objects when given [`Fields`], of scalars when given a [`Kind`].
    pub fn list(self, name: impl Into<String>, item: impl Into<Item>) -> Self {
        self.field(name, Item::list(item))
    }

    /// Adds a field of any kind.
    pub fn field(mut self, name: impl Into<String>, item: impl Into<Item>) -> Self {
        let (name, item) = (name.into(), item.into());
        if name.trim().is_empty() {
            let place = self.fields.len() + 1;
            self.wrong.push(format!("field {place} has an empty name"));
        } else if self.fields.iter().any(|field| field.name == name) {
            self.wrong.push(format!("two fields are named `{name}`"));
        }
        self.check(&name, &item);
        self.fields.push(Field {
            name,
            item,
            optional: false,
            description: None,
            examples: Vec::new(),
            default: None,
        });
        self
    }

    fn check(&mut self, name: &str, item: &Item) {
        match &item.0 {
            What::Plain(
                Kind::Text | Kind::Number | Kind::Integer | Kind::Boolean | Kind::Date | Kind::Any,
            ) => {}
            What::Plain(kind) => {
                self.wrong.push(format!("`{name}`: {kind} needs more than its name"));
            }
            What::OneOf(options) if options.is_empty() => {
                self.wrong.push(format!("`{name}`: a choice of nothing"));
            }
            What::OneOf(_) => {}
            What::Object(fields) => {
                if fields.fields.is_empty() {
                    self.wrong.push(format!("`{name}`: an object without fields"));
                }
                let inner = fields.wrong.iter().map(|wrong| format!("in `{name}`: {wrong}"));
                self.wrong.extend(inner);
            }
            What::List(item) => self.check(name, item),
        }
    }

    /// Makes the last field optional: it may be null or absent, and is never asked for.
    pub fn optional(self) -> Self {
        self.last("optional", |field| {
            field.optional = true;
            Ok(())
        })
    }

    /// Says what the last field is, for the model and for the question that asks for it.
    pub fn described(self, description: impl Into<String>) -> Self {
        let description = description.into();
        self.last("described", |field| {
            if description.trim().is_empty() {
                return Err("has an empty description");
            }
            field.description = Some(description);
            Ok(())
        })
    }

    /// Adds an example of the last field, for the model.
    pub fn example(self, example: impl Into<Value>) -> Self {
        self.last("example", |field| {
            field.examples.push(example.into());
            Ok(())
        })
    }

    /// Gives the last field a value for when the text says nothing.
    pub fn default_value(self, default: impl Into<Value>) -> Self {
        self.last("default_value", |field| {
            field.default = Some(default.into());
            Ok(())
        })
    }

    fn last(
        mut self,
        called: &str,
        change: impl FnOnce(&mut Field) -> Result<(), &'static str>,
    ) -> Self {
        let changed = match self.fields.last_mut() {
            None => Err(format!("`{called}` comes before any field")),
            Some(field) => change(field).map_err(|wrong| format!("`{}` {wrong}", field.name)),
        };
        self.wrong.extend(changed.err());
        self
    }

    /// The JSON Schema of the list.
    pub(super) fn document(&self) -> Result<Ordered> {
        let mut wrong = self.wrong.clone();
        if self.fields.is_empty() {
            wrong.push("there is none".into());
        }
        if wrong.is_empty() {
            return Ok(self.schema());
        }
        let error = Error::new(ErrorKind::Schema, "read the list of fields", wrong.join("; "));
        Err(error.next("give each field a name of its own, and what its kind needs"))
    }

    fn schema(&self) -> Ordered {
        let properties = self.fields.iter().map(|field| (field.name.clone(), field.schema()));
        let required = self.fields.iter().filter(|field| !field.optional);
        let required = required.map(|field| Ordered::text(&field.name));
        Ordered::object([
            ("type", Ordered::text("object")),
            ("properties", Ordered::Object(properties.collect())),
            ("required", Ordered::List(required.collect())),
        ])
    }
}

impl Field {
    fn schema(&self) -> Ordered {
        let Ordered::Object(mut keywords) = self.item.schema() else {
            return Ordered::Object(Vec::new());
        };
        if self.optional {
            for (keyword, value) in &mut keywords {
                match (keyword.as_str(), value) {
                    ("type", value) => {
                        *value = Ordered::List(vec![value.clone(), Ordered::text("null")]);
                    }
                    ("enum", Ordered::List(options)) => {
                        options.push(Ordered::Scalar(Value::Null));
                    }
                    _ => {}
                }
            }
        }
        let described = self.description.as_ref().map(Ordered::text);
        let examples = (!self.examples.is_empty()).then(|| Ordered::from(&json!(self.examples)));
        let default = self.default.as_ref().map(Ordered::from);
        let more = [("description", described), ("examples", examples), ("default", default)];
        let more = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        keywords.extend(more);
        Ordered::Object(keywords)
    }
}

impl Item {
    fn schema(&self) -> Ordered {
        let typed = |name| ("type", Ordered::text(name));
        match &self.0 {
            What::Plain(Kind::Number) => Ordered::object([typed("number")]),
            What::Plain(Kind::Integer) => Ordered::object([typed("integer")]),
            What::Plain(Kind::Boolean) => Ordered::object([typed("boolean")]),
            What::Plain(Kind::Date) => {
                Ordered::object([typed("string"), ("format", Ordered::text("date"))])
            }
            What::Plain(Kind::Any) => Ordered::object([]),
            What::Plain(_) => Ordered::object([typed("string")]),
            What::OneOf(options) => {
                let options = Ordered::List(options.iter().map(Ordered::text).collect());
                Ordered::object([typed("string"), ("enum", options)])
            }
            What::Object(fields) => fields.schema(),
            What::List(item) => Ordered::object([typed("array"), ("items", item.schema())]),
        }
    }
}
