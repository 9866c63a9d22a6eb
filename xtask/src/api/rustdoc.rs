//! Runs rustdoc for its JSON.
//!
//! The format needs `RUSTC_BOOTSTRAP`. Set for all of cargo, that would rebuild every crate whose
//! build script looks at it; so this program stands in for rustdoc and sets it for rustdoc alone.

use std::env;
use std::path::Path;
use std::process::{Command, ExitCode};

use serde_json::Value;

use crate::cargo::program;
use crate::error::{Error, Result, cannot};
use crate::files;

/// Set when cargo runs this program in the place of rustdoc: rustdoc's own path.
pub(crate) const ACTS_AS_RUSTDOC: &str = "XTASK_ACTS_AS_RUSTDOC";

/// Runs rustdoc with the arguments that cargo gave.
pub(crate) fn act_as_rustdoc(rustdoc: &std::ffi::OsStr) -> Result<ExitCode> {
    let status = Command::new(rustdoc)
        .args(env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove(ACTS_AS_RUSTDOC)
        .status()
        .map_err(|error| cannot("run rustdoc", error))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The JSON of a crate's library with all its features.
pub(super) fn json(root: &Path, name: &str) -> Result<Value> {
    let tried = || format!("document the API of {name}");
    let this = env::current_exe().map_err(|error| cannot(tried(), error))?;
    let rustdoc = env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let output = Command::new(program())
        .current_dir(root)
        .args(["rustdoc", "--quiet", "--lib", "--all-features", "--package", name])
        .args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .env("RUSTDOC", this)
        .env(ACTS_AS_RUSTDOC, rustdoc)
        .env_remove("RUSTDOCFLAGS")
        .output()
        .map_err(|error| cannot(tried(), error))?;
    if !output.status.success() {
        return Err(cannot(tried(), String::from_utf8_lossy(&output.stderr).trim()));
    }
    let file = format!("{}.json", name.replace('-', "_"));
    let path = target_folder(root)?.join("doc").join(file);
    let text = files::read(&path)?;
    serde_json::from_str(&text).map_err(|error| unreadable(&path, &error.to_string()))
}

/// Where cargo builds, whatever the environment and its configuration say.
fn target_folder(root: &Path) -> Result<std::path::PathBuf> {
    let tried = "ask cargo for the target folder";
    let output = Command::new(program())
        .current_dir(root)
        .args(["metadata", "--format-version=1", "--no-deps"])
        .output()
        .map_err(|error| cannot(tried, error))?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| cannot(tried, error))?;
    metadata
        .get("target_directory")
        .and_then(Value::as_str)
        .map(Into::into)
        .ok_or_else(|| cannot(tried, String::from_utf8_lossy(&output.stderr).trim()))
}

fn unreadable(path: &Path, wrong: &str) -> Error {
    cannot(format!("read {}", path.display()), wrong)
}
