//! The client: one connection pool, one TLS configuration, no behaviour of its own.

use std::fmt;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, COOKIE, HeaderMap, LOCATION, PROXY_AUTHORIZATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, NoProxy, Proxy, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::time::{Instant, timeout_at};

use super::failure::{self, Phase};
use super::reply::HttpReply;
use super::request::HttpRequest;
use super::stream::HttpStream;
use super::{address, tls};
use crate::error::{Error, ErrorKind, Result};

/// Calls services over HTTP. Cheap to clone; clones share their connections, so make one per
/// application.
///
/// Futures must be polled in a Tokio runtime whose I/O and time are enabled. Dropping one, or a
/// [`HttpStream`], ends the request.
///
/// ```no_run
/// use kuhaku_core::{HttpClient, HttpRequest};
/// # async fn call() -> kuhaku_core::Result<()> {
/// let client = HttpClient::builder().build()?;
/// let request = HttpRequest::post("http://localhost:11434/api/show")
///     .json(&serde_json::json!({"model": "m"}));
/// let reply = client.send(request, 1 << 20).await?;
/// assert_eq!(reply.status(), 200);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct HttpClient {
    client: Client,
    tls: bool,
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("tls", &self.tls).finish_non_exhaustive()
    }
}

/// Makes a [`HttpClient`].
#[derive(Clone)]
#[must_use]
pub struct HttpClientBuilder {
    user_agent: String,
    connect_timeout: Duration,
    idle_connections: usize,
    proxy: Option<SecretString>,
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder")
            .field("user_agent", &self.user_agent)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_connections", &self.idle_connections)
            .field("proxy", &self.proxy.is_some())
            .finish()
    }
}

impl HttpClientBuilder {
    /// How the client calls itself; `kuhaku/` and the version unless set.
    pub fn user_agent(mut self, name: impl Into<String>) -> Self {
        self.user_agent = name.into();
        self
    }

    /// How long making a connection may take, name lookup and TLS included; 10 s unless set.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How many idle connections are kept per host; 32 unless set.
    pub fn idle_connections(mut self, most: usize) -> Self {
        self.idle_connections = most;
        self
    }

    /// Calls everything but this machine through a proxy, whose address may hold credentials. The
    /// environment is never read.
    pub fn proxy(mut self, address: SecretString) -> Self {
        self.proxy = Some(address);
        self
    }

    /// The finished client. Reads the system's root certificates.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when the user agent or the address of the proxy is none.
    pub fn build(self) -> Result<HttpClient> {
        let wrong = |wrong: &'static str| {
            Error::new(ErrorKind::InvalidInput, "make an HTTP client", wrong)
                .next("check the address of the proxy and the user agent in the settings")
        };
        let found = tls::configuration();
        let tls = found.is_some();
        let trust = found.or_else(tls::trusting_nobody);
        let trust = trust.ok_or_else(|| wrong("TLS cannot be configured"))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(trust)
            .user_agent(self.user_agent)
            .connect_timeout(self.connect_timeout)
            .pool_max_idle_per_host(self.idle_connections)
            .redirect(Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_proxy();
        if let Some(proxy) = self.proxy {
            let proxy = Proxy::all(proxy.expose_secret());
            let proxy = proxy.map_err(|_| wrong("the address of the proxy is not a URL"))?;
            let this_machine = NoProxy::from_string("localhost,127.0.0.0/8,::1");
            builder = builder.proxy(proxy.no_proxy(this_machine));
        }
        let client = builder.build();
        let client = client.map_err(|error| {
            wrong("the HTTP library refuses its settings").caused_by(error.without_url())
        })?;
        Ok(HttpClient { client, tls })
    }
}

impl HttpClient {
    /// Starts from the defaults.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder {
            user_agent: concat!("kuhaku/", env!("CARGO_PKG_VERSION")).into(),
            connect_timeout: Duration::from_secs(10),
            idle_connections: 32,
            proxy: None,
        }
    }

    /// Sends a request and reads the whole reply, whatever its status.
    ///
    /// # Errors
    /// - [`ErrorKind::InvalidInput`]: the address, a header or the body is none.
    /// - [`ErrorKind::Unavailable`]: no connection, or one that broke. Permanent when a certificate
    ///   is not trusted, else temporary.
    /// - [`ErrorKind::TimedOut`]: the connection, the head or the rest did not come in time.
    /// - [`ErrorKind::ResponseTooLarge`]: the body is longer than `most` bytes.
    /// - [`ErrorKind::Redirected`]: the service sent the caller elsewhere.
    pub async fn send(&self, request: HttpRequest, most: usize) -> Result<HttpReply> {
        let limit = request.attempt_timeout;
        let end = Instant::now() + limit;
        // A model may think for as long as it likes after the head of its reply.
        let stream = self.begin(request, end, None).await?;
        let to = stream.to().to_owned();
        let late = |_| failure::of_attempt(&to, Phase::Body, limit);
        timeout_at(end, stream.collect(most)).await.map_err(late)?
    }

    /// Sends a request and gives the reply, whatever its status, once its head has come.
    ///
    /// # Errors
    /// Those of [`send`](Self::send) up to the head of the reply.
    pub async fn open(&self, request: HttpRequest) -> Result<HttpStream> {
        let end = Instant::now() + request.attempt_timeout;
        let idle = Some(request.idle_timeout);
        self.begin(request, end, idle).await
    }

    async fn begin(
        &self,
        request: HttpRequest,
        end: Instant,
        idle: Option<Duration>,
    ) -> Result<HttpStream> {
        let mut url = request.checked()?;
        let HttpRequest { method, mut headers, body, attempt_timeout, .. } = request;
        let mut left = if method == Method::GET { request.redirects } else { 0 };
        loop {
            let to = address::shown(&url);
            self.check_tls(&url, &to)?;
            let sent = if left == 0 { std::mem::take(&mut headers) } else { headers.clone() };
            let next = self.client.request(method.clone(), url.clone()).headers(sent);
            let next = if body.is_empty() { next } else { next.body(body.clone()) };
            let sent = timeout_at(end, next.send()).await;
            let sent = sent.map_err(|_| failure::of_attempt(&to, Phase::Head, attempt_timeout))?;
            let reply = sent.map_err(|error| failure::of_network(error, &to, Phase::Head))?;
            if !reply.status().is_redirection() {
                return Ok(HttpStream::new(reply, to, idle));
            }
            let Some(there) = followed(&reply, &url).filter(|_| left > 0) else {
                return Err(redirected(&to, reply.status().as_u16()));
            };
            left -= 1;
            if !address::same_origin(&url, &there) {
                drop_secrets(&mut headers);
            }
            url = there;
        }
    }

    fn check_tls(&self, url: &Url, to: &str) -> Result<()> {
        if self.tls || url.scheme() == "http" {
            return Ok(());
        }
        let wrong = "this system has no root certificates, so no https:// address can be trusted";
        Err(Error::new(ErrorKind::InvalidInput, format!("call {to}"), wrong)
            .next("install the system's package of CA certificates, and restart"))
    }
}

/// Where a redirect leads, if it may be followed.
fn followed(reply: &Response, from: &Url) -> Option<Url> {
    let location = reply.headers().get(LOCATION)?.to_str().ok()?;
    let there = from.join(location).ok()?;
    let insecure = from.scheme() == "https" && there.scheme() != "https";
    (matches!(there.scheme(), "http" | "https") && !insecure).then_some(there)
}

fn redirected(to: &str, status: u16) -> Error {
    let wrong = format!("it sends the caller elsewhere ({status}), and that is not followed");
    Error::new(ErrorKind::Redirected, format!("call {to}"), wrong)
        .next("put the final address into the settings")
}

fn drop_secrets(headers: &mut HeaderMap) {
    let secret = headers.iter().filter(|(_, value)| value.is_sensitive());
    let mut names: Vec<_> = secret.map(|(name, _)| name.clone()).collect();
    names.extend([AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION]);
    for name in names {
        headers.remove(name);
    }
}
