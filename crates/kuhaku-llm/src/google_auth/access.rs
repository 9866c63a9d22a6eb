//! From what the settings say about Google to credentials.

use std::sync::Arc;

use kuhaku_core::{HttpClient, Result, Runtime};
use secrecy::{ExposeSecret, SecretString};

use super::identity::Identity;
use super::source::ApplicationDefault;
use crate::credentials::{Credentials, Key};

/// How Google Cloud is opened, and what the key file adds to the settings.
#[derive(Debug)]
pub(crate) struct Access {
    /// What opens it.
    pub(crate) credentials: Arc<dyn Credentials>,
    /// The project of a service account.
    pub(crate) project: Option<String>,
    /// The project that a person's calls are charged to.
    pub(crate) quota_project: Option<String>,
}

impl Access {
    /// By a key: the content of a key file, or an access token. Without one, by the identity of the
    /// machine. Nothing is sent.
    ///
    /// # Errors
    /// [`kuhaku_core::ErrorKind::InvalidSettings`] when the key file will not do.
    pub(crate) fn by(
        key: Option<&SecretString>,
        http: &HttpClient,
        runtime: &Runtime,
    ) -> Result<Self> {
        let key = key.filter(|key| !key.expose_secret().trim().is_empty());
        let identity = match key {
            Some(file) if file.expose_secret().trim_start().starts_with('{') => {
                Identity::of_key_file(file)?
            }
            Some(token) => {
                let credentials = Arc::new(Key::bearer(token));
                return Ok(Self { credentials, project: None, quota_project: None });
            }
            None => Identity::of_machine(None),
        };
        let project = identity.project().map(str::to_owned);
        let quota_project = identity.quota_project().map(str::to_owned);
        let credentials = ApplicationDefault::new(identity, http.clone(), runtime.clone());
        Ok(Self { credentials: Arc::new(credentials), project, quota_project })
    }
}
