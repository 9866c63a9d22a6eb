//! Plain runs of letters, digits and underscores, for the tokenizers `simple` and `porter`.

use unicode_normalization::char::is_combining_mark;

use super::Piece;
use super::words::placeholder_length;

/// Letters, digits and underscores; marks are left out even where Unicode calls them alphabetic.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        c.is_alphanumeric() && !is_combining_mark(c)
    }
}

/// Finds maximal runs.
pub(super) fn scan(text: &str, emit: &mut dyn FnMut(Piece)) {
    let mut start = None;
    let mut skip_to = 0;
    for (at, c) in text.char_indices() {
        if at < skip_to {
            continue;
        }
        match (start, is_word(c)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                emit(Piece::whole(from..at));
                start = None;
            }
            _ => {}
        }
        if c == '[' {
            skip_to = at + placeholder_length(text, at).unwrap_or_default();
        }
    }
    if let Some(from) = start {
        emit(Piece::whole(from..text.len()));
    }
}
