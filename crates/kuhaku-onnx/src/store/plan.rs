//! What a pull would do, to be shown before somebody says yes.

use kuhaku_core::ConsentStep;

use super::listing::{LARGEST, Listing, host};
use super::model_name::ModelName;
use super::release::{RUNTIME_NAME, RUNTIME_VERSION, Release};

/// The longest archive of the runtime library that is taken, in bytes.
pub(super) const LARGEST_ARCHIVE: u64 = 128 << 20;

/// What a pull would do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PullPlan {
    /// What is pulled.
    pub name: String,
    /// Where it comes from.
    pub host: String,
    /// Its licence by SPDX, where it is known.
    pub licence: Option<&'static str>,
    /// The files that are missing. Empty when all is here.
    pub files: Vec<PlannedFile>,
    /// How many bytes are missing, perhaps rounded up; `None` when nobody knows.
    pub bytes: Option<u64>,
    pub(super) what: What,
}

/// A file to be pulled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlannedFile {
    /// Its path in the repository, or the name of the archive.
    pub path: String,
    /// Its length in bytes, where it is known.
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Model { model: ModelName, listing: Option<Listing> },
    Library(&'static Release),
}

impl PullPlan {
    pub(super) fn library(release: &'static Release, releases: &str) -> Self {
        let bytes = Some(release.bytes).filter(|bytes| *bytes > 0);
        Self {
            name: RUNTIME_NAME.into(),
            host: host(releases).into(),
            licence: Some("MIT"),
            files: vec![PlannedFile { path: release.archive(), bytes }],
            bytes,
            what: What::Library(release),
        }
    }

    /// Whether there is nothing to do.
    pub fn is_complete(&self) -> bool {
        self.files.is_empty()
    }

    /// The step to be consented to.
    pub fn step(&self) -> ConsentStep {
        let what = match &self.what {
            What::Model { .. } => format!("download the model {}", self.name),
            What::Library(_) => format!("download ONNX Runtime {RUNTIME_VERSION}"),
        };
        // What nobody says is bounded all the same, and the bound belongs to the question.
        let most = match &self.what {
            What::Model { .. } => LARGEST,
            What::Library(_) => LARGEST_ARCHIVE,
        };
        let bound = format!(", at most {} MB each file", most.div_ceil(1_000_000));
        let bound = if self.bytes.is_none() { bound } else { String::new() };
        let licence = self.licence.map(|licence| format!(" (licence {licence})"));
        let what = format!("{what}{}{bound}", licence.unwrap_or_default());
        ConsentStep::new(what, format!("run `kuhaku models pull {} --yes`", self.name))
            .download(self.host.clone(), self.bytes)
    }
}
