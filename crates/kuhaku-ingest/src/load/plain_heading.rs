//! Headings of plain text, which nothing marks but their looks.
//!
//! Taking a heading for prose costs little; taking the first line of wrapped prose for a heading
//! tears a sentence apart. So a line counts only when a wrapper cannot have made the break behind
//! it: the next word would have fitted by far.

use kuhaku_core::one_line;

use super::title::LONGEST;

/// The longest line that is a heading, in characters.
const LONGEST_LINE: usize = 60;

/// The shortest line of `=` or `-` that underlines.
const SHORTEST_UNDERLINE: usize = 3;

/// A heading at the beginning of a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlainHeading {
    /// 1 when underlined by `=`, else 2: a line that only looks like a heading never becomes the
    /// title of a document that begins with something else.
    pub(super) level: u8,
    /// Its words in one line.
    pub(super) text: String,
    /// Its bytes in the paragraph, underline included.
    pub(super) len: usize,
}

/// The heading that a paragraph begins with. `indent` is what stands before it on its first line.
pub(super) fn plain_heading(indent: &str, paragraph: &str) -> Option<PlainHeading> {
    let (first, rest) = paragraph.split_once('\n')?;
    let title = first.trim_end();
    if !may_be_a_title(title) {
        return None;
    }
    let text = one_line(title, LONGEST);
    let second = rest.split('\n').next().unwrap_or_default().trim_end();
    if let Some(level) = underline(second.trim_start()) {
        return Some(PlainHeading { level, text, len: first.len() + 1 + second.len() });
    }
    let len = title.len();
    stands_above(indent, title, rest).then_some(PlainHeading { level: 2, text, len })
}

/// Short, not the end of a sentence, and no row of a table.
fn may_be_a_title(line: &str) -> bool {
    let ends_open = line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | ']' | '+'));
    ends_open
        && line.chars().nth(LONGEST_LINE).is_none()
        && !line.contains(['\t', '|', '\u{c}'])
        && !line.contains("  ")
}

fn underline(line: &str) -> Option<u8> {
    let only = |c| line.len() >= SHORTEST_UNDERLINE && line.trim_matches(c).is_empty();
    if only('=') { Some(1) } else { only('-').then_some(2) }
}

/// Whether a title stands above prose: it and the prose begin like sentences, the prose ends like
/// one, its lines are longer than the title (but for the last of several), and the line of the title
/// has room left for the next word.
fn stands_above(indent: &str, title: &str, prose: &str) -> bool {
    let begins = title.starts_with(|c: char| c.is_uppercase() || c.is_numeric());
    if !begins
        || !prose.trim_start().starts_with(char::is_uppercase)
        || !prose.trim_end().ends_with(['.', '!', '?', '…'])
    {
        return false;
    }
    let length = title.chars().count();
    let (mut widest, mut lines) = (0, 0_usize);
    let mut shortest_but_last = usize::MAX;
    let mut last = usize::MAX;
    for line in prose.split('\n') {
        shortest_but_last = shortest_but_last.min(last);
        last = line.trim().chars().count();
        lines += 1;
        // A word longer than the width stands alone on its line, and says nothing of the width.
        if line.trim().contains(char::is_whitespace) {
            widest = widest.max(last);
        }
    }
    let shortest = if lines == 1 { last } else { shortest_but_last };
    let next_word = prose.split_whitespace().next().unwrap_or_default().chars().count();
    let indented: usize = indent.chars().map(|c| if c == '\t' { 8 } else { 1 }).sum();
    // A wrapper breaks only before a word that does not fit. The quarter is for those that even out
    // their lines, and for people.
    let with_next_word = indented + length + 1 + next_word;
    shortest > length && with_next_word.saturating_mul(4) <= widest.saturating_mul(3)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn heading(paragraph: &str) -> Option<(u8, String)> {
        plain_heading("", paragraph).map(|heading| (heading.level, heading.text))
    }

    #[test]
    fn a_short_line_above_its_paragraph_is_a_heading() {
        for (paragraph, title) in [
            ("Tyres\nWinter tyres are mounted in October.", "Tyres"),
            ("Winter tyres\nAll cars of the fleet get them in October.", "Winter tyres"),
            ("2026 (draft)\nThe plan for the next year is not done yet!", "2026 (draft)"),
            ("Ölwechsel\nÖl wird alle zwei Jahre gewechselt, so\nsteht es da.", "Ölwechsel"),
            ("1. Tyres\nWinter tyres are mounted in October.", "1. Tyres"),
        ] {
            assert_eq!(heading(paragraph), Some((2, title.to_owned())), "{paragraph:?}");
        }
    }

    #[test]
    fn an_underlined_line_is_a_heading() {
        for (paragraph, level) in [
            ("Tyres\n=====", 1),
            ("tyres\n---\nanything", 2),
            ("冬タイヤ\n====\n十月に交換します。", 1),
            ("Tyres \n  ----  \n- one", 2),
        ] {
            assert_eq!(heading(paragraph).map(|found| found.0), Some(level), "{paragraph:?}");
        }
        for paragraph in
            ["Tyres\n--", "Tyres\n=-=", "Tyres\n--- ---", "A  B\n----\n1  2", "A | B\n---"]
        {
            assert_eq!(heading(paragraph), None, "{paragraph:?}");
        }
    }

    #[test]
    fn what_may_be_prose_a_list_a_letter_or_an_address_is_no_heading() {
        let long = format!("{}\n{}.", "Tyre ".repeat(13), "Winter ".repeat(30));
        for paragraph in [
            "Tyres",
            "Tyres.\nWinter tyres are mounted in October.",
            "Tyres:\nWinter tyres are mounted in October.",
            "Dear Ann,\nThank you for the tyres that you sent in October.",
            "tyres\nWinter tyres are mounted in October.",
            "Tyres\nwinter tyres are mounted in October.",
            "Tyres\nWinter tyres are mounted in October",
            "Ann Smith\nLong Street of Commerce 12\nOslo",
            "Apples\nPears\nPlums.",
            "Winter tyres\nSummer tyres.",
            "The fleet changes to tyres for the\nWinter in October, and pays for it.",
            "Tyres\nYes.\nWinter tyres are mounted in October.",
            long.as_str(),
        ] {
            assert_eq!(heading(paragraph), None, "{paragraph:?}");
        }
    }

    /// Breaks before each word that does not fit into a width, which may differ from line to line.
    fn wrapped(words: &[String], width: impl Fn(usize) -> usize) -> String {
        let (mut text, mut length, mut line) = (String::new(), 0, 0);
        for word in words {
            let more = word.chars().count();
            if length > 0 && length + 1 + more > width(line) {
                text.push('\n');
                (length, line) = (0, line + 1);
            } else if length > 0 {
                text.push(' ');
                length += 1;
            }
            text.push_str(word);
            length += more;
        }
        text
    }

    #[test]
    fn wrapped_prose_is_never_torn_apart() {
        let prose = "In the second week of October the Fleet Office in Rotterdam asks every Driver \
                     of a Company Car to book a place at the Workshop, where Anna Kowalska and her \
                     Team change the tyres. Who misses it pays the Rijkswaterstaatsbegrenzingsdienst.";
        let words: Vec<String> = prose.split(' ').map(str::to_owned).collect();
        for first in 0..words.len() {
            for width in 20..=120 {
                let text = wrapped(&words[first..], |_| width);
                assert_eq!(heading(&text), None, "{width}: {text}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_wrapper_makes_a_heading(
            words in prop::collection::vec(
                prop_oneof![
                    4 => "[A-Z][a-zé]{0,12}", 3 => "[a-z]{1,12}", 1 => "[A-Z][a-z]{20,130}", 1 => "[0-9]{1,4}",
                ],
                2..60,
            ),
            width in 40usize..=100,
            ragged in prop::collection::vec(0usize..20, 1..8),
        ) {
            let mut words = words;
            words.last_mut().unwrap().push('.');
            let even = wrapped(&words, |_| width);
            prop_assert_eq!(heading(&even), None, "{}", even);
            let uneven = |line: usize| width - width * ragged[line % ragged.len()] / 100;
            let uneven = wrapped(&words, uneven);
            prop_assert_eq!(heading(&uneven), None, "{}", uneven);
        }
    }
}
