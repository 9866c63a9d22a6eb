//! Whether a value ends where its digits end.

use std::ops::Range;

use super::scan::{after, before, placeholder_after, placeholder_before};

/// False for a part of a word, of a decimal, or of a longer number with points or hyphens. A
/// placeholder stands for a digit: the neighbour may have been masked.
pub(super) fn stands_alone(text: &str, value: &Range<usize>) -> bool {
    starts(text, value.start) && ends(text, value.end)
}

/// The left half of [`stands_alone`].
pub(super) fn starts(text: &str, at: usize) -> bool {
    match before(text, at) {
        Some('-' | '.') => {
            !before(text, at - 1).is_some_and(|c| c.is_ascii_alphanumeric() || c == ']')
        }
        Some(c) => !c.is_alphanumeric() && c != '+' && !placeholder_before(text, at),
        None => true,
    }
}

/// The right half of [`stands_alone`].
pub(super) fn ends(text: &str, at: usize) -> bool {
    match after(text, at) {
        Some('-') => !after(text, at + 1).is_some_and(|c| c.is_ascii_alphanumeric() || c == '['),
        Some('.') => !after(text, at + 1).is_some_and(|c| c.is_ascii_digit() || c == '['),
        Some(c) => !c.is_alphanumeric() && !placeholder_after(text, at),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_go_on_are_a_part() {
        let alone = |text: &str| {
            let at = text.find('7').unwrap();
            stands_alone(text, &(at..at + 1))
        };
        for text in
            ["7", "(7)", "a_7_b", "7.", "7. [IP]", "- 7", "1,7", "[IP] 7", "7-", "7.md", "[7][x]"]
        {
            assert!(alone(text), "{text}");
        }
        for text in [
            "a7", "7é", "1.7", "7.1", "a-7", "7-b", "[IP]-7", "7.[IP]", "+7", "17", "7[IP]",
            "[IP]7",
        ] {
            assert!(!alone(text), "{text}");
        }
    }
}
