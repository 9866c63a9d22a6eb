//! How text from outside becomes a setting of a type, and back.

use std::collections::BTreeMap;
use std::path::PathBuf;

pub use figment::value::Value;
use secrecy::{ExposeSecret, SecretString};

/// A type that a setting can have.
pub trait SettingValue: Sized {
    /// What a person should write, for messages and documentation.
    const KIND: &'static str;

    /// Reads a value that came from a file, the environment or a program.
    ///
    /// # Errors
    /// What is wrong, as the end of the sentence "`name` …". Never quotes the value: it may be a
    /// secret put under the wrong name.
    fn read(value: &Value) -> Result<Self, String>;

    /// The value as a person would write it; empty for none, never a secret.
    fn show(&self) -> String;
}

fn expected<T>(kind: &str) -> Result<T, String> {
    Err(format!("must be {kind}"))
}

impl SettingValue for bool {
    const KIND: &'static str = "true or false";

    fn read(value: &Value) -> Result<Self, String> {
        if let Value::Bool(_, flag) = value {
            return Ok(*flag);
        }
        match String::read(value)?.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" => Ok(false),
            _ => expected("true or false (1, yes, on; 0, no, off)"),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

macro_rules! whole_number {
    ($($type:ty),*) => {$(
        impl SettingValue for $type {
            const KIND: &'static str = "a whole number";

            fn read(value: &Value) -> Result<Self, String> {
                String::read(value)?.trim().parse().or_else(|_| expected(Self::KIND))
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
whole_number!(u32, u64, usize);

impl SettingValue for f64 {
    const KIND: &'static str = "a number";

    fn read(value: &Value) -> Result<Self, String> {
        match String::read(value)?.trim().parse::<Self>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => expected(Self::KIND),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for String {
    const KIND: &'static str = "text";

    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(_, text) => Ok(text.clone()),
            Value::Char(_, c) => Ok(c.to_string()),
            Value::Bool(_, flag) => Ok(flag.to_string()),
            Value::Num(_, number) => number
                .to_i128()
                .map(|n| n.to_string())
                .or_else(|| number.to_u128().map(|n| n.to_string()))
                .or_else(|| number.to_f64().map(|n| n.to_string()))
                .ok_or_else(|| "must be text".into()),
            _ => expected(Self::KIND),
        }
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl SettingValue for PathBuf {
    const KIND: &'static str = "a path";

    fn read(value: &Value) -> Result<Self, String> {
        String::read(value).map(Self::from)
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl SettingValue for SecretString {
    const KIND: &'static str = "a secret";

    fn read(value: &Value) -> Result<Self, String> {
        String::read(value).map(Self::from)
    }

    fn show(&self) -> String {
        let set = !self.expose_secret().is_empty();
        if set { "(set)".into() } else { String::new() }
    }
}

impl<T: SettingValue> SettingValue for Option<T> {
    const KIND: &'static str = T::KIND;

    fn read(value: &Value) -> Result<Self, String> {
        T::read(value).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(String::new, T::show)
    }
}

impl SettingValue for BTreeMap<String, String> {
    const KIND: &'static str = "a JSON object of texts";

    fn read(value: &Value) -> Result<Self, String> {
        match value {
            Value::Dict(_, dict) => dict
                .iter()
                .map(|(key, value)| Ok((key.clone(), String::read(value)?)))
                .collect::<Result<_, String>>()
                .or_else(|_| expected(Self::KIND)),
            Value::String(_, json) => serde_json::from_str(json).or_else(|_| expected(Self::KIND)),
            _ => expected(Self::KIND),
        }
    }

    fn show(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
