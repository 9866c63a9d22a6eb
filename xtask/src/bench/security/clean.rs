//! Masks in texts without personal data, or with little of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use kuhaku::eval::BeirFolder;
use kuhaku_core::{PiiMasker, Placeholder};
use serde_json::{Value, json};

use super::archive::markdown;
use super::inflated;
use super::score::masks;
use crate::bench::report::{Report, Section};
use crate::error::{Result, cannot};

/// Masks that are shown per text.
const SHOWN: usize = 60;

/// Texts without personal data, or with little of it.
pub(super) fn clean_texts(data: &Path, report: &mut Report) -> Result<Vec<(&'static str, String)>> {
    let mut texts = Vec::new();
    for name in ["scifact", "cranfield"] {
        let path = data.join(name);
        if !path.is_dir() {
            report.skipped.push(format!("set {name}: not in the data folder"));
            continue;
        }
        let failed = |error: kuhaku::eval::Error| cannot(format!("read {name}"), error);
        let folder = BeirFolder::open(&path).map_err(failed)?;
        let mut text = String::new();
        for document in folder.corpus().map_err(failed)? {
            let document = document.map_err(failed)?;
            text.push_str(&format!("{}\n{}\n\n", document.title, document.text));
        }
        texts.push((name, text));
    }
    let book = data.join("docs-rust-book/rust-book-src.tar.gz");
    if book.is_file() {
        let files = markdown(&inflated(&book)?).into_iter();
        texts.push(("docs-rust-book", files.map(|(_, text)| text + "\n\n").collect()));
    } else {
        report.skipped.push("set docs-rust-book: not in the data folder".into());
    }
    Ok(texts)
}

/// Counts and shows the masks in clean texts.
pub(super) fn false_masks(
    masker: &PiiMasker,
    texts: &[(&str, String)],
    report: &mut Report,
) -> Value {
    let mut counts = BTreeMap::new();
    for (name, text) in texts {
        let masks = masks(masker, text);
        let per = masks.len() as f64 / (text.len() as f64 / 1e5);
        report.sections.push(Section {
            heading: format!("Masks in {name}"),
            text: format!("{} in {} KB: {per:.2} per 100 KB.", masks.len(), text.len() / 1000),
            columns: ["kind", "what"].map(String::from).to_vec(),
            rows: masks.iter().take(SHOWN).map(|(mask, kind)| shown(text, mask, *kind)).collect(),
        });
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        masks.iter().for_each(|(_, kind)| *kinds.entry(kind.as_str()).or_default() += 1);
        counts.insert(*name, json!({ "bytes": text.len(), "masks": masks.len(), "kinds": kinds }));
    }
    json!(counts)
}

fn shown(text: &str, mask: &Range<usize>, kind: Placeholder) -> Vec<String> {
    let head = text.get(..mask.start).unwrap_or_default();
    let start = head.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
    let tail = text.get(mask.end..).unwrap_or_default();
    let end = tail.char_indices().nth(12).map_or(tail.len(), |(at, _)| at);
    let part = text.get(start..mask.end + end).unwrap_or_default();
    vec![kind.to_string(), part.replace(['\n', '|'], " ")]
}
