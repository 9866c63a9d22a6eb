//! What kind of character stands where, as far as finding words needs it.

use unicode_normalization::char::is_combining_mark;

/// The role of a character in finding words (after UAX #29, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A letter, digit or underscore of a script that separates words.
    Word,
    /// A character of a script that writes words without spaces.
    Dense,
    /// A mark or an invisible character that belongs to what stands before it.
    Extend,
    /// Anything else.
    Other,
}

/// Soft hyphen, joiners and the byte order mark: invisible inside words.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
}

/// The class of a character.
pub(super) fn class(c: char) -> Class {
    if c.is_ascii() {
        let word = c.is_ascii_alphanumeric() || c == '_';
        return if word { Class::Word } else { Class::Other };
    }
    // The half-width voicing marks are letters to Unicode, and compose with what precedes them.
    if is_combining_mark(c) || is_invisible(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}') {
        Class::Extend
    } else if !c.is_alphanumeric() {
        Class::Other
    } else if is_dense(c) {
        Class::Dense
    } else {
        Class::Word
    }
}

/// Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer blocks of the Unicode standard.
fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{2fdf}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3100}'..='\u{318f}'
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ffdc}'
        | '\u{20000}'..='\u{3ffff}')
}
