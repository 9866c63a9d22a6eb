//! Hearing of changes in files and folders.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kuhaku::Result;
use kuhaku::core::{Error, ErrorKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::time::{Instant, timeout_at};

/// Changes come in swarms: nothing is said before it is quiet for so long …
const QUIET: Duration = Duration::from_millis(300);
/// … or a change has waited for so long.
const PATIENCE: Duration = Duration::from_secs(3);

/// A folder that is removed and made again, or moved away, is not watched any more: so often is
/// looked whether each is still what it was.
const LOOK: Duration = Duration::from_secs(2);

/// Changes of files and folders from a moment on.
#[derive(Debug)]
pub(crate) struct Changes {
    heard: Receiver<()>,
    watcher: RecommendedWatcher,
    roots: Vec<Root>,
}

/// What is watched, and what was there when that began.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    watched: Option<(PathBuf, Identity)>,
}

impl Changes {
    /// Watches files, and folders with all that is in them, but for the folder of the index, which
    /// changes whenever a change is taken in.
    pub(crate) fn of(paths: &[PathBuf], index: Option<&Path>) -> Result<Self> {
        let index = index.and_then(|folder| std::fs::canonicalize(folder).ok());
        // One mark is enough: who looks, looks at everything.
        let (mark, heard) = channel(1);
        let hear = move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| is_of_interest(&event, index.as_deref())) {
                // A mark that is there already says the same.
                let _ = mark.try_send(());
            }
        };
        let watcher = notify::recommended_watcher(hear).map_err(failed)?;
        let roots = paths.iter().map(|path| Root { path: path.clone(), watched: None }).collect();
        let mut changes = Self { heard, watcher, roots };
        changes.follow()?;
        Ok(changes)
    }

    /// Watches what is there now in the place of the roots. True when one of them is another than before.
    fn follow(&mut self) -> Result<bool> {
        let mut changed = false;
        for root in &mut self.roots {
            let place = place(&root.path);
            let now = place.as_ref().and_then(|(place, _)| Some((place.clone(), identity(place)?)));
            if now == root.watched {
                continue;
            }
            changed = true;
            if let Some((before, _)) = root.watched.take() {
                // It may be gone, and its watch with it.
                let _ = self.watcher.unwatch(&before);
            }
            if let Some((place, mode)) = place {
                self.watcher.watch(&place, mode).map_err(failed)?;
            }
            root.watched = now;
        }
        Ok(changed)
    }

    /// Waits for a change, and until the swarm that it is part of has passed.
    pub(crate) async fn next(&mut self) {
        while timeout_at(Instant::now() + LOOK, self.heard.recv()).await.is_err() {
            // What cannot be watched now is tried again.
            if self.follow().unwrap_or(true) {
                break;
            }
        }
        let latest = Instant::now() + PATIENCE;
        loop {
            let quiet = (Instant::now() + QUIET).min(latest);
            if timeout_at(quiet, self.heard.recv()).await.is_err() {
                // A folder that is gone now may soon be made again.
                let _ = self.follow();
                return;
            }
        }
    }
}

/// What is watched for a path, and how deep; nothing while it is not there.
fn place(path: &Path) -> Option<(PathBuf, RecursiveMode)> {
    let real = std::fs::canonicalize(path).ok()?;
    if real.is_dir() {
        return Some((real, RecursiveMode::Recursive));
    }
    // Programs replace files; the folder sees the new one, too.
    Some((real.parent()?.to_path_buf(), RecursiveMode::NonRecursive))
}

/// What tells a folder from another one in its place: when it was made, since numbers are given anew.
type Identity = (u64, u64, Option<std::time::SystemTime>);

fn identity(folder: &Path) -> Option<Identity> {
    let found = std::fs::metadata(folder).ok()?;
    #[cfg(unix)]
    let (device, number) = {
        use std::os::unix::fs::MetadataExt as _;
        (found.dev(), found.ino())
    };
    #[cfg(not(unix))]
    let (device, number) = (0, 0);
    Some((device, number, found.created().ok()))
}

fn is_of_interest(event: &notify::Event, index: Option<&Path>) -> bool {
    let inside = |path: &PathBuf| index.is_some_and(|index| path.starts_with(index));
    let own = !event.paths.is_empty() && event.paths.iter().all(inside);
    !matches!(event.kind, EventKind::Access(_)) && !own
}

fn failed(error: notify::Error) -> kuhaku::Error {
    Error::new(ErrorKind::Unavailable, "watch for changes", "the system does not report them")
        .next("see whether the paths exist and how many watches the system allows, or ingest now and then")
        .caused_by(error)
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_and_the_index_itself_are_no_changes() {
        let event = |kind, paths: &[&str]| notify::Event {
            paths: paths.iter().map(PathBuf::from).collect(),
            ..notify::Event::new(kind)
        };
        let any = EventKind::Any;
        let read = EventKind::Access(notify::event::AccessKind::Any);
        let index = Some(Path::new("/docs/index"));
        for (event, expected) in [
            (event(any, &["/docs/a.md"]), true),
            (event(any, &["/docs/index/index.sqlite3"]), false),
            (event(any, &["/docs/index/x", "/docs/a.md"]), true),
            (event(any, &["/docs/index2"]), true),
            (event(any, &[]), true),
            (event(read, &["/docs/a.md"]), false),
        ] {
            assert_eq!(is_of_interest(&event, index), expected, "{event:?}");
        }
    }
}
