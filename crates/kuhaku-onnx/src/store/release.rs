//! The runtime library: which one, for which machine, and where it lies.

use std::path::PathBuf;

use kuhaku_core::Sha256;

use super::model_store::{FileCheck, ModelStatus, Verdict, damaged, not_pulled, remove_file};
use super::parts::{length, remove_part};
use super::places::Places;
#[cfg(feature = "download")]
use super::record::SumSource;
use super::record::{Record, RecordedFile, storage};
use crate::error::{Error, ErrorKind, Result};

/// What the runtime library is called where models are named.
pub const RUNTIME_NAME: &str = "onnxruntime";

/// The version of the runtime library that is pulled.
pub const RUNTIME_VERSION: &str = "1.24.4";

/// The name of its record.
const RECORD: &str = "record.json";

/// An archive of a release, with the one file of it that is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Release {
    system: &'static str,
    processor: &'static str,
    /// The archive's name without version and ending.
    stem: &'static str,
    ending: &'static str,
    /// The archive's length and sum, of which GitHub publishes the latter with each release.
    pub(super) bytes: u64,
    sha256: &'static str,
    /// The library in the archive, `{}` standing for the version.
    library: &'static str,
    /// What it is called here.
    pub(super) file: &'static str,
}

const RELEASES: &[Release] = &[
    Release {
        system: "linux",
        processor: "x86_64",
        stem: "onnxruntime-linux-x64",
        ending: "tgz",
        bytes: 8_155_822,
        sha256: "3a211fbea252c1e66290658f1b735b772056149f28321e71c308942cdb54b747",
        library: "lib/libonnxruntime.so.{}",
        file: "libonnxruntime.so",
    },
    Release {
        system: "linux",
        processor: "aarch64",
        stem: "onnxruntime-linux-aarch64",
        ending: "tgz",
        bytes: 0,
        sha256: "866109a9248d057671a039b9d725be4bd86888e3754140e6701ec621be9d4d7e",
        library: "lib/libonnxruntime.so.{}",
        file: "libonnxruntime.so",
    },
    Release {
        system: "macos",
        processor: "aarch64",
        stem: "onnxruntime-osx-arm64",
        ending: "tgz",
        bytes: 30_937_282,
        sha256: "93787795f47e1eee369182e43ed51b9e5da0878ab0346aecf4258979b8bba989",
        library: "lib/libonnxruntime.{}.dylib",
        file: "libonnxruntime.dylib",
    },
    Release {
        system: "windows",
        processor: "x86_64",
        stem: "onnxruntime-win-x64",
        ending: "zip",
        bytes: 74_442_783,
        sha256: "d2319fddfb6ea4db99ccc4b60c85c517bcd855721f5daa6a06d40d7cb2ee2357",
        library: "lib/onnxruntime.dll",
        file: "onnxruntime.dll",
    },
    Release {
        system: "windows",
        processor: "aarch64",
        stem: "onnxruntime-win-arm64",
        ending: "zip",
        bytes: 75_182_070,
        sha256: "47dc80aa39da792271af10be5993919536a4dab0965ec1e6043ef37f1df7a693",
        library: "lib/onnxruntime.dll",
        file: "onnxruntime.dll",
    },
];

/// Whether a name means the runtime library.
pub(super) fn name_of_library(name: &str) -> bool {
    name.eq_ignore_ascii_case(RUNTIME_NAME)
}

impl Release {
    /// The release for this machine.
    pub(super) fn here() -> Result<&'static Self> {
        Self::of(std::env::consts::OS, std::env::consts::ARCH)
    }

    fn of(system: &str, processor: &str) -> Result<&'static Self> {
        let fits = |it: &&Self| it.system == system && it.processor == processor;
        RELEASES.iter().find(fits).ok_or_else(|| {
            let wrong = format!("none is published for {system} on {processor}");
            Error::new(ErrorKind::UnsupportedPlatform, "get the ONNX Runtime library", wrong)
                .next("build one, and set KUHAKU_ONNX__LIBRARY to its path")
        })
    }

    pub(super) fn folder(&self, places: &Places) -> PathBuf {
        places.library(RUNTIME_VERSION, &format!("{}-{}", self.system, self.processor))
    }

    #[cfg(feature = "download")]
    pub(super) fn url(&self, releases: &str) -> String {
        format!("{}/v{RUNTIME_VERSION}/{}", releases.trim_end_matches('/'), self.archive())
    }

    pub(super) fn archive(&self) -> String {
        format!("{}-{RUNTIME_VERSION}.{}", self.stem, self.ending)
    }

    /// The library's path in the archive.
    #[cfg(feature = "download")]
    pub(super) fn entry(&self) -> String {
        let library = self.library.replace("{}", RUNTIME_VERSION);
        format!("{}-{RUNTIME_VERSION}/{library}", self.stem)
    }

    /// The archive's sum.
    #[cfg(any(test, feature = "download"))]
    pub(super) fn sum(&self) -> Option<Sha256> {
        self.sha256.parse().ok()
    }

    pub(super) fn status(&self, places: &Places) -> ModelStatus {
        match std::fs::metadata(self.folder(places).join(self.file)) {
            Ok(found) if found.is_file() && found.len() > 0 => {
                ModelStatus::Present { revision: RUNTIME_VERSION.into(), bytes: found.len() }
            }
            _ => match length(&self.at(places, ".part")) + length(&self.at(places, "")) {
                0 => ModelStatus::Absent,
                bytes => ModelStatus::Incomplete { bytes },
            },
        }
    }

    /// The archive, or what lies beside it while it comes.
    fn at(&self, places: &Places, ending: &str) -> PathBuf {
        self.folder(places).join(format!("{}{ending}", self.archive()))
    }

    pub(super) fn open(&self, places: &Places) -> Result<PathBuf> {
        let check = self.check(places, false)?;
        match check.verdict {
            Verdict::Matches(_) => Ok(self.folder(places).join(self.file)),
            verdict => Err(damaged(RUNTIME_NAME, self.file, check.sha256, verdict)),
        }
    }

    pub(super) fn verify(&self, places: &Places) -> Result<Vec<FileCheck>> {
        Ok(vec![self.check(places, true)?])
    }

    /// The library came out of an archive whose sum is published; what it was then is recorded.
    fn check(&self, places: &Places, again: bool) -> Result<FileCheck> {
        let (folder, path) = (self.folder(places), self.file.to_owned());
        let file = folder.join(self.file);
        let found = std::fs::metadata(&file).map_err(|_| not_pulled(RUNTIME_NAME))?;
        let mut record = Record::read(&folder.join(RECORD)).ok_or_else(|| {
            let wrong = "nothing is recorded of where it came from";
            Error::new(ErrorKind::Damaged, format!("open {RUNTIME_NAME}"), wrong)
                .next(format!("run `kuhaku models pull {RUNTIME_NAME}`"))
        })?;
        let recorded = record.files.get(self.file).cloned();
        let known = recorded.as_ref().filter(|known| !again && known.still_is(&found));
        let sha256 = match known {
            Some(known) => known.sha256,
            None => Sha256::of_file(&file)
                .map_err(|source| storage("check the runtime library", &file, source))?,
        };
        let verdict = match &recorded {
            Some(recorded) if recorded.sha256 == sha256 => Verdict::Matches(recorded.sum),
            Some(recorded) => Verdict::Differs { expected: recorded.sha256 },
            None => Verdict::Missing,
        };
        if let Verdict::Matches(sum) = verdict {
            let checked = RecordedFile::checked(sha256, sum, &found);
            if record.files.insert(path.clone(), checked.clone()) != Some(checked) {
                let _ = record.write(&folder.join(RECORD));
            }
        }
        Ok(FileCheck { path, bytes: found.len(), sha256: Some(sha256), verdict })
    }

    /// Records a library that was just taken out of its archive.
    #[cfg(feature = "download")]
    pub(super) fn record(&self, places: &Places, sha256: Sha256) -> Result<()> {
        let folder = self.folder(places);
        let file = folder.join(self.file);
        let found = std::fs::metadata(&file)
            .map_err(|source| storage("record the runtime library", &file, source))?;
        let mut record = Record::new(self.archive(), RUNTIME_VERSION);
        record.pulled = true;
        let checked = RecordedFile::checked(sha256, SumSource::Published, &found);
        record.files.insert(self.file.into(), checked);
        record.write(&folder.join(RECORD))
    }

    pub(super) fn remove(&self, places: &Places) -> Result<u64> {
        let folder = self.folder(places);
        let (archive, lock) = (self.at(places, ""), self.at(places, ".lock"));
        let bytes = remove_file(&folder.join(self.file), &folder)?
            + remove_part(&self.at(places, ".part"), &lock, &folder)?
            + remove_file(&archive, &folder)?;
        if bytes == 0 {
            return Err(not_pulled(RUNTIME_NAME));
        }
        remove_file(&folder.join(RECORD), &folder)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_one_release_or_is_told_what_to_do() {
        for release in RELEASES {
            assert_eq!(Release::of(release.system, release.processor).unwrap(), release);
            assert!(release.sum().is_some());
        }
        let error = Release::of("plan9", "mips").unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::UnsupportedPlatform);
        assert!(error.next_step().is_some());
    }
}
