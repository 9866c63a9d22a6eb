//! The recognisers of personal data and secrets.
//!
//! One file per family of recognisers. Each is a pure function from a text to candidate spans that
//! it has validated; [`scan`] reads a text in stages, joins what overlaps and maps the spans
//! back to the bytes of the given text.

mod card;
mod digits;
mod email;
mod fold;
mod gap;
mod iban;
mod ip;
mod national_id;
mod private_key;
mod scan;
mod token;
mod token_formats;

use std::sync::Arc;

use crate::masking::{Masked, Masker};

use self::token::TokenRecogniser;

/// Masks e-mail addresses, payment cards, IBANs, national ids, IP addresses and tokens.
///
/// Every kind has a validator (a checksum, a parser or a vendor's format), so that a number which
/// only looks like one stays. Work is linear in the length of the text.
///
/// ```
/// use kuhaku_core::{Masker, PiiMasker};
/// let masked = PiiMasker::new().mask("amount 43 4111 1111 1111 1111 12/26, from 10.0.0.1");
/// assert_eq!(masked.text(), "amount 43 [CARD] 12/26, from [IP]");
/// ```
#[derive(Clone, Debug)]
pub struct PiiMasker {
    tokens: Arc<TokenRecogniser>,
}

impl PiiMasker {
    /// The default recognisers.
    pub fn new() -> Self {
        Self { tokens: Arc::new(TokenRecogniser::new()) }
    }
}

impl Default for PiiMasker {
    fn default() -> Self {
        Self::new()
    }
}

impl Masker for PiiMasker {
    fn id(&self) -> &str {
        "pii-2"
    }

    fn mask(&self, text: &str) -> Masked {
        Masked::replacing(text, scan::spans(text, &self.tokens))
    }
}
