//! What a walk takes and leaves.

use crate::read::DEFAULT_MAX_BYTES;

/// What a walk takes and leaves. The defaults suit a folder of notes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WalkOptions {
    /// Whether folders inside folders are entered. Default: yes.
    pub recursive: bool,
    /// Whether files and folders whose names begin with a dot are taken; no ignore file can ask for
    /// them. Default: no.
    pub hidden: bool,
    /// Whether `.gitignore`, `.ignore` and `.kuhakuignore` files in the folder and below are
    /// obeyed. Default: yes.
    pub ignore_files: bool,
    /// The largest file taken, in bytes. Default: [`DEFAULT_MAX_BYTES`].
    pub max_bytes: u64,
    /// Patterns for files, in any case. As in an ignore file, one without a slash matches names at
    /// any depth (`*.txt` takes `sub/a.TXT`); one with a slash matches the whole path below the root
    /// (`sub/*.txt`, `sub/**`, and `/*.txt` for the root alone), where `**/` also stands for no
    /// folder at all. A pattern that begins with `!` leaves out what it matches; the files of a
    /// folder are `!drafts/**`. Without others, everything is taken. Files that are named as roots
    /// are not asked. Default: none.
    pub globs: Vec<String>,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            recursive: true,
            hidden: false,
            ignore_files: true,
            max_bytes: DEFAULT_MAX_BYTES,
            globs: Vec::new(),
        }
    }
}

impl WalkOptions {
    /// Whether to enter folders inside folders.
    #[must_use]
    pub fn recursive(mut self, yes: bool) -> Self {
        self.recursive = yes;
        self
    }

    /// Whether to take what begins with a dot.
    #[must_use]
    pub fn hidden(mut self, yes: bool) -> Self {
        self.hidden = yes;
        self
    }

    /// Whether to obey ignore files.
    #[must_use]
    pub fn ignore_files(mut self, yes: bool) -> Self {
        self.ignore_files = yes;
        self
    }

    /// The largest file to take, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Adds a pattern, such as `*.md`; see [`globs`](Self::globs).
    #[must_use]
    pub fn glob(mut self, pattern: impl Into<String>) -> Self {
        self.globs.push(pattern.into());
        self
    }
}
