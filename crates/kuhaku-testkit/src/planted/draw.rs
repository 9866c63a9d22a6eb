//! Draws digits, letters and lists.

use crate::random::Random;

/// The letters and digits of tokens.
pub(super) const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// A source of characters.
#[derive(Clone, Debug)]
pub(super) struct Draw(Random);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }

    /// A number from `from` to `to`, both of them possible.
    pub(super) fn between(&mut self, from: usize, to: usize) -> usize {
        from + self.0.below(to - from + 1)
    }

    /// True every other time.
    pub(super) fn either(&mut self) -> bool {
        self.0.once_in(2)
    }

    /// One of a list, which must not be empty.
    pub(super) fn pick(&mut self, from: &[&'static str]) -> &'static str {
        self.0.pick(from).unwrap_or_default()
    }

    /// So many characters of an alphabet.
    pub(super) fn of(&mut self, alphabet: &str, count: usize) -> String {
        let size = alphabet.chars().count();
        (0..count).filter_map(|_| alphabet.chars().nth(self.0.below(size))).collect()
    }

    /// So many digits.
    pub(super) fn digits(&mut self, count: usize) -> String {
        self.of("0123456789", count)
    }

    /// A token's body, which has a capital, a small letter and a digit.
    pub(super) fn body(&mut self, count: usize) -> String {
        self.of("QWXZKV", 1)
            + &self.of("qwxzkv", 1)
            + &self.of("2345678", 1)
            + &self.of(WORD, count.saturating_sub(3))
    }

    /// The digits `0` to `9` in any order.
    pub(super) fn shuffled_digits(&mut self) -> String {
        let mut left: Vec<char> = ('0'..='9').collect();
        let mut shuffled = String::new();
        while !left.is_empty() {
            shuffled.push(left.remove(self.0.below(left.len())));
        }
        shuffled
    }

    /// Puts one of `gaps` between groups of these lengths; the rest is the last group.
    pub(super) fn grouped(
        &mut self,
        digits: &str,
        lengths: &[usize],
        gaps: &[&'static str],
    ) -> String {
        let gap = self.pick(gaps);
        group(digits, lengths, gap)
    }
}

/// Puts a gap between groups of these lengths; what is left over is the last group.
pub(super) fn group(text: &str, lengths: &[usize], gap: &str) -> String {
    let mut groups = Vec::new();
    let mut rest = text;
    for length in lengths {
        let (head, tail) = rest.split_at_checked(*length).unwrap_or((rest, ""));
        groups.push(head);
        rest = tail;
    }
    groups.push(rest);
    groups.retain(|group| !group.is_empty());
    groups.join(gap)
}

/// The values of the characters of a number to base 36.
pub(super) fn values(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(36)).collect()
}

/// The sum of the products of digits and weights.
pub(super) fn weighted(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The digit that makes the sum of Luhn (ISO/IEC 7812-1) a multiple of ten.
pub(super) fn luhn_digit(payload: &str) -> u32 {
    let sum: u32 = values(payload)
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { *digit })
        .sum();
    (10 - sum % 10) % 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_digit_of_luhn_is_the_published_one() {
        assert_eq!(luhn_digit("7992739871"), 3);
        assert_eq!(luhn_digit("411111111111111"), 1);
    }

    #[test]
    fn groups_hold_all_that_they_are_made_of() {
        assert_eq!(group("378282246310005", &[4, 6], " "), "3782 822463 10005");
        assert_eq!(group("12", &[4, 4], "-"), "12");
    }
}
