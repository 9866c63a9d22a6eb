//! What opens a service.

use std::fmt;

use async_trait::async_trait;
use kuhaku_core::Result;
use secrecy::{ExposeSecret, SecretString};

/// Gives the header that opens a service, fetched when it must be.
#[async_trait]
pub(crate) trait Credentials: Send + Sync + fmt::Debug {
    /// The header's name and value; `None` for a service that is open.
    ///
    /// # Errors
    /// When they cannot be had.
    async fn header(&self) -> Result<Option<(&'static str, SecretString)>>;

    /// Called when the service refused a header with this value: whether another can be had, so
    /// that the call is worth one more attempt.
    async fn renew(&self, refused: &SecretString) -> bool {
        let _ = refused;
        false
    }
}

/// A key that does not change.
#[derive(Debug)]
pub(crate) struct Key(Option<(&'static str, SecretString)>);

impl Key {
    /// No key at all.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    /// A key in a header of its own.
    pub(crate) fn header(name: &'static str, key: &SecretString) -> Self {
        Self(Some((name, key.expose_secret().trim().to_owned().into())))
    }

    /// A bearer token.
    pub(crate) fn bearer(key: &SecretString) -> Self {
        let value = format!("Bearer {}", key.expose_secret().trim());
        Self(Some(("authorization", value.into())))
    }
}

#[async_trait]
impl Credentials for Key {
    async fn header(&self) -> Result<Option<(&'static str, SecretString)>> {
        Ok(self.0.clone())
    }
}
