//! `cargo xtask train-guard`: the trained stage of the injection guard.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::bench::security::attacks::Split;
use crate::error::{Result, cannot};

/// Where the sets are.
const DATA: &str = "KUHAKU_BENCH_DATA";

/// Writes the training part of the attacks into a folder, one file for each source.
pub(crate) fn dump(root: &Path, folder: &str) -> Result<Vec<PathBuf>> {
    let Some(data) = std::env::var_os(DATA) else {
        return Err(cannot(
            "read the attacks",
            format!("{DATA} does not name the folder with the sets"),
        ));
    };
    let split = Split::read(&root.join(data).join("injection"))?;
    let folder = root.join(folder);
    let tried = || format!("write into {}", folder.display());
    fs::create_dir_all(&folder).map_err(|error| cannot(tried(), error))?;
    let mut sources: Vec<&str> = split.train.iter().map(|row| row.source).collect();
    sources.dedup();
    let mut written = Vec::new();
    for source in sources {
        let rows = split.train.iter().filter(|row| row.source == source).map(|row| {
            let label = u8::from(row.attack);
            let span = row.span.as_ref().map(|span| [span.start, span.end]);
            json!({ "id": row.id, "label": label, "source": source, "about": row.about,
                    "span_bytes": span, "text": row.text })
            .to_string()
        });
        let path = folder.join(format!("{source}.jsonl"));
        let text = rows.collect::<Vec<_>>().join("\n") + "\n";
        fs::write(&path, text).map_err(|error| cannot(tried(), error))?;
        written.push(path);
    }
    Ok(written)
}
