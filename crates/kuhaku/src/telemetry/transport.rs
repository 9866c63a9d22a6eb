//! How exports reach the collector: through the HTTP client of the core, and with it through its one
//! TLS stack (D32).

use std::time::Duration;

use async_trait::async_trait;
use kuhaku_core::{HttpClient, HttpRequest};
use opentelemetry_http::{Bytes, HttpError, Request, Response};
use secrecy::SecretString;
use tokio::runtime::Handle;

/// The longest reply that is read; those of collectors are a few bytes.
const LONGEST_REPLY: usize = 64 * 1024;

/// Sends what the exporters give it.
///
/// They call from threads of their own, which have no runtime, so that the sending is done on the
/// application's.
#[derive(Debug)]
pub(super) struct Transport {
    client: HttpClient,
    runtime: Handle,
    limit: Duration,
}

impl Transport {
    pub(super) fn new(runtime: Handle, limit: Duration) -> kuhaku_core::Result<Self> {
        let client = HttpClient::builder().idle_connections(1).build()?;
        Ok(Self { client, runtime, limit })
    }
}

#[async_trait]
impl opentelemetry_http::HttpClient for Transport {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (parts, body) = request.into_parts();
        let mut sent = HttpRequest::post(parts.uri.to_string()).attempt_timeout(self.limit);
        for (name, value) in &parts.headers {
            // Any of them may hold a key.
            sent = sent.secret_header(name.as_str(), &SecretString::from(value.to_str()?));
        }
        let (client, sent) = (self.client.clone(), sent.body(body));
        let sending = self.runtime.spawn(async move { client.send(sent, LONGEST_REPLY).await });
        let reply = sending.await??;
        let mut response = Response::new(reply.body().clone());
        *response.status_mut() = reply.status().try_into()?;
        Ok(response)
    }
}
