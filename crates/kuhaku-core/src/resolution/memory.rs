//! The small file that remembers what a person chose.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::candidate::Capability;
use crate::runtime::{Announcement, Runtime};

const SCHEMA: u32 = 1;

/// A file of decisions is far smaller; a larger one is something else.
const LARGEST: u64 = 1 << 20;

/// Half a second in all.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// Choices of earlier runs, in a JSON file at a path that the caller names.
///
/// The file, its folder and a lock beside it are made by the first choice, not before. The file is
/// replaced as a whole, and writers take turns. A file that cannot be read is as good as none, and one that cannot be
/// written costs nothing but the memory; both are announced once.
#[derive(Clone, Debug)]
pub struct DecisionMemory {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    schema: u32,
    decisions: BTreeMap<String, Decision>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Decision {
    candidate: String,
    #[serde(default)]
    fingerprint: BTreeMap<String, String>,
}

impl DecisionMemory {
    /// The memory in this file, which need not exist.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The candidate that was chosen, if that still holds for the capability's fingerprint.
    pub fn recall(&self, runtime: &Runtime, capability: &Capability) -> Option<String> {
        let decision = self.load(runtime).decisions.remove(capability.kind)?;
        (decision.fingerprint == capability.fingerprint).then_some(decision.candidate)
    }

    /// Remembers a choice.
    pub fn remember(&self, runtime: &Runtime, capability: &Capability, candidate: &str) {
        let decision =
            Decision { candidate: candidate.into(), fingerprint: capability.fingerprint.clone() };
        self.change(runtime, |decisions| {
            decisions.insert(capability.kind.into(), decision);
        });
    }

    /// Forgets the choice of one kind, or all of them. Makes no file.
    pub fn forget(&self, runtime: &Runtime, kind: Option<&str>) {
        if !self.path.exists() {
            return;
        }
        self.change(runtime, |decisions| match kind {
            Some(kind) => drop(decisions.remove(kind)),
            None => decisions.clear(),
        });
    }

    fn load(&self, runtime: &Runtime) -> Stored {
        let wrong = match self.read() {
            Ok(None) => return Stored::default(),
            Ok(Some(text)) => match serde_json::from_str::<Stored>(&text) {
                Ok(stored) if stored.schema == SCHEMA => return stored,
                Ok(stored) => format!("it has the schema {}, not {SCHEMA}", stored.schema),
                // What serde says may quote the file.
                Err(_) => "it is not a file of decisions".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        self.announce(runtime, "read", &format!("is not used: {wrong}"));
        Stored::default()
    }

    fn read(&self) -> io::Result<Option<String>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        let read = file.take(LARGEST + 1).read_to_string(&mut text)?;
        if read as u64 > LARGEST {
            return Err(io::Error::other("it is too large"));
        }
        Ok(Some(text))
    }

    fn change(&self, runtime: &Runtime, change: impl FnOnce(&mut BTreeMap<String, Decision>)) {
        if let Err(error) = self.try_change(runtime, change) {
            let wrong = format!("cannot be written, so the choice is not remembered: {error}");
            self.announce(runtime, "write", &wrong);
        }
    }

    fn try_change(
        &self,
        runtime: &Runtime,
        change: impl FnOnce(&mut BTreeMap<String, Decision>),
    ) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        // Held from reading to replacing, so that no choice of another process is lost.
        let lock = self.beside("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(lock)?;
        wait_for(&lock)?;
        let mut stored = self.load(runtime);
        stored.schema = SCHEMA;
        change(&mut stored.decisions);
        let temporary = self.beside("new");
        let mut file = File::create(&temporary)?;
        file.write_all(&serde_json::to_vec_pretty(&stored)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&temporary, &self.path)
    }

    fn beside(&self, extension: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(".");
        name.push(extension);
        name.into()
    }

    fn announce(&self, runtime: &Runtime, what: &str, wrong: &str) {
        let path = self.path.display();
        runtime.announce(&Announcement::new(
            format!("decision_memory.{what}.{path}"),
            format!("the file of earlier choices, {path}, {wrong}"),
        ));
    }
}

/// Takes the lock, or gives up: a writer holds it for milliseconds unless it hangs.
fn wait_for(lock: &File) -> io::Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Err(io::Error::other("another process is writing it"))
}
