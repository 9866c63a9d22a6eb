//! Asking for a token: what is sent for an identity, and what the answer means.

use kuhaku_core::{
    Error, ErrorKind, HttpClient, HttpReply, HttpRequest, Result, Runtime, Status, Timestamp,
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::assertion::Claims;
use super::identity::Identity;
use super::token::Token;

/// What tokens are for.
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";

const TRIED: &str = "ask Google for a token";

/// Replies are far smaller.
const MOST: usize = 64 * 1024;

/// What is sent to get a token.
#[derive(Debug)]
pub(super) enum Asking {
    /// A form, by POST.
    Form { url: String, form: SecretString },
    /// A question to the metadata server.
    Metadata { url: String },
}

impl Asking {
    /// For an identity at a time.
    ///
    /// # Errors
    /// When a statement cannot be signed.
    pub(super) fn of(identity: &Identity, now: Timestamp) -> Result<Self> {
        Ok(match identity {
            Identity::ServiceAccount(account) => {
                let url = account.token_url.clone();
                let claims = Claims { issuer: &account.email, scope: SCOPE, audience: &url };
                let assertion = account.key.assertion(account.key_id.as_deref(), claims, now)?;
                let form = form(&[
                    ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                    ("assertion", assertion.expose_secret()),
                ]);
                Self::Form { url, form }
            }
            Identity::User(user) => {
                let form = form(&[
                    ("grant_type", "refresh_token"),
                    ("client_id", &user.client_id),
                    ("client_secret", user.client_secret.expose_secret()),
                    ("refresh_token", user.refresh_token.expose_secret()),
                ]);
                Self::Form { url: user.token_url.clone(), form }
            }
            Identity::Machine { host } => {
                let path = "/computeMetadata/v1/instance/service-accounts/default/token";
                Self::Metadata { url: format!("http://{host}{path}") }
            }
        })
    }

    fn request(self) -> HttpRequest {
        match self {
            Self::Form { url, form } => HttpRequest::post(url)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(form.expose_secret().as_bytes().to_vec()),
            Self::Metadata { url } => HttpRequest::get(url).header("metadata-flavor", "Google"),
        }
    }
}

/// Asks for a token once.
///
/// # Errors
/// - [`ErrorKind::Unauthorized`]: the identity is not accepted.
/// - Those of the network, and of replies that are none.
pub(super) async fn token(
    client: &HttpClient,
    runtime: &Runtime,
    identity: &Identity,
) -> Result<Token> {
    let request = Asking::of(identity, runtime.now())?.request();
    let sent = client.send(request, MOST).await;
    let reply = sent.map_err(|error| unreachable(identity, error))?;
    if let Some(error) = refused(identity, &reply, runtime) {
        return Err(error);
    }
    let body: Value = reply.json(TRIED)?;
    Token::of_reply(&body, runtime.now()).ok_or_else(|| {
        Error::new(ErrorKind::MalformedResponse, TRIED, "the reply holds no token")
            .next("check the `token_uri` of the key file")
    })
}

fn unreachable(identity: &Identity, error: Error) -> Error {
    if !matches!(identity, Identity::Machine { .. }) {
        return error;
    }
    let wrong = "there is no key file, and no metadata server answers";
    Error::new(*error.kind(), TRIED, wrong)
        .next("set GOOGLE_APPLICATION_CREDENTIALS to the path of a key file")
        .with_status(Status::Permanent)
        .caused_by(error)
}

fn refused(identity: &Identity, reply: &HttpReply, runtime: &Runtime) -> Option<Error> {
    let error = reply.failure(TRIED, runtime)?;
    let next = match (identity, reply.status()) {
        (Identity::Machine { .. }, 404) => "give the machine a service account",
        (Identity::User(_), 400 | 401) => "run `gcloud auth application-default login` again",
        (_, 400 | 401) => "check that the key of the service account was not revoked",
        _ => return Some(error),
    };
    // OAuth reports a refused grant as a bad request (RFC 6749, section 5.2).
    let wrong = format!("the credentials are not accepted (HTTP {})", reply.status());
    Some(Error::new(ErrorKind::Unauthorized, TRIED, wrong).next(next).not_an_outage())
}

/// Names and values as `application/x-www-form-urlencoded`.
fn form(pairs: &[(&str, &str)]) -> SecretString {
    let mut form = String::new();
    for (name, value) in pairs {
        if !form.is_empty() {
            form.push('&');
        }
        form.push_str(name);
        form.push('=');
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    form.push(char::from(byte));
                }
                _ => form.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    form.into()
}

#[cfg(test)]
mod tests {
    use super::super::identity::tests::{account, identity, user};
    use super::*;

    fn asking(identity: &Identity) -> Asking {
        Asking::of(identity, "2026-01-01T00:00:00Z".parse().unwrap()).unwrap()
    }

    #[test]
    fn a_person_is_known_by_a_refresh_token() {
        let asking = asking(&identity(&user("https://t.example/token")).unwrap());
        let Asking::Form { url, form } = &asking else { panic!("{asking:?}") };
        assert_eq!(url, "https://t.example/token");
        assert_eq!(
            form.expose_secret(),
            "grant_type=refresh_token&client_id=id&client_secret=planted%26secret\
             &refresh_token=1%2F%2Fplanted%20refresh"
        );
        assert!(!format!("{asking:?}").contains("planted"));
    }

    #[test]
    fn a_service_account_is_known_by_a_signed_statement() {
        let asking = asking(&identity(&account("https://t.example/token")).unwrap());
        let Asking::Form { form, .. } = &asking else { panic!("{asking:?}") };
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=ey";
        assert!(form.expose_secret().starts_with(grant));
        assert!(!format!("{asking:?}").contains("ey"));
    }

    #[test]
    fn a_machine_asks_its_metadata_server() {
        let path = "/computeMetadata/v1/instance/service-accounts/default/token";
        for (host, asked) in [
            (None, "http://metadata.google.internal"),
            (Some("127.0.0.1:80"), "http://127.0.0.1:80"),
            (Some(" "), "http://metadata.google.internal"),
        ] {
            let asking = asking(&Identity::of_machine(host));
            let Asking::Metadata { url } = &asking else { panic!("{asking:?}") };
            assert_eq!(*url, format!("{asked}{path}"));
        }
    }
}
