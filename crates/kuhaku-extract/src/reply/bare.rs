//! Words without quotes: literals, numbers, and what is text.

use serde_json::{Number, Value};

use crate::decimal::Decimal;

use super::repair::{RepairKind, Repairs};

/// The value of a word that stood at `at` without quotes.
pub(super) fn value(word: &str, at: usize, repairs: &mut Repairs) -> Value {
    match word {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        "null" => return Value::Null,
        _ => {}
    }
    let literal =
        word.len() <= "undefined".len() && word.starts_with(|c: char| c.is_ascii_alphabetic());
    if literal {
        let literal = match word.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" | "none" | "undefined" => Some(Value::Null),
            _ => None,
        };
        if let Some(literal) = literal {
            repairs.note(RepairKind::Literal, at);
            return literal;
        }
    }
    if let Some(number) = number(word, at, repairs) {
        return number;
    }
    let unsigned = word.trim_start_matches(['-', '+']);
    let not_a_number =
        ["nan", "inf", "infinity"].iter().any(|it| unsigned.eq_ignore_ascii_case(it));
    let kind = if not_a_number { RepairKind::NotANumber } else { RepairKind::BareString };
    repairs.note(kind, at);
    Value::String(word.to_owned())
}

/// A reply that is nothing but one string, number or literal of JSON.
pub(super) fn whole(text: &str) -> Option<Value> {
    let word = text.trim();
    if word.starts_with(['{', '[']) || word.is_empty() {
        return None;
    }
    match serde_json::from_str::<Value>(word).ok()? {
        Value::Number(_) => number(word, 0, &mut Repairs::default()),
        value => Some(value),
    }
}

/// A number, exactly: one that JSON's numbers cannot hold keeps its digits, as text.
fn number(word: &str, at: usize, repairs: &mut Repairs) -> Option<Value> {
    let first = word.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) {
        return None;
    }
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let digit = |place: usize| unsigned.as_bytes().get(place).is_some_and(u8::is_ascii_digit);
    if unsigned.starts_with('0') && digit(1) {
        return None; // 007 is a name of something, not seven
    }
    if (1..=18).contains(&unsigned.len()) && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        if first == b'+' {
            repairs.note(RepairKind::NumberForm, at);
        }
        return word.parse::<i64>().ok().map(Value::from);
    }
    let exact = Decimal::parse(word)?;
    let plain = !word.starts_with('+') && digit(0) && !has_open_point(unsigned);
    if !plain {
        repairs.note(RepairKind::NumberForm, at);
    }
    if !unsigned.contains(['.', 'e', 'E']) {
        if let Ok(small) = word.parse::<i64>() {
            return Some(Value::from(small));
        }
        if let Ok(large) = word.parse::<u64>() {
            return Some(Value::from(large));
        }
    }
    let double: f64 = word.parse().ok()?;
    let held = Number::from_f64(double).filter(|number| {
        // Fifteen digits survive every double of usual size (IEEE 754-2019, 5.12.2).
        let usual = exact.precision() <= 15 && (1e-290..1e290).contains(&double.abs());
        usual || Decimal::of(number).as_ref() == Some(&exact)
    });
    Some(held.map_or_else(
        || {
            repairs.note(RepairKind::ExactNumber, at);
            Value::String(word.to_owned())
        },
        Value::Number,
    ))
}

/// `5.` and `5.e3`
fn has_open_point(unsigned: &str) -> bool {
    unsigned
        .split_once('.')
        .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_exact_or_text() {
        let mut repairs = Repairs::default();
        for (word, expected) in [
            ("5", json!(5)),
            ("-3.25", json!(-3.25)),
            ("1e3", json!(1000.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("123456789012345678901234567890", json!("123456789012345678901234567890")),
            ("9007199254740993.5", json!("9007199254740993.5")),
            ("1e999", json!("1e999")),
            ("1e-999", json!("1e-999")),
            ("0.30000000000000004", json!(0.30000000000000004)),
            ("007", json!("007")),
            ("1_000", json!("1_000")),
            ("NaN", json!("NaN")),
            ("-Infinity", json!("-Infinity")),
            ("1e", json!("1e")),
            ("5 kg", json!("5 kg")),
            ("None", json!(null)),
            ("TRUE", json!(true)),
            (".25", json!(0.25)),
            ("+5", json!(5)),
        ] {
            assert_eq!(value(word, 0, &mut repairs), expected, "{word}");
        }
    }
}
