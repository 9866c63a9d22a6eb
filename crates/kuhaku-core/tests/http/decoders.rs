//! Decoders of streams: the same events, whatever the pieces.

use std::time::Duration;

use kuhaku_core::{ErrorKind, LineDecoder, SseDecoder, SseEvent};
use proptest::prelude::*;

/// Cuts bytes at these places, modulo what is left.
fn pieces<'a>(mut bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for cut in cuts {
        let (piece, rest) = bytes.split_at(cut % (bytes.len() + 1));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

fn events(pieces: &[&[u8]]) -> (Vec<SseEvent>, Option<SseEvent>) {
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        while let Some(event) = decoder.next_event().unwrap() {
            events.push(event);
        }
    }
    (events, decoder.finish())
}

fn lines(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut decoder = LineDecoder::new(1 << 20);
    let mut lines = Vec::new();
    for piece in pieces {
        decoder.feed(piece);
        while let Some(line) = decoder.next_line().unwrap() {
            lines.push(line.to_vec());
        }
    }
    (lines, decoder.rest().to_vec())
}

#[test]
fn events_are_read_as_the_standard_says() {
    let table: [(&str, &[&str]); 15] = [
        ("data: one\n\ndata:two\n\n", &["one", "two"]),
        ("data: one\r\n\r\ndata: two\r\n\r\n", &["one", "two"]),
        ("data: one\r\rdata: two\r\r", &["one", "two"]),
        ("data: one\r\n\ndata: two\n\r\n", &["one", "two"]),
        ("data: a\ndata: b\n\n", &["a\nb"]),
        ("data\n\n", &[""]),
        ("data\ndata\n\n", &["\n"]),
        ("data:  two spaces\n\n", &[" two spaces"]),
        (": comment\n\n:\n\n", &[]),
        ("event: ping\n\n", &[]),
        ("data: a\n:comment\ndata: b\n\n", &["a\nb"]),
        ("\u{feff}data: marked\n\n", &["marked"]),
        ("data: a: b\nother: c\n\n", &["a: b"]),
        ("data: never ended\n", &[]),
        ("DATA: a\n\n", &[]),
    ];
    for (text, expected) in table {
        let (events, _) = events(&[text.as_bytes()]);
        let seen: Vec<_> = events.iter().map(|event| event.data.as_str()).collect();
        assert_eq!(seen, expected, "{text:?}");
    }
    let text = "event: delta\nid: 7\nretry: 1500\ndata: a\n\nretry: soon\nid: a\0b\ndata: b\n\n";
    let (events, rest) = events(&[text.as_bytes()]);
    assert_eq!((events[0].name.as_str(), events[0].id.as_deref()), ("delta", Some("7")));
    assert_eq!(events[0].retry, Some(Duration::from_millis(1500)));
    assert_eq!((events[1].name.as_str(), &events[1].id, events[1].retry), ("", &None, None));
    assert_eq!(rest, None);
}

#[test]
fn the_event_that_the_end_cut_can_be_had() {
    for (text, expected) in [
        ("data: a\n\ndata: [DONE]\n", Some("[DONE]")),
        ("data: a\n\ndata: [DONE]", Some("[DONE]")),
        ("data: a\n\n", None),
        ("data: a\n\n: comment", None),
        ("", None),
    ] {
        let (_, rest) = events(&[text.as_bytes()]);
        assert_eq!(rest.as_ref().map(|event| event.data.as_str()), expected, "{text:?}");
    }
}

#[test]
fn what_is_too_long_is_refused_and_not_kept() {
    let mut lines = LineDecoder::new(10);
    lines.feed(b"0123456789\n0123456789");
    assert_eq!(lines.next_line().unwrap().unwrap().len(), 10);
    assert_eq!(lines.next_line().unwrap(), None);
    lines.feed(b"0");
    assert_eq!(*lines.next_line().unwrap_err().kind(), ErrorKind::ResponseTooLarge);
    // Many short lines of one event are no way around the limit.
    let mut events = SseDecoder::new(10);
    let seen = (0..20).find_map(|_| {
        events.feed(b"data: a\n");
        events.next_event().err()
    });
    assert_eq!(*seen.unwrap().kind(), ErrorKind::ResponseTooLarge);
}

#[test]
fn a_long_line_in_single_bytes_is_linear() {
    let mut lines = LineDecoder::new(4 << 20);
    for _ in 0..4 << 20 {
        lines.feed(b"a");
        assert_eq!(lines.next_line().unwrap(), None);
    }
    lines.feed(b"\n");
    assert_eq!(lines.next_line().unwrap().unwrap().len(), 4 << 20);
}

/// Text made of what matters to the decoders.
fn stream_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("data: "),
        Just("data"),
        Just("event: x"),
        Just("id: 1"),
        Just(":"),
        Just("\n"),
        Just("\r"),
        Just("\r\n"),
        Just("\n\n"),
        Just("日本"),
        Just("🦀"),
        Just("é"),
        Just(" "),
        Just("\u{feff}"),
        Just("{\"a\":1}"),
        Just("retry: 5"),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn pieces_do_not_matter(
        text in stream_text(),
        cuts in prop::collection::vec(0usize..12, 0..40),
    ) {
        let bytes = text.as_bytes();
        let cut = pieces(bytes, &cuts);
        prop_assert_eq!(events(&cut), events(&[bytes]));
        prop_assert_eq!(lines(&cut), lines(&[bytes]));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
        longest in 0usize..50,
    ) {
        let mut decoder = SseDecoder::new(longest);
        for piece in pieces(&bytes, &cuts) {
            decoder.feed(piece);
            while let Ok(Some(event)) = decoder.next_event() {
                // A byte that is no UTF-8 becomes a character of three.
                prop_assert!(event.data.len() <= 3 * longest);
            }
        }
        let _ = decoder.finish();
    }

    #[test]
    fn lines_are_what_the_text_has(text in "[a-z\n]{0,60}") {
        let (mut seen, rest) = lines(&[text.as_bytes()]);
        seen.push(rest);
        let expected: Vec<_> = text.split('\n').map(|line| line.as_bytes().to_vec()).collect();
        prop_assert_eq!(seen, expected);
    }
}
