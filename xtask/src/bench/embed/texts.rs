//! The texts of a set.

use std::collections::BTreeSet;
use std::path::Path;

use kuhaku::eval::BeirFolder;

use crate::error::{Result, cannot};

/// Documents or queries, with what their vectors are called.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) are_documents: bool,
    /// What a vector is of.
    pub(super) input: String,
    /// Ids and texts.
    pub(super) texts: Vec<(String, String)>,
    /// Parts of ready-made files.
    pub(super) ready_made: Vec<String>,
}

impl Part {
    /// The documents of a set, or the first `some`, as "title text".
    pub(super) fn documents(data: &Path, set: &str, some: Option<usize>) -> Result<Self> {
        let corpus = folder(data, set)?.corpus().map_err(|error| cannot("read a corpus", error))?;
        let text = |title: &str, text: &str| format!("{title} {text}").trim().to_owned();
        let texts = corpus
            .take(some.unwrap_or(usize::MAX))
            .map(|document| document.map(|found| (found.id, text(&found.title, &found.text))))
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| cannot("read a corpus", error))?;
        let name = some.map_or_else(|| "docs".into(), |count| format!("docs-{count}"));
        let input = "document: title text, long ones in windows".into();
        let ready_made = vec!["docs".into()];
        Ok(Self { name, are_documents: true, input, texts, ready_made })
    }

    /// The queries that some split of a set judges, each once.
    pub(super) fn queries(data: &Path, set: &str) -> Result<Self> {
        let folder = folder(data, set)?;
        let ready_made = folder.splits().map_err(|error| cannot("list splits", error))?;
        let (mut seen, mut texts) = (BTreeSet::new(), Vec::new());
        for split in &ready_made {
            let dataset = folder.dataset(split).map_err(|error| cannot("read queries", error))?;
            for case in dataset.cases() {
                if seen.insert(case.sample.id.clone()) {
                    texts.push((case.sample.id.clone(), case.sample.query.clone()));
                }
            }
        }
        let input = "query: text".into();
        Ok(Self { name: "queries".into(), are_documents: false, input, texts, ready_made })
    }
}

fn folder(data: &Path, set: &str) -> Result<BeirFolder> {
    BeirFolder::open(data.join(set)).map_err(|error| cannot("open a set", error))
}
