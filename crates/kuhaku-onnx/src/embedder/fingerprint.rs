//! What shapes a vector, in one line (D15).

use std::fs::File;
use std::io::{Read, Result};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The first 128 bits of the SHA-256 of files, in hexadecimal. Weights that lie beside a model, as
/// those of large models do, count as its part.
pub(super) fn of_files(files: &[PathBuf]) -> Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    for path in files {
        let mut file = File::open(path)?;
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            hash.update(bytes);
        }
    }
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// A model's file and those with its weights, in the order of their names: `model.onnx`,
/// `model.onnx.data`, `model.onnx_data`, `model.onnx_data_1`.
pub(super) fn with_weights(model: &Path) -> Vec<PathBuf> {
    let mut weights: Vec<PathBuf> = model
        .parent()
        .and_then(|folder| folder.read_dir().ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_file() && is_beside(path, model))
        .collect();
    weights.sort_unstable();
    weights.insert(0, model.to_owned());
    weights
}

fn is_beside(path: &Path, model: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let end = name(path)
        .zip(name(model))
        .and_then(|(path, model)| path.strip_prefix(&model).map(str::to_owned));
    end.is_some_and(|end| end.starts_with("_data") || end.starts_with(".data"))
}
