//! Where a service is and what opens it, as people set it.

use std::time::Duration;

use kuhaku_core::{Error, ErrorKind, HttpClient, Resilience, Result, Runtime};
use secrecy::{ExposeSecret, SecretString};

use crate::base_url::BaseUrl;
use crate::connection::Connection;
use crate::credentials::{Credentials, Key};
use crate::service::Service;

const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(120);
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// What the builders of models and embedders share. `Debug` shows no secret.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) service: Service,
    pub(crate) model: String,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) key: Option<SecretString>,
    pub(crate) project: Option<String>,
    pub(crate) location: Option<String>,
    pub(crate) keep_alive: Option<String>,
    pub(crate) attempt_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) resilience: Option<Resilience>,
}

impl Access {
    pub(crate) fn new(service: Service, model: String) -> Self {
        Self {
            service,
            model,
            base_url: None,
            key: None,
            project: None,
            location: None,
            keep_alive: None,
            attempt_timeout: ATTEMPT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            resilience: None,
        }
    }

    /// The model's name.
    ///
    /// # Errors
    /// When it is blank.
    pub(crate) fn model(&self) -> Result<&str> {
        match self.model.trim() {
            "" => {
                let next = format!("set {}", self.service.variable("model"));
                Err(self.unusable("no model is named").next(next))
            }
            model => Ok(model),
        }
    }

    pub(crate) fn unusable(&self, wrong: &'static str) -> Error {
        let tried = format!("use the provider {}", self.service);
        Error::new(ErrorKind::InvalidSettings, tried, wrong)
    }

    /// The address as it was set, or the usual one, without slashes at the end.
    pub(crate) fn address_or(&self, usual: &str) -> String {
        let set =
            self.base_url.as_ref().map(|url| url.as_str().trim()).filter(|url| !url.is_empty());
        set.unwrap_or(usual).trim_end_matches('/').to_owned()
    }

    /// The address of a service that has no usual one.
    ///
    /// # Errors
    /// When it is not set.
    pub(crate) fn needed_address(&self) -> Result<String> {
        match self.address_or("") {
            url if url.is_empty() => {
                let variable = self.service.variable("base_url");
                let next = format!("set {variable} to where the server is");
                Err(self.unusable("it has no address").next(next))
            }
            url => Ok(url),
        }
    }

    fn set_key(&self) -> Option<&SecretString> {
        self.key.as_ref().filter(|key| !key.expose_secret().trim().is_empty())
    }

    /// # Errors
    /// When there is no key, or a blank one.
    pub(crate) fn needed_key(&self) -> Result<&SecretString> {
        self.set_key()
            .ok_or_else(|| self.unusable("its key is missing").next(self.service.how_to_open()))
    }

    /// A bearer token for services that may want one.
    pub(crate) fn optional_key(&self) -> Key {
        self.set_key().map_or_else(Key::none, Key::bearer)
    }

    /// How calls are retried.
    pub(crate) fn resilience(&self, runtime: &Runtime, label: &'static str) -> Resilience {
        let given = self.resilience.clone();
        given
            .unwrap_or_else(|| Resilience::new(runtime.clone(), label))
            .attempt_timeout(self.attempt_timeout)
    }

    /// The way to the service.
    ///
    /// # Errors
    /// When the address is none, or holds a secret: addresses are shown in errors.
    pub(crate) fn connection(
        &self,
        base_url: String,
        credentials: Box<dyn Credentials>,
        http: &HttpClient,
        runtime: &Runtime,
    ) -> Result<Connection> {
        self.check_address(&base_url)?;
        Ok(Connection {
            id: format!("{}:{}", self.service, self.model()?),
            base_url,
            credentials: credentials.into(),
            http: http.clone(),
            runtime: runtime.clone(),
            attempt_timeout: self.attempt_timeout,
            idle_timeout: self.idle_timeout,
            when_unreachable: None,
        })
    }

    fn check_address(&self, url: &str) -> Result<()> {
        let scheme = url.split_once("://");
        let rest = scheme.filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
        let wrong = match rest.and_then(|(_, rest)| rest.split(['/', '?', '#']).next()) {
            None | Some("") => "its address does not begin with http:// or https:// and a host",
            Some(authority) if authority.contains('@') => "its address holds a name or password",
            Some(_) if url.contains(['?', '#']) => "its address holds a query",
            Some(_) => return Ok(()),
        };
        let next = "give an address such as http://localhost:8000/v1, and the key apart from it";
        Err(self.unusable(wrong).next(next))
    }
}

#[cfg(feature = "vertex")]
pub(crate) use google::Google;

#[cfg(feature = "vertex")]
mod google {
    //! The same for Google's services.

    use kuhaku_core::{HttpClient, Result, Runtime};
    use secrecy::ExposeSecret;

    use super::Access;
    use crate::credentials::{Credentials, Key};
    use crate::google_auth::{ApplicationDefault, Identity};
    use crate::vertex::Place;

    /// Where and as whom Google is called.
    pub(crate) struct Google {
        pub(crate) place: Place,
        pub(crate) credentials: Box<dyn Credentials>,
        pub(crate) quota_project: Option<String>,
    }

    impl Google {
        /// The key is the content of a key file or an access token; without one, the machine is
        /// asked who it is.
        ///
        /// # Errors
        /// When the key is none, or project or location are missing.
        pub(crate) fn of(access: &Access, http: &HttpClient, runtime: &Runtime) -> Result<Self> {
            let key = access.set_key();
            let file = key.filter(|key| key.expose_secret().trim_start().starts_with('{'));
            let identity = file.map(Identity::of_key_file).transpose()?;
            let project = identity.as_ref().and_then(Identity::project);
            let project = access.project.as_deref().or(project).unwrap_or_default();
            let place = Place::new(project, access.location.as_deref().unwrap_or("us-central1"))?;
            let quota = identity.as_ref().and_then(Identity::quota_project);
            let quota_project = quota.map(str::to_owned);
            let credentials: Box<dyn Credentials> = match (identity, key) {
                (None, Some(token)) => Box::new(Key::bearer(token)),
                (identity, _) => {
                    let identity = identity.unwrap_or_else(|| Identity::of_machine(None));
                    Box::new(ApplicationDefault::new(identity, http.clone(), runtime.clone()))
                }
            };
            Ok(Self { place, credentials, quota_project })
        }
    }
}
