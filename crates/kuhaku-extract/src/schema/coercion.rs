//! Reading a value as what the field takes, without changing what it says.

use kuhaku_core::Date;
use serde_json::Value;

use super::Kind;
use super::numbers::{integer, number, whole};
use crate::decimal::Decimal;

/// How leniently values are read.
///
/// Lenient reading turns text into the number, truth value, day or choice that it states, and a
/// whole number written as a fraction into a whole one. It turns nothing into text, loses no digit,
/// and every case is recorded.
///
/// ```
/// use kuhaku_extract::{Coercion, Fields, NumberFormat, Schema};
/// use serde_json::json;
///
/// # fn main() -> kuhaku_extract::Result<()> {
/// let schema = Schema::from_fields(Fields::new().number("weight"))?;
/// let written = json!({"weight": "3,5"});
/// assert!(!schema.check(&written, &Coercion::lenient()).is_complete());
/// let commas = Coercion::lenient().numbers(NumberFormat::Comma);
/// assert_eq!(schema.check(&written, &commas).value, json!({"weight": 3.5}));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coercion {
    pub(super) lenient: bool,
    numbers: NumberFormat,
}

/// How numbers are written in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum NumberFormat {
    /// As in JSON: `1234.5`. Anything else could mean two numbers, and is refused.
    #[default]
    Plain,
    /// A decimal point, and perhaps commas between thousands: `1,234.5`.
    Point,
    /// A decimal comma, and perhaps points between thousands: `1.234,5`.
    Comma,
}

impl Coercion {
    /// Reads leniently, numbers as JSON writes them.
    pub fn lenient() -> Self {
        Self { lenient: true, numbers: NumberFormat::Plain }
    }

    /// Takes values as they are.
    pub fn strict() -> Self {
        Self { lenient: false, numbers: NumberFormat::Plain }
    }

    /// Sets how numbers in text are written.
    #[must_use]
    pub fn numbers(mut self, format: NumberFormat) -> Self {
        self.numbers = format;
        self
    }
}

impl Default for Coercion {
    /// The same as [`Self::lenient`].
    fn default() -> Self {
        Self::lenient()
    }
}

/// What would fit where something else stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Wanted {
    pub(super) kinds: Vec<Kind>,
    pub(super) options: Vec<Value>,
    pub(super) date: bool,
}

impl Wanted {
    /// The value read as what is wanted, if it states exactly that.
    pub(super) fn coerce(&self, value: &Value, coercion: &Coercion) -> Option<(Value, Kind)> {
        if !coercion.lenient {
            return None;
        }
        if let Some(option) = self.option(value, coercion) {
            return Some((option.clone(), Kind::Choice));
        }
        let wants = |kind| self.kinds.contains(&kind);
        match value {
            Value::String(text) => {
                if let Some(day) = day(text).filter(|_| self.date) {
                    return Some((day.into(), Kind::Date));
                }
                let whole = integer(text, coercion.numbers).filter(|_| wants(Kind::Integer));
                if let Some(number) = whole {
                    return Some((number.into(), Kind::Integer));
                }
                let number = number(text, coercion.numbers).filter(|_| wants(Kind::Number));
                if let Some(number) = number {
                    return Some((number.into(), Kind::Number));
                }
                let truth = truth(text).filter(|_| wants(Kind::Boolean))?;
                Some((truth.into(), Kind::Boolean))
            }
            Value::Number(number) => {
                if let Some(number) = whole(number).filter(|_| wants(Kind::Integer)) {
                    return Some((number.into(), Kind::Integer));
                }
                let truth = match number.as_u64() {
                    Some(0) => false,
                    Some(1) => true,
                    _ => return None,
                };
                wants(Kind::Boolean).then(|| (truth.into(), Kind::Boolean))
            }
            _ => None,
        }
    }

    /// The only option that the text is, but for case and the kind of writing.
    fn option(&self, value: &Value, coercion: &Coercion) -> Option<&Value> {
        let text = value.as_str()?.trim();
        let folded = text.to_lowercase();
        let read = number(text, coercion.numbers);
        let mut fitting = self.options.iter().filter(|option| match option {
            Value::String(option) => option.trim().to_lowercase() == folded,
            Value::Number(option) => {
                read.as_ref().is_some_and(|read| Decimal::of(read) == Decimal::of(option))
            }
            Value::Bool(option) => truth(text) == Some(*option),
            _ => false,
        });
        let option = fitting.next()?;
        fitting.next().is_none().then_some(option)
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" | "y" | "t" | "1" => Some(true),
        "false" | "no" | "off" | "n" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// A day that is written year first, which has one meaning, as `YYYY-MM-DD`.
fn day(text: &str) -> Option<String> {
    let text = text.trim();
    let mark = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let mut parts = text.split(mark);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |part: &str, most: usize| {
        let fits = (1..=most).contains(&part.len());
        fits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if parts.next().is_some() || year.len() != 4 || !digits(year, 4) {
        return None;
    }
    if !digits(month, 2) || !digits(day, 2) {
        return None;
    }
    let date = Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    Some(date.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value, wanted: &Wanted) -> Option<Value> {
        wanted.coerce(&value, &Coercion::lenient()).map(|(value, _)| value)
    }

    #[test]
    fn words_for_truth_are_read_and_others_are_not() {
        let wanted = Wanted { kinds: vec![Kind::Boolean], ..Wanted::default() };
        for text in ["yes", " Yes ", "TRUE", "on", "1", "y"] {
            assert_eq!(read(json!(text), &wanted), Some(json!(true)), "{text}");
        }
        assert_eq!(read(json!("no"), &wanted), Some(json!(false)));
        assert_eq!(read(json!(1), &wanted), Some(json!(true)));
        for value in [json!("maybe"), json!(""), json!(2), json!(0.5), json!([]), json!({})] {
            assert_eq!(read(value.clone(), &wanted), None, "{value}");
        }
    }

    #[test]
    fn a_day_is_read_only_when_it_is_written_year_first_and_exists() {
        let wanted = Wanted { date: true, ..Wanted::default() };
        for text in ["2024-3-5", "2024/03/05", "2024.03.05", " 2024-03-05 "] {
            assert_eq!(read(json!(text), &wanted), Some(json!("2024-03-05")), "{text}");
        }
        for text in ["03/05/2024", "2024-02-30", "24-03-05", "2024-03", "2024-03-05-06", "today"] {
            assert_eq!(read(json!(text), &wanted), None, "{text}");
        }
    }

    #[test]
    fn a_choice_is_read_only_when_one_option_alone_fits() {
        let options = vec![json!("Small"), json!("LARGE"), json!("large"), json!(2)];
        let wanted = Wanted { options, ..Wanted::default() };
        assert_eq!(read(json!(" small"), &wanted), Some(json!("Small")));
        assert_eq!(read(json!("2"), &wanted), Some(json!(2)));
        for text in ["Large", "smal", "", "3"] {
            assert_eq!(read(json!(text), &wanted), None, "{text}");
        }
        let options = vec![json!(9_007_199_254_740_993_u64), json!(3)];
        let wanted = Wanted { options, ..Wanted::default() };
        assert_eq!(read(json!("9007199254740992"), &wanted), None, "not the same by rounding");
        assert_eq!(read(json!("3.0"), &wanted), Some(json!(3)));
    }

    #[test]
    fn nothing_becomes_text() {
        let wanted = Wanted { kinds: vec![Kind::Text], ..Wanted::default() };
        for value in [json!(5), json!(true), json!(1.5)] {
            assert_eq!(read(value, &wanted), None);
        }
    }
}
