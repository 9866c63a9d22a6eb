//! What ignore files say, each read no further than allowed.

use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::{Error, ErrorKind, Result};
use crate::read::{io_error, read_limited};

/// The names of ignore files; what an earlier one says wins over a later one. The first is ours, for
/// what shall be kept but not indexed.
pub(super) const IGNORE_FILES: [&str; 3] = [".kuhakuignore", ".ignore", ".gitignore"];

/// The largest ignore file that is read, in bytes.
const MAX_IGNORE_BYTES: u64 = 1024 * 1024;

/// The most patterns and wildcards that hold in a folder, those of the folders above included. They
/// become automata, for which each takes up to 6 KB.
const MAX_PARTS: usize = 30_000;

const TRIED: &str = "read the ignore file";
const NEXT: &str = "shorten it or put a regular file in its place, or walk without ignore files";

/// The rules that hold in a folder: those of its own ignore files, and those of the folders above.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    own: [Gitignore; IGNORE_FILES.len()],
    /// How many patterns and wildcards there are, those above included.
    parts: usize,
    above: Option<Rc<Self>>,
}

impl IgnoreRules {
    /// The rules for what lies in `folder`. An ignore file that cannot be used is handed to
    /// `problem` with its name, and says nothing.
    pub(super) fn of(
        folder: &Path,
        above: Option<Rc<Self>>,
        mut problem: impl FnMut(&'static str, Error),
    ) -> Option<Rc<Self>> {
        let mut parts = above.as_ref().map_or(0, |above| above.parts);
        let own = IGNORE_FILES.map(|name| {
            let rules = read(&folder.join(name)).and_then(|text| {
                let together = parts + count_parts(&text);
                if together > MAX_PARTS {
                    return Err(too_many());
                }
                let rules = compile(folder, &text)?;
                parts = together;
                Ok(rules)
            });
            rules.unwrap_or_else(|error| {
                problem(name, error);
                Gitignore::empty()
            })
        });
        if own.iter().all(Gitignore::is_empty) {
            above
        } else {
            Some(Rc::new(Self { own, parts, above }))
        }
    }

    /// Whether a path directly in the folder is left out. The folder's own word on a name of
    /// ignore file comes before that of the folders above.
    pub(super) fn leave(&self, path: &Path, is_dir: bool) -> bool {
        let word = |name: usize| {
            self.and_above().find_map(|rules| match rules.own.get(name)?.matched(path, is_dir) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            })
        };
        (0..IGNORE_FILES.len()).find_map(word).unwrap_or(false)
    }

    fn and_above(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |rules| rules.above.as_deref())
    }
}

/// The text of an ignore file; empty when there is none. As in git, a link is not followed.
fn read(path: &Path) -> Result<String> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(io_error(TRIED, error)),
    };
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::NotRegular, TRIED, "it is not a regular file").next(NEXT));
    }
    if metadata.len() > MAX_IGNORE_BYTES {
        let wrong = format!("it is larger than {MAX_IGNORE_BYTES} bytes");
        return Err(Error::new(ErrorKind::TooLarge, TRIED, wrong).next(NEXT));
    }
    let bytes = read_limited(path, MAX_IGNORE_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How many patterns and wildcards a text has.
fn count_parts(text: &str) -> usize {
    let patterns = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    patterns.map(|line| 1 + line.matches(['*', '?', '[']).count()).sum()
}

/// The matcher of a folder's ignore file. As in git, a pattern that cannot be parsed matches nothing.
fn compile(folder: &Path, text: &str) -> Result<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().map_err(|error| too_many().caused_by(error))
}

fn too_many() -> Error {
    let wrong =
        "together with those of the folders above, it holds too many patterns and wildcards";
    Error::new(ErrorKind::TooLarge, TRIED, wrong).next(NEXT)
}
