//! The masking hook: whatever is stored or sent passes a [`Masker`] first (R7).

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::span_map::SpanMap;

/// Replaces personal data and secrets by placeholders.
///
/// Masking is a pure function of the text, and masking a masked text changes nothing.
pub trait Masker: Send + Sync + fmt::Debug {
    /// Names the masker and its version. Part of an index's fingerprint: stored text is shaped by
    /// it (D15).
    fn id(&self) -> &str;

    /// Masks a text of any length.
    fn mask(&self, text: &str) -> Masked;
}

macro_rules! forward {
    ($pointer:ident) => {
        impl<M: Masker + ?Sized> Masker for $pointer<M> {
            fn id(&self) -> &str {
                (**self).id()
            }

            fn mask(&self, text: &str) -> Masked {
                (**self).mask(text)
            }
        }
    };
}
forward!(Arc);
forward!(Box);

/// Masks the value of a field with its name in front, as a person would read it: `phone: 5551234567`.
/// The name may say what the value is. Gives the masked value and what was replaced in it.
pub fn mask_field(masker: &dyn Masker, name: &str, value: &str) -> (String, Redactions) {
    let whole = masker.mask(&format!("{name}: {value}"));
    let start = name.len() + 2;
    let kept = whole.map().to_output(start..start + value.len());
    // Once more alone: what the name has made a part of something longer shows then.
    let masked = masker.mask(whole.text().get(kept).unwrap_or_default());
    let mut redactions = masked.redactions().clone();
    let of_name = masker.mask(name);
    for (placeholder, count) in &whole.redactions().0 {
        let in_name = of_name.redactions().0.get(placeholder).copied().unwrap_or_default();
        *redactions.0.entry(placeholder).or_default() += count.saturating_sub(in_name);
    }
    redactions.0.retain(|_, count| *count > 0);
    (masked.into_parts().0, redactions)
}

/// What a masked span stood for, written as its placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Placeholder {
    /// An e-mail address.
    Email,
    /// A key, token or other secret.
    Token,
    /// An IPv4 or IPv6 address.
    Ip,
    /// A payment card number.
    Card,
    /// A national identity number.
    NationalId,
    /// A telephone number.
    Phone,
    /// An international bank account number.
    Iban,
    /// An address of a crypto currency.
    Crypto,
}

impl Placeholder {
    /// All placeholders.
    pub const ALL: [Self; 8] = [
        Self::Email,
        Self::Token,
        Self::Ip,
        Self::Card,
        Self::NationalId,
        Self::Phone,
        Self::Iban,
        Self::Crypto,
    ];

    /// The text that replaces the span (D24).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "[EMAIL]",
            Self::Token => "[TOKEN]",
            Self::Ip => "[IP]",
            Self::Card => "[CARD]",
            Self::NationalId => "[NATIONAL_ID]",
            Self::Phone => "[PHONE]",
            Self::Iban => "[IBAN]",
            Self::Crypto => "[CRYPTO]",
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How often each placeholder was put in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Redactions(BTreeMap<&'static str, usize>);

impl Redactions {
    /// Counts one more.
    pub fn add(&mut self, placeholder: Placeholder) {
        *self.0.entry(placeholder.as_str()).or_default() += 1;
    }

    /// Adds the counts of another text.
    pub fn merge(&mut self, other: &Self) {
        for (placeholder, count) in &other.0 {
            *self.0.entry(placeholder).or_default() += count;
        }
    }

    /// How often `placeholder` was put in.
    pub fn count(&self, placeholder: Placeholder) -> usize {
        self.0.get(placeholder.as_str()).copied().unwrap_or_default()
    }

    /// Placeholders and counts, sorted by placeholder.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.0.iter().map(|(placeholder, count)| (*placeholder, *count))
    }

    /// How many spans were replaced in all.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// True when nothing was replaced.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The one text of a document that is stored: decoded, with LF line ends, masked (D16).
///
/// Made by [`Masked::canonical`] only, so that unmasked text cannot be stored (R7). Chunks, spans
/// and quotes are byte ranges into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalText(Arc<str>);

impl CanonicalText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that has passed a masker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Masked {
    text: String,
    map: SpanMap,
    redactions: Redactions,
}

impl Masked {
    /// Replaces byte ranges of `text` by placeholders.
    ///
    /// Ranges that overlap an earlier one, are empty or do not lie on character borders are left
    /// out; the rest may come in any order.
    pub fn replacing(text: &str, mut spans: Vec<(Range<usize>, Placeholder)>) -> Self {
        spans.sort_by_key(|(range, _)| (range.start, range.end));
        let mut masked = String::with_capacity(text.len());
        let mut map = SpanMap::builder();
        let mut redactions = Redactions::default();
        let mut done = 0;
        for (range, placeholder) in spans {
            let (Some(before), Some(hidden)) =
                (text.get(done..range.start), text.get(range.clone()))
            else {
                continue;
            };
            if hidden.is_empty() {
                continue;
            }
            masked.push_str(before);
            map.keep(before.len());
            masked.push_str(placeholder.as_str());
            map.replace(hidden.len(), placeholder.as_str().len());
            redactions.add(placeholder);
            done = range.end;
        }
        let rest = text.get(done..).unwrap_or_default();
        masked.push_str(rest);
        map.keep(rest.len());
        Self { text: masked, map: map.build(), redactions }
    }

    /// The masked text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where each part of the masked text came from.
    pub fn map(&self) -> &SpanMap {
        &self.map
    }

    /// What was replaced, and how often.
    pub fn redactions(&self) -> &Redactions {
        &self.redactions
    }

    /// The masked text as a document's canonical text.
    pub fn canonical(&self) -> CanonicalText {
        CanonicalText(self.text.as_str().into())
    }

    /// The masked text, its map and the counts.
    pub fn into_parts(self) -> (String, SpanMap, Redactions) {
        (self.text, self.map, self.redactions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_replaced_in_one_pass_and_unusable_ones_are_left_out() {
        let text = "é a@b.c 10.0.0.1";
        let spans = vec![
            (9..17, Placeholder::Ip),
            (3..8, Placeholder::Email),
            (4..9, Placeholder::Token), // overlaps
            (1..2, Placeholder::Token), // inside a character
            (5..5, Placeholder::Token), // empty
        ];
        let masked = Masked::replacing(text, spans);
        assert_eq!(masked.text(), "é [EMAIL] [IP]");
        assert_eq!(masked.redactions().total(), 2);
        assert_eq!(masked.map().to_source(3..10), 3..8);
    }
}
