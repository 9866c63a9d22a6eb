//! What the characters on the two sides of a place say about breaking there.

use unicode_segmentation::UnicodeSegmentation as _;

/// Characters of scripts that write words without spaces between them.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Myanmar
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3001}'..='\u{30ff}' // CJK punctuation, Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}' // Katakana extensions
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{ff01}'..='\u{ff9f}' // full-width forms
        | '\u{20000}'..='\u{3fffd}' // Han extensions
    )
}

/// Whether a text ends like a sentence.
pub(crate) fn ends_sentence(text: &str) -> bool {
    let closing =
        |c| matches!(c, '"' | '\'' | ')' | ']' | '*' | '_' | '”' | '’' | '»' | '」' | '』');
    let ends = ['.', '!', '?', '…', '。', '！', '？', '؟', '।'];
    text.trim_end_matches(closing).ends_with(ends)
}

/// Whether a line begins like an item of a list or a row of a table.
pub(crate) fn begins_item(line: &str) -> bool {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered =
        digits.len() < line.len() && (digits.starts_with(". ") || digits.starts_with(") "));
    numbered || ["- ", "* ", "+ ", "|"].iter().any(|marker| line.starts_with(marker))
}

/// Whether two neighbours, one of them white space, are one grapheme cluster, as a space with a
/// combining accent is.
pub(crate) fn joined(before: char, after: char) -> bool {
    if before.is_ascii() && after.is_ascii() {
        return false;
    }
    let mut pair = String::from(before);
    pair.push(after);
    pair.graphemes(true).count() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_items_and_clusters_are_told() {
        for sentence in ["Done.", "Why?\"", "終わり。", "(Yes!)"] {
            assert!(ends_sentence(sentence), "{sentence}");
        }
        assert!(!ends_sentence("and,"));
        for item in ["- x", "12. x", "| a |"] {
            assert!(begins_item(item), "{item}");
        }
        assert!(!begins_item("12 apples") && !begins_item("-x"));
        assert!(joined(' ', '\u{301}') && !joined(' ', 'é') && !joined('\n', '\u{301}'));
    }
}
