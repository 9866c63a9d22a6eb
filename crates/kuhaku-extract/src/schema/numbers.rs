//! Numbers that were written as text.

use serde_json::{Number, Value};

use super::NumberFormat;

/// A binary fraction holds any decimal of so many digits.
const MOST_DIGITS: usize = 17;
/// Whole numbers up to here have one value as a binary fraction.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The number that a text states and nothing else, or none: never NaN, never infinite, and never
/// another number than the digits say.
pub(super) fn number(text: &str, format: NumberFormat) -> Option<Number> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (digits, None),
    };
    let (whole, fraction) = parts(mantissa, format)?;
    let sign = if negative { "-" } else { "" };
    match (fraction, exponent) {
        (None, None) => integer_of(&format!("{sign}{whole}")),
        (fraction, exponent) => {
            let fraction = fraction.unwrap_or("0");
            let exponent = exponent.unwrap_or("0");
            let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if !all_digits(fraction) || !all_digits(unsigned) {
                return None;
            }
            let significant = format!("{whole}{fraction}");
            let significant = significant.trim_start_matches('0').trim_end_matches('0');
            if significant.len() > MOST_DIGITS {
                return None;
            }
            let value: f64 = format!("{sign}{whole}.{fraction}e{exponent}").parse().ok()?;
            // A number too small for a binary fraction is not zero.
            if value == 0.0 && !significant.is_empty() {
                return None;
            }
            Number::from_f64(value)
        }
    }
}

/// The whole number that a text states: `5`, `5.0`, not `5.5`.
pub(super) fn integer(text: &str, format: NumberFormat) -> Option<Number> {
    whole(&number(text, format)?)
}

/// A number without a fraction, written as such.
pub(super) fn whole(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return Some(number.clone());
    }
    let value = number.as_f64().filter(|value| value.fract() == 0.0 && value.abs() < EXACT)?;
    integer_of(&format!("{value:.0}"))
}

/// Whether a value is a whole number that is written as a fraction (`3.0`).
pub(super) fn is_whole_fraction(value: &Value) -> bool {
    matches!(value, Value::Number(number) if number.is_f64() && whole(number).is_some())
}

fn integer_of(text: &str) -> Option<Number> {
    let signed = text.parse::<i64>().ok().map(Number::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Number::from))
}

/// The digits before and after the decimal mark, without marks between thousands.
fn parts(mantissa: &str, format: NumberFormat) -> Option<(String, Option<&str>)> {
    let (point, group) = match format {
        NumberFormat::Plain => ('.', None),
        NumberFormat::Point => ('.', Some(',')),
        NumberFormat::Comma => (',', Some('.')),
    };
    if let Some((whole, fraction)) = mantissa.split_once(point) {
        return Some((ungrouped(whole, group)?, Some(fraction)));
    }
    if let Some(whole) = ungrouped(mantissa, group) {
        return Some((whole, None));
    }
    // A model writes points whatever the text does, and `3.5` groups no thousands.
    let (whole, fraction) = mantissa.split_once('.').filter(|_| format == NumberFormat::Comma)?;
    Some((ungrouped(whole, None)?, Some(fraction)))
}

fn ungrouped(digits: &str, group: Option<char>) -> Option<String> {
    if all_digits(digits) {
        return Some(digits.to_owned());
    }
    let mut groups = digits.split(group?);
    let first = groups.next().filter(|first| all_digits(first) && first.len() <= 3)?;
    let mut whole = first.to_owned();
    for group in groups {
        if group.len() != 3 || !all_digits(group) {
            return None;
        }
        whole.push_str(group);
    }
    Some(whole)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, format: NumberFormat) -> Option<String> {
        number(text, format).map(|number| number.to_string())
    }

    #[test]
    fn a_number_is_read_only_when_its_digits_say_one() {
        let plain = |text| read(text, NumberFormat::Plain);
        for (text, number) in
            [("5", "5"), (" -5 ", "-5"), ("+2.50", "2.5"), ("\u{2212}1", "-1"), ("1e3", "1000.0")]
        {
            assert_eq!(plain(text).as_deref(), Some(number), "{text}");
        }
        for text in [
            "",
            "five",
            "NaN",
            "inf",
            "infinity",
            "-Infinity",
            "1e999",
            "1e-999",
            "3,5",
            "1,500",
            "5.",
            ".5",
            "0x10",
            "1_000",
            "5 kg",
            "5%",
            "--5",
            "1e",
            "1e+",
            "1.2.3",
            "123456789012345678901234567890",
            "0.123456789012345678901234",
        ] {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn marks_between_thousands_and_decimal_commas_are_read_when_asked_for() {
        let comma = |text| read(text, NumberFormat::Comma);
        let point = |text| read(text, NumberFormat::Point);
        assert_eq!(comma("3,5").as_deref(), Some("3.5"));
        assert_eq!(comma("1.234,5").as_deref(), Some("1234.5"));
        assert_eq!(comma("1.500").as_deref(), Some("1500"));
        assert_eq!(comma("3.5").as_deref(), Some("3.5"));
        assert_eq!(comma("1.50.000"), None);
        assert_eq!(point("1,234,567.5").as_deref(), Some("1234567.5"));
        assert_eq!(point("1,500").as_deref(), Some("1500"));
        assert_eq!(point("3,5"), None);
    }

    #[test]
    fn a_whole_number_has_no_fraction() {
        let plain = |text| integer(text, NumberFormat::Plain).map(|number| number.to_string());
        assert_eq!(plain("3.0").as_deref(), Some("3"));
        assert_eq!(plain("3.5"), None);
        assert_eq!(plain("18446744073709551615").as_deref(), Some("18446744073709551615"));
        assert_eq!(plain("18446744073709551616"), None);
        assert_eq!(plain("1e300"), None);
    }

    proptest! {
        #[test]
        fn what_is_read_is_finite_and_reads_the_same_again(
            text in "[-+]?[0-9.,eE]{0,24}|\\PC{0,12}",
        ) {
            for format in [NumberFormat::Plain, NumberFormat::Point, NumberFormat::Comma] {
                let Some(read) = number(&text, format) else { continue };
                prop_assert!(read.as_f64().is_some_and(f64::is_finite));
                let again = number(&read.to_string(), NumberFormat::Plain);
                if let Some(again) = again {
                    prop_assert_eq!(again.as_f64(), read.as_f64());
                }
            }
        }
    }
}
