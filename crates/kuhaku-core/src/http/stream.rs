//! A reply that is read piece by piece.

use std::fmt;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use reqwest::Response;
use tokio::time::timeout;

use super::failure::{self, Phase};
use super::reply::HttpReply;
use crate::error::Result;

/// A reply whose head has come. Dropping it ends the request.
pub struct HttpStream {
    reply: Response,
    to: String,
    /// `None` while another limit holds.
    idle_timeout: Option<Duration>,
}

impl fmt::Debug for HttpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStream")
            .field("from", &self.to)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl HttpStream {
    pub(super) fn new(reply: Response, to: String, idle_timeout: Option<Duration>) -> Self {
        Self { reply, to, idle_timeout }
    }

    /// The status, from 100 to 999.
    pub fn status(&self) -> u16 {
        self.reply.status().as_u16()
    }

    /// Whether the status is one of success (2xx).
    pub fn is_success(&self) -> bool {
        self.reply.status().is_success()
    }

    /// A header's first value, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.reply.headers().get(name)?.to_str().ok()
    }

    /// Host and path, as errors show them.
    pub(super) fn to(&self) -> &str {
        &self.to
    }

    /// The head alone; what would follow is not read.
    pub(super) fn into_head(mut self) -> HttpReply {
        let headers = std::mem::take(self.reply.headers_mut());
        HttpReply::new(self.reply.status(), headers, Bytes::new(), self.to)
    }

    /// The next bytes; `None` at the end of a complete reply.
    ///
    /// # Errors
    /// [`ErrorKind::Unavailable`](crate::ErrorKind::Unavailable) when the connection breaks,
    /// [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut) when nothing comes for the idle timeout.
    pub async fn next_bytes(&mut self) -> Result<Option<Bytes>> {
        let next = self.reply.chunk();
        let next = match self.idle_timeout {
            Some(limit) => {
                let late = |_| failure::of_silence(&self.to, limit);
                timeout(limit, next).await.map_err(late)?
            }
            None => next.await,
        };
        next.map_err(|error| failure::of_network(error, &self.to, Phase::Body))
    }

    /// Reads the rest, for example the explanation of an error status.
    ///
    /// # Errors
    /// Those of [`next_bytes`](Self::next_bytes), and
    /// [`ErrorKind::ResponseTooLarge`](crate::ErrorKind::ResponseTooLarge) beyond `most` bytes.
    pub async fn collect(mut self, most: usize) -> Result<HttpReply> {
        let mut whole = Bytes::new();
        let mut joined = BytesMut::new();
        while let Some(bytes) = self.next_bytes().await? {
            if whole.len() + joined.len() + bytes.len() > most {
                return Err(failure::of_size(&self.to, most));
            }
            // Most replies come in one piece, which need not be copied.
            if whole.is_empty() && joined.is_empty() {
                whole = bytes;
                continue;
            }
            joined.extend_from_slice(&std::mem::take(&mut whole));
            joined.extend_from_slice(&bytes);
        }
        let body = if joined.is_empty() { whole } else { joined.freeze() };
        let status = self.reply.status();
        let headers = std::mem::take(self.reply.headers_mut());
        Ok(HttpReply::new(status, headers, body, self.to))
    }
}
