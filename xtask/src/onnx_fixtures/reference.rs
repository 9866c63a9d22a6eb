//! What the tiny models answer, computed by Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::error::{Result, cannot};
use crate::files;
use crate::models;

pub(super) const FILE: &str = "reference.json";

/// Computes the answers; takes the texts beside it.
const SCRIPT: &str = "xtask/onnx/reference.py";

/// The answers of the model in a folder, as the text of the file.
pub(super) fn compute(root: &Path, folder: &Path) -> Result<String> {
    let tried = || format!("compute what {} answers", folder.display());
    let python = python(root)?;
    let output = Command::new(&python)
        .arg(root.join(SCRIPT))
        .arg(folder)
        .output()
        .map_err(|error| cannot(tried(), error))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(cannot(tried(), said.lines().last().unwrap_or("the script failed")));
    }
    String::from_utf8(output.stdout).map_err(|error| cannot(tried(), error))
}

/// What is wrong with the answers in a folder, if anything: they belong to other files.
pub(super) fn wrong(folder: &Path) -> Result<Option<String>> {
    let Some(text) = files::read_if_present(&folder.join(FILE))? else {
        return Ok(Some("is missing".to_owned()));
    };
    let reference: Value = serde_json::from_str(&text)
        .map_err(|error| cannot(format!("read {}", folder.join(FILE).display()), error))?;
    for name in ["model.onnx", "tokenizer.json", "config.json"] {
        let Ok(bytes) = fs::read(folder.join(name)) else { continue };
        let now: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if reference.pointer(&format!("/sha256/{name}")).and_then(Value::as_str) != Some(&now) {
            return Ok(Some(format!("was computed from another {name}")));
        }
    }
    Ok(None)
}

/// The Python that made the test models; it has the packages.
fn python(root: &Path) -> Result<PathBuf> {
    let python = models::folder(root).join(".venv/bin/python");
    if python.is_file() {
        return Ok(python);
    }
    let wrong = "there is no Python with onnxruntime and tokenizers; next: run `cargo xtask models`, \
                 which makes one beside the test models";
    Err(cannot("compute what the models answer", wrong))
}
