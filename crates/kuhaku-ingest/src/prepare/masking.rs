//! Masking all that is kept of a document.

use kuhaku_core::{Masked, Masker, Redactions, mask_field};

use crate::load::{Block, BlockKind, LoadedDocument, markdown};

/// Masks the parts of one document and counts what it replaced.
pub(crate) struct Masking<'m> {
    masker: &'m dyn Masker,
    pub(crate) redactions: Redactions,
}

impl<'m> Masking<'m> {
    pub(crate) fn new(masker: &'m dyn Masker) -> Self {
        Self { masker, redactions: Redactions::default() }
    }

    /// Masks a part of its own.
    pub(crate) fn mask(&mut self, text: &str) -> Masked {
        let masked = self.masker.mask(text);
        self.redactions.merge(masked.redactions());
        masked
    }

    /// Masks the value of a field.
    pub(crate) fn field(&mut self, name: &str, value: &str) -> String {
        let (masked, redactions) = mask_field(self.masker, name, value);
        self.redactions.merge(&redactions);
        masked
    }

    /// Masks what was derived from a part that has been counted.
    pub(crate) fn again(&self, text: &str) -> String {
        self.masker.mask(text).text().to_owned()
    }

    /// The blocks of the document, as they lie in its masked text.
    pub(crate) fn blocks(&self, document: &LoadedDocument, masked: &Masked) -> Vec<Block> {
        let place = |block: &Block| {
            let range = masked.map().to_output(block.range.clone());
            let kind = match &block.kind {
                BlockKind::Heading { level, text } => {
                    let before = document.text.get(block.range.clone()).unwrap_or_default();
                    let after = masked.text().get(range.clone()).unwrap_or_default();
                    let words = if before == after { text.clone() } else { markdown::words(after) };
                    // Once more: without its markup, a number may be whole that was not before.
                    BlockKind::Heading { level: *level, text: self.again(&words) }
                }
                kind => kind.clone(),
            };
            Block { kind, range }
        };
        document.blocks.iter().map(place).collect()
    }
}
