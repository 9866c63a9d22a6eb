//! A local HTTP server that follows a script to the byte, misbehaviour included.
//!
//! For tests of whatever calls a service: it records each request, answers with the next [`Reply`]
//! of its script (the last one again when the script is used up), and notices clients that leave.
//! It is plain HTTP/1.1 on loopback, written for exactness: every byte and pause is the script's.
//!
//! ```
//! use kuhaku_testkit::transcript::{Reply, TranscriptServer};
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let busy = Reply::new(503).header("retry-after", "1");
//! let server = TranscriptServer::start([busy, Reply::json("{}")]).await?;
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! assert!(server.requests().is_empty());
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod connection;
mod reply;
mod request;
mod server;

pub use reply::{Ending, Reply};
pub use request::RecordedRequest;
pub use server::TranscriptServer;
