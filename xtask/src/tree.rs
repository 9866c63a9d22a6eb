//! Small trees of files for the tests of the checks.

use std::path::Path;

use tempfile::TempDir;

/// A folder that removes itself.
pub(crate) struct Tree(TempDir);

impl Tree {
    /// A folder holding `files`, each a relative path and its text.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let tree = Self(TempDir::new().unwrap());
        for (path, text) in files {
            tree.put(path, text);
        }
        tree
    }

    /// Writes one more file.
    pub(crate) fn put(&self, path: &str, text: &str) {
        crate::files::write(&self.root().join(path), text).unwrap();
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }
}
