//! One HTTP client for every external call, decoders for what it streams, and verified downloads.
//!
//! The client has one TLS configuration of its own (D32), reads no proxy from the environment,
//! never follows a redirect with a body or with secrets, bounds what it reads, and shows of an
//! address host and path only. It does not retry: that is the work of the resilience layer (D33).

mod address;
mod client;
mod download;
mod failure;
mod lines;
mod reply;
mod request;
mod retry_hint;
mod sse;
mod stream;
mod tls;

pub use client::{HttpClient, HttpClientBuilder};
pub use download::{
    Consented, DownloadLock, DownloadProgress, Downloaded, Downloader, FileDownload,
};
pub use lines::LineDecoder;
pub use reply::HttpReply;
pub use request::HttpRequest;
pub use retry_hint::retry_hint_in_text;
pub use sse::{SseDecoder, SseEvent};
pub use stream::HttpStream;
