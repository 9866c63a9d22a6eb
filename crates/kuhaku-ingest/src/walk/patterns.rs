//! Patterns for the paths that a walk takes.

use std::borrow::Cow;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{Error, ErrorKind, Result};

/// Compiled patterns: what to take, and what to leave all the same.
#[derive(Debug)]
pub(crate) struct Patterns {
    take: GlobSet,
    leave: GlobSet,
}

impl Patterns {
    pub(crate) fn new(globs: &[String]) -> Result<Self> {
        let mut take = GlobSetBuilder::new();
        let mut leave = GlobSetBuilder::new();
        for glob in globs {
            let (set, pattern) = match glob.strip_prefix('!') {
                Some(pattern) => (&mut leave, pattern),
                None => (&mut take, glob.as_str()),
            };
            let pattern = from_the_root(pattern);
            let mut builder = GlobBuilder::new(&pattern);
            builder.case_insensitive(true).literal_separator(true);
            set.add(builder.build().map_err(unusable)?);
        }
        Ok(Self { take: take.build().map_err(unusable)?, leave: leave.build().map_err(unusable)? })
    }

    /// Whether a path below the root is taken.
    pub(crate) fn take(&self, relative: &Path) -> bool {
        (self.take.is_empty() || self.take.is_match(relative)) && !self.leave.is_match(relative)
    }
}

/// The pattern for whole paths below the root. As in an ignore file, a pattern without a slash is for
/// names at any depth, and a slash at the beginning is the root.
fn from_the_root(pattern: &str) -> Cow<'_, str> {
    if pattern.is_empty() || pattern.contains('/') {
        Cow::Borrowed(pattern.strip_prefix('/').unwrap_or(pattern))
    } else {
        Cow::Owned(format!("**/{pattern}"))
    }
}

fn unusable(error: globset::Error) -> Error {
    Error::new(ErrorKind::InvalidInput, "use the file pattern", error.kind().to_string())
        .next("write it like *.md or notes/**/*.md")
        .caused_by(error)
}
