//! What a client sent.

use std::io;
use std::time::Instant;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Far above what a test sends; a client that never ends its head or body is cut off there.
const LONGEST: usize = 64 << 20;

/// A request as it arrived.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The method, for example `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, values as sent, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// When its last byte had arrived.
    pub at: Instant,
}

impl RecordedRequest {
    /// The first value of a header, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON, if it is JSON.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Whether a text occurs anywhere: in path, headers or body.
    pub fn mentions(&self, text: &str) -> bool {
        let headers = self.headers.iter();
        self.path.contains(text)
            || headers.into_iter().any(|(name, value)| name.contains(text) || value.contains(text))
            || String::from_utf8_lossy(&self.body).contains(text)
    }
}

/// Reads one request. `unread` holds what came after the previous one, and keeps what comes after
/// this one. `None` when the client closed the connection between two requests.
pub(super) async fn read(
    reader: &mut (impl AsyncRead + Unpin),
    unread: &mut Vec<u8>,
) -> io::Result<Option<RecordedRequest>> {
    let head_end = loop {
        if let Some(at) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if !more(reader, unread).await? {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(unread.get(..head_end).unwrap_or_default()).into_owned();
    let mut request = parse_head(&head)?;
    let length: usize = match request.header("content-length") {
        Some(length) => length.parse().map_err(|_| malformed("its length is not a number"))?,
        None if request.header("transfer-encoding").is_some() => {
            return Err(malformed("its body is chunked, which this server does not read"));
        }
        None => 0,
    };
    let end = head_end.saturating_add(4).saturating_add(length);
    while unread.len() < end {
        if !more(reader, unread).await? {
            return Err(malformed("it ended early"));
        }
    }
    let rest = unread.split_off(end);
    request.body = std::mem::replace(unread, rest).split_off(head_end + 4);
    request.at = Instant::now();
    Ok(Some(request))
}

async fn more(reader: &mut (impl AsyncRead + Unpin), unread: &mut Vec<u8>) -> io::Result<bool> {
    if unread.len() > LONGEST {
        return Err(malformed("it is too long"));
    }
    Ok(reader.read_buf(unread).await? > 0)
}

fn parse_head(head: &str) -> io::Result<RecordedRequest> {
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path)) = (first.next(), first.next()) else {
        return Err(malformed("its first line is not one of HTTP"));
    };
    let headers = lines.filter_map(|line| line.split_once(':'));
    Ok(RecordedRequest {
        method: method.into(),
        path: path.into(),
        headers: headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().into()))
            .collect(),
        body: Vec::new(),
        at: Instant::now(),
    })
}

fn malformed(wrong: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("cannot read the request: {wrong}"))
}
