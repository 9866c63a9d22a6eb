//! A server of files with versions and ranges, as hubs are, on loopback.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is sent at a time, in bytes.
const PIECE: usize = 16 << 10;

/// The server. Its threads end with the test's process.
#[derive(Clone)]
pub(crate) struct Hub {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    asked: Mutex<Vec<String>>,
    pause: Mutex<Duration>,
}

impl Hub {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let hub = Self { address: listener.local_addr().unwrap(), shared: Arc::default() };
        let shared = hub.shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = shared.clone();
                // A client that leaves early ends its thread.
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        hub
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn put(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.shared.files.lock().unwrap().insert(path.to_owned(), content.into());
    }

    /// Waits so long after each 16 KiB.
    pub(crate) fn slow(&self, pause: Duration) {
        *self.shared.pause.lock().unwrap() = pause;
    }

    /// The paths that were asked for, each with the start of its range.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.shared.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let path = line.split(' ').nth(1)?.split('?').next()?.to_owned();
        let (mut from, mut version) = (0, None);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "range" => {
                    let range = value.trim().strip_prefix("bytes=")?.strip_suffix('-')?;
                    from = range.parse().ok()?;
                }
                "if-range" => version = Some(value.trim().to_owned()),
                _ => {}
            }
        }
        let content = shared.files.lock().unwrap().get(&path).cloned();
        let Some(content) = content else {
            shared.asked.lock().unwrap().push(path);
            writer.write_all(b"HTTP/1.1 404 None\r\ncontent-length: 0\r\n\r\n").ok()?;
            continue;
        };
        let tag = format!("\"{}\"", content.len());
        let from = if version.is_none_or(|version| version == tag) { from } else { 0 };
        shared.asked.lock().unwrap().push(format!("{path} {from}"));
        let (left, length) = (content.len() - from, content.len());
        let status = match from {
            0 => "200 All".to_owned(),
            _ => format!("206 Part\r\ncontent-range: bytes {from}-{}/{length}", length - 1),
        };
        write!(writer, "HTTP/1.1 {status}\r\netag: {tag}\r\ncontent-length: {left}\r\n\r\n")
            .ok()?;
        for piece in content[from..].chunks(PIECE) {
            writer.write_all(piece).ok()?;
            let pause = *shared.pause.lock().unwrap();
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
    }
}
