//! Personal data and secrets that a reply holds and nothing that the caller was shown does.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use kuhaku_core::{Masked, Masker, Placeholder};

use super::values::{Shown, replaced};
use super::views::{self, View};

/// Bytes at the end of a reply that goes on of which is not said what disguises hold there.
const UNSETTLED: usize = 24;

/// Where a value stands, and what it is.
type Value = (Range<usize>, Placeholder);

/// The check broke, or was broken: nothing is known of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// What looks for values, and what the caller was shown.
pub(super) struct Egress<'a> {
    masker: &'a dyn Masker,
    /// The recognisers of this workspace, where the application's masker is another.
    recognisers: Option<&'a dyn Masker>,
    /// Texts with which the caller has every value already.
    texts: Vec<&'a str>,
    shown: OnceLock<Vec<Shown>>,
}

impl<'a> Egress<'a> {
    pub(super) fn new(
        masker: &'a dyn Masker,
        recognisers: Option<&'a dyn Masker>,
        texts: Vec<&'a str>,
    ) -> Self {
        Self { masker, recognisers, texts, shown: OnceLock::new() }
    }

    /// The text masked, and where any of the recognisers saw a value, in order.
    pub(super) fn read(&self, text: &str) -> Result<(Masked, Vec<Value>), Broken> {
        let masked = mask(self.masker, text)?;
        let mut values = replaced(&masked, text);
        if let Some(recognisers) = self.recognisers {
            values.extend(replaced(&mask(recognisers, text)?, text));
            values.sort_by_key(|(range, _)| range.start);
        }
        Ok((masked, values))
    }

    /// What the first of these values is that was never shown.
    pub(super) fn unshown(&self, values: &[Value], text: &str) -> Option<Placeholder> {
        let shown = |(range, kind): &&Value| {
            self.is_shown(*kind, text.get(range.clone()).unwrap_or_default())
        };
        values.iter().find(|value| !shown(value)).map(|(_, kind)| *kind)
    }

    /// The same for what the text says in disguise. Of a text that goes on, its end does not count.
    pub(super) fn disguised(&self, text: &str, last: bool) -> Result<Option<Placeholder>, Broken> {
        for View { text: view, open_end, backwards } in views::of(text, last) {
            let recognisers = self.recognisers.unwrap_or(self.masker);
            let masked = mask(recognisers, &view)?;
            let unsettled = if open_end && !last { UNSETTLED } else { 0 };
            let found = replaced(&masked, &view).into_iter().find(|(range, kind)| {
                let value = view.get(range.clone()).unwrap_or_default();
                if !backwards {
                    return range.end + unsettled <= view.len() && !self.is_shown(*kind, value);
                }
                // Dates read backwards look like telephone numbers; these have check digits or a sign.
                let certain = matches!(
                    kind,
                    Placeholder::Card
                        | Placeholder::Email
                        | Placeholder::Iban
                        | Placeholder::NationalId
                );
                let forwards: String = value.chars().rev().collect();
                certain
                    && range.start >= unsettled
                    && !self.is_shown(*kind, value)
                    && !self.is_shown(*kind, &forwards)
            });
            if let Some((_, kind)) = found {
                return Ok(Some(kind));
            }
        }
        Ok(None)
    }

    fn is_shown(&self, kind: Placeholder, value: &str) -> bool {
        let shown =
            self.shown.get_or_init(|| self.texts.iter().map(|text| Shown::new(text)).collect());
        shown.iter().any(|text| text.holds(kind, value))
    }
}

/// Masks a text with a masker that may be the application's own and break.
pub(super) fn mask(masker: &dyn Masker, text: &str) -> Result<Masked, Broken> {
    let masked = catch_unwind(AssertUnwindSafe(|| masker.mask(text))).map_err(|_| Broken)?;
    let fits =
        masked.map().source_len() == text.len() && masked.map().output_len() == masked.text().len();
    if fits { Ok(masked) } else { Err(Broken) }
}
