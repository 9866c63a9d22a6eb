//! From named paths to the files below them.

mod found;
mod ignore_rules;
mod options;
mod patterns;

use std::collections::BTreeSet;
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use found::{Found, FoundFile, SkipReason};
use ignore_rules::IgnoreRules;
pub use options::WalkOptions;
use patterns::Patterns;

use crate::error::{Error, Result};
use crate::format::Format;
use crate::read::{check_size, io_error, regular_len};

/// Lists the files at and below the roots, sorted by path. Nothing is opened but ignore files.
///
/// - A root that is a file is taken whatever its place: an unsupported suffix is then a problem, not
///   something to pass over. A root that is a symbolic link is followed.
/// - Inside folders, links are not followed, so a walk ends; only regular files are taken.
/// - A file reached from two roots is listed once.
/// - Whatever goes wrong is an entry of the list; the rest of the list is complete.
///
/// Ignore files above a root say nothing, so that a listing does not depend on where a folder lies.
/// One that is a link, not a regular file, larger than 1 MiB or full of patterns is a problem and
/// says nothing; what lies beside it is listed.
///
/// ```
/// use std::sync::Arc;
///
/// use kuhaku_core::{InjectionGuard, PiiMasker};
/// use kuhaku_ingest::{Chunker, DEFAULT_MAX_BYTES, Found, Preparer, Source, WalkOptions};
/// use kuhaku_ingest::{read_limited, walk};
///
/// # let folder = tempfile::tempdir()?;
/// # std::fs::create_dir(folder.path().join("cars"))?;
/// # std::fs::write(folder.path().join("cars/tyres.md"), "# Tyres\n\nChanged in October.")?;
/// # std::fs::write(folder.path().join("empty.md"), "")?;
/// # std::fs::write(folder.path().join("photo.png"), "")?;
/// let preparer = Preparer::new(Arc::new(PiiMasker::new()), InjectionGuard::new(), Chunker::default());
/// let (mut prepared, mut failed) = (Vec::new(), Vec::new());
/// for found in walk([folder.path()], &WalkOptions::default())? {
///     let file = match found {
///         Found::File(file) => file,
///         Found::Problem { error, .. } => {
///             failed.push(error);
///             continue;
///         }
///         _ => continue, // passed over: the reason is in `Found::Skipped`
///     };
///     let bytes = read_limited(&file.path, DEFAULT_MAX_BYTES)?;
///     let source = Source::from_bytes(file.relative.to_string_lossy(), bytes).format(file.format);
///     match preparer.prepare(source) {
///         Ok(document) => prepared.push(document),
///         Err(error) => failed.push(error),
///     }
/// }
/// assert_eq!(prepared[0].title, "Tyres");
/// assert_eq!(failed[0].code(), "ingest.empty");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) when a pattern cannot be parsed.
pub fn walk<I>(roots: I, options: &WalkOptions) -> Result<Vec<Found>>
where
    I: IntoIterator,
    I::Item: AsRef<Path>,
{
    let patterns = Patterns::new(&options.globs)?;
    let mut listing = Listing { options, patterns, seen: BTreeSet::new(), found: Vec::new() };
    for root in roots {
        listing.root(root.as_ref());
    }
    let mut found = listing.found;
    found.sort_by(|a, b| a.path().cmp(b.path()));
    Ok(found)
}

/// What was tried when a part of a folder cannot be read.
const LIST: &str = "list the folder";

/// A folder that is still to be listed.
struct Folder {
    /// Its path below the root.
    relative: PathBuf,
    /// The rules of the folders above it.
    above: Option<Rc<IgnoreRules>>,
}

/// A walk under way.
struct Listing<'o> {
    options: &'o WalkOptions,
    patterns: Patterns,
    /// Where the files listed so far really lie.
    seen: BTreeSet<PathBuf>,
    found: Vec<Found>,
}

impl Listing<'_> {
    fn root(&mut self, root: &Path) {
        let real = match fs::canonicalize(root) {
            Ok(real) => real,
            Err(error) => return self.problem(root, io_error("read the path", error)),
        };
        if real.is_dir() {
            return self.folder(root, &real);
        }
        match Format::require(root) {
            Ok(format) => {
                let relative = root.file_name().map_or_else(|| root.into(), PathBuf::from);
                self.file(root, relative, &real, format);
            }
            Err(error) => self.problem(root, error),
        }
    }

    fn folder(&mut self, root: &Path, real: &Path) {
        // A stack of our own: folders may nest deeper than calls.
        let mut pending = vec![Folder { relative: PathBuf::new(), above: None }];
        while let Some(Folder { relative, above }) = pending.pop() {
            let here = real.join(&relative);
            let mut rules = None;
            if self.options.ignore_files {
                let named = root.join(&relative);
                rules = IgnoreRules::of(&here, above, |name, error| {
                    self.problem(&named.join(name), error);
                });
            }
            let entries = match fs::read_dir(&here) {
                Ok(entries) => entries,
                Err(error) => {
                    self.problem(&root.join(&relative), io_error(LIST, error));
                    continue;
                }
            };
            for entry in entries {
                let kind = entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name())));
                let (kind, name) = match kind {
                    Ok(found) => found,
                    Err(error) => {
                        self.problem(&root.join(&relative), io_error(LIST, error));
                        continue;
                    }
                };
                let path = here.join(&name);
                let hidden = !self.options.hidden && name.as_encoded_bytes().starts_with(b".");
                if hidden || rules.as_ref().is_some_and(|rules| rules.leave(&path, kind.is_dir())) {
                    continue;
                }
                let relative = relative.join(&name);
                if !kind.is_dir() {
                    self.entry(root, relative, &path, kind);
                } else if self.options.recursive {
                    pending.push(Folder { relative, above: rules.clone() });
                }
            }
        }
    }

    fn entry(&mut self, root: &Path, relative: PathBuf, real: &Path, kind: FileType) {
        if !self.patterns.take(&relative) {
            return;
        }
        let path = root.join(&relative);
        let skip = |reason| Found::Skipped { path: path.clone(), reason };
        if kind.is_symlink() {
            self.found.push(skip(SkipReason::SymbolicLink));
        } else if !kind.is_file() {
            self.found.push(skip(SkipReason::NotRegular));
        } else if let Some(format) = Format::from_name(&relative) {
            self.file(&path, relative, real, format);
        } else {
            self.found.push(skip(SkipReason::UnsupportedFormat));
        }
    }

    fn file(&mut self, path: &Path, relative: PathBuf, real: &Path, format: Format) {
        if !self.seen.insert(real.to_path_buf()) {
            return;
        }
        let len = regular_len(real).and_then(|len| {
            check_size("read the file", len, self.options.max_bytes)?;
            Ok(len)
        });
        match len {
            Ok(len) => {
                let path = path.to_path_buf();
                self.found.push(Found::File(FoundFile { path, relative, format, len }));
            }
            Err(error) => self.problem(path, error),
        }
    }

    fn problem(&mut self, path: &Path, error: Error) {
        self.found.push(Found::Problem { path: path.to_path_buf(), error });
    }
}
