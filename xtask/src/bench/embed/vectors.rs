//! Vectors of a set on disk: `NAME.f16` and `NAME.json`.
//!
//! The first holds half floats, `count` rows of `dim`; the second says of what, with the ids in the
//! order of the rows. The ready-made vectors of a data folder have this form too, without a
//! fingerprint.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::half;
use crate::error::{Result, cannot};
use crate::files;

/// What `NAME.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) model: String,
    /// What was embedded, and with what prefix.
    pub(crate) input: String,
    /// Whether rows had length 1 before they were rounded.
    pub(crate) normalized: bool,
    pub(crate) dim: usize,
    pub(crate) count: usize,
    /// Of the embedder; absent from ready-made vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<String>,
    /// SHA-256 over the ids and texts; absent from ready-made vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) texts: Option<String>,
    pub(crate) ids: Vec<String>,
}

/// The rows of a file by id.
#[derive(Debug)]
pub(crate) struct Vectors {
    pub(crate) manifest: Manifest,
    rows: BTreeMap<String, Vec<f32>>,
}

impl Vectors {
    /// Reads `NAME.json` and `NAME.f16` in a folder; nothing when the first is not there.
    pub(crate) fn read(folder: &Path, name: &str) -> Result<Option<Self>> {
        let Some(manifest) = read_manifest(&manifest_path(folder, name))? else {
            return Ok(None);
        };
        let path = rows_path(folder, name);
        let tried = || format!("read {}", path.display());
        let bytes = fs::read(&path).map_err(|error| cannot(tried(), error))?;
        let width = manifest.dim * 2;
        if manifest.dim == 0
            || bytes.len() != manifest.count * width
            || manifest.ids.len() != manifest.count
        {
            let wrong = format!(
                "{} bytes and {} ids are not {} rows of {}; next: delete {name}.* there and embed \
                 again",
                bytes.len(),
                manifest.ids.len(),
                manifest.count,
                manifest.dim
            );
            return Err(cannot(tried(), wrong));
        }
        let row = |bytes: &[u8]| {
            bytes.as_chunks::<2>().0.iter().map(|pair| half::decode(*pair)).collect()
        };
        let rows = manifest.ids.iter().cloned().zip(bytes.chunks_exact(width).map(row)).collect();
        Ok(Some(Self { manifest, rows }))
    }

    /// The row of an id.
    pub(crate) fn get(&self, id: &str) -> Option<&[f32]> {
        self.rows.get(id).map(Vec::as_slice)
    }
}

/// The cosine of two rows.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

pub(super) fn manifest_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.json"))
}

pub(super) fn rows_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.f16"))
}

pub(super) fn read_manifest(path: &Path) -> Result<Option<Manifest>> {
    let Some(text) = files::read_if_present(path)? else { return Ok(None) };
    let manifest = serde_json::from_str(&text);
    manifest.map(Some).map_err(|error| cannot(format!("read {}", path.display()), error))
}
