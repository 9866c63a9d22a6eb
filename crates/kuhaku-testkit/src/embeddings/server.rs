//! A server that embeds as Ollama and servers of OpenAI's kind do.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::words::word_vector;

/// The largest request that is read, in bytes.
const MOST: usize = 64 << 20;

/// A server on the loopback that gives the vectors of [`word_vector`]: for `POST /api/embed` as Ollama
/// does, for `POST …/embeddings` as OpenAI does; to `GET /api/tags` it says that it has no model that
/// chats. It keeps the texts of each request for vectors. Ends when it is dropped.
#[derive(Debug)]
pub struct EmbeddingServer {
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dimension: usize,
    requests: Mutex<Vec<Vec<String>>>,
    /// How long it takes for a request.
    takes: Mutex<Duration>,
    down: AtomicBool,
    ended: AtomicBool,
}

impl EmbeddingServer {
    /// A server of vectors of this many numbers.
    ///
    /// # Errors
    /// When no port can be had.
    pub fn start(dimension: usize) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let shared = Arc::new(Shared {
            dimension,
            requests: Mutex::default(),
            takes: Mutex::default(),
            down: AtomicBool::new(false),
            ended: AtomicBool::new(false),
        });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if served.ended.load(Ordering::Relaxed) {
                    break;
                }
                let served = Arc::clone(&served);
                thread::spawn(move || served.serve(&stream));
            }
        });
        Ok(Self { url, shared })
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The texts of each request for vectors so far, oldest first; noted before it is answered.
    pub fn requests(&self) -> Vec<Vec<String>> {
        self.shared.noted().clone()
    }

    /// Lets each answer take so long from now on.
    pub fn takes(&self, time: Duration) {
        *self.shared.takes.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }

    /// Whether it fails from now on, with status 500.
    pub fn down(&self, yes: bool) {
        self.shared.down.store(yes, Ordering::Relaxed);
    }
}

impl Drop for EmbeddingServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        // The thread that waits for connections looks when one comes.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

impl Shared {
    fn noted(&self) -> MutexGuard<'_, Vec<Vec<String>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection until it ends. A client that dies is no error here.
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Ok(Some((head, body))) = read(&mut reader) {
            let (status, reply) = self.answer(&head, &body);
            let text = reply.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            let mut out = stream;
            if out.write_all(head.as_bytes()).and_then(|()| out.write_all(text.as_bytes())).is_err()
            {
                return;
            }
        }
    }

    fn answer(&self, head: &str, body: &[u8]) -> (&'static str, Value) {
        if head.starts_with("GET /api/tags ") {
            return ("200 OK", json!({ "models": [] }));
        }
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let input = body.get("input").and_then(Value::as_array).cloned().unwrap_or_default();
        let texts: Vec<String> =
            input.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
        let takes = *self.takes.lock().unwrap_or_else(PoisonError::into_inner);
        self.noted().push(texts.clone());
        thread::sleep(takes);
        if self.down.load(Ordering::Relaxed) {
            return ("500 Internal Server Error", json!({ "error": "it was told to fail" }));
        }
        let vectors = texts.iter().map(|text| word_vector(text, self.dimension));
        let path = head.split(' ').nth(1).unwrap_or_default();
        match path {
            "/api/embed" => ("200 OK", json!({ "embeddings": vectors.collect::<Vec<_>>() })),
            path if path.ends_with("/embeddings") => {
                let rows: Vec<Value> = vectors
                    .enumerate()
                    .map(|(index, vector)| json!({ "index": index, "embedding": vector }))
                    .collect();
                ("200 OK", json!({ "data": rows }))
            }
            _ => ("404 Not Found", json!({ "error": "there is nothing here" })),
        }
    }
}

/// The first line of a request and its body; nothing when the client has gone.
fn read(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().unwrap_or_default().min(MOST);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some((first, body)))
}
