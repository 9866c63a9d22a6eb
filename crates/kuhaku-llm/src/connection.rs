//! The way to a service: address, credentials, limits, and what its refusals mean.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{
    Error, ErrorKind, HttpClient, HttpReply, HttpRequest, HttpStream, Result, Runtime,
};
use secrecy::SecretString;
use serde_json::Value;

use crate::credentials::Credentials;
use crate::dialect::Wire;
use crate::fault::Fault;

/// What is read of one whole reply, in bytes.
pub(crate) const MOST: usize = 16 << 20;

/// What is read of the explanation of an error, in bytes.
const MOST_EXPLANATION: usize = 64 << 10;

/// The way to one model of a service. Its errors name the model and no secret.
#[derive(Clone)]
pub(crate) struct Connection {
    /// `service:model`.
    pub(crate) id: String,
    /// Without a slash at the end.
    pub(crate) base_url: String,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) http: HttpClient,
    pub(crate) runtime: Runtime,
    pub(crate) attempt_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    /// The next step when nobody answers, if there is a better one than checking the address.
    pub(crate) when_unreachable: Option<String>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A reply whose head has come, and the secrets that it may quote.
pub(crate) struct Answer {
    pub(crate) stream: HttpStream,
    pub(crate) secrets: Vec<SecretString>,
}

impl Connection {
    /// Sends a request. Credentials that were refused are renewed once.
    pub(crate) async fn post(&self, wire: &Wire) -> Result<Answer> {
        let mut secrets = Vec::new();
        let mut renewed = false;
        loop {
            let mut request = HttpRequest::post(format!("{}{}", self.base_url, wire.path))
                .attempt_timeout(self.attempt_timeout)
                .idle_timeout(self.idle_timeout)
                .json(&wire.body);
            for (name, value) in &wire.headers {
                request = request.header(name, value);
            }
            if let Some((name, value)) = self.credentials.header().await? {
                request = request.secret_header(name, &value);
                secrets.push(value);
            }
            let sent = self.http.open(request).await;
            let stream = sent.map_err(|error| self.unreachable(error))?;
            if let (401, false, Some(refused)) = (stream.status(), renewed, secrets.last()) {
                renewed = true;
                if self.credentials.renew(refused).await {
                    continue;
                }
            }
            return Ok(Answer { stream, secrets });
        }
    }

    fn unreachable(&self, error: Error) -> Error {
        match &self.when_unreachable {
            Some(step) if *error.kind() == ErrorKind::Unavailable => error.next(step.clone()),
            _ => error,
        }
    }

    /// What a status outside of success means to `failure`, which is given the body if it is JSON
    /// and null if not.
    pub(crate) async fn refused(
        &self,
        stream: HttpStream,
        failure: impl FnOnce(u16, &Value) -> Fault,
    ) -> Fault {
        let status = stream.status();
        // An explanation that cannot be read is none.
        let reply = stream.collect(MOST_EXPLANATION).await.ok();
        let parsed = |reply: &HttpReply| serde_json::from_slice(reply.body()).ok();
        let body = reply.as_ref().and_then(parsed).unwrap_or_default();
        let fault = failure(status, &body);
        let asked = reply.and_then(|reply| reply.retry_after(&self.runtime));
        Fault { wait: asked.max(fault.wait), ..fault }
    }

    /// The rest of a reply as JSON; the inner failure is for whoever knows what must not be quoted.
    pub(crate) async fn json(&self, stream: HttpStream) -> Result<Result<Value, Fault>> {
        let reply = stream.collect(MOST).await?;
        let parsed = serde_json::from_slice(reply.body());
        Ok(parsed.map_err(|_| Fault::malformed("the reply is not JSON")))
    }

    /// The error of a fault. Of what the service said, nothing is quoted that is part of a secret
    /// or of the texts.
    pub(crate) fn error<'a>(
        &self,
        fault: Fault,
        secrets: &[SecretString],
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        fault.into_error(&self.id, secrets, texts)
    }
}
