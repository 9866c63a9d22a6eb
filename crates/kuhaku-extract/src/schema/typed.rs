//! Schemas of Rust types.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Schema;
use super::checked::Problem;
use crate::Result;

/// A schema together with the Rust type that its values become.
///
/// ```
/// use kuhaku_extract::{Coercion, Schema};
/// use serde_json::json;
///
/// /// An order of tea.
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Order {
///     product: String,
///     /// how many boxes
///     quantity: u32,
///     note: Option<String>,
/// }
///
/// # fn main() -> kuhaku_extract::Result<()> {
/// let schema = Schema::of::<Order>()?;
/// assert_eq!(schema.name(), "Order");
/// assert_eq!(schema.description(), Some("An order of tea."));
/// let checked = schema.check(&json!({"product": "tea", "quantity": "3"}), &Coercion::lenient());
/// let order = schema.decode(&checked.value).map_err(|_| "fits").unwrap();
/// assert_eq!((order.product.as_str(), order.quantity, order.note), ("tea", 3, None));
/// # Ok(())
/// # }
/// ```
pub struct TypedSchema<T> {
    schema: Schema,
    of: PhantomData<fn() -> T>,
}

impl Schema {
    /// The schema of a type: its name, its documentation and its fields, `Option` being optional.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Schema`] when the type's schema cannot be worked with.
    pub fn of<T: JsonSchema + DeserializeOwned>() -> Result<TypedSchema<T>> {
        let document = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
        let schema = Self::from_json(document.as_value())?.named(T::schema_name())?;
        Ok(TypedSchema { schema, of: PhantomData })
    }
}

impl<T: DeserializeOwned> TypedSchema<T> {
    /// The value as the type, once the schema accepts it.
    ///
    /// # Errors
    /// A [`Problem`] when the type asks for more than its schema says, as with a conversion of its
    /// own.
    pub fn decode(&self, value: &Value) -> Result<T, Problem> {
        // The error of a type may quote the value, so its words are not repeated (R7).
        T::deserialize(value).map_err(|_| {
            Problem::new("", format!("cannot be read as {}, which asks for more", self.name()))
        })
    }
}

impl<T> TypedSchema<T> {
    /// Gives the schema another name; see [`Schema::named`].
    ///
    /// # Errors
    /// As there.
    pub fn named(self, name: impl Into<String>) -> Result<Self> {
        Ok(Self { schema: self.schema.named(name)?, ..self })
    }

    /// Gives the schema another description; see [`Schema::described`].
    ///
    /// # Errors
    /// As there.
    pub fn described(self, description: impl Into<String>) -> Result<Self> {
        Ok(Self { schema: self.schema.described(description)?, ..self })
    }

    /// Gives the model instructions; see [`Schema::instructed`].
    ///
    /// # Errors
    /// As there.
    pub fn instructed(self, instructions: impl Into<String>) -> Result<Self> {
        Ok(Self { schema: self.schema.instructed(instructions)?, ..self })
    }

    /// The schema without the type.
    pub fn untyped(&self) -> &Schema {
        &self.schema
    }
}

impl<T> Deref for TypedSchema<T> {
    type Target = Schema;

    fn deref(&self) -> &Schema {
        &self.schema
    }
}

impl<T> Clone for TypedSchema<T> {
    fn clone(&self) -> Self {
        Self { schema: self.schema.clone(), of: PhantomData }
    }
}

impl<T> fmt::Debug for TypedSchema<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedSchema").field(&self.schema).finish()
    }
}
