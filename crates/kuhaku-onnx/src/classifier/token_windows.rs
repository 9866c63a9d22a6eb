//! Long texts as several rows.

use tokenizers::TruncationDirection;

use crate::error::Result;
use crate::model::{Row, TextTokenizer};

/// The rows of a text, each at most `longest` tokens; each repeats the last `overlap` tokens of the
/// one before, at most half a row. One row, when the text is short.
///
/// # Errors
/// [`Inference`](crate::ErrorKind::Inference) when the tokenizer fails on the text.
pub(super) fn of(
    tokenizer: &TextTokenizer,
    text: &str,
    longest: usize,
    overlap: usize,
) -> Result<Vec<Row>> {
    let room = longest.saturating_sub(tokenizer.specials()).max(1);
    let mut tokens = tokenizer.bare(text)?;
    tokens.truncate(room, overlap.min(room / 2), TruncationDirection::Right);
    let others = tokens.take_overflowing();
    let windows = std::iter::once(&tokens).chain(&others);
    Ok(windows.map(|window| tokenizer.surround([&[], window.get_ids()])).collect())
}
