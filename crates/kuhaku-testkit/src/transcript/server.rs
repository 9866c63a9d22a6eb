//! The server: its script, and what it has seen.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::connection::serve;
use super::reply::Reply;
use super::request::RecordedRequest;

/// A server on a free port of loopback. Dropping it closes its connections.
#[derive(Debug)]
pub struct TranscriptServer {
    address: SocketAddr,
    record: Arc<Record>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
pub(super) struct Record {
    script: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<RecordedRequest>>,
    connections: AtomicUsize,
    sent: AtomicU64,
    seen: watch::Sender<Seen>,
}

/// What can be waited for.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    requests: usize,
    abandoned: usize,
}

impl Record {
    /// Keeps a request and gives the reply to it; `None` if the script was empty from the start.
    pub(super) fn answer(&self, request: RecordedRequest) -> Option<Reply> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        self.seen.send_modify(|seen| seen.requests += 1);
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        if script.len() > 1 { script.pop_front() } else { script.front().cloned() }
    }

    pub(super) fn abandoned(&self) {
        self.seen.send_modify(|seen| seen.abandoned += 1);
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn accepted(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }
}

impl TranscriptServer {
    /// Starts a server within the current runtime of tokio. It answers the first request with the
    /// first reply and so on, over all connections; the last reply is repeated. With an empty
    /// script it closes each connection after a request.
    ///
    /// # Errors
    /// When no port of loopback can be had.
    pub async fn start(script: impl IntoIterator<Item = Reply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let record = Arc::new(Record {
            script: Mutex::new(script.into_iter().collect()),
            requests: Mutex::default(),
            connections: AtomicUsize::default(),
            sent: AtomicU64::default(),
            seen: watch::Sender::new(Seen::default()),
        });
        let accepting = tokio::spawn(accept(listener, record.clone()));
        Ok(Self { address, record, accepting })
    }

    /// The address as `http://127.0.0.1:port`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The same server under another host's name: `http://localhost:port`.
    pub fn url_of_another_host(&self) -> String {
        format!("http://localhost:{}", self.address.port())
    }

    /// The requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.record.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.record.connections.load(Ordering::Relaxed)
    }

    /// How many bytes were handed to the network so far.
    pub fn sent(&self) -> u64 {
        self.record.sent.load(Ordering::Relaxed)
    }

    /// Waits until so many requests have arrived; false when `limit` was over first.
    pub async fn requested(&self, times: usize, limit: Duration) -> bool {
        self.until(limit, |seen| seen.requests >= times).await
    }

    /// Waits until so many clients have left before their reply was complete; false when `limit`
    /// was over first.
    pub async fn abandoned(&self, times: usize, limit: Duration) -> bool {
        self.until(limit, |seen| seen.abandoned >= times).await
    }

    async fn until(&self, limit: Duration, reached: impl FnMut(&Seen) -> bool) -> bool {
        let mut seen = self.record.seen.subscribe();
        matches!(tokio::time::timeout(limit, seen.wait_for(reached)).await, Ok(Ok(_)))
    }
}

impl Drop for TranscriptServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts until it is aborted, which ends the connections as well: they live in its set.
async fn accept(listener: TcpListener, record: Arc<Record>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        record.accepted();
        // Without this, the network joins pieces that a script wants apart.
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(stream, record.clone()));
        while connections.try_join_next().is_some() {}
    }
}
