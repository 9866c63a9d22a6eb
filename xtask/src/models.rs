//! `cargo xtask models`: finds or makes the real test models, and runs the suites that need them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::error::{Result, cannot};
use crate::parity;

/// Names the folder with the models.
const FOLDER: &str = "KUHAKU_TEST_MODELS";

/// Names a script that makes them.
const MAKER: &str = "KUHAKU_MODEL_MAKER";

/// Where the script lies when it is not named, relative to the root.
const MAKER_BESIDE: &str = "../shared/tools/make_models.py";

/// What the script is asked to make.
const TARGETS: [&str; 3] = ["ort", "e5", "minilm"];

/// The runtime library in the folder.
const LIBRARY: &str = "onnxruntime/libonnxruntime.so";

/// The suites, by the beginning of their files' paths.
const SUITES: &str = "crates/kuhaku-onnx/tests/models";

/// In the names of tests that measure for minutes; the short form leaves them out.
const LONG: &str = "measured_";

/// The folder of the test models, whether or not it is there: the one that the environment names,
/// else the ignored one in the repository.
pub(crate) fn folder(root: &Path) -> PathBuf {
    env::var_os(FOLDER).map_or_else(|| root.join(".models"), |named| root.join(named))
}

/// Runs the suites on the models; without models, says what did not run.
pub(crate) fn run(root: &Path, short: bool) -> Result<()> {
    let Some(models) = found_or_made(root)? else {
        println!(
            "skipped: {FOLDER} and {MAKER} are not set, and there is no {MAKER_BESIDE}. \
             These tests did not run:"
        );
        for test in tests(root)? {
            println!("  {test}");
        }
        return Ok(());
    };
    let models = models.display().to_string();
    let mut arguments = vec!["test", "--package", "kuhaku-onnx", "--all-features"];
    if short {
        arguments.extend(["--", "--skip", LONG]);
        println!("skipped: the tests that measure, named {LONG}…; they run without --short");
    } else {
        // What is measured is measured as it ships, and alone.
        arguments.extend(["--release", "--", "--nocapture", "--test-threads=1"]);
    }
    cargo::run_with(root, &arguments, [(FOLDER, models.as_str())])
}

/// The folder with the models, made when there is a script for it.
fn found_or_made(root: &Path) -> Result<Option<PathBuf>> {
    let folder = folder(root);
    if env::var_os(FOLDER).is_some() {
        let library = folder.join(LIBRARY);
        if library.is_file() {
            return Ok(Some(folder));
        }
        let wrong = format!(
            "there is no {}; next: let {FOLDER} name a folder that the maker of models wrote, or \
             unset it",
            library.display()
        );
        return Err(cannot("use the test models", wrong));
    }
    let Some(maker) = maker(root) else { return Ok(None) };
    eprintln!("  {} --out {} {}", maker.display(), folder.display(), TARGETS.join(" "));
    let status = Command::new("python3")
        .arg(&maker)
        .arg("--out")
        .arg(&folder)
        .args(TARGETS)
        .status()
        .map_err(|error| cannot("make the test models", error))?;
    if !status.success() {
        return Err(cannot("make the test models", format!("{} ended: {status}", maker.display())));
    }
    Ok(Some(folder))
}

fn maker(root: &Path) -> Option<PathBuf> {
    match env::var_os(MAKER) {
        Some(named) => Some(root.join(named)),
        None => Some(root.join(MAKER_BESIDE)).filter(|maker| maker.is_file()),
    }
}

/// The tests that need models, by path.
fn tests(root: &Path) -> Result<Vec<String>> {
    let claims = parity::claims(root)?;
    let needed = claims.iter().filter(|claim| claim.file().starts_with(SUITES));
    Ok(needed.map(|claim| claim.test.to_string()).collect())
}
