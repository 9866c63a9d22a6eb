//! The list of what is wrong with a set of values.

use crate::error::{Error, ErrorKind, Result};

/// Collects everything that is wrong, so that one error can say all of it (R13).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// Adds a problem of the setting `name`.
    pub fn add(&mut self, name: &str, wrong: impl AsRef<str>) {
        self.0.push(format!("{name} {}", wrong.as_ref()));
    }

    /// Adds all of another list.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The problems, one sentence each.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Success when there are none.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] that lists every problem.
    pub fn into_result(self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::InvalidSettings, "use these settings", self.0.join("; "))
            .next("correct the values named; docs/configuration.md gives each one's range"))
    }
}
