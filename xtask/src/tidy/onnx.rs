//! The tiny models are what their maker writes, and their references belong to them.

use std::path::Path;

use crate::error::Result;
use crate::onnx_fixtures;
use crate::tidy::Finding;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let stale = onnx_fixtures::stale(root)?.into_iter();
    Ok(stale
        .map(|(path, wrong)| {
            Finding::new(path, 1, format!("{wrong}; run `cargo xtask onnx-fixtures`"))
        })
        .collect())
}
