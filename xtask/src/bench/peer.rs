//! Python peers, in an environment of their own below the target folder.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::matrix::{Peer, Set};
use crate::error::{Result, cannot};

/// What a peer's program prints.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PeerRun {
    pub(crate) index_ms: f64,
    pub(crate) query_ms: Vec<f64>,
    pub(crate) shallow_ms: Vec<f64>,
    pub(crate) rankings: BTreeMap<String, Vec<String>>,
}

/// A peer whose packages are installed.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) name: String,
    pub(crate) python: PathBuf,
    script: PathBuf,
}

/// Installs a peer; the reason when that cannot be done here.
pub(crate) fn install(root: &Path, peer: &Peer) -> std::result::Result<Installed, String> {
    let home = root.join("target/peers").join(&peer.name);
    let python = home.join("bin/python");
    if !python.exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&home).output();
        match made {
            Ok(output) if output.status.success() => {}
            Ok(_) => return Err("python3 makes no virtual environment".into()),
            Err(error) => return Err(format!("python3 does not start: {error}")),
        }
    }
    let installed = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(&peer.packages)
        .output()
        .map_err(|error| format!("pip does not start: {error}"))?;
    if !installed.status.success() {
        return Err(format!("pip cannot install {}", peer.packages.join(", ")));
    }
    let script = root.join("xtask/bench").join(&peer.script);
    Ok(Installed { name: peer.name.clone(), python, script })
}

impl Installed {
    /// Runs the peer on a set.
    pub(crate) fn run(
        &self,
        folder: &Path,
        set: &Set,
        (depth, shallow): (usize, usize),
    ) -> Result<PeerRun> {
        let rest =
            [set.split.clone(), set.language.clone(), depth.to_string(), shallow.to_string()];
        let failed = |reason| cannot(format!("run {} on {}", self.name, set.name), reason);
        self.ask(folder, &rest).map_err(failed)
    }

    /// What the peer prints, given a folder and further arguments; else the last line of its errors.
    pub(crate) fn ask<T: DeserializeOwned>(
        &self,
        folder: &Path,
        rest: &[impl AsRef<OsStr>],
    ) -> std::result::Result<T, String> {
        output(Command::new(&self.python).arg(&self.script).arg(folder).args(rest))
    }
}

/// What a program prints, on one thread where it would take more; else the last line of its errors.
pub(crate) fn output<T: DeserializeOwned>(command: &mut Command) -> std::result::Result<T, String> {
    for threads in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
        command.env(threads, "1");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.lines().last().unwrap_or("it failed").to_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
