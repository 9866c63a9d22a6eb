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
/// `model.onnx_data`, `model.onnx.data`.
pub(super) fn with_weights(model: &Path) -> Vec<PathBuf> {
    let mut files = vec![model.to_owned()];
    for end in ["_data", ".data"] {
        let mut name = model.as_os_str().to_owned();
        name.push(end);
        let beside = PathBuf::from(name);
        if beside.is_file() {
            files.push(beside);
        }
    }
    files
}
