//! What the head of a reply says of the bytes behind it.

use super::super::stream::HttpStream;
use crate::error::{Error, ErrorKind};

/// Where the bytes of a reply belong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// They are the whole file.
    Whole { length: Option<u64> },
    /// They are the file from here to its end.
    Rest { from: u64, length: Option<u64> },
    /// The server has no bytes there; the length of its file, if it says so.
    Beyond { length: Option<u64> },
    /// It is no reply to a download: an error, or something else.
    Other,
}

/// Reads the head.
pub(super) fn place(reply: &HttpStream) -> Place {
    let range = reply.header("content-range").and_then(range);
    match (reply.status(), range) {
        (200, _) => Place::Whole { length: whole_length(reply) },
        (206, Some((Some(from), length))) => Place::Rest { from, length },
        (416, range) => Place::Beyond { length: range.and_then(|(_, length)| length) },
        _ => Place::Other,
    }
}

fn whole_length(reply: &HttpStream) -> Option<u64> {
    reply.header("content-length")?.trim().parse().ok()
}

/// `bytes 5-9/10`, `bytes 5-9/*` or `bytes */10`.
fn range(value: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (span, length) = value.trim().strip_prefix("bytes ")?.split_once('/')?;
    let length = match length.trim() {
        "*" => None,
        length => Some(length.parse().ok()?),
    };
    match span.trim() {
        "*" => Some((None, length)),
        span => {
            let (from, to) = span.split_once('-')?;
            let (from, to): (u64, u64) = (from.trim().parse().ok()?, to.trim().parse().ok()?);
            // A server may give less than was asked for; what then is missing is asked for again.
            let fits = from <= to && length.is_none_or(|length| to < length);
            fits.then_some((Some(from), length))
        }
    }
}

/// What names this version of the file, so that more of the same can be asked for: a strong entity
/// tag, else the date of its last change (RFC 9110, section 13.1.5).
pub(super) fn version(reply: &HttpStream) -> Option<String> {
    let tag = reply.header("etag").filter(|tag| tag.starts_with('"'));
    Some(tag.or_else(|| reply.header("last-modified"))?.to_owned())
}

/// What is wrong with the body as a file, told by its head alone.
pub(super) fn refusal(reply: &HttpStream) -> Option<&'static str> {
    let of = |name| reply.header(name).unwrap_or_default().trim().to_ascii_lowercase();
    if of("content-type").starts_with("text/html") {
        return Some("a web page came in place of the file");
    }
    let encoding = of("content-encoding");
    let plain = encoding.is_empty() || encoding == "identity";
    (!plain).then_some("the file came in an encoding that was not asked for")
}

/// Whether a file begins like a web page: some servers say "here it is" of their error pages.
pub(super) fn is_web_page(beginning: &str) -> bool {
    let beginning = beginning.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    beginning.starts_with("<!doctype html") || beginning.starts_with("<html")
}

/// It is not the file.
pub(super) fn not_the_file(from: &str, wrong: impl Into<String>) -> Error {
    Error::new(ErrorKind::MalformedResponse, format!("download from {from}"), wrong.into())
        .next("check the address, and whether a proxy or a login page stands in between")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_or_refused() {
        for (value, expected) in [
            ("bytes 5-9/10", Some((Some(5), Some(10)))),
            ("bytes 5-9/*", Some((Some(5), None))),
            ("bytes */10", Some((None, Some(10)))),
            ("bytes 5-9/9", None),
            ("bytes 9-5/10", None),
            ("bytes -5/10", None),
            ("bytes 5-9", None),
            ("lines 5-9/10", None),
            ("bytes 99999999999999999999-9/10", None),
            ("", None),
        ] {
            assert_eq!(range(value), expected, "{value}");
        }
    }

    #[test]
    fn web_pages_are_told_by_their_beginning() {
        for (beginning, page) in [
            ("<!DOCTYPE html><html>", true),
            ("\u{feff}\n <HTML lang=en>", true),
            ("{\"html\": 1}", false),
            ("<?xml version", false),
            ("", false),
        ] {
            assert_eq!(is_web_page(beginning), page, "{beginning}");
        }
    }
}
