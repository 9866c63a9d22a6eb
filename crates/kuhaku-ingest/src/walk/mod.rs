//! From named paths to the files below them.

mod found;
mod options;
mod patterns;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::{DirEntry, WalkBuilder};

pub use found::{Found, FoundFile, SkipReason};
pub use options::WalkOptions;
use patterns::Patterns;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::read::{check_size, io_error, regular_len};

/// A file of ours beside those of version control, for what shall be kept but not indexed.
const IGNORE_FILE: &str = ".kuhakuignore";

/// Lists the files at and below the roots, sorted by path. Nothing is opened.
///
/// - A root that is a file is taken whatever its place: an unsupported suffix is then a problem, not
///   something to pass over. A root that is a symbolic link is followed.
/// - Inside folders, links are not followed, so a walk ends; only regular files are taken.
/// - A file reached from two roots is listed once.
/// - Whatever goes wrong is an entry of the list; the rest of the list is complete.
///
/// Ignore files above a root say nothing, so that a listing does not depend on where a folder lies.
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
/// [`ErrorKind::InvalidInput`] when a pattern cannot be parsed.
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
        let options = self.options;
        let mut walk = WalkBuilder::new(real);
        walk.standard_filters(false)
            .hidden(!options.hidden)
            .ignore(options.ignore_files)
            .git_ignore(options.ignore_files)
            .require_git(false)
            .follow_links(false)
            .max_depth((!options.recursive).then_some(1));
        if options.ignore_files {
            walk.add_custom_ignore_filename(IGNORE_FILE);
        }
        for entry in walk.build() {
            match entry {
                Ok(entry) if entry.depth() == 0 => {}
                Ok(entry) => self.entry(root, real, &entry),
                Err(error) => {
                    let below = path_of(&error).and_then(|path| path.strip_prefix(real).ok());
                    let path = below.map_or_else(|| root.to_path_buf(), |below| root.join(below));
                    let error =
                        Error::new(ErrorKind::Io, "list the folder", "a part of it cannot be read")
                            .next("see the cause; the rest of the folder was listed")
                            .caused_by(error);
                    self.problem(&path, error);
                }
            }
        }
    }

    fn entry(&mut self, root: &Path, real: &Path, entry: &DirEntry) {
        let Some(kind) = entry.file_type() else { return };
        if kind.is_dir() {
            return;
        }
        let Ok(relative) = entry.path().strip_prefix(real) else { return };
        if !self.patterns.take(relative) {
            return;
        }
        let path = root.join(relative);
        let skip = |reason| Found::Skipped { path: path.clone(), reason };
        if kind.is_symlink() {
            self.found.push(skip(SkipReason::SymbolicLink));
        } else if !kind.is_file() {
            self.found.push(skip(SkipReason::NotRegular));
        } else if let Some(format) = Format::from_name(relative) {
            self.file(&path, relative.to_path_buf(), entry.path(), format);
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

/// The path that an error of the walk is about.
fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of),
        _ => None,
    }
}
