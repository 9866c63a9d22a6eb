//! Masks in texts without personal data, or with little of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use kuhaku::eval::BeirFolder;
use kuhaku_core::{PiiMasker, Placeholder};
use serde_json::{Value, json};

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
        texts.push(("docs-rust-book", markdown(&inflated(&book)?)));
    } else {
        report.skipped.push("set docs-rust-book: not in the data folder".into());
    }
    Ok(texts)
}

/// The Markdown files of a tar archive: blocks of 512 bytes, a header with name (at 0) and octal size
/// (at 124), then the file.
fn markdown(archive: &[u8]) -> String {
    const BLOCK: usize = 512;
    let field = |header: &[u8], at: Range<usize>| {
        let bytes = header.get(at).unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_matches(['\0', ' ']).to_string()
    };
    let mut text = String::new();
    let mut at = 0;
    while let Some(header) = archive.get(at..at + BLOCK) {
        let size = usize::from_str_radix(&field(header, 124..136), 8).unwrap_or(0);
        at += BLOCK;
        if field(header, 0..100).ends_with(".md") {
            let content = archive.get(at..at + size).unwrap_or_default();
            text.push_str(&String::from_utf8_lossy(content));
            text.push_str("\n\n");
        }
        at += size.div_ceil(BLOCK) * BLOCK;
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_of_an_archive_is_read_without_its_headers() {
        let mut archive = vec![0_u8; 512];
        archive[..4].copy_from_slice(b"a.md");
        archive[124..135].copy_from_slice(b"00000000005");
        archive.extend(b"hello");
        archive.resize(1024 + 512, 0);
        assert_eq!(markdown(&archive), "hello\n\n");
    }
}
