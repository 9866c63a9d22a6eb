//! One commit of a model in the cache, file by file.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_core::Sha256;

use super::hub_path::{is_commit, is_safe};
use super::model_name::ModelName;
use super::model_store::{FileCheck, Verdict};
use super::places::Places;
use super::record::{Record, RecordedFile, SumSource, storage};
use crate::error::Result;

/// What a folder must hold to be a model, when nothing else says so.
const LEAST: [&str; 2] = ["config.json", "tokenizer.json"];

/// Where the weights may be.
pub(super) const WEIGHTS: [&str; 2] = ["onnx/model.onnx", "model.onnx"];

/// A commit of a model in the cache. Its files may be missing.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) commit: String,
    pub(super) root: PathBuf,
    /// Whether it is the commit that was meant, not one that happens to be there.
    pub(super) meant: bool,
}

impl Snapshot {
    pub(super) fn of(places: &Places, model: &ModelName, commit: &str) -> Self {
        let root = places.snapshots(model).join(commit);
        Self { commit: commit.into(), root, meant: true }
    }

    /// The commit that is meant first, then those that may hold the same files.
    pub(super) fn candidates(places: &Places, model: &ModelName) -> Vec<Self> {
        let named = || {
            let text = fs::read_to_string(places.reference(model, model.revision())).ok()?;
            Some(text.trim().to_owned()).filter(|text| is_commit(text))
        };
        let meant = model.commit().map(str::to_owned).or_else(named);
        let mut all: Vec<_> = meant.iter().map(|commit| Self::of(places, model, commit)).collect();
        if model.known.is_none() {
            return all;
        }
        let mut others: Vec<_> = fs::read_dir(places.snapshots(model))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_commit(name) && Some(name) != meant.as_ref())
            .collect();
        others.sort_unstable();
        all.extend(
            others.iter().map(|commit| Self { meant: false, ..Self::of(places, model, commit) }),
        );
        all
    }

    /// The paths that belong to the model: those of the table, else those of the record and the least
    /// that makes a model.
    pub(super) fn paths(&self, model: &ModelName, record: Option<&Record>) -> Vec<String> {
        if let Some(known) = model.known {
            return known.files.iter().map(|file| file.path.to_owned()).collect();
        }
        // A record may be of a pull that came to no end, so it never makes the list shorter.
        let recorded = record.into_iter().flat_map(|it| it.paths.iter().chain(it.files.keys()));
        let mut paths: BTreeSet<String> = recorded.filter(|path| is_safe(path)).cloned().collect();
        if !WEIGHTS.iter().any(|weights| paths.contains(*weights)) {
            let there = |path: &&&str| self.root.join(path).is_file();
            let weights = WEIGHTS.iter().find(there).copied().unwrap_or("onnx/model.onnx");
            paths.insert(weights.to_owned());
        }
        paths.extend(LEAST.map(str::to_owned));
        paths.into_iter().collect()
    }

    /// Looks at the files. Without `again`, those that look as they did when they were checked are
    /// not read. What was checked is added to the record.
    pub(super) fn check(
        &self,
        model: &ModelName,
        record: &mut Record,
        again: bool,
    ) -> Result<Vec<FileCheck>> {
        let mut checks = Vec::new();
        for path in self.paths(model, Some(record)) {
            let file = self.root.join(&path);
            let Ok(found) = fs::metadata(&file).and_then(|found| {
                if found.is_file() && found.len() > 0 {
                    Ok(found)
                } else {
                    Err(std::io::ErrorKind::NotFound.into())
                }
            }) else {
                checks.push(FileCheck { path, bytes: 0, sha256: None, verdict: Verdict::Missing });
                continue;
            };
            let recorded = record.files.get(&path);
            let expected = published(model, &path)
                .map(|sum| (sum, SumSource::Published))
                .or_else(|| recorded.map(|file| (file.sha256, file.sum)))
                .or_else(|| Some((self.named_by_cache(&file)?, SumSource::Recorded)));
            let known = recorded.filter(|_| !again).filter(|file| file.still_is(&found));
            let sha256 = match known {
                Some(known) => known.sha256,
                None => Sha256::of_file(&file)
                    .map_err(|source| storage("check a model", &file, source))?,
            };
            let verdict = match expected {
                Some((sum, _)) if sum != sha256 => Verdict::Differs { expected: sum },
                Some((_, source)) => Verdict::Matches(source),
                None => Verdict::Matches(SumSource::Recorded),
            };
            if let Verdict::Matches(source) = verdict {
                let checked = RecordedFile::checked(sha256, source, &found);
                record.files.insert(path.clone(), checked);
            }
            checks.push(FileCheck { path, bytes: found.len(), sha256: Some(sha256), verdict });
        }
        Ok(checks)
    }

    /// The sum by which the hub's clients name what they have fetched: files are links to it. It tells
    /// damage; whoever can make a link can give it any name, so it proves no publisher.
    fn named_by_cache(&self, file: &Path) -> Option<Sha256> {
        fs::read_link(file).ok()?;
        let target = fs::canonicalize(file).ok()?;
        let blobs = fs::canonicalize(self.root.ancestors().nth(2)?.join("blobs")).ok()?;
        let name = target.file_name()?.to_str()?;
        name.parse().ok().filter(|_| target.parent() == Some(&blobs))
    }

    /// Whether all files are there, and how many bytes they have.
    pub(super) fn size(&self, model: &ModelName, record: Option<&Record>) -> (bool, u64) {
        let lengths = self.paths(model, record).into_iter().map(|path| {
            let found = fs::metadata(self.root.join(path)).ok()?;
            Some(found.len()).filter(|length| found.is_file() && *length > 0)
        });
        lengths.fold((true, 0), |(all, sum), length| {
            (all && length.is_some(), sum + length.unwrap_or(0))
        })
    }
}

/// The sum that is published for a file of a known model.
pub(super) fn published(model: &ModelName, path: &str) -> Option<Sha256> {
    let file = model.known?.files.iter().find(|file| file.path == path)?;
    file.sha256?.parse().ok()
}
