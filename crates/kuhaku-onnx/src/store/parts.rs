//! Files of a model that are not whole yet.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::hub_path::is_commit;
use super::model_name::ModelName;
use super::model_store::remove_file;
use super::places::Places;
use crate::error::Result;

/// What has come of one file. It lies beside the blobs of the hub's clients, under a name of its own.
pub(super) struct Part {
    path: PathBuf,
    lock: PathBuf,
}

impl Part {
    /// Where the file of a model at a commit grows.
    #[cfg(feature = "download")]
    pub(super) fn of(places: &Places, model: &ModelName, commit: &str, path: &str) -> Self {
        let name = format!("{commit}--{}", path.replace('/', "--"));
        Self::named(places, model, &name)
    }

    fn named(places: &Places, model: &ModelName, name: &str) -> Self {
        Self {
            path: places.blobs(model).join(format!("{name}.part")),
            lock: places.locks(model).join(format!("{name}.lock")),
        }
    }

    /// All that there are of a model: of its commit if it is named by one.
    pub(super) fn all(places: &Places, model: &ModelName) -> Vec<Self> {
        let ours = |name: String| {
            let stem = name.strip_suffix(".part")?;
            let (commit, _) = stem.split_once("--")?;
            let meant = is_commit(commit) && model.commit().is_none_or(|it| it == commit);
            meant.then(|| Self::named(places, model, stem))
        };
        let entries = fs::read_dir(places.blobs(model)).into_iter().flatten();
        entries.filter_map(|entry| ours(entry.ok()?.file_name().into_string().ok()?)).collect()
    }

    #[cfg(feature = "download")]
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    #[cfg(feature = "download")]
    pub(super) fn lock(&self) -> &Path {
        &self.lock
    }

    /// How many bytes have come.
    pub(super) fn bytes(&self) -> u64 {
        length(&self.path)
    }

    /// Removes it, unless somebody is writing it, and says how many bytes it had.
    pub(super) fn remove(&self, up_to: &Path) -> Result<u64> {
        remove_part(&self.path, &self.lock, up_to)
    }
}

/// The length of a file that is there, else nothing.
pub(super) fn length(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |found| if found.is_file() { found.len() } else { 0 })
}

/// Removes a part and the note of its origin, unless somebody has its lock.
pub(super) fn remove_part(part: &Path, lock: &Path, up_to: &Path) -> Result<u64> {
    let regular = fs::symlink_metadata(lock).is_ok_and(|found| found.is_file());
    let held = File::options().write(true).open(lock).ok().filter(|_| regular);
    if held.as_ref().is_some_and(|lock| lock.try_lock().is_err()) {
        return Ok(0);
    }
    let mut origin = part.as_os_str().to_owned();
    origin.push(".origin");
    remove_file(Path::new(&origin), up_to)?;
    remove_file(part, up_to)
}
