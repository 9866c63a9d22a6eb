//! What a dataset calls the documents of an index.

use std::collections::BTreeSet;
use std::path::Path;

/// Translates between an index and a dataset that names documents its own way.
///
/// A dataset may name a document by its id, by the path it came from, by the file name, or by the
/// file name without suffix; the first that the dataset uses anywhere counts, else the id. Names of
/// the whole dataset are given, never those of one question, so that nothing leaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentNames(BTreeSet<String>);

impl DocumentNames {
    /// The names that a dataset uses.
    pub fn new<I: IntoIterator>(names: I) -> Self
    where
        I::Item: Into<String>,
    {
        Self(names.into_iter().map(Into::into).collect())
    }

    /// What the dataset calls the document with this id that came from `source`.
    pub fn of(&self, id: &str, source: &str) -> String {
        let path = Path::new(source);
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let known = [id, source, file, stem].into_iter().find(|name| self.0.contains(*name));
        known.unwrap_or(id).to_string()
    }
}

/// Without repetitions, in the order of the first.
pub(super) fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_goes_by_the_name_that_the_dataset_uses() {
        let source = "docs/handbook.md";
        for used in ["0f3a", "docs/handbook.md", "handbook.md", "handbook"] {
            assert_eq!(DocumentNames::new([used]).of("0f3a", source), used);
        }
        assert_eq!(DocumentNames::new(["other"]).of("0f3a", source), "0f3a");
    }
}
