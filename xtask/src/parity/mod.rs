//! `docs/parity.md`: which test shows which acceptance case.

mod claims;
mod page;

pub(crate) use claims::{Claim, TestPath, claims};
pub(crate) use page::{PAGE, Row, Status, rows, with_tests};

/// The committed ids; a row each.
pub(crate) const IDS: &str = "acceptance_ids.txt";

/// What `open:` may name: the issues by their short titles, and those not yet written.
pub(crate) const TITLES: &[&str] = &[
    "Foundations",
    "Measures",
    "Masking and audit",
    "Index",
    "Providers",
    "ONNX",
    "Hybrid",
    "Extraction",
    "Guard",
    "Documents",
    "Answers",
    "Evaluation",
    "HydRAG",
    "Identity",
];

/// Whether a word has the form of an acceptance id: `ING-08`.
pub(crate) fn is_id(word: &str) -> bool {
    word.split_once('-').is_some_and(|(family, number)| {
        (2..=4).contains(&family.len())
            && family.bytes().all(|byte| byte.is_ascii_uppercase())
            && number.len() == 2
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}
