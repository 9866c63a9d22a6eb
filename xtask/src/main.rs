//! The gates and generated documents of the workspace: `cargo xtask`.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod api;
mod bench;
mod cargo;
mod configuration;
mod edges;
mod endurance;
mod error;
mod examples;
mod expected;
mod features;
mod files;
mod models;
mod onnx_fixtures;
mod parity;
mod providers;
mod rust_source;
mod tidy;
mod train_guard;
#[cfg(test)]
mod tree;
mod update;
mod workspace;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::error::{Result, cannot};

const USAGE: &str = "\
cargo xtask COMMAND

  tidy [CHECK]…              check the house rules; all of them when none is named
  update [--allow-foreign]   write the dependency lists, API snapshots, configuration and parity
                             pages anew; with the flag also the list of foreign types in APIs
  api CRATE                  print the public API of a crate as its snapshot has it
  parity                     write the tests into docs/parity.md only
  providers                  run the suite of providers and write its table into docs/providers.md
  features [--test]          check each feature alone; or test crates with all their features
  examples                   run every example
  onnx-fixtures [--check]    write the tiny models of fixtures/onnx and what they answer; or say
                             which are stale
  models [--short]           run the suites that need real models, on those of KUHAKU_TEST_MODELS,
                             else on those that the script KUHAKU_MODEL_MAKER makes
  train-guard [--dump FOLDER]
                             train the weights of the injection guard on the sets that
                             KUHAKU_BENCH_DATA names; or write the training part of the attacks
                             into FOLDER
  bench SUITE [FOLDER]       measure in release mode (retrieval, hybrid, vectors, abstention, security,
                             cold, extract, scale, scale-million) on the sets that KUHAKU_BENCH_DATA names;
                             reports go to FOLDER, else target/bench
  bench embed SET MODEL [--documents N]
                             write the vectors of a set into KUHAKU_BENCH_VECTORS, else
                             target/vectors; a killed run goes on where it was
  crash [--kills N] [--write-failures M] [--embed K]
                             kill a writing process at random moments and let its writes fail, 500
                             and 200 times: what was acknowledged must be there, whole; and kill one
                             that embeds, 100 times: as without a kill, nothing embedded again but
                             the batch in flight
  churn [--seconds S]        one process writes, three read and a fifth tries to write, for 120 s:
                             no torn, stale or foreign answer
  ci                         everything, as .ci/run does";

fn main() -> ExitCode {
    let outcome = match env::var_os(api::ACTS_AS_RUSTDOC) {
        Some(rustdoc) => api::act_as_rustdoc(&rustdoc),
        None => command(&env::args().skip(1).collect::<Vec<_>>()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn command(arguments: &[String]) -> Result<ExitCode> {
    let root = root();
    let (command, rest) = match arguments {
        [] => {
            println!("{USAGE}\n\nThe checks of tidy: {}", tidy::names().join(", "));
            return Ok(ExitCode::SUCCESS);
        }
        [command, rest @ ..] => (command.as_str(), rest),
    };
    let flags: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (command, flags.as_slice()) {
        ("tidy", _) => return tidy(&root, rest),
        ("update", []) => return Ok(told(&update::everything(&root, false)?)),
        ("update", ["--allow-foreign"]) => return Ok(told(&update::everything(&root, true)?)),
        ("api", [name]) => print!("{}", api::snapshot(name, &api::of_crate(&root, name)?)),
        ("parity", []) => return Ok(told(&update::parity_only(&root)?)),
        ("train-guard", []) => return train_guard::run(&root),
        ("train-guard", ["--dump", folder]) => changed(&train_guard::dump(&root, folder)?),
        ("providers", []) => providers::write_table(&root)?,
        ("features", []) => features::check_each_alone(&root)?,
        ("features", ["--test"]) => features::test_all(&root)?,
        ("examples", []) => examples::run_all(&root)?,
        ("onnx-fixtures", []) => changed(&onnx_fixtures::write(&root)?),
        ("onnx-fixtures", ["--check"]) => return tidy(&root, &["onnx".to_owned()]),
        ("models", []) => models::run(&root, false)?,
        ("models", ["--short"]) => models::run(&root, true)?,
        ("crash", arguments) => return endurance::crash(arguments),
        ("churn", arguments) => return endurance::churn(&root, arguments),
        ("endurance-part", arguments) => endurance::part(arguments)?,
        ("bench-probe", [task, folder]) => bench::probe(task, Path::new(folder))?,
        ("bench", ["embed", arguments @ ..]) => return bench::embed(&root, arguments),
        ("bench", [suite]) => return bench::run(&root, suite, None),
        ("bench", [suite, out]) => return bench::run(&root, suite, Some(out)),
        ("help" | "--help" | "-h", []) => println!("{USAGE}"),
        ("ci", []) => return ci(&root),
        _ => {
            let tried = format!("run `cargo xtask {}`", arguments.join(" "));
            return Err(cannot(tried, format!("there is no such command\n\n{USAGE}")));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn tidy(root: &Path, checks: &[String]) -> Result<ExitCode> {
    let outcome = tidy::run(root, checks)?;
    for finding in &outcome.findings {
        println!("{finding}");
    }
    for failure in &outcome.failures {
        eprintln!("error: {failure}");
    }
    if outcome.findings.is_empty() && outcome.failures.is_empty() {
        eprintln!("tidy");
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("{} to put right", outcome.findings.len() + outcome.failures.len());
    Ok(ExitCode::FAILURE)
}

fn told(outcome: &update::Outcome) -> ExitCode {
    changed(&outcome.changed);
    for failure in &outcome.failures {
        eprintln!("error: {failure}");
    }
    if outcome.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn changed(paths: &[PathBuf]) {
    for path in paths {
        println!("wrote {}", path.display());
    }
    if paths.is_empty() {
        println!("nothing changed");
    }
}

fn ci(root: &Path) -> Result<ExitCode> {
    let status = Command::new("bash")
        .arg(root.join(".ci/run"))
        .status()
        .map_err(|error| cannot("run .ci/run", error))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The folder above this crate; cargo says where that is when it runs the program.
fn root() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}
