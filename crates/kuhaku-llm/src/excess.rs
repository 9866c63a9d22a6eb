//! By how much an input is too long.

use std::borrow::Cow;

use kuhaku_core::ErrorKind;

use crate::fault::Fault;

/// The fault of an input that is too long: its length and the limit, if they are known, in tokens.
pub(crate) fn too_long(numbers: Option<(u64, u64)>) -> Fault {
    let wrong = match numbers {
        Some((input, most)) => worded(input, most),
        None => "the input is longer than the model takes".into(),
    };
    let next = "send fewer or shorter texts, or choose a model with a longer context";
    Fault::new(ErrorKind::ContextTooLong, wrong).next(next)
}

/// The same fault; one of a long input says by how much, if the service said so.
pub(crate) fn named(fault: Fault) -> Fault {
    let said = fault.said.as_deref().filter(|said| said.to_lowercase().contains("token"));
    match said.and_then(numbers) {
        Some((input, most)) if fault.kind == ErrorKind::ContextTooLong => {
            Fault { wrong: worded(input, most), ..fault }
        }
        _ => fault,
    }
}

fn worded(input: u64, most: u64) -> Cow<'static, str> {
    let over = input.saturating_sub(most);
    format!("the input of {input} tokens is {over} over the limit of {most}").into()
}

/// Length and limit, when a service's words name both: the larger number is the length.
///
/// Nothing of the words but the two numbers is kept.
fn numbers(words: &str) -> Option<(u64, u64)> {
    /// Smaller numbers are versions, positions and the like.
    const LEAST: u64 = 100;
    let digits = words.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
    let mut found =
        digits.filter_map(|part| part.parse::<u64>().ok()).filter(|number: &u64| *number >= LEAST);
    let (one, two) = (found.next()?, found.next()?);
    (one != two).then(|| (one.max(two), one.min(two)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_excess_is_named_when_the_service_names_two_numbers() {
        for (words, expected) in [
            ("prompt is too long: 210000 tokens > 200000 maximum", Some((210_000, 200_000))),
            (
                "count (1200000) exceeds the maximum allowed (1048576).",
                Some((1_200_000, 1_048_576)),
            ),
            ("limit 8192, got 9000", Some((9_000, 8_192))),
            ("too long, see error 12", None),
            ("99999999999999999999999 and 5", None),
        ] {
            assert_eq!(numbers(words), expected, "{words}");
        }
    }

    #[test]
    fn only_an_input_that_is_too_long_is_worded_with_numbers_of_tokens() {
        let said = "210000 tokens > 200000 maximum";
        let long = named(Fault::of_status(413).said(said));
        assert!(long.wrong.contains("10000 over"), "{}", long.wrong);
        assert_eq!(long.status, Some(413));
        for (status, said) in [(413, "9000 bytes > 8000"), (400, said)] {
            assert_eq!(
                named(Fault::of_status(status).said(said)).wrong,
                Fault::of_status(status).wrong
            );
        }
    }
}
