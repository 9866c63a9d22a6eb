//! The values of digits, and the check that most numbers share.

/// The values of the digits in `text`, whatever else stands between them.
pub(super) fn values(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// The check of ISO/IEC 7812-1, annex B: from the right, every second digit is doubled, nines are
/// cast out, and the sum is a multiple of ten.
pub(super) fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) => doubled / 10 + doubled % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PII-05
    #[test]
    fn the_luhn_check_tells_valid_numbers_from_others() {
        for number in ["4111111111111111", "5500005555555559", "378282246310005", "79927398713"] {
            assert!(luhn(&values(number)), "{number}");
        }
        assert!(!luhn(&values("1234567890123456")));
    }
}
