//! Where a file is, in the two forms that matter: the one its id is made from and the one people
//! see.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use kuhaku_core::{Masker as _, PiiMasker, one_line};

use crate::error::{Error, ErrorKind, Result};

/// A file that is to be ingested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    /// The normalised path that the id is made from: relative to `base` when the file is below it,
    /// absolute otherwise (D17). Equal for the same file whatever argument named it, different for
    /// any two files.
    pub(crate) identity: String,
    /// The folders that it lies in, outermost first, in the form of `identity`.
    pub(crate) folders: Vec<String>,
    /// The path as people see it: relative to `base`, else to the folder that holds the argument.
    pub(crate) shown: String,
}

impl Location {
    /// The location of `file`, which was found below the argument `root`.
    ///
    /// # Errors
    /// `ingest.not_found` when the path cannot be resolved.
    pub(crate) fn of(file: &Path, root: &Path, base: Option<&Path>) -> Result<Self> {
        let file = resolve(file)?;
        if let Some(below) = base.and_then(|base| file.strip_prefix(base).ok()) {
            let (identity, folders) = (lossless(below), folders(below));
            return Ok(Self { identity, folders, shown: shown(below) });
        }
        let root = resolve(root)?;
        let above = root.parent().unwrap_or(&root);
        let below = file.strip_prefix(above).unwrap_or(&file);
        let (identity, folders) = (lossless(&file), folders(&file));
        Ok(Self { identity, folders, shown: shown(below) })
    }
}

/// The form in which the folders of [`Location`] name a folder; nothing for what is no folder.
pub(crate) fn folder(path: &Path, base: Option<&Path>) -> Result<Option<String>> {
    let real = resolve(path)?;
    let below = base.and_then(|base| real.strip_prefix(base).ok());
    Ok(real.is_dir().then(|| folder_name(below.unwrap_or(&real))))
}

/// The form in which the folders of [`Location`] name `base`.
pub(crate) const BASE: &str = "";

fn folders(file: &Path) -> Vec<String> {
    let mut all: Vec<_> = file.ancestors().skip(1).map(folder_name).collect();
    all.reverse();
    all
}

/// The root of the file system has a name of its own, unlike the base.
fn folder_name(folder: &Path) -> String {
    if folder.is_absolute() && folder.parent().is_none() { "/".into() } else { lossless(folder) }
}

/// Whether all of these paths lead somewhere, to know before anything else is done.
///
/// # Errors
/// `ingest.not_found` that names the first which does not.
pub fn require_paths<P: AsRef<Path>>(paths: &[P]) -> Result<()> {
    paths.iter().try_for_each(|path| resolve(path.as_ref()).map(drop))
}

/// The real path: absolute, without links and dots.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).map_err(|source| {
        let kind = ErrorKind::Ingest(kuhaku_ingest::ErrorKind::NotFound);
        // Paths may hold personal data (R7).
        let masked = PiiMasker::new().mask(&one_line(&shown(path), 200)).into_parts().0;
        Error::new(kind, format!("find `{masked}`"), "there is no such file or folder")
            .next("check how the path is written")
            .caused_by(source)
    })
}

/// The path as text with `/` between its parts; parts that are not Unicode are written in hex behind
/// a NUL, which no path holds, so that two paths never become one text.
fn lossless(path: &Path) -> String {
    let part = |component: Component<'_>| match component {
        Component::RootDir => String::new(),
        other => match other.as_os_str().to_str() {
            Some(text) => text.to_string(),
            None => hex(other.as_os_str()),
        },
    };
    path.components().map(part).collect::<Vec<_>>().join("/")
}

fn hex(name: &OsStr) -> String {
    let digits = name.as_encoded_bytes().iter().map(|byte| format!("{byte:02x}"));
    std::iter::once("\0".to_string()).chain(digits).collect()
}

/// The path for people, with `/` between its parts.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/").replacen("//", "/", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D17: the id depends on where a file is, not on how it was named.
    #[test]
    fn the_same_file_has_one_identity_whatever_names_it() {
        let base = tempfile::tempdir().unwrap();
        let base = resolve(base.path()).unwrap();
        let folder = base.join("notes");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        let file = folder.join("a.md");
        std::fs::write(&file, "x").unwrap();
        let plain = Location::of(&file, &folder, Some(&base)).unwrap();
        let dotted = folder.join("sub/../a.md");
        assert_eq!(Location::of(&dotted, &dotted, Some(&base)).unwrap(), plain);
        assert_eq!((plain.identity.as_str(), plain.shown.as_str()), ("notes/a.md", "notes/a.md"));
        assert_eq!(plain.folders, [BASE, "notes"]);
        assert_eq!(super::folder(&folder, Some(&base)).unwrap().unwrap(), "notes");
        assert_eq!(super::folder(&base, Some(&base)).unwrap().unwrap(), BASE);
        assert_eq!(super::folder(&file, Some(&base)).unwrap(), None);
    }

    #[test]
    fn a_file_outside_the_base_is_known_by_its_absolute_path_and_shown_below_its_argument() {
        let (base, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let base = resolve(base.path()).unwrap();
        let folder = resolve(elsewhere.path()).unwrap().join("docs");
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.md");
        std::fs::write(&file, "x").unwrap();
        let location = Location::of(&file, &folder, Some(&base)).unwrap();
        assert!(location.identity.starts_with('/') && location.identity.ends_with("/docs/a.md"));
        assert_eq!(location.shown, "docs/a.md");
        let named = super::folder(&folder, Some(&base)).unwrap().unwrap();
        assert_eq!(
            (location.folders.first().unwrap().as_str(), location.folders.last()),
            ("/", Some(&named))
        );
        let error = Location::of(&base.join("gone"), &base, Some(&base)).unwrap_err();
        assert_eq!(error.code(), "ingest.not_found");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_unicode_stay_apart() {
        use std::os::unix::ffi::OsStrExt as _;
        let a = lossless(Path::new(OsStr::from_bytes(b"d/\xff")));
        let b = lossless(Path::new(OsStr::from_bytes(b"d/\xfe")));
        assert_ne!(a, b);
    }
}
