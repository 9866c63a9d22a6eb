//! The sentences of a reply, as far as they have come.

use super::tags::{Bracket, bracket};

/// The longest sentence, in bytes; a longer one is two.
const LONGEST: usize = 2_000;

/// Where the first sentence of a text ends, the tags behind it and the white space before the next one
/// included. Nothing when more of the text is needed to say so; of a text that is complete, nothing when
/// it is empty.
///
/// A sentence ends with its line, or with a full stop, an exclamation or question mark before white
/// space and what is no small letter. Where it ends depends on nothing behind that, so that a reply in
/// pieces has the sentences of the whole.
pub(super) fn first_end(text: &str, last: bool) -> Option<usize> {
    if text.len() > LONGEST {
        let cut = text.floor_char_boundary(LONGEST);
        return end(text.get(..cut)?, true);
    }
    end(text, last)
}

fn end(text: &str, last: bool) -> Option<usize> {
    let begin = text.len() - text.trim_start().len();
    let mut at = begin;
    while let Some(c) = char_at(text, at) {
        let next = at + c.len_utf8();
        let ends = match c {
            '\n' => Some(true),
            '。' | '！' | '？' => Some(true),
            '.' | '!' | '?' | '…' => stops(text, next, last),
            _ => Some(false),
        };
        match ends {
            Some(false) => at = next,
            Some(true) => return behind(text, next, last),
            None => return None,
        }
    }
    (last && !text.is_empty()).then_some(text.len())
}

/// Whether a sentence stops with the mark that ends here. Nothing when that does not show yet.
fn stops(text: &str, mark: usize, last: bool) -> Option<bool> {
    let mut at = mark;
    while let Some(c) = char_at(text, at) {
        match c {
            // A run of marks stops at its end, brackets and quotes closed.
            '.' | '!' | '?' | '…' => return Some(false),
            ')' | '"' | '\'' | '”' | '’' | '»' | '*' | '_' | '`' => at += c.len_utf8(),
            '[' | '［' => return tags_end(text, at, last).map(|end| end > at),
            c if c.is_whitespace() => {
                let rest = text.get(at..).unwrap_or_default();
                let gap = rest.len() - rest.trim_start().len();
                return match char_at(text, at + gap) {
                    Some(next) => Some(!next.is_lowercase() || rest.get(..gap)?.contains('\n')),
                    None => last.then_some(true),
                };
            }
            _ => return Some(false),
        }
    }
    last.then_some(true)
}

/// Where all ends that belongs to the sentence that stops at `at`: closing quotes, tags and their full
/// stops, white space.
fn behind(text: &str, mut at: usize, last: bool) -> Option<usize> {
    loop {
        let Some(c) = char_at(text, at) else { return last.then_some(at) };
        let end = match c {
            '[' | '［' => tags_end(text, at, last)?,
            '.' | ')' | '"' | '\'' | '”' | '’' | '»' | '*' | '_' | '`'
                if !starts_line(text, at) =>
            {
                let next = at + c.len_utf8();
                match char_at(text, next) {
                    Some(c) if c.is_alphanumeric() => at,
                    None if !last => return None,
                    _ => next,
                }
            }
            c if c.is_whitespace() => at + c.len_utf8(),
            _ => at,
        };
        if end == at {
            return Some(at);
        }
        at = end;
    }
}

/// Whether a line, or a list's item, begins here.
fn starts_line(text: &str, at: usize) -> bool {
    let head = text.get(..at).unwrap_or_default();
    head.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// The end of the tag that begins at a bracket, or the bracket where it is none.
fn tags_end(text: &str, at: usize, last: bool) -> Option<usize> {
    match bracket(text.get(at..).unwrap_or_default()) {
        Bracket::Tags { length, .. } => Some(at + length),
        Bracket::Open if !last => None,
        _ => Some(at),
    }
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let (mut found, mut rest) = (Vec::new(), text);
        while let Some(end) = first_end(rest, true) {
            let (sentence, behind) = rest.split_at(end);
            found.push(sentence);
            rest = behind;
        }
        assert_eq!(rest, "");
        found
    }

    #[test]
    fn a_text_falls_into_sentences_with_their_tags() {
        for (text, expected) in [
            ("One. Two!", &["One. ", "Two!"][..]),
            ("One [S1]. Two. [S2] Three", &["One [S1]. ", "Two. [S2] ", "Three"]),
            ("One.[S1][S2]. Two", &["One.[S1][S2]. ", "Two"]),
            (
                "At 3.5 % or approx. half, e.g. here. Then?",
                &["At 3.5 % or approx. half, e.g. here. ", "Then?"],
            ),
            ("“One.” Two", &["“One.” ", "Two"]),
            (
                "# Head\n\n- one [S1]\n- two\n[S2]\n",
                &["# Head\n\n", "- one [S1]\n", "- two\n[S2]\n"],
            ),
            ("一つ。二つ！", &["一つ。", "二つ！"]),
            ("Well... [see] No.", &["Well... ", "[see] No."]),
            ("", &[]),
            ("  ", &["  "]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn an_endless_sentence_is_cut() {
        let text = "word ".repeat(1_000);
        assert!(sentences(&text).iter().all(|sentence| sentence.len() <= LONGEST));
    }

    proptest! {
        #[test]
        fn a_text_in_pieces_has_the_sentences_of_the_whole(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-zA-Z .!?\\n]{0,9}",
                    prop::sample::select(vec!["[S1]", "[S1, S2].", "[", "]", "[x]", "。", "é”", " 3.5 "])
                        .prop_map(String::from),
                ],
                0..20,
            ),
        ) {
            let whole = parts.concat();
            let (mut found, mut rest) = (Vec::new(), String::new());
            for part in &parts {
                rest.push_str(part);
                while let Some(end) = first_end(&rest, false) {
                    found.push(rest.drain(..end).collect::<String>());
                }
            }
            while let Some(end) = first_end(&rest, true) {
                found.push(rest.drain(..end).collect::<String>());
            }
            prop_assert_eq!(found, sentences(&whole));
        }
    }
}
