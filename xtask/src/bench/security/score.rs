//! What masks are worth on labelled rows.

use std::collections::BTreeMap;
use std::ops::Range;

use kuhaku_core::{Masker as _, PiiMasker, Placeholder};

use super::rows::Row;

/// The entity types of the rows that the masker claims to know.
const CLAIMED: [(&str, Placeholder); 24] = [
    ("EMAIL_ADDRESS", Placeholder::Email),
    ("IP_ADDRESS", Placeholder::Ip),
    ("CREDIT_CARD", Placeholder::Card),
    ("IBAN_CODE", Placeholder::Iban),
    ("CRYPTO", Placeholder::Crypto),
    ("PHONE_NUMBER", Placeholder::Phone),
    ("TR_PHONE_NUMBER", Placeholder::Phone),
    ("PH_MOBILE_NUMBER", Placeholder::Phone),
    ("TR_NATIONAL_ID", Placeholder::NationalId),
    ("US_SSN", Placeholder::NationalId),
    ("US_ITIN", Placeholder::NationalId),
    ("UK_NINO", Placeholder::NationalId),
    ("UK_NHS", Placeholder::NationalId),
    ("DE_TAX_ID", Placeholder::NationalId),
    ("ES_NIF", Placeholder::NationalId),
    ("ES_NIE", Placeholder::NationalId),
    ("IT_FISCAL_CODE", Placeholder::NationalId),
    ("PL_PESEL", Placeholder::NationalId),
    ("FI_PERSONAL_IDENTITY_CODE", Placeholder::NationalId),
    ("SE_PERSONNUMMER", Placeholder::NationalId),
    ("IN_AADHAAR", Placeholder::NationalId),
    ("AU_TFN", Placeholder::NationalId),
    ("NL_BSN", Placeholder::NationalId),
    ("BR_CPF", Placeholder::NationalId),
];

/// Hits, values and masks of one kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Score {
    pub(super) values: usize,
    pub(super) found: usize,
    pub(super) false_masks: usize,
}

impl Score {
    pub(super) fn recall(&self) -> f64 {
        self.found as f64 / self.values as f64
    }

    pub(super) fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.false_masks) as f64
    }

    fn f1(&self) -> f64 {
        2.0 * self.found as f64 / (self.values + self.found + self.false_masks) as f64
    }

    pub(super) fn cells(&self) -> Vec<String> {
        let all = [self.precision(), self.recall(), self.f1()].map(|value| format!("{value:.3}"));
        let counts = [self.values, self.found, self.false_masks].map(|count| count.to_string());
        [counts, all].concat()
    }
}

/// Scores by name: of the kinds that are claimed, a kind and a type of value each; of other types.
#[derive(Debug, Default)]
pub(super) struct Scores {
    pub(super) claimed: BTreeMap<String, Score>,
    pub(super) others: BTreeMap<String, Score>,
}

impl Scores {
    pub(super) fn of(masker: &PiiMasker, rows: &[Row]) -> Self {
        let mut scores = Self::default();
        for row in rows {
            scores.add(masker, row);
        }
        scores
    }

    /// Adds what the masks of one row are worth. A mask on a value of another type is neither right nor
    /// wrong for its kind.
    fn add(&mut self, masker: &PiiMasker, row: &Row) {
        let (claimed, others) = (&mut self.claimed, &mut self.others);
        let masks = masks(masker, &row.text);
        for (range, entity) in &row.values {
            let Some(kind) = claim(entity) else {
                let score = others.entry(entity.clone()).or_default();
                score.values += 1;
                let covered = masks.iter().any(|(mask, _)| covers(&row.text, mask, range));
                score.found += usize::from(covered);
                continue;
            };
            let value = asked(&row.text, range, kind);
            let found = masks.iter().any(|(mask, of)| {
                *of == kind && covers(&row.text, mask, &value) && covers(&row.text, range, mask)
            });
            for name in [kind.as_str().to_string(), format!("{kind} {entity}")] {
                let score = claimed.entry(name).or_default();
                score.values += 1;
                score.found += usize::from(found);
            }
        }
        for (mask, kind) in &masks {
            let touched = |(range, _): &&(Range<usize>, String)| {
                range.start < mask.end && mask.start < range.end
            };
            let right = row.values.iter().filter(touched).any(|(range, entity)| {
                claim(entity).is_none_or(|of| of == *kind) && covers(&row.text, range, mask)
            });
            if right {
                continue;
            }
            let about = row.about.iter().filter(|entity| claim(entity) == Some(*kind));
            let names = about.map(|entity| format!("{kind} {entity}")).take(1);
            for name in names.chain([kind.as_str().to_string()]) {
                claimed.entry(name).or_default().false_masks += 1;
            }
        }
    }
}

/// The value as it is asked for: the length of a network's prefix is no part of an address.
fn asked(text: &str, range: &Range<usize>, kind: Placeholder) -> Range<usize> {
    let value = text.get(range.clone()).unwrap_or_default();
    match value.split_once('/') {
        Some((address, _)) if kind == Placeholder::Ip => range.start..range.start + address.len(),
        _ => range.clone(),
    }
}

fn claim(entity: &str) -> Option<Placeholder> {
    CLAIMED.iter().find(|(name, _)| *name == entity).map(|(_, kind)| *kind)
}

/// Whether all letters and digits of `part` lie in `whole`.
fn covers(text: &str, whole: &Range<usize>, part: &Range<usize>) -> bool {
    let inside = text.get(part.clone()).unwrap_or_default().char_indices();
    inside.filter(|(_, c)| c.is_alphanumeric()).all(|(at, _)| whole.contains(&(part.start + at)))
}

/// The masked parts of a text.
pub(super) fn masks(masker: &PiiMasker, text: &str) -> Vec<(Range<usize>, Placeholder)> {
    let masked = masker.mask(text);
    let mut found = Vec::new();
    for kind in Placeholder::ALL {
        for (at, it) in masked.text().match_indices(kind.as_str()) {
            let source = masked.map().to_source(at..at + it.len());
            if text.get(source.clone()) != Some(it) {
                found.push((source, kind));
            }
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_value_is_found_only_by_a_mask_of_its_kind_that_ends_where_it_ends() {
        let masker = PiiMasker::new();
        let text = "ö a@b.com, 10.0.0.1 and 4111111111111111";
        let mut row = Row {
            group: String::new(),
            key: String::new(),
            text: text.into(),
            values: vec![(3..10, "EMAIL_ADDRESS".into()), (12..23, "IP_ADDRESS".into())],
            about: BTreeSet::new(),
        };
        row.values.push((12..17, "CITY".into()));
        let scores = Scores::of(&masker, &[row]);
        let of = |name: &str| scores.claimed.get(name).map(|s| [s.values, s.found, s.false_masks]);
        assert_eq!(of("[EMAIL]"), Some([1, 1, 0]));
        assert_eq!(of("[IP] IP_ADDRESS"), Some([1, 0, 0]));
        assert_eq!(of("[CARD]"), Some([0, 0, 1]));
        assert_eq!(scores.others.get("CITY").map(|score| score.found), Some(1));
    }
}
