//! The recognisers of personal data and secrets.
//!
//! One file per family of recognisers. Each is a pure function from a text to candidate spans that
//! it has validated; [`scan`] reads a text in stages, joins what overlaps and maps the spans
//! back to the bytes of the given text.

mod border;
mod card;
mod context;
mod crypto;
mod digits;
mod email;
mod fold;
mod gap;
mod iban;
mod id_checks;
mod id_codes;
mod id_numbers;
mod ip;
mod joins;
mod long_words;
mod national_id;
mod pattern;
mod phone;
mod phone_codes;
mod phone_shapes;
mod private_key;
mod reading;
mod recogniser;
mod scan;
mod secret;
mod token;
mod token_formats;
mod windows;

use std::sync::Arc;

use crate::masking::{Masked, Masker};

use self::scan::Recognisers;

pub use self::recogniser::Recogniser;

/// Names the default recognisers and their version.
const ID: &str = "pii-4";

/// Masks e-mail addresses, telephone numbers, payment cards, IBANs, national ids, IP addresses,
/// addresses of crypto currencies, keys and tokens.
///
/// Every kind has a validator (a checksum, a parser, a vendor's format or a word nearby), so that a
/// number which only looks like one stays. Work is linear in the length of the text.
///
/// ```
/// use kuhaku_core::{Masker, PiiMasker};
/// let masked = PiiMasker::new().mask("amount 43 4111 1111 1111 1111 12/26, from 10.0.0.1");
/// assert_eq!(masked.text(), "amount 43 [CARD] 12/26, from [IP]");
/// ```
#[derive(Clone, Debug)]
pub struct PiiMasker {
    id: Arc<str>,
    recognisers: Recognisers,
}

impl PiiMasker {
    /// The default recognisers.
    pub fn new() -> Self {
        Self { id: ID.into(), recognisers: Recognisers::new() }
    }

    /// Adds a recogniser of your own behind the others, of which none can be taken away.
    #[must_use]
    pub fn with(self, recogniser: impl Recogniser + 'static) -> Self {
        let id = format!("{}+{}", self.id, recogniser.id()).into();
        Self { id, recognisers: self.recognisers.with(Arc::new(recogniser)) }
    }
}

impl Default for PiiMasker {
    fn default() -> Self {
        Self::new()
    }
}

impl Masker for PiiMasker {
    fn id(&self) -> &str {
        &self.id
    }

    fn mask(&self, text: &str) -> Masked {
        Masked::replacing(text, self.recognisers.spans(text))
    }
}
