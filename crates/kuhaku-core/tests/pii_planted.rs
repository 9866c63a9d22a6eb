//! Values of every kind between many neighbours: none gets through.
#![cfg(feature = "pii")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeSet;

use kuhaku_core::{Masker, PiiMasker, Placeholder};
use kuhaku_testkit::planted;

#[test]
fn no_planted_value_gets_through() {
    let masker = PiiMasker::new();
    let mut kinds = BTreeSet::new();
    let mut leaks = Vec::new();
    for seed in 0..8 {
        for planted in planted(seed, 300) {
            let masked = masker.mask(&planted.sentence);
            let found = planted.needles.iter().any(|needle| masked.text().contains(needle));
            if found || !masked.text().contains(planted.kind.as_str()) {
                leaks.push(format!("{:?} -> {:?}", planted.sentence, masked.text()));
            }
            kinds.insert(planted.kind);
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
    assert_eq!(kinds, BTreeSet::from(Placeholder::ALL));
}

#[test]
fn a_document_of_planted_values_holds_none_of_them_after_masking() {
    let all = planted(11, 300);
    let document: Vec<&str> = all.iter().map(|planted| planted.sentence.as_str()).collect();
    for separator in ["\n", "\n\n", " ", "%20", "%0A", "\\n", "\u{200b}"] {
        let masked = PiiMasker::new().mask(&document.join(separator));
        let left: Vec<&String> = all
            .iter()
            .flat_map(|planted| &planted.needles)
            .filter(|needle| masked.text().contains(*needle))
            .collect();
        assert!(left.is_empty(), "{separator:?}: {left:?}");
        let again = PiiMasker::new().mask(masked.text());
        assert!(again.redactions().is_empty(), "{separator:?}: {:?}", again.redactions());
    }
}
