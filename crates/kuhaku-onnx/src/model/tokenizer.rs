//! Texts to token numbers, as the model's own tokenizer gives them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use tokenizers::{EncodeInput, Encoding, Tokenizer};

use super::folder::{ModelConfig, unusable};
use crate::error::{Error, ErrorKind, Result};

/// One row that a model takes: the tokens of a text or of a pair, special ones included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The tokens' numbers.
    pub(crate) ids: Vec<u32>,
    /// Per token the text of the pair that it belongs to: 0 or 1.
    pub(crate) types: Vec<u32>,
}

impl Row {
    /// The row of one text.
    pub(crate) fn single(ids: Vec<u32>) -> Self {
        let types = vec![0; ids.len()];
        Self { ids, types }
    }

    /// How many tokens it has.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

impl From<Encoding> for Row {
    fn from(encoding: Encoding) -> Self {
        Self { ids: encoding.get_ids().to_vec(), types: encoding.get_type_ids().to_vec() }
    }
}

/// A tokenizer that neither cuts nor fills, whatever its file says.
#[derive(Clone)]
pub(crate) struct TextTokenizer {
    inner: Tokenizer,
    before: Vec<u32>,
    after: Vec<u32>,
    highest: u32,
}

impl TextTokenizer {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// [`ErrorKind::UnusableModel`] when it is missing or broken, or belongs to another model as
    /// far as `config` can tell.
    pub(crate) fn open(path: &Path, config: &ModelConfig) -> Result<Self> {
        let bytes = std::fs::read(path)
            .map_err(|error| unusable(path, "it cannot be read").caused_by(error))?;
        // The reader trusts some parts of its files.
        let read = catch_unwind(|| Tokenizer::from_bytes(bytes));
        let mut inner = match read {
            Ok(Ok(inner)) => inner,
            Ok(Err(error)) => return Err(unusable(path, "it is broken").caused_by(error)),
            Err(_) => return Err(unusable(path, "it is broken")),
        };
        inner.with_padding(None);
        inner.with_truncation(None).map_err(|error| {
            unusable(path, "its truncation cannot be switched off").caused_by(error)
        })?;
        let highest = inner.get_vocab(true).into_values().max().unwrap_or(0);
        let mut tokenizer = Self { inner, before: Vec::new(), after: Vec::new(), highest };
        tokenizer.check(path, config)?;
        tokenizer.find_specials().ok_or_else(|| {
            unusable(path, "it does not put special tokens around a text as these models do")
        })?;
        Ok(tokenizer)
    }

    /// The table of tokens has at least as many rows as the tokenizer has numbers, and not many
    /// more: makers round up.
    fn check(&self, path: &Path, config: &ModelConfig) -> Result<()> {
        let numbers = usize::try_from(self.highest).unwrap_or(usize::MAX).saturating_add(1);
        if let Some(rows) = config.vocabulary
            && (numbers > rows || numbers.saturating_add(rows / 20 + 64) < rows)
        {
            let wrong = format!(
                "it is the tokenizer of another model: it has {numbers} tokens, the model has {rows}"
            );
            return Err(unusable(path, wrong));
        }
        let Some(pad) = config.pad else { return Ok(()) };
        let wrong = match self.inner.id_to_token(pad) {
            Some(token) if token.to_ascii_lowercase().contains("pad") => return Ok(()),
            Some(_) => "means something here",
            // The model may have no row for it either, which only a batch would show.
            None => "is none here",
        };
        let wrong = format!(
            "it is the tokenizer of another model: the model fills rows with a token that {wrong}"
        );
        Err(unusable(path, wrong))
    }

    fn find_specials(&mut self) -> Option<()> {
        let bare = self.encode("a", false).ok()?;
        let whole = self.encode("a", true).ok()?;
        let (bare, whole) = (bare.get_ids(), whole.get_ids());
        let at = whole.windows(bare.len().max(1)).position(|part| part == bare)?;
        self.before = whole.get(..at)?.to_vec();
        self.after = whole.get(at + bare.len()..)?.to_vec();
        Some(())
    }

    /// The tokens of one text, as the model takes them.
    ///
    /// # Errors
    /// [`ErrorKind::Inference`] when the tokenizer fails on it.
    pub(crate) fn row(&self, text: &str) -> Result<Row> {
        self.encode(text, true).map(Row::from)
    }

    /// The tokens of a text without special ones.
    ///
    /// # Errors
    /// As for [`row`](Self::row).
    pub(crate) fn bare(&self, text: &str) -> Result<Encoding> {
        self.encode(text, false)
    }

    /// The row of a pair of texts without special tokens, each as [`bare`](Self::bare) gives it.
    ///
    /// # Errors
    /// As for [`row`](Self::row).
    #[allow(dead_code, reason = "for rerankers")]
    pub(crate) fn pair(&self, first: Encoding, second: Encoding) -> Result<Row> {
        guarded(|| self.inner.post_process(first, Some(second), true)).map(Row::from)
    }

    /// The row of tokens that have no special ones yet.
    pub(crate) fn surround(&self, parts: [&[u32]; 2]) -> Row {
        let [header, content] = parts;
        Row::single([&self.before, header, content, &self.after].concat())
    }

    /// How many special tokens surround one text.
    pub(crate) fn specials(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// The highest number that it gives.
    pub(crate) fn highest(&self) -> u32 {
        self.highest
    }

    /// The number of the token that fills rows, by its usual names.
    pub(crate) fn pad(&self) -> Option<u32> {
        ["[PAD]", "<pad>"].iter().find_map(|token| self.inner.token_to_id(token))
    }

    fn encode<'t>(&self, text: impl Into<EncodeInput<'t>>, specials: bool) -> Result<Encoding> {
        let text = text.into();
        guarded(|| self.inner.encode_fast(text, specials))
    }
}

/// A fault of the tokenizer is an error, not the end of the thread.
fn guarded(work: impl FnOnce() -> tokenizers::Result<Encoding>) -> Result<Encoding> {
    let fail = || {
        Error::new(ErrorKind::Inference, "split a text into tokens", "the tokenizer failed on it")
            .next("leave the text out, and report which characters it has")
    };
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(encoding)) => Ok(encoding),
        Ok(Err(error)) => Err(fail().caused_by(error)),
        Err(_) => Err(fail()),
    }
}
