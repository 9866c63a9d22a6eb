//! Tags as they come within a reply.

use crate::citation::numbers;

/// The longest bracket that is read as one, in bytes.
const LONGEST: usize = 128;

/// What a text begins with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// No bracket of tags.
    None,
    /// The beginning of one, perhaps.
    Open,
    /// One of tags: its bytes, and the numbers.
    Tags { length: usize, numbers: Vec<usize> },
}

/// Reads the bracket that a text begins with.
pub(super) fn bracket(text: &str) -> Bracket {
    let Some(inside) = text.strip_prefix(['[', '［']) else { return Bracket::None };
    let begin = text.len() - inside.len();
    let of_tags = |c: char| c.is_ascii_digit() || c.is_whitespace() || "Ss,;".contains(c);
    let length = inside.find(|c| !of_tags(c)).unwrap_or(inside.len());
    if length > LONGEST {
        return Bracket::None;
    }
    let rest = inside.get(length..).unwrap_or_default();
    match rest.chars().next() {
        None => Bracket::Open,
        Some(c @ (']' | '］')) => match numbers(inside.get(..length).unwrap_or_default()) {
            Some(numbers) => Bracket::Tags { length: begin + length + c.len_utf8(), numbers },
            None => Bracket::None,
        },
        Some(_) => Bracket::None,
    }
}

/// The brackets of tags in a text: where they begin, how long they are, what they say.
pub(super) fn all(text: &str) -> impl Iterator<Item = (usize, usize, Vec<usize>)> {
    text.match_indices(['[', '［']).filter_map(|(at, _)| match bracket(text.get(at..)?) {
        Bracket::Tags { length, numbers } => Some((at, length, numbers)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_read_as_far_as_they_have_come() {
        let tags = |length, numbers: &[usize]| Bracket::Tags { length, numbers: numbers.into() };
        for (text, expected) in [
            ("[S1] x", tags(4, &[1])),
            ("[s1; S20]", tags(9, &[1, 20])),
            ("［S4］", tags(8, &[4])),
            ("[", Bracket::Open),
            ("[S1, ", Bracket::Open),
            ("[x]", Bracket::None),
            ("[S]", Bracket::None),
            ("x", Bracket::None),
            ("", Bracket::None),
        ] {
            assert_eq!(bracket(text), expected, "{text}");
        }
    }
}
