//! What is to be extracted: schemas from types, from fields and from data, and the check of values
//! against them.

mod check;
mod checked;
mod coercion;
mod compile;
mod cost;
mod field_list;
mod fields;
mod finding;
mod function;
mod kind;
mod message;
mod named;
mod numbers;
mod ordered;
mod typed;
mod walk;
mod wire;

use std::fmt;
use std::sync::Arc;

use jsonschema::Validator;
use serde::Deserialize as _;
use serde_json::Value;

use self::check::Check;
pub use self::checked::{Checked, Coerced, Missing, Problem};
pub use self::coercion::{Coercion, NumberFormat};
pub use self::compile::{Draft, SchemaOptions};
use self::compile::{bounded, refused};
use self::cost::Cost;
pub use self::fields::{Fields, Item};
pub use self::kind::Kind;
use self::ordered::Ordered;
pub use self::typed::TypedSchema;
pub use self::walk::Leaf;
use self::walk::Walk;
use self::wire::wire;
use crate::Result;

/// Deeper values are no data that anyone asked for.
const DEEPEST_VALUE: usize = 128;
/// The name of a schema that has none.
const UNNAMED: &str = "extraction";

/// What is to be extracted. Cheap to clone.
///
/// ```
/// use kuhaku_extract::{Coercion, Schema};
/// use serde_json::json;
///
/// # fn main() -> kuhaku_extract::Result<()> {
/// let schema = Schema::from_json(&json!({
///     "type": "object",
///     "properties": {"product": {"type": "string"}, "quantity": {"type": "integer"}},
///     "required": ["product", "quantity"],
/// }))?;
/// let checked = schema.check(&json!({"product": "tea", "quantity": "5"}), &Coercion::lenient());
/// assert!(checked.is_complete());
/// assert_eq!(checked.value, json!({"product": "tea", "quantity": 5}));
/// assert_eq!(checked.coercions[0].path, "/quantity");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Schema {
    compiled: Arc<Compiled>,
    name: Arc<str>,
    description: Option<Arc<str>>,
    instructions: Option<Arc<str>>,
}

struct Compiled {
    document: Value,
    wire: Value,
    wire_text: String,
    validator: Validator,
    walk: Walk,
    cost: Cost,
}

impl Schema {
    /// The schema of a list of fields.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`], naming every field that is wrong.
    pub fn from_fields(fields: Fields) -> Result<Self> {
        Self::compile(&fields.document()?, &SchemaOptions::new())
    }

    /// A JSON Schema, of the draft that its `$schema` names, else 2020-12. Its `title` is its name.
    /// [`SchemaOptions`] has more to choose.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`]: what breaks JSON Schema, and where; a reference that leads
    /// outside, since nothing is fetched; a pattern that cannot be used; a document too deep
    /// (100 levels) or too large (200,000 parts).
    pub fn from_json(document: &Value) -> Result<Self> {
        SchemaOptions::new().read(document)
    }

    /// A JSON Schema as text, as it stands in a file. The order of its names is the order in which
    /// a model is asked.
    ///
    /// # Errors
    /// As [`Self::from_json`], and when the text is no JSON.
    pub fn parse(text: &str) -> Result<Self> {
        SchemaOptions::new().parse(text)
    }

    fn compile(document: &Ordered, options: &SchemaOptions) -> Result<Self> {
        let value = document.to_value();
        bounded(&value)?;
        let cost = Cost::of(&value, options.others()?)?;
        let validator = options.compile(&value)?;
        let on_wire = wire(document);
        let wire_text = serde_json::to_string(&on_wire)
            .map_err(|error| refused("it cannot be written as JSON").caused_by(error))?;
        let text = |name: &str| {
            let text = document.get(name).and_then(Ordered::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(Arc::from)
        };
        Ok(Self {
            name: text("title").unwrap_or_else(|| Arc::from(UNNAMED)),
            description: text("description"),
            instructions: None,
            compiled: Arc::new(Compiled {
                wire: on_wire.to_value(),
                wire_text,
                validator,
                cost,
                walk: Walk::new(&value),
                document: value,
            }),
        })
    }

    /// Gives the schema a name: what results, audits and routes call it.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`] when it is empty.
    pub fn named(self, name: impl Into<String>) -> Result<Self> {
        Ok(Self { name: filled("name", name.into())?, ..self })
    }

    /// Says what the schema is for; the model is told.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`] when it is empty.
    pub fn described(self, description: impl Into<String>) -> Result<Self> {
        Ok(Self { description: Some(filled("description", description.into())?), ..self })
    }

    /// Gives the model instructions of the application's own.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`] when they are empty.
    pub fn instructed(self, instructions: impl Into<String>) -> Result<Self> {
        Ok(Self { instructions: Some(filled("instructions", instructions.into())?), ..self })
    }

    /// The name; `extraction` when there is none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the schema is for.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Instructions for the model.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// The JSON Schema.
    pub fn document(&self) -> &Value {
        &self.compiled.document
    }

    /// The JSON Schema that a model is held to: every named value may be null, so that a model can
    /// say that the text lacks it, and every name must be written.
    pub fn wire(&self) -> &Value {
        &self.compiled.wire
    }

    /// The same as text, its names in the order of the schema.
    pub fn wire_text(&self) -> &str {
        &self.compiled.wire_text
    }

    /// Whether the schema can be met by an object with names, as an extraction is.
    pub fn describes_an_object(&self) -> bool {
        let compiled = &self.compiled;
        let place = compiled.walk.same_place(&compiled.document, &compiled.document, false);
        let named = place.iter().any(|keywords| keywords.contains_key("properties"));
        matches!(walk::kind(&place), Kind::Object) || (named && walk::kind(&place) == Kind::Any)
    }

    /// Whether the schema accepts a value as it is. [`Self::check`] is more lenient.
    ///
    /// A value that is nested too deep to be looked at (128 levels, fewer for a schema that refers
    /// to itself in roundabout ways) is not accepted, nor is one that would take too long.
    pub fn is_valid(&self, value: &Value) -> bool {
        let Compiled { document, validator, cost, .. } = &*self.compiled;
        let looked_at = self.compiled.can_look_at(value);
        looked_at && cost.permits_validation(document, value) && validator.is_valid(value)
    }

    /// Reads a value leniently, completes it with the schema's defaults, and says what is missing
    /// and what is wrong.
    ///
    /// A valid value is changed in no other way than by defaults for names that it lacks and by
    /// writing `3.0` as `3` where whole numbers are asked for. Checking the result again changes
    /// nothing.
    pub fn check(&self, value: &Value, coercion: &Coercion) -> Checked {
        Check::run(&self.compiled, value, coercion)
    }

    /// The scalars of a value with their paths and kinds, in the value's order.
    pub fn leaves<'v>(&self, value: &'v Value) -> impl Iterator<Item = Leaf<'v>> + use<'v> {
        self.compiled.walk.leaves(&self.compiled.document, value).into_iter()
    }
}

impl Compiled {
    /// Whether a value is so shallow that it can be looked at within the stack.
    fn can_look_at(&self, value: &Value) -> bool {
        let depth = depth(value);
        depth <= DEEPEST_VALUE && self.cost.fits_the_stack(depth)
    }
}

/// The levels of a value; a scalar has one.
fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(entries) => open.extend(entries.values().map(|item| (item, depth + 1))),
            _ => {}
        }
    }
    deepest
}

impl SchemaOptions {
    /// Reads a JSON Schema.
    ///
    /// # Errors
    /// As [`Schema::from_json`].
    pub fn read(&self, document: &Value) -> Result<Schema> {
        bounded(document)?;
        Schema::compile(&Ordered::from(document), self)
    }

    /// Reads a JSON Schema from text; see [`Schema::parse`].
    ///
    /// # Errors
    /// As there.
    pub fn parse(&self, text: &str) -> Result<Schema> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Ordered::deserialize(&mut reader);
        let document = read.and_then(|read| reader.end().map(|()| read)).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            refused(&format!("it is no JSON from {place}"))
        })?;
        Schema::compile(&document, self)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("instructions", &self.instructions)
            .field("document", &self.compiled.document)
            .finish_non_exhaustive()
    }
}

fn filled(what: &str, text: String) -> Result<Arc<str>> {
    match text.trim() {
        "" => Err(refused(&format!("its {what} is empty"))),
        text => Ok(Arc::from(text)),
    }
}
