//! `cargo xtask providers`: the table of `docs/providers.md`, from the suite of providers.

use std::path::Path;

use crate::cargo::run_with;
use crate::error::Result;

/// Tells the test of the table to write it.
const WRITE: (&str, &str) = ("KUHAKU_WRITE_PROVIDERS", "1");

/// Runs the suite for every provider and writes what it found.
pub(crate) fn write_table(root: &Path) -> Result<()> {
    let test = ["test", "--quiet", "-p", "kuhaku-llm", "--all-features", "--test", "conformance"];
    let only = ["--", "--exact", "page::the_table_has_a_column_for_every_provider"];
    run_with(root, &[test.as_slice(), &only].concat(), [WRITE])
}
