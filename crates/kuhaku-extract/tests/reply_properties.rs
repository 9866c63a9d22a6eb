//! What holds for every reply.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test ends when something is wrong"
)]

use std::time::{Duration, Instant};

use kuhaku_extract::{PartialReply, PieceKind, ReplyLimits, Unparsed, Verdict, parse_reply};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z \"'`{}\\[\\],:#/\\\\\n…“”]{0,12}".prop_map(Value::from),
    ];
    let key = "[a-z\"': ,{}/~\\\\ç]{0,6}";
    leaf.prop_recursive(4, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::vec(("[a-z]{1,4}", json()), 1..5)
        .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>()))
}

/// What broken replies are made of.
fn rubble() -> impl Strategy<Value = String> {
    let shard = prop_oneof![
        4 => "[{}\\[\\](),:\"'`#/\\\\\n ]{1,3}",
        2 => "[a-zçş0-9._+-]{1,5}",
        1 => Just("\"key\": ".to_owned()),
        1 => Just("```".to_owned()),
        1 => Just("<think>".to_owned()),
        1 => Just("</think>".to_owned()),
        1 => Just("None".to_owned()),
        1 => Just("\\u00e7".to_owned()),
        1 => Just("“".to_owned()),
        1 => Just("1e9".to_owned()),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(shard, 0..40).prop_map(|shards| shards.concat())
}

fn read(text: &str) -> Result<Value, Unparsed> {
    let mut any = |value: &Value| match value {
        Value::Object(_) | Value::Array(_) => Verdict::Satisfied,
        _ => Verdict::Refused,
    };
    parse_reply(text, &ReplyLimits::default(), &mut any).map(|parsed| parsed.value)
}

/// Escapes are the only way in which a string may differ from the reply's own characters.
fn stands(word: &str, text: &str) -> bool {
    let mut rest = text;
    loop {
        if begins(word, rest) {
            return true;
        }
        let mut chars = rest.chars();
        if chars.next().is_none() {
            return false;
        }
        rest = chars.as_str();
    }
}

/// Whether `text` begins with `word`, written with or without escapes or doubled quotes.
fn begins(word: &str, text: &str) -> bool {
    let (mut word, mut text) = (word, text);
    loop {
        let Some(c) = word.chars().next() else { return true };
        if let Some(rest) = text.strip_prefix(c) {
            (word, text) = (&word[c.len_utf8()..], rest);
            continue;
        }
        let Some(rest) = text.strip_prefix('\\') else { return false };
        let short = match c {
            '\n' => Some('n'),
            '\t' => Some('t'),
            '\r' => Some('r'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            _ => None,
        };
        let after = if let Some(after) = short.and_then(|it| rest.strip_prefix(it)) {
            after
        } else if let Some(after) = rest.strip_prefix("u00e7").filter(|_| c == 'ç') {
            after
        } else if rest.starts_with(c) {
            rest
        } else {
            return false;
        };
        if rest.starts_with(c) && short.is_none() && after.len() == rest.len() {
            text = rest;
            continue;
        }
        (word, text) = (&word[c.len_utf8()..], after);
    }
}

fn strings(value: &Value, each: &mut impl FnMut(&str)) {
    match value {
        Value::String(it) => each(it),
        Value::Array(items) => items.iter().for_each(|it| strings(it, each)),
        Value::Object(map) => {
            for (key, it) in map {
                each(key);
                strings(it, each);
            }
        }
        Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

fn numbers(value: &Value, each: &mut impl FnMut(f64)) {
    match value {
        Value::Number(it) => each(it.as_f64().unwrap()),
        Value::Array(items) => items.iter().for_each(|it| numbers(it, each)),
        Value::Object(map) => map.values().for_each(|it| numbers(it, each)),
        Value::String(_) | Value::Null | Value::Bool(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_json_is_read_as_it_is(value in object(), pretty in any::<bool>(), before in "[a-z .!\n]{0,9}") {
        let text = if pretty {
            serde_json::to_string_pretty(&value).unwrap()
        } else {
            value.to_string()
        };
        prop_assert_eq!(read(&text), Ok(value.clone()));
        let fenced = format!("{before}\n```json\n{text}\n```\nbye");
        prop_assert_eq!(read(&fenced), Ok(value));
    }

    #[test]
    fn every_part_of_plain_json_is_truncated(value in object(), place in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).skip(1).collect();
        let part = &text[..*place.get(&ends)];
        prop_assert_eq!(read(part), Err(Unparsed::Truncated), "{}", part);
    }

    #[test]
    fn nothing_is_invented(text in rubble()) {
        if let Ok(value) = read(&text) {
            let mut wrong = Vec::new();
            strings(&value, &mut |word| if !stands(word, &text) { wrong.push(word.to_owned()) });
            prop_assert!(wrong.is_empty(), "{:?} out of {:?}", wrong, text);
            let written: Vec<f64> = text
                .split(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)))
                .filter_map(|it| it.parse().ok())
                .collect();
            numbers(&value, &mut |number| if !written.contains(&number) { wrong.push(number.to_string()) });
            prop_assert!(wrong.is_empty(), "{:?} out of {:?}", wrong, text);
        }
    }

    #[test]
    fn partial_pieces_agree_with_the_whole(value in object(), size in 1_usize..9) {
        let text = value.to_string();
        let mut reply = PartialReply::default();
        let mut scalars = 0;
        let chars: Vec<char> = text.chars().collect();
        let mut pieces = Vec::new();
        for part in chars.chunks(size) {
            pieces.extend(reply.push(&part.iter().collect::<String>()));
        }
        for piece in &pieces {
            let at = value.pointer(&piece.pointer);
            match &piece.kind {
                PieceKind::Scalar(scalar) => {
                    scalars += 1;
                    prop_assert_eq!(Some(scalar), at);
                }
                PieceKind::Object => prop_assert!(at.is_some_and(Value::is_object)),
                _ => prop_assert!(at.is_some_and(Value::is_array)),
            }
        }
        fn leaves(value: &Value) -> usize {
            match value {
                Value::Array(items) => items.iter().map(leaves).sum(),
                Value::Object(map) => map.values().map(leaves).sum(),
                _ => 1,
            }
        }
        prop_assert_eq!(scalars, leaves(&value));
        prop_assert_eq!(&pieces.last().unwrap().pointer, "");
    }

    #[test]
    fn partial_reading_stands_any_rubble(text in rubble()) {
        let mut whole = PartialReply::default();
        let once = whole.push(&text);
        let mut reply = PartialReply::default();
        let parts: Vec<_> = text.chars().flat_map(|c| reply.push(&c.to_string())).collect();
        prop_assert_eq!(once, parts);
    }
}

/// Replies made to cost time, of `size` bytes or so.
fn hostile(size: usize) -> Vec<String> {
    let fill = |shard: &str| shard.repeat(size / shard.len());
    vec![
        fill("["),
        fill("{"),
        fill("[{"),
        fill("{\"a\":"),
        fill("\""),
        fill("{\""),
        fill("[\""),
        format!("{{\"a\": {}", fill("\"")),
        format!("{{\"a\": {}", fill("\" ")),
        format!("[{}", fill("\"a ")),
        format!("[{}", fill("'a' ")),
        fill("{a"),
        fill("{a:"),
        fill("{a:1},"),
        fill("{\"a\":1},\"b\":1},"),
        fill("{\"a\":1}, \"b\":"),
        fill("/*"),
        format!("[{}", fill("/*")),
        format!("{{{}", fill("//\n")),
        format!("[{}", fill("1 ")),
        format!("[{}", fill(" ")),
        fill("[ "),
        fill("[\n"),
        fill("(("),
        format!("[{}", fill("(")),
        format!("[{}]", fill("1,")),
        format!("{{{}", fill("\"a\":1,")),
        format!("[{}", fill("}")),
        format!("{{\"a\":[{}", fill("1},")),
        fill("```"),
        fill("{```"),
        fill("<think>"),
        fill("<think></think>"),
        fill("</"),
        fill("…"),
        format!("[{}", fill("…,")),
        fill("\\"),
        format!("{{\"{}", fill("\\\"")),
        format!("[{}", fill("a: ")),
        format!("{{\"x\":{}", fill("b ")),
        format!("{{{}", fill("a ")),
        format!("{{\"a\":1 {}", fill("b ")),
        format!("{{\"a\":\"{}", fill("\" : ")),
        fill("[[1],"),
        fill("{\"a\":{\"b\":[1},\"c\":1}"),
        fill("[\"a\":"),
        fill("[1e999,"),
        format!("[{}", fill("9")),
        fill("[a]"),
        fill("['a"),
        fill("{'a':'"),
        fill("“"),
        fill("{“"),
        fill(" "),
    ]
}

/// Time is linear: sixteen times the reply costs about sixteen times the time, whatever it is made
/// of. Something quadratic costs 256 times the time; between the two, a busy machine has its room.
#[test]
fn no_reply_costs_more_than_its_length() {
    let time = |text: &str| {
        let start = Instant::now();
        let _ = read(text);
        let mut partial = PartialReply::default();
        let _ = partial.push(text);
        start.elapsed()
    };
    for (small, large) in hostile(16 << 10).iter().zip(&hostile(256 << 10)) {
        let (mut one, mut many) = (Duration::MAX, Duration::MAX);
        let linear = (0..10).any(|_| {
            (one, many) = (one.min(time(small)), many.min(time(large)));
            many < one * 16 * 6 + Duration::from_millis(20)
        });
        let start: String = large.chars().take(9).collect();
        assert!(linear, "{start:?}…: {one:?}, then {many:?}");
    }
}

/// The stack does not grow: a thread with very little of it reads a quarter of a million brackets.
#[test]
fn no_reply_grows_the_stack() {
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let thread = small.spawn(|| {
        for text in hostile(256 << 10) {
            let _ = read(&text);
            let mut partial = PartialReply::default();
            let _ = partial.push(&text);
        }
    });
    thread.unwrap().join().unwrap();
}
