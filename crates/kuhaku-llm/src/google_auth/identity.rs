//! Who asks for a token: what a key file says.

use kuhaku_core::{Error, ErrorKind, Result};
use secrecy::SecretString;
use serde_json::Value;

use super::assertion::SigningKey;
use super::endpoint;

/// Where Google gives tokens, unless a key file names another place.
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";

/// Where virtual machines ask about themselves.
const METADATA_HOST: &str = "metadata.google.internal";

/// An identity that can be given a token. `Debug` shows no secret.
#[derive(Debug)]
pub(crate) enum Identity {
    /// A service account with its key.
    ServiceAccount(Box<ServiceAccount>),
    /// A person who has logged in.
    User(User),
    /// The service account of the machine, which its metadata server knows.
    Machine {
        /// Host and port of that server.
        host: String,
    },
}

/// A service account with its key.
#[derive(Debug)]
pub(crate) struct ServiceAccount {
    pub(super) email: String,
    pub(super) key_id: Option<String>,
    pub(super) key: SigningKey,
    pub(super) token_url: String,
    pub(super) project: Option<String>,
}

/// A person who has logged in, and the application in which they did.
#[derive(Debug)]
pub(crate) struct User {
    pub(super) client_id: String,
    pub(super) client_secret: SecretString,
    pub(super) refresh_token: SecretString,
    pub(super) token_url: String,
    pub(super) quota_project: Option<String>,
}

impl Identity {
    /// The identity of a key file's content.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when it is of another kind or misses something. Nothing of
    /// it is quoted.
    pub(crate) fn of_key_file(content: &SecretString) -> Result<Self> {
        use secrecy::ExposeSecret;
        let file: Value = serde_json::from_str(content.expose_secret())
            .map_err(|_| refused("it is not JSON", "give the path of a key file of Google"))?;
        let text = |name: &'static str| {
            let value = file.get(name).and_then(Value::as_str).filter(|value| !value.is_empty());
            value.map(str::to_owned)
        };
        let needed = |name: &'static str| {
            let wrong = format!("it has no `{name}`");
            text(name).ok_or_else(|| refused(wrong, "make the key file again"))
        };
        let token_url = text("token_uri").unwrap_or_else(|| TOKEN_URL.into());
        if !endpoint::is_safe(&token_url) {
            let wrong = "its `token_uri` is neither https:// nor on this machine";
            return Err(refused(wrong, "make the key file again, and check where it came from"));
        }
        match text("type").as_deref() {
            Some("service_account") => Ok(Self::ServiceAccount(Box::new(ServiceAccount {
                email: needed("client_email")?,
                key_id: text("private_key_id"),
                key: SigningKey::from_pem(&needed("private_key")?.into())?,
                token_url,
                project: text("project_id"),
            }))),
            Some("authorized_user") => Ok(Self::User(User {
                client_id: needed("client_id")?,
                client_secret: needed("client_secret")?.into(),
                refresh_token: needed("refresh_token")?.into(),
                token_url,
                quota_project: text("quota_project_id"),
            })),
            _ => Err(refused(
                "its `type` is neither service_account nor authorized_user",
                "use the key of a service account, or run `gcloud auth application-default login`",
            )),
        }
    }

    /// The identity of the machine; `host` when its metadata server is not where it usually is.
    pub(crate) fn of_machine(host: Option<&str>) -> Self {
        let host = host.map(str::trim).filter(|host| !host.is_empty());
        Self::Machine { host: host.unwrap_or(METADATA_HOST).into() }
    }

    /// The project that the identity belongs to, when it says so.
    pub(crate) fn project(&self) -> Option<&str> {
        match self {
            Self::ServiceAccount(account) => account.project.as_deref(),
            _ => None,
        }
    }

    /// The project that a person's calls are charged to.
    pub(crate) fn quota_project(&self) -> Option<&str> {
        match self {
            Self::User(user) => user.quota_project.as_deref(),
            _ => None,
        }
    }
}

fn refused(wrong: impl Into<std::borrow::Cow<'static, str>>, next: &'static str) -> Error {
    Error::new(ErrorKind::InvalidSettings, "read Google's key file", wrong).next(next)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    /// Made for these tests; it opens nothing.
    pub(in super::super) const PEM: &str =
        include_str!("../../../../fixtures/providers/vertex/test-only-key.pem");

    pub(in super::super) fn account(token_url: &str) -> Value {
        json!({
            "type": "service_account", "client_email": "a@p.example", "project_id": "p",
            "private_key_id": "k1", "private_key": PEM, "token_uri": token_url,
        })
    }

    pub(in super::super) fn user(token_url: &str) -> Value {
        json!({
            "type": "authorized_user", "client_id": "id", "client_secret": "planted&secret",
            "refresh_token": "1//planted refresh", "quota_project_id": "q", "token_uri": token_url,
        })
    }

    pub(in super::super) fn identity(file: &Value) -> Result<Identity> {
        Identity::of_key_file(&file.to_string().into())
    }

    #[test]
    fn key_files_of_accounts_and_of_people_are_read() {
        let account = identity(&account("https://t.example")).unwrap();
        assert_eq!((account.project(), account.quota_project()), (Some("p"), None));
        let user = identity(&user("https://t.example")).unwrap();
        assert_eq!((user.project(), user.quota_project()), (None, Some("q")));
        let shown = format!("{account:?} {user:?} {user:#?}");
        for secret in ["planted", "MII", "refresh\""] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }

    #[test]
    fn a_file_that_will_not_do_says_what_is_missing_and_quotes_nothing() {
        let without = |name: &str| {
            let mut file = user("https://t.example");
            file.as_object_mut().unwrap().remove(name);
            file
        };
        let files = [
            (without("refresh_token"), "`refresh_token`"),
            (without("client_secret"), "`client_secret`"),
            (without("type"), "`type`"),
            (json!({"type": "external_account"}), "`type`"),
            (user("http://planted.example/token"), "`token_uri`"),
            (json!("planted"), "`type`"),
        ];
        for (file, named) in files {
            let error = identity(&file).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
            assert!(!format!("{error} {error:?}").contains("planted"), "{error}");
        }
        let error = Identity::of_key_file(&"{planted".to_owned().into()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("planted"), "{error}");
    }
}
