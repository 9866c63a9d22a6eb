//! Runs cargo with its output passed on.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::error::{Result, cannot};

/// The cargo that runs this program.
pub(crate) fn program() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Runs a cargo command to its end, saying which on standard error.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<()> {
    run_with(root, arguments, [])
}

/// The same with these environment variables.
pub(crate) fn run_with<const N: usize>(
    root: &Path,
    arguments: &[&str],
    variables: [(&str, &str); N],
) -> Result<()> {
    let command = format!("cargo {}", arguments.join(" "));
    eprintln!("  {command}");
    let tried = format!("run `{command}`");
    let status = Command::new(program())
        .current_dir(root)
        .args(arguments)
        .envs(variables)
        .status()
        .map_err(|error| cannot(&tried, error))?;
    if status.success() { Ok(()) } else { Err(cannot(&tried, status)) }
}
