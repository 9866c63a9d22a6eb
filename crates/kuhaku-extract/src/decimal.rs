//! Numbers as they are written: exact, and equal by value however they are written.

/// A decimal number: digits times ten to the exponent, with no zero at either end of the digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// `digits` are ASCII digits.
    pub(crate) fn new(negative: bool, digits: &str, exponent: i64) -> Self {
        let kept = digits.trim_end_matches('0');
        let exponent = exponent.saturating_add((digits.len() - kept.len()) as i64);
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        Self { negative, digits: kept.to_owned(), exponent }
    }

    /// Reads a number of JSON, and `.5`, `5.` and `+5` with it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            None => (unsigned, 0),
            Some((mantissa, power)) => {
                let sure = power.trim_start_matches(['+', '-']);
                if sure.is_empty() || !all_digits(sure) || power.len() > sure.len() + 1 {
                    return None;
                }
                (mantissa, power.parse::<i64>().ok()?)
            }
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if !all_digits(whole) || !all_digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let exponent = power.checked_sub(fraction.len() as i64)?;
        Some(Self::new(negative, &format!("{whole}{fraction}"), exponent))
    }

    /// The value of a JSON number, as it is printed.
    pub(crate) fn of(number: &serde_json::Number) -> Option<Self> {
        Self::parse(&number.to_string())
    }

    /// The same number with the other sign.
    pub(crate) fn negated(self) -> Self {
        let negative = !self.negative && !self.digits.is_empty();
        Self { negative, ..self }
    }

    /// Ten to the `power` times the number.
    pub(crate) fn shifted(self, power: i64) -> Self {
        if self.digits.is_empty() {
            return self;
        }
        Self { exponent: self.exponent.saturating_add(power), ..self }
    }

    /// How many digits carry the value.
    pub(crate) fn precision(&self) -> usize {
        self.digits.len()
    }

    /// The number, when it is whole and not negative.
    pub(crate) fn to_u64(&self) -> Option<u64> {
        let power = u32::try_from(self.exponent).ok()?;
        let digits = format!("0{}", self.digits).parse::<u64>().ok()?;
        if self.negative { None } else { digits.checked_mul(10_u64.checked_pow(power)?) }
    }

    /// Whether the number is `above / below`, exactly; false where the parts are too large to tell.
    pub(crate) fn is_ratio(&self, above: u64, below: u64) -> bool {
        let (Ok(digits), Ok(power)) =
            (format!("0{}", self.digits).parse::<u128>(), u32::try_from(self.exponent.abs()))
        else {
            return false;
        };
        let Some(ten) = 10_u128.checked_pow(power) else { return false };
        let (up, down) = if self.exponent < 0 { (1, ten) } else { (ten, 1) };
        let ours = digits.checked_mul(up).and_then(|it| it.checked_mul(u128::from(below)));
        let theirs = u128::from(above).checked_mul(down);
        below != 0 && !self.negative && ours.is_some() && ours == theirs
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_by_value_and_never_by_rounding() {
        let of = |text: &str| Decimal::parse(text).unwrap();
        for (one, other) in [
            ("2.5", "2.50"),
            ("1500", "1.5e3"),
            ("-0", "0"),
            (".5", "0.5"),
            ("5.", "5"),
            ("+7", "7"),
            ("100e-2", "1"),
        ] {
            assert_eq!(of(one), of(other), "{one} {other}");
        }
        assert_ne!(of("0.1"), of("0.1000000000000000055511151231257827"));
        assert_ne!(of("-5"), of("5"));
        for wrong in ["", "-", ".", "1e", "1e+-3", "e5", "1.2.3", "0x1", "1 2", "1e+"] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_ratio_is_compared_exactly() {
        let of = |text: &str| Decimal::parse(text).unwrap();
        assert!(of("0.75").is_ratio(3, 4) && of("2.5").is_ratio(5, 2) && of("0").is_ratio(0, 3));
        assert!(!of("0.3333333333").is_ratio(1, 3) && !of("1").is_ratio(1, 0));
        assert!(!of("-0.5").is_ratio(1, 2) && !of("1e300").is_ratio(1, 1));
    }
}
