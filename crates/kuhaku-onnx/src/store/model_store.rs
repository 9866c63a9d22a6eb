//! The store as its users see it.

use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_core::Sha256;

use super::known::{KnownModel, ModelKind};
use super::model_name::ModelName;
use super::parts::Part;
use super::places::Places;
use super::record::{Record, SumSource, storage};
use super::release::{Release, name_of_library};
use super::settings::StoreSettings;
use super::snapshot::Snapshot;
use crate::error::{Error, ErrorKind, Result};

/// Finds, checks and removes models and the runtime library. Fetching is the work of `Puller`, by
/// feature `download`. Cheap to clone. All methods read the disk and block.
///
/// ```no_run
/// use kuhaku_onnx::{ModelStore, StoreSettings};
/// use kuhaku_core::{Section as _, Sources};
///
/// let settings = StoreSettings::load(&Sources::from_process_env())?;
/// let store = ModelStore::new(settings, std::env::home_dir().as_deref())?;
/// let model = store.open("multilingual-e5-small")?;
/// println!("{} at {}", model.name, model.folder.display());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ModelStore {
    pub(super) settings: StoreSettings,
    pub(super) places: Places,
}

/// A model that is here, and is what was published or recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredModel {
    /// What it is called.
    pub name: String,
    /// What it does, if it is a known one.
    pub kind: Option<ModelKind>,
    /// Its repository at the hub.
    pub repository: String,
    /// The commit of the repository.
    pub revision: String,
    /// The folder to open, with `tokenizer.json` and `config.json` in it.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<FileCheck>,
}

/// What a look at one file showed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileCheck {
    /// Its path in the repository.
    pub path: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its sum, unless it is missing.
    pub sha256: Option<Sha256>,
    /// Whether it is the one that is meant.
    pub verdict: Verdict,
}

/// Whether a file is the one that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It has the sum that it should have. A file without a published sum that is seen for the first
    /// time matches what is recorded of it by that.
    Matches(SumSource),
    /// It has another sum.
    Differs {
        /// The sum that it should have.
        expected: Sha256,
    },
    /// It is not there.
    Missing,
}

/// Whether a model is here, by a look at names and lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelStatus {
    /// Nothing of it is here.
    Absent,
    /// Some of its files are here.
    Incomplete {
        /// How many bytes are here.
        bytes: u64,
    },
    /// All of its files are here.
    Present {
        /// The commit that they are of.
        revision: String,
        /// How many bytes they have.
        bytes: u64,
    },
}

impl ModelStore {
    /// The store by these settings; `home` is the folder of the account. Nothing is read or made.
    ///
    /// # Errors
    /// `core.invalid_settings` when neither the settings nor `home` name a folder.
    pub fn new(settings: StoreSettings, home: Option<&Path>) -> Result<Self> {
        let places = Places::new(&settings, home)?;
        Ok(Self { settings, places })
    }

    /// The cache that clients of the hub share.
    pub fn cache(&self) -> &Path {
        self.places.hub()
    }

    /// Whether nothing may be fetched.
    pub fn is_offline(&self) -> bool {
        self.settings.offline
    }

    /// Whether a model is here.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownModel`] when the name is none.
    pub fn status(&self, name: &str) -> Result<ModelStatus> {
        if name_of_library(name) {
            return Ok(Release::here()?.status(&self.places));
        }
        let model = ModelName::parse(name)?;
        let mut some = 0;
        for snapshot in Snapshot::candidates(&self.places, &model) {
            let record = self.record(&model, &snapshot.commit);
            let (all, bytes) = snapshot.size(&model, record.as_ref());
            if all {
                return Ok(ModelStatus::Present { revision: snapshot.commit, bytes });
            }
            some = some.max(bytes);
        }
        some += Part::all(&self.places, &model).iter().map(Part::bytes).sum::<u64>();
        Ok(if some > 0 { ModelStatus::Incomplete { bytes: some } } else { ModelStatus::Absent })
    }

    /// A model that is here, checked. Each file is read whole when it is seen for the first time or
    /// has changed.
    ///
    /// # Errors
    /// [`ErrorKind::NotPulled`] when it is not here; [`ErrorKind::Damaged`] when a file is not the one
    /// that is meant; [`ErrorKind::UnknownModel`]; [`ErrorKind::Storage`].
    pub fn open(&self, name: &str) -> Result<StoredModel> {
        let model = ModelName::parse(name)?;
        let mut damaged = None;
        for snapshot in Snapshot::candidates(&self.places, &model) {
            let record = self.record(&model, &snapshot.commit);
            if !snapshot.size(&model, record.as_ref()).0 {
                continue;
            }
            let files = self.check(&model, &snapshot, false)?;
            let wrong = files.iter().find(|file| !matches!(file.verdict, Verdict::Matches(_)));
            match wrong {
                Some(wrong) if snapshot.meant => damaged = Some(is_damaged(&model, wrong)),
                Some(_) => {}
                None if snapshot.meant || proven(&files) => {
                    return Ok(stored(&model, &snapshot, files));
                }
                None => {}
            }
        }
        Err(damaged.unwrap_or_else(|| not_pulled(&model.shown())))
    }

    /// The runtime library, checked as a model is.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`ErrorKind::UnsupportedPlatform`].
    pub fn runtime_library(&self) -> Result<PathBuf> {
        Release::here()?.open(&self.places)
    }

    /// Reads every file of a model, or of the runtime library, and holds it against its sum.
    ///
    /// # Errors
    /// [`ErrorKind::NotPulled`] when nothing of it is here; [`ErrorKind::UnknownModel`];
    /// [`ErrorKind::Storage`].
    pub fn verify(&self, name: &str) -> Result<Vec<FileCheck>> {
        if name_of_library(name) {
            return Release::here()?.verify(&self.places);
        }
        let model = ModelName::parse(name)?;
        let there = |snapshot: &Snapshot| {
            let record = self.record(&model, &snapshot.commit);
            snapshot.size(&model, record.as_ref())
        };
        let mut candidates = Snapshot::candidates(&self.places, &model);
        candidates.sort_by_key(|snapshot| !there(snapshot).0);
        match candidates.iter().find(|snapshot| there(snapshot).1 > 0) {
            Some(snapshot) => self.check(&model, snapshot, true),
            None => match candidates.first() {
                Some(snapshot) if !Part::all(&self.places, &model).is_empty() => {
                    self.check(&model, snapshot, true)
                }
                _ => Err(not_pulled(&model.shown())),
            },
        }
    }

    /// Removes what was pulled of a model, whole or in part, or the runtime library, and gives the bytes that were
    /// freed. The record of its sums stays, so that the next pull is held against it.
    ///
    /// # Errors
    /// [`ErrorKind::NotPulled`] when nothing was pulled, which includes what another program has
    /// fetched; [`ErrorKind::Storage`].
    pub fn remove(&self, name: &str) -> Result<u64> {
        if name_of_library(name) {
            return Release::here()?.remove(&self.places);
        }
        let model = ModelName::parse(name)?;
        let mut freed = None;
        for snapshot in Snapshot::candidates(&self.places, &model) {
            let path = self.places.record(&model, &snapshot.commit);
            let Some(record) = Record::read(&path).filter(|record| record.pulled) else {
                continue;
            };
            let mut bytes = 0;
            for file in snapshot.paths(&model, Some(&record)) {
                bytes += remove_file(&snapshot.root.join(&file), &self.places.repository(&model))?;
            }
            Record::update(&path, || record, |record| record.pulled = false)?;
            freed = Some(freed.unwrap_or(0) + bytes);
        }
        for part in Part::all(&self.places, &model) {
            let bytes = part.remove(&self.places.repository(&model))?;
            if bytes > 0 {
                freed = Some(freed.unwrap_or(0) + bytes);
            }
        }
        let there = self.status(name)? != ModelStatus::Absent;
        freed.ok_or_else(|| {
            if there {
                let tried = format!("remove {}", model.shown());
                let wrong = "another program has fetched it";
                Error::new(ErrorKind::NotPulled, tried, wrong)
                    .next(format!("remove {}", self.places.repository(&model).display()))
            } else {
                not_pulled(&model.shown())
            }
        })
    }

    pub(super) fn record(&self, model: &ModelName, commit: &str) -> Option<Record> {
        Record::read(&self.places.record(model, commit))
    }

    /// Changes the record of a commit.
    #[cfg(feature = "download")]
    pub(super) fn note(
        &self,
        model: &ModelName,
        commit: &str,
        change: impl FnOnce(&mut Record),
    ) -> Result<Record> {
        let path = self.places.record(model, commit);
        Record::update(&path, || Record::new(model.repository(), commit), change)
    }

    pub(super) fn check(
        &self,
        model: &ModelName,
        snapshot: &Snapshot,
        again: bool,
    ) -> Result<Vec<FileCheck>> {
        let path = self.places.record(model, &snapshot.commit);
        let before = Record::read(&path);
        let fresh = || Record::new(model.repository(), &snapshot.commit);
        let mut record = before.clone().unwrap_or_else(fresh);
        let checks = snapshot.check(model, &mut record, again)?;
        let known = before.map(|before| before.files).unwrap_or_default();
        let files = record.files.into_iter().filter(|(path, file)| known.get(path) != Some(file));
        let files: Vec<_> = files.collect();
        // A folder that may only be read can be used all the same; its files are read each time.
        if !files.is_empty() {
            let _ = Record::update(&path, fresh, |record| record.files.extend(files));
        }
        Ok(checks)
    }
}

/// Whether a published sum says what the files are.
fn proven(files: &[FileCheck]) -> bool {
    files.iter().any(|file| {
        file.path.ends_with(".onnx") && file.verdict == Verdict::Matches(SumSource::Published)
    })
}

fn stored(model: &ModelName, snapshot: &Snapshot, files: Vec<FileCheck>) -> StoredModel {
    let folder = model.known.map_or("", |known: &KnownModel| known.folder);
    StoredModel {
        name: model.shown(),
        kind: model.known.map(|known| known.kind),
        repository: model.repository(),
        revision: snapshot.commit.clone(),
        folder: if folder.is_empty() { snapshot.root.clone() } else { snapshot.root.join(folder) },
        files,
    }
}

/// Removes a file and the folders that are empty without it, and gives its length.
pub(super) fn remove_file(path: &Path, up_to: &Path) -> Result<u64> {
    let failed = |source| storage("remove a file of the store", path, source);
    let bytes = match fs::symlink_metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(failed(error)),
    };
    fs::remove_file(path).map_err(failed)?;
    // A folder that is not empty stays.
    let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(up_to));
    for folder in above {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(bytes)
}

pub(super) fn not_pulled(name: &str) -> Error {
    Error::new(ErrorKind::NotPulled, format!("open {name}"), "it is not on this machine")
        .next(format!("run `kuhaku models pull {name}`"))
}

fn is_damaged(model: &ModelName, file: &FileCheck) -> Error {
    let name = model.shown();
    damaged(&name, &file.path, file.sha256, file.verdict)
}

pub(super) fn damaged(name: &str, file: &str, found: Option<Sha256>, verdict: Verdict) -> Error {
    let found = found.map_or_else(|| "none".to_owned(), |sum| sum.to_string());
    let wrong = match verdict {
        Verdict::Differs { expected } => {
            format!("the SHA-256 of {file} is {found}, and {expected} was expected")
        }
        _ => format!("{file} is missing"),
    };
    Error::new(ErrorKind::Damaged, format!("open {name}"), wrong)
        .next(format!("run `kuhaku models pull {name}`, which replaces what is damaged"))
}
