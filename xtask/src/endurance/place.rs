//! Where a suite works.

use std::fs;
use std::path::PathBuf;

use super::failed;
use crate::error::Result;

/// A folder that goes at the end.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    pub(super) fn new(name: &str) -> Result<Self> {
        let place = std::env::temp_dir().join(format!("kuhaku-{name}-{}", std::process::id()));
        fs::create_dir_all(&place).map_err(failed)?;
        Ok(Self(place))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} stays: {error}", self.0.display());
        }
    }
}
