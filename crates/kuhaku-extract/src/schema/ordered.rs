//! JSON whose objects keep the order of their keys, for what a model is shown.
//!
//! A model answers in the order in which it is asked, and `serde_json` sorts keys unless the whole
//! program turns a feature on.

use std::collections::HashMap;
use std::fmt;

use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

/// A JSON value with keys in the order of writing. A repeated key keeps its first place and its
/// last value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ordered {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    Scalar(Value),
}

impl Ordered {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Scalar(Value::String(text.into()))
    }

    pub(crate) fn object<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Object(entries.map(|(key, value)| (key.to_owned(), value)).into())
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Object(entries) => {
                entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The same without the order.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Object(entries) => Value::Object(
                entries.iter().map(|(key, value)| (key.clone(), value.to_value())).collect(),
            ),
            Self::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Scalar(value) => value.clone(),
        }
    }
}

impl From<&Value> for Ordered {
    fn from(value: &Value) -> Self {
        match value {
            Value::Object(entries) => Self::Object(
                entries.iter().map(|(key, value)| (key.clone(), value.into())).collect(),
            ),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            scalar => Self::Scalar(scalar.clone()),
        }
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Self::Scalar(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(Number::from_f64(value).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Ordered::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Ordered, A::Error> {
        let mut entries: Vec<(String, Ordered)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        while let Some((key, value)) = access.next_entry::<String, Ordered>()? {
            match places.get(&key).and_then(|place| entries.get_mut(*place)) {
                Some((_, earlier)) => *earlier = value,
                None => {
                    places.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
        }
        Ok(Ordered::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stay_in_the_order_of_writing() {
        let text = r#"{"z":{"b":1,"a":[1.5,-2,null,true,"x"]},"y":{}}"#;
        let read: Ordered = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read.to_value(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(Ordered::from(&read.to_value()).to_value(), read.to_value());
    }

    #[test]
    fn a_repeated_key_has_one_place_and_its_last_value() {
        let read: Ordered = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"b":3,"a":2}"#);
    }
}
