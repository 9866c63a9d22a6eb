//! Committed lists: a section per crate, a line per entry.
//!
//! ```text
//! # How the list comes about.
//! [kuhaku-core]
//! serde
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files;

/// Entries by section.
pub(crate) type Sections = BTreeMap<String, BTreeSet<String>>;

/// The folder of the lists, relative to the root.
const FOLDER: &str = "xtask/expected";

/// A list's path, relative to the root.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// The sections of a list; none when the file is missing.
pub(crate) fn sections(root: &Path, name: &str) -> Result<Sections> {
    let text = files::read_if_present(&root.join(path(name)))?.unwrap_or_default();
    let mut sections = Sections::new();
    let mut current = String::new();
    for line in entries(&text) {
        if let Some(section) = line.strip_prefix('[') {
            current = section.trim_end_matches(']').to_owned();
            sections.entry(current.clone()).or_default();
        } else {
            sections.entry(current.clone()).or_default().insert(line.to_owned());
        }
    }
    Ok(sections)
}

/// The entries of a list without sections; none when the file is missing.
pub(crate) fn list(root: &Path, name: &str) -> Result<BTreeSet<String>> {
    let text = files::read_if_present(&root.join(path(name)))?.unwrap_or_default();
    Ok(entries(&text).map(str::to_owned).collect())
}

/// The text of a list.
pub(crate) fn render(explanation: &str, sections: &Sections) -> String {
    let mut text = format!("# {explanation}\n");
    for (section, entries) in sections {
        text.push_str(&format!("\n[{section}]\n"));
        for entry in entries {
            text.push_str(entry);
            text.push('\n');
        }
    }
    text
}

fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
