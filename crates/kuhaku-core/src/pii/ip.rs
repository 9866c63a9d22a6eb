//! IPv4 and IPv6 addresses.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use crate::masking::Placeholder;

use super::reading::Reading;
use super::scan::{Span, after, before, placeholder_after, placeholder_before};

/// Words before a four-part number that make it a version, a section or an enzyme, in lower case.
const NOT_AN_ADDRESS: [&str; 23] = [
    "ec",
    "v",
    "ver",
    "version",
    "versions",
    "versión",
    "versione",
    "release",
    "rev",
    "revision",
    "build",
    "firmware",
    "sürüm",
    "sürümü",
    "section",
    "sections",
    "sec",
    "chapter",
    "clause",
    "bölüm",
    "madde",
    "kapitel",
    "abschnitt",
];

/// Looks at each maximal run of the characters of addresses.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found = Vec::new();
    for run in runs(reading) {
        match ipv6(reading, &run) {
            Some(range) => found.push(range),
            None => found.extend(ipv4(text, &run)),
        }
    }
    found.into_iter().map(|range| (range, Placeholder::Ip)).collect()
}

/// Maximal runs of digits, points and colons, and of letters of hexadecimal digits, that hold what
/// every address has: a point between digits or a colon before one of them.
fn runs(reading: &Reading<'_>) -> Vec<Range<usize>> {
    let bytes = reading.text().as_bytes();
    let next = |at: usize| bytes.get(at + 1);
    let points =
        reading.digits().iter().map(|run| run.end).filter(|at| {
            bytes.get(*at) == Some(&b'.') && next(*at).is_some_and(u8::is_ascii_digit)
        });
    let colons = reading.signs().iter().copied().filter(|at| {
        bytes.get(*at) == Some(&b':')
            && next(*at).is_some_and(|next| next.is_ascii_hexdigit() || *next == b':')
    });
    let (mut points, mut colons) = (points.peekable(), colons.peekable());
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut floor = 0;
    let in_turn = std::iter::from_fn(|| match (points.peek(), colons.peek()) {
        (Some(point), Some(colon)) if point > colon => colons.next(),
        (Some(_), _) => points.next(),
        _ => colons.next(),
    });
    for at in in_turn {
        if at < floor {
            continue;
        }
        let head = bytes.get(floor..at).unwrap_or_default();
        let start = at - head.iter().rev().take_while(|byte| is_part(**byte)).count();
        let tail = bytes.get(at..).unwrap_or_default();
        floor = at + tail.iter().take_while(|byte| is_part(**byte)).count();
        runs.push(start..floor);
    }
    runs
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.')
}

/// The run as an IPv6 address, without the punctuation around it.
fn ipv6(reading: &Reading<'_>, run: &Range<usize>) -> Option<Range<usize>> {
    let text = reading.text();
    let whole = text.get(run.clone())?;
    // The longest form has 45 characters; some punctuation may stand around it.
    if whole.len() > 64 || whole.bytes().filter(|byte| *byte == b':').count() < 2 {
        return None;
    }
    if placeholder_before(text, run.start) || placeholder_after(text, run.end) {
        return None;
    }
    let (mut start, mut end) = (run.start, run.end);
    let trimmed = whole.trim_start_matches('.');
    start += whole.len() - trimmed.len();
    if trimmed.starts_with(':') && !trimmed.starts_with("::") {
        start += 1;
    }
    let trimmed = whole.trim_end_matches('.');
    end -= whole.len() - trimmed.len();
    if trimmed.ends_with(':') && !trimmed.ends_with("::") {
        end -= 1;
    }
    if before(text, start).is_some_and(is_word) || after(text, end).is_some_and(is_word) {
        return None;
    }
    let written = text.get(start..end)?;
    let address: Ipv6Addr = written.parse().ok()?;
    let range = start..end + zone(text, end);
    let accepted = match written {
        "::" => is_any_address(reading, &range),
        _ => is_plausible(written, address) || is_said_to_be_one(reading, &range),
    };
    accepted.then_some(range)
}

/// Short forms such as `dead::beef` or `a1::b2` are mostly names in source code. One of four or
/// more groups counts; a short one must have a digit and lie in a block that is in use.
fn is_plausible(written: &str, address: Ipv6Addr) -> bool {
    let groups = written.split(':').filter(|group| !group.is_empty()).count();
    let has_digit = written.bytes().any(|byte| byte.is_ascii_digit());
    if groups >= 5 || (groups == 4 && has_digit) {
        return true;
    }
    let in_use = match address.segments() {
        [0, ..] => written.starts_with("::"),
        [0x64, 0xff9b, ..] => true, // RFC 6052
        [first, ..] => {
            (0x2000..=0x3fff).contains(&first)     // RFC 3587
                || (0xfc00..=0xfdff).contains(&first) // RFC 4193
                || (0xfe80..=0xfebf).contains(&first) // RFC 4291
                || first >= 0xff00
        }
    };
    in_use && has_digit
}

/// Words in front of an address, in lower case.
const ANNOUNCING: [&str; 17] = [
    "ip",
    "ips",
    "ipv",
    "address",
    "adresse",
    "adres",
    "adresi",
    "dirección",
    "indirizzo",
    "addr",
    "host",
    "src",
    "dst",
    "source",
    "destination",
    "gateway",
    "dns",
];

/// A word right in front says that a short form is an address; or nothing is there but a form that
/// begins with a digit, as no name in code does.
fn is_said_to_be_one(reading: &Reading<'_>, range: &Range<usize>) -> bool {
    let written = reading.text().get(range.clone()).unwrap_or_default();
    (reading.is_alone(range) && written.starts_with(|c: char| c.is_ascii_digit()))
        || (written.bytes().any(|byte| byte.is_ascii_digit()) && is_announced(reading, range))
}

fn is_announced(reading: &Reading<'_>, range: &Range<usize>) -> bool {
    let word = reading.words().before(range.start).next();
    word.is_some_and(|word| ANNOUNCING.contains(&word.as_str()))
}

/// Two colons are an address (RFC 4291, "any") where a name is set to them, in brackets and in front
/// of a length; in code they mostly stand between words.
fn is_any_address(reading: &Reading<'_>, range: &Range<usize>) -> bool {
    let text = reading.text();
    let next = after(text, range.end);
    match before(text, range.start) {
        Some('=') => is_announced(reading, range),
        Some('[') => next == Some(']') && is_announced(reading, range),
        Some(' ') | None => {
            let sentence = matches!(next, Some('.' | ',' | ';' | ')' | '\n') | None);
            next == Some('/') || (sentence && is_announced(reading, range))
        }
        _ => false,
    }
}

/// Bytes of a zone such as `%eth0` (RFC 4007).
fn zone(text: &str, at: usize) -> usize {
    let Some(name) = text.get(at..).and_then(|tail| tail.strip_prefix('%')) else {
        return 0;
    };
    match name.bytes().take(16).take_while(u8::is_ascii_alphanumeric).count() {
        0 => 0,
        length => length + 1,
    }
}

/// The lowest first number of an address with a port behind a point.
const LOWEST: u8 = 10;

/// Bytes of the shortest IPv4 address.
const SHORTEST: usize = "0.0.0.0".len();

/// The IPv4 addresses of a run: four numbers with points between them, whatever word follows.
fn ipv4(text: &str, run: &Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if run.len() < SHORTEST {
        return found;
    }
    let mut at = run.start;
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    for piece in text.get(run.clone()).unwrap_or_default().split(|c| !is_part(c)) {
        let range = at..at + piece.len();
        at = range.end + 1;
        if piece.len() < SHORTEST {
            continue;
        }
        let mut start = range.start;
        for written in piece.split("..") {
            let address = without_port(written.trim_matches('.'));
            let begin = start + (written.len() - written.trim_start_matches('.').len());
            let number = begin..begin + address.len();
            start += written.len() + 2;
            if address.parse::<Ipv4Addr>().is_ok()
                && !is_inside_of_more(text, &number)
                && !is_version(text.get(..number.start).unwrap_or_default())
            {
                found.push(number);
            }
        }
    }
    found
}

/// Without the port that tools which watch networks write behind a fifth point. Numbers of versions,
/// sections and objects begin lower.
fn without_port(written: &str) -> &str {
    match written.rsplit_once('.') {
        Some((address, port))
            if address.parse::<Ipv4Addr>().is_ok_and(|it| it.octets()[0] >= LOWEST)
                && port.parse::<u16>().is_ok() =>
        {
            address
        }
        _ => written,
    }
}

/// True for a part of a word, for what a point joins to a word before it, and for a part of a longer
/// dotted number, masked or not.
fn is_inside_of_more(text: &str, number: &Range<usize>) -> bool {
    let head = text.get(..number.start).unwrap_or_default();
    let word = head.trim_end_matches('.');
    word.ends_with(char::is_alphanumeric)
        || after(text, number.end).is_some_and(char::is_alphanumeric)
        || (word.len() < head.len() && placeholder_before(text, word.len()))
        || (after(text, number.end) == Some('.') && placeholder_after(text, number.end + 1))
}

fn is_version(head: &str) -> bool {
    let head = head.trim_end_matches([' ', '\t', ':', '=', '.', '"', '\'', '(', '#']);
    let word = head.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_lowercase();
    NOT_AN_ADDRESS.contains(&word.as_str())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::super::reading::read;
    use super::*;

    fn addresses(text: &str) -> Vec<&str> {
        find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn addresses_are_found_without_what_stands_around_them() {
        let cases = [
            ("at 10.0.0.1.", "10.0.0.1"),
            ("10.0.0.1:8080", "10.0.0.1"),
            ("192.168.77.77.md", "192.168.77.77"),
            ("10.1.2.3.log", "10.1.2.3"),
            ("10.1.2.3.bak", "10.1.2.3"),
            ("host-10.1.2.3", "10.1.2.3"),
            ("host-10.1.2.3.Then", "10.1.2.3"),
            ("10.1.2.3/24", "10.1.2.3"),
            ("10.1.2.3..300", "10.1.2.3"),
            ("(10.0.0.0/8)", "10.0.0.0"),
            ("ip_10.0.0.1_x", "10.0.0.1"),
            ("ip:fe80::1%eth0, ok", "fe80::1%eth0"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.1"),
            ("from 2001:db8::7: refused", "2001:db8::7"),
            ("net fd00:: is ours", "fd00::"),
            ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
            ("IP 192.168.77.7.443 > x", "192.168.77.7"),
            ("1::8", "1::8"),
            ("address: 1::", "1::"),
            ("src=:: x", "::"),
            ("the IPv6 address ::.", "::"),
            ("route ::/0", "::"),
            ("host [::]:80", "::"),
        ];
        for (text, address) in cases {
            assert_eq!(addresses(text), [address], "{text}");
        }
    }

    #[test]
    fn versions_times_and_names_are_no_addresses() {
        for text in [
            "version 1.2.3.4",
            "EC 1.14.16.2",
            "Version: 1.2.3.4",
            "v1.2.3.4",
            "app.version=1.2.3.4",
            "sürüm 1.2.3.4",
            "1.2.3.4.5",
            "1.2.3.4.5.md",
            "version 1.2.3.4.md",
            "libx.so.1.2.3.4",
            "1.2.3.4a",
            "section 1.2.3.4",
            "10:02:11",
            "00:1A:2B:3C:4D:5E",
            "a1::b2",
            "f32::abs",
            "std::f64::e",
            "::",
            "x :: Int",
            "Vec::<u8>::new() and a[::]",
            "10.20.30.40.50.60",
            "1.3.6.1.4",
            "1:2:3:4",
            "01.02.03.04",
        ] {
            assert_eq!(addresses(text), [""; 0], "{text}");
        }
    }
}
