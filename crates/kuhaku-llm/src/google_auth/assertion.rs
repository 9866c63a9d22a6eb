//! The signed statement with which a service account asks for a token (RFC 7523, RS256).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use kuhaku_core::{Error, ErrorKind, Result, Timestamp};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

/// How long a statement holds, in seconds: the longest that Google takes.
const LIFETIME: i64 = 3_600;

/// A private key of a service account.
pub(super) struct SigningKey(RsaKeyPair);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// A key as key files hold it: PKCS#8 in PEM.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when it is no such key of RSA.
    pub(super) fn from_pem(pem: &SecretString) -> Result<Self> {
        let wrong = "its private key is not an RSA key in PEM (PKCS#8)";
        let error = || {
            Error::new(ErrorKind::InvalidSettings, "read Google's key file", wrong)
                .next("download the key file of the service account again")
        };
        let text = pem.expose_secret();
        let begun = text.split_once("-----BEGIN PRIVATE KEY-----").map(|(_, rest)| rest);
        let body = begun.and_then(|rest| Some(rest.split_once("-----END PRIVATE KEY-----")?.0));
        let body: String = body.ok_or_else(error)?.split_whitespace().collect();
        let der = STANDARD.decode(body).map_err(|_| error())?;
        RsaKeyPair::from_pkcs8(&der).map(Self).map_err(|_| error())
    }

    /// The statement that `issuer` wants a token of `scope` from `audience`.
    ///
    /// # Errors
    /// [`ErrorKind::Entropy`] when it cannot be signed.
    pub(super) fn assertion(
        &self,
        key_id: Option<&str>,
        claims: Claims<'_>,
        now: Timestamp,
    ) -> Result<SecretString> {
        let Claims { issuer, scope, audience } = claims;
        let mut header = json!({"alg": "RS256", "typ": "JWT"});
        if let (Some(id), Some(header)) = (key_id, header.as_object_mut()) {
            header.insert("kid".into(), id.into());
        }
        let issued = now.as_second();
        let claims = json!({
            "iss": issuer,
            "scope": scope,
            "aud": audience,
            "iat": issued,
            "exp": issued.saturating_add(LIFETIME),
        });
        let part = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let mut signature = vec![0; self.0.public().modulus_len()];
        self.0
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| {
                let wrong = "the statement could not be signed";
                Error::new(ErrorKind::Entropy, "ask Google for a token", wrong)
                    .next("check that the system's random source is available")
            })?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)).into())
    }
}

/// Who asks whom for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claims<'a> {
    pub(super) issuer: &'a str,
    pub(super) scope: &'a str,
    pub(super) audience: &'a str,
}

#[cfg(test)]
mod tests {
    use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::super::identity::tests::PEM;
    use super::*;

    fn key(pem: &str) -> Result<SigningKey> {
        SigningKey::from_pem(&pem.to_owned().into())
    }

    #[test]
    fn a_statement_names_its_parts_and_its_signature_is_right() {
        let key = key(PEM).unwrap();
        let claims = Claims { issuer: "a@p.example", scope: "s", audience: "https://t.example" };
        let now = "2026-01-01T00:00:00Z".parse().unwrap();
        let assertion = key.assertion(Some("k1"), claims, now).unwrap();
        let (signed, signature) = assertion.expose_secret().rsplit_once('.').unwrap();
        let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let json = |part: &str| serde_json::from_slice::<Value>(&decode(part)).unwrap();
        assert_eq!(json(header), json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
        let expected = json!({
            "iss": "a@p.example", "scope": "s", "aud": "https://t.example",
            "iat": 1_767_225_600, "exp": 1_767_229_200,
        });
        assert_eq!(json(claims), expected);
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.0.public_key());
        public.verify(signed.as_bytes(), &decode(signature)).unwrap();
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_quoted() {
        let torn = PEM.get(..PEM.len() / 2).unwrap();
        let other = PEM.replace("PRIVATE KEY", "RSA PRIVATE KEY");
        let broken = PEM.replacen('M', "!", 1);
        for pem in ["", torn, &other, &broken] {
            let error = key(pem).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::InvalidSettings);
            assert!(!format!("{error} {error:?}").contains("MII"));
        }
    }
}
