//! Embeds texts into a file of vectors, batch by batch, so that a killed run goes on where it was.
//!
//! While it grows, the rows are in `NAME.f16.part` and `NAME.part.json` says of how many of them the
//! disk has confirmed: rows beyond are cut off, since a kill may have torn them. At the end the rows
//! get their name, and `NAME.json` appears last: where it is, the rows are whole.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::half;
use super::vectors::{Manifest, manifest_path, read_manifest, rows_path};
use crate::error::{Result, cannot};
use crate::files;

/// Ids and texts to embed, and what they are.
#[derive(Clone, Debug)]
pub(super) struct Job {
    /// Of the files.
    pub(super) name: String,
    pub(super) model: String,
    pub(super) input: String,
    pub(super) fingerprint: String,
    pub(super) texts: Vec<(String, String)>,
    /// Texts per batch: what a kill loses at most.
    pub(super) batch: usize,
}

/// How much a run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// Rows that were there already.
    pub(super) kept: usize,
    /// Rows embedded now.
    pub(super) made: usize,
}

/// The state of an unfinished file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Progress {
    fingerprint: String,
    texts: String,
    dim: usize,
    rows: usize,
}

/// Embeds what is not there yet. `embed` gives a row per text; `told` hears how many rows there are.
pub(super) fn fill(
    folder: &Path,
    job: &Job,
    mut embed: impl FnMut(&[&str]) -> Result<Vec<Vec<f32>>>,
    mut told: impl FnMut(usize),
) -> Result<Done> {
    let digest = digest(&job.texts);
    let count = job.texts.len();
    if let Some(whole) = read_manifest(&manifest_path(folder, &job.name))? {
        let same = whole.fingerprint.as_deref() == Some(&job.fingerprint)
            && whole.texts.as_deref() == Some(&digest);
        if same && rows_path(folder, &job.name).is_file() {
            return Ok(Done { kept: count, made: 0 });
        }
    }
    let mut rows = Rows::open(folder, job, &digest)?;
    let kept = rows.progress.rows;
    told(kept);
    for batch in job.texts.get(kept..).unwrap_or_default().chunks(job.batch.max(1)) {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = embed(&texts)?;
        if vectors.len() != texts.len() {
            let wrong = format!("{} vectors for {} texts", vectors.len(), texts.len());
            return Err(cannot(format!("embed {}", job.name), wrong));
        }
        rows.append(&vectors)?;
        told(rows.progress.rows);
    }
    let dim = rows.progress.dim;
    rows.finish(&Manifest {
        model: job.model.clone(),
        input: job.input.clone(),
        normalized: true,
        dim,
        count,
        fingerprint: Some(job.fingerprint.clone()),
        texts: Some(digest),
        ids: job.texts.iter().map(|(id, _)| id.clone()).collect(),
    })?;
    Ok(Done { kept, made: count - kept })
}

/// The rows of an unfinished file.
struct Rows<'a> {
    folder: &'a Path,
    name: &'a str,
    file: File,
    progress: Progress,
}

impl<'a> Rows<'a> {
    /// Goes on with a file of the same model and texts, or begins anew.
    fn open(folder: &'a Path, job: &'a Job, digest: &str) -> Result<Self> {
        let name = job.name.as_str();
        let tried = || format!("write vectors into {}", folder.display());
        fs::create_dir_all(folder).map_err(|error| cannot(tried(), error))?;
        // What was whole is not so from here on, for whoever reads meanwhile.
        remove(&manifest_path(folder, name))?;
        let part = part_path(folder, name);
        let left = files::read_if_present(&progress_path(folder, name))?
            .and_then(|text| serde_json::from_str::<Progress>(&text).ok())
            .filter(|left| left.fingerprint == job.fingerprint && left.texts == digest);
        if left.as_ref().is_some_and(|left| left.rows == job.texts.len()) && !part.exists() {
            // Killed between the two renames of the end.
            let back = fs::rename(rows_path(folder, name), &part);
            back.or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(cannot(tried(), error)),
            })?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&part);
        let mut file = file.map_err(|error| cannot(tried(), error))?;
        let length = file.metadata().map_err(|error| cannot(tried(), error))?.len();
        let progress = left
            .filter(|left| (left.rows * left.dim * 2) as u64 <= length)
            .unwrap_or_else(|| Progress {
                fingerprint: job.fingerprint.clone(),
                texts: digest.to_owned(),
                dim: 0,
                rows: 0,
            });
        file.set_len((progress.rows * progress.dim * 2) as u64)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|error| cannot(tried(), error))?;
        Ok(Self { folder, name, file, progress })
    }

    fn append(&mut self, vectors: &[Vec<f32>]) -> Result<()> {
        let mut bytes = Vec::new();
        for vector in vectors {
            if self.progress.rows == 0 && bytes.is_empty() {
                self.progress.dim = vector.len();
            }
            if vector.len() != self.progress.dim || vector.is_empty() {
                let wrong = format!("{} numbers after rows of {}", vector.len(), self.progress.dim);
                return Err(cannot(format!("write a vector of {}", self.name), wrong));
            }
            bytes.extend(vector.iter().flat_map(|value| half::encode(*value)));
        }
        self.file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data())
            .map_err(|error| cannot(format!("write vectors of {}", self.name), error))?;
        self.progress.rows += vectors.len();
        put(&progress_path(self.folder, self.name), &self.progress)
    }

    fn finish(self, manifest: &Manifest) -> Result<()> {
        drop(self.file);
        let (from, to) = (part_path(self.folder, self.name), rows_path(self.folder, self.name));
        fs::rename(&from, &to)
            .map_err(|error| cannot(format!("rename {}", from.display()), error))?;
        put(&manifest_path(self.folder, self.name), manifest)?;
        remove(&progress_path(self.folder, self.name))
    }
}

/// Over ids and texts, each with its length before it.
fn digest(texts: &[(String, String)]) -> String {
    let mut hash = Sha256::new();
    for part in texts.iter().flat_map(|(id, text)| [id, text]) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn part_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.f16.part"))
}

fn progress_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part.json"))
}

/// Writes a file whole or not at all.
fn put(path: &Path, value: &impl Serialize) -> Result<()> {
    let tried = || format!("write {}", path.display());
    let text = serde_json::to_string(value).map_err(|error| cannot(tried(), error))?;
    let fresh = path.with_extension("new");
    File::create(&fresh)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_data()))
        .and_then(|()| fs::rename(&fresh, path))
        .map_err(|error| cannot(tried(), error))
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(cannot(format!("remove {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::vectors::Vectors;
    use super::*;

    fn job(count: usize) -> Job {
        Job {
            name: "set-docs.tiny".into(),
            model: "tiny".into(),
            input: "passage: title text".into(),
            fingerprint: "tiny/mean".into(),
            texts: (0..count).map(|n| (format!("d{n}"), format!("text {n}"))).collect(),
            batch: 3,
        }
    }

    /// A row that belongs to the text.
    fn row(text: &str) -> Vec<f32> {
        let n: f32 = text.trim_start_matches("text ").parse().unwrap();
        vec![n, 0.5, -n / 2.0]
    }

    fn fill_counted(folder: &Path, job: &Job, fail_at: usize) -> (Result<Done>, Vec<String>) {
        let mut seen = Vec::new();
        let mut batches = 0;
        let done = fill(
            folder,
            job,
            |texts| {
                batches += 1;
                if batches > fail_at {
                    return Err(cannot("embed", "stopped"));
                }
                seen.extend(texts.iter().map(|text| (*text).to_owned()));
                Ok(texts.iter().map(|text| row(text)).collect())
            },
            |_| {},
        );
        (done, seen)
    }

    fn check(folder: &Path, job: &Job) {
        let vectors = Vectors::read(folder, &job.name).unwrap().unwrap();
        assert_eq!(vectors.manifest.count, job.texts.len());
        assert_eq!(vectors.manifest.fingerprint.as_deref(), Some(job.fingerprint.as_str()));
        for (id, text) in &job.texts {
            assert_eq!(vectors.get(id), Some(row(text).as_slice()), "{id}");
        }
        let mut left: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["set-docs.tiny.f16", "set-docs.tiny.json"]);
    }

    #[test]
    fn a_stopped_run_goes_on_behind_its_last_whole_batch() {
        let folder = tempfile::TempDir::new().unwrap();
        let job = job(10);
        let (failed, seen) = fill_counted(folder.path(), &job, 2);
        assert!(failed.is_err() && seen.len() == 6);
        assert!(Vectors::read(folder.path(), &job.name).unwrap().is_none());
        let (done, seen) = fill_counted(folder.path(), &job, usize::MAX);
        assert_eq!(done.unwrap(), Done { kept: 6, made: 4 });
        assert_eq!(seen, ["text 6", "text 7", "text 8", "text 9"]);
        check(folder.path(), &job);
        let (done, seen) = fill_counted(folder.path(), &job, 0);
        assert_eq!((done.unwrap(), seen.len()), (Done { kept: 10, made: 0 }, 0));
    }

    #[test]
    fn torn_rows_and_a_kill_before_the_manifest_are_mended() {
        let folder = tempfile::TempDir::new().unwrap();
        let job = job(7);
        assert!(fill_counted(folder.path(), &job, 1).0.is_err());
        let part = part_path(folder.path(), &job.name);
        OpenOptions::new().append(true).open(&part).unwrap().write_all(&[7; 11]).unwrap();
        assert_eq!(fill_counted(folder.path(), &job, 9).0.unwrap(), Done { kept: 3, made: 4 });
        check(folder.path(), &job);

        // As a kill leaves it between the rename of the rows and the manifest.
        remove(&manifest_path(folder.path(), &job.name)).unwrap();
        let text = serde_json::json!({
            "fingerprint": job.fingerprint, "texts": digest(&job.texts), "dim": 3, "rows": 7,
        });
        fs::write(progress_path(folder.path(), &job.name), text.to_string()).unwrap();
        assert_eq!(fill_counted(folder.path(), &job, 0).0.unwrap(), Done { kept: 7, made: 0 });
        check(folder.path(), &job);
    }

    #[test]
    fn rows_of_another_model_or_of_other_texts_are_not_kept() {
        let folder = tempfile::TempDir::new().unwrap();
        let first = job(5);
        assert!(fill_counted(folder.path(), &first, 1).0.is_err());
        let other_model = Job { fingerprint: "tiny/cls".into(), ..first.clone() };
        let made = fill_counted(folder.path(), &other_model, 9).0.unwrap();
        assert_eq!(made, Done { kept: 0, made: 5 });
        check(folder.path(), &other_model);
        let mut other_texts = other_model;
        other_texts.texts[4].1 = "text 40".into();
        let made = fill_counted(folder.path(), &other_texts, 9).0.unwrap();
        assert_eq!(made, Done { kept: 0, made: 5 });
        check(folder.path(), &other_texts);
    }

    #[test]
    fn a_file_shorter_than_its_manifest_says_is_an_error() {
        let folder = tempfile::TempDir::new().unwrap();
        let job = job(4);
        fill_counted(folder.path(), &job, 9).0.unwrap();
        let rows = rows_path(folder.path(), &job.name);
        OpenOptions::new().write(true).open(rows).unwrap().set_len(10).unwrap();
        let error = Vectors::read(folder.path(), &job.name).unwrap_err().to_string();
        assert!(error.contains("10 bytes") && error.contains("next: "), "{error}");
    }
}
