//! `cargo xtask models`: finds or makes the real test models, and runs the suites that need them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::error::{Error, Result, cannot};
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
const SUITES: [&str; 2] = ["crates/kuhaku-onnx/tests/models", "crates/kuhaku/tests/models"];

/// Begins the names of tests that measure for minutes; the short form leaves them out.
const MEASURED: &str = "measured_";

/// The package with the suites of single models, and the one that puts them to use.
const PACKAGE: &str = "kuhaku-onnx";
const FACADE: &str = "kuhaku";

/// The folder of the test models, whether or not it is there: the one that the environment names,
/// else the ignored one in the repository.
pub(crate) fn folder(root: &Path) -> PathBuf {
    env::var_os(FOLDER).map_or_else(|| root.join(".models"), |named| root.join(named))
}

/// Runs the suites on the models; without models, says what did not run.
pub(crate) fn run(root: &Path, short: bool) -> Result<()> {
    let models = match found_or_made(root) {
        Ok(Some(models)) => models,
        Ok(None) => {
            let why = format!("{FOLDER} and {MAKER} are not set, and there is no {MAKER_BESIDE}");
            return skip(root, &why);
        }
        // The short form is a gate: the script needs a network, and the gates do not.
        Err(Failed::Maker(error)) if short => return skip(root, &error.to_string()),
        Err(Failed::Maker(error) | Failed::Folder(error)) => return Err(error),
    };
    let models = models.display().to_string();
    let on = |arguments: &[&str]| cargo::run_with(root, arguments, [(FOLDER, models.as_str())]);
    // One at a time: a model takes all cores, and some tests look at the time of the process.
    let tests = ["test", "--package", PACKAGE, "--all-features", "--", "--test-threads=1"];
    on(&[tests.as_slice(), &["--skip", MEASURED]].concat())?;
    on(&["test", "--package", FACADE, "--features", "dense", "--test", "models*"])?;
    if short {
        println!("skipped: what measures, the tests named {MEASURED}…: run `cargo xtask models`");
        return Ok(());
    }
    // What is measured is measured as it ships, and alone.
    let release = ["test", "--release", "--package", PACKAGE, "--test", "models*"];
    on(&[release.as_slice(), &["--", MEASURED, "--nocapture", "--test-threads=1"]].concat())
}

/// Says which tests did not run, and why.
fn skip(root: &Path, why: &str) -> Result<()> {
    println!("skipped: {why}. These tests did not run:");
    for test in tests(root)? {
        println!("  {test}");
    }
    Ok(())
}

/// Why there are no models where there should be some.
enum Failed {
    /// The folder that is named is not one of models.
    Folder(Error),
    /// The script did not make them.
    Maker(Error),
}

/// The folder with the models, made when there is a script for it.
fn found_or_made(root: &Path) -> std::result::Result<Option<PathBuf>, Failed> {
    let folder = folder(root);
    if env::var_os(FOLDER).is_some() {
        return check(&folder).map(|()| Some(folder)).map_err(Failed::Folder);
    }
    let Some(maker) = maker(root) else { return Ok(None) };
    eprintln!("  {} --out {} {}", maker.display(), folder.display(), TARGETS.join(" "));
    let status = Command::new("python3")
        .arg(&maker)
        .arg("--out")
        .arg(&folder)
        .args(TARGETS)
        .status()
        .map_err(|error| Failed::Maker(cannot("make the test models", error)))?;
    if !status.success() {
        let wrong = format!("{} ended: {status}", maker.display());
        return Err(Failed::Maker(cannot("make the test models", wrong)));
    }
    Ok(Some(folder))
}

/// A folder that is named must hold what the suites take, lest they all skip.
fn check(folder: &Path) -> Result<()> {
    let library = folder.join(LIBRARY);
    if library.is_file() {
        return Ok(());
    }
    let wrong = format!(
        "there is no {}; next: let {FOLDER} name a folder that the maker of models wrote, or unset it",
        library.display()
    );
    Err(cannot("use the test models", wrong))
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
    let of_suite = |file: &str| SUITES.iter().any(|suite| file.starts_with(suite));
    let needed = claims.iter().filter(|claim| of_suite(claim.file()));
    Ok(needed.map(|claim| claim.test.to_string()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn what_is_skipped_is_named_test_by_test() {
        let test = "//! Docs.\n\n#[test]\nfn claims() {}\n\nfn no_test() {}\n";
        let tree = Tree::new(&[
            ("crates/kuhaku-onnx/tests/models_b.rs", test),
            ("crates/kuhaku-onnx/tests/models_a.rs", test),
            ("crates/kuhaku/tests/models_c.rs", test),
            ("crates/kuhaku-onnx/tests/tiny.rs", test),
        ]);
        let named =
            ["kuhaku-onnx/tests/models_a", "kuhaku-onnx/tests/models_b", "kuhaku/tests/models_c"];
        let named = named.map(|file| format!("crates/{file}.rs::claims"));
        assert_eq!(tests(tree.root()).unwrap(), named);
    }

    #[test]
    fn a_named_folder_without_the_library_is_an_error_and_not_a_skip() {
        let tree = Tree::new(&[("models/README.md", "")]);
        let folder = tree.root().join("models");
        let error = check(&folder).unwrap_err().to_string();
        assert!(error.contains(LIBRARY) && error.contains("next: "), "{error}");
        tree.put(&format!("models/{LIBRARY}"), "");
        check(&folder).unwrap();
    }
}
