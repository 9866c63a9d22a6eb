//! Texts that are longer than a model takes: refused, or read in windows. Never cut.

use std::str::FromStr;

use crate::error::{Error, ErrorKind, Result};
use crate::model::{Row, TextTokenizer};

/// What becomes of a text that is longer than the model takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LongText {
    /// It is an error, which says how long it is.
    #[default]
    Refuse,
    /// It is read in windows of the model's length, each with the prefix. Its vector is the mean of
    /// the windows' vectors, which have length 1, weighted by how many of its tokens each holds, and
    /// brought to length 1.
    Windows {
        /// How many tokens two neighbours share.
        overlap: usize,
    },
}

impl LongText {
    /// How many tokens two windows share unless it is said.
    const OVERLAP: usize = 64;
}

impl FromStr for LongText {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "refuse" => Ok(Self::Refuse),
            "windows" => Ok(Self::Windows { overlap: Self::OVERLAP }),
            _ => {
                let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
                Err(Error::new(kind, "treat long texts", "there is no such way")
                    .next("choose refuse or windows"))
            }
        }
    }
}

/// The rows of one text, and how many of its own tokens each holds.
#[derive(Debug)]
pub(super) struct Windows {
    pub(super) rows: Vec<Row>,
    pub(super) weights: Vec<usize>,
}

/// How one kind of text becomes rows.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// The tokens of the prefix, which every window has.
    header: Vec<u32>,
    prefix: String,
    longest: usize,
    long_text: LongText,
}

impl Reading {
    /// # Errors
    /// [`kuhaku_core::ErrorKind::InvalidInput`] when windows would not move on.
    pub(super) fn new(
        tokenizer: &TextTokenizer,
        prefix: &str,
        longest: usize,
        long_text: LongText,
    ) -> Result<Self> {
        let header = tokenizer.bare(prefix.trim_end())?.get_ids().to_vec();
        let reading = Self { header, prefix: prefix.to_owned(), longest, long_text };
        let room = reading.room(tokenizer);
        if let LongText::Windows { overlap } = long_text
            && overlap >= room
        {
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
            let wrong =
                format!("windows hold {room} tokens of a text, and {overlap} would overlap");
            return Err(Error::new(kind, "read long texts in windows", wrong)
                .next("let fewer tokens overlap"));
        }
        Ok(reading)
    }

    /// How many tokens of a text a window holds.
    fn room(&self, tokenizer: &TextTokenizer) -> usize {
        self.longest.saturating_sub(tokenizer.specials() + self.header.len())
    }

    /// The tokens of a text, prefix and special ones included.
    ///
    /// # Errors
    /// [`ErrorKind::Inference`] when the tokenizer fails on it.
    pub(super) fn tokens(&self, tokenizer: &TextTokenizer, text: &str) -> Result<Vec<u32>> {
        Ok(tokenizer.row(&self.whole(text))?.ids)
    }

    fn whole(&self, text: &str) -> String {
        let mut whole = format!("{}{}", self.prefix, text.trim_end());
        whole.truncate(whole.trim_end().len());
        whole
    }

    /// The rows of a text. White space at its end means nothing, but some tokenizers give it a
    /// token; it is left out.
    ///
    /// # Errors
    /// [`kuhaku_core::ErrorKind::ContextTooLong`] when it is refused.
    pub(super) fn windows(&self, tokenizer: &TextTokenizer, text: &str) -> Result<Windows> {
        let whole = self.whole(text);
        let row = tokenizer.row(&whole)?;
        if row.len() <= self.longest {
            return Ok(Windows { weights: vec![row.len()], rows: vec![row] });
        }
        let LongText::Windows { overlap } = self.long_text else {
            return Err(too_long(row.len(), self.longest));
        };
        let bare = tokenizer.bare(&whole)?;
        // A tokenizer may join the end of the prefix with the text: then only the first window has
        // the prefix.
        let content = bare.get_ids().strip_prefix(&self.header[..]);
        let (header, content) = match content {
            Some(content) => (&self.header[..], content),
            None => (&[][..], bare.get_ids()),
        };
        let room = self.longest.saturating_sub(tokenizer.specials() + header.len()).max(1);
        let step = room.saturating_sub(overlap).max(1);
        let mut windows = Windows { rows: Vec::new(), weights: Vec::new() };
        for start in (0..content.len()).step_by(step) {
            let end = content.len().min(start + room);
            let part = content.get(start..end).unwrap_or_default();
            windows.rows.push(tokenizer.surround([header, part]));
            windows.weights.push(part.len());
            if end == content.len() {
                break;
            }
        }
        Ok(windows)
    }
}

fn too_long(tokens: usize, longest: usize) -> Error {
    let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ContextTooLong);
    let wrong = format!("the text has {tokens} tokens, and the model takes {longest}");
    Error::new(kind, "embed a text", wrong)
        .next("make smaller chunks, or let onnx.long_text be `windows`")
}
