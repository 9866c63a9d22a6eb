//! What is read out of a model's reply, and what is not.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test ends when something is wrong"
)]

use kuhaku_extract::{
    Parsed, PartialReply, PieceKind, RepairKind, ReplyLimits, Unparsed, Verdict, parse_reply,
};
use serde_json::{Value, json};

/// Takes any object or list.
fn read(text: &str) -> Result<Parsed, Unparsed> {
    parse_reply(text, &ReplyLimits::default(), &mut |value| match value {
        Value::Object(_) | Value::Array(_) => Verdict::Satisfied,
        _ => Verdict::Refused,
    })
}

/// Takes an object with the key `data`, as the pipeline does.
fn data(text: &str) -> Result<Parsed, Unparsed> {
    parse_reply(text, &ReplyLimits::default(), &mut |value| match value.get("data") {
        Some(Value::Object(data)) if data.contains_key("product") => Verdict::Satisfied,
        Some(Value::Object(data)) => Verdict::Usable(data.len() as u32),
        _ => Verdict::Refused,
    })
}

fn value(text: &str) -> Value {
    read(text).unwrap_or_else(|why| panic!("{text}: {why}")).value
}

fn kinds(text: &str) -> Vec<RepairKind> {
    read(text).unwrap().repairs.iter().map(|repair| repair.kind).collect()
}

/// W-69
#[test]
fn the_value_is_found_among_fences_prose_reasoning_and_other_objects() {
    let tea = json!({"data": {"product": "tea"}});
    for text in [
        "{\"data\": {\"product\": \"tea\"}}",
        "```json\n{\"data\": {\"product\": \"tea\"}}\n```",
        "````\n{\"data\": {\"product\": \"tea\"}}\n````",
        "Sure! Here it is:\n\n```\n{\"data\": {\"product\": \"tea\"}}\n```\nAnything {else}?",
        "<think>{\"data\": {\"product\": \"coffee\"}}</think>\n{\"data\": {\"product\": \"tea\"}}",
        "{\"thought\": 1} {\"data\": {\"product\": \"tea\"}}",
        "{\"data\": {\"product\": \"tea\"}} {\"data\": {\"product\": \"coffee\"}}",
        "{\"data\": {\"product\": \"tea\"}} }",
        "{\"data\": {\"product\": \"tea\"}} I left the {rest} out, [see above",
        "I think {the answer} is [1]: {\"data\": {\"product\": \"tea\"}}",
        "it is {so {\"data\": {\"product\": \"tea\"}}",
        "[{\"data\": {\"product\": \"tea\"}}]",
        "{\"answer\": {\"data\": {\"product\": \"tea\"}}}",
        "{'data': {'product': 'tea',},}",
        "{“data”: {“product”: “tea”}}",
        "{data: {product: tea}}",
        "{\"data\": { // of the order\n \"product\": \"tea\" /* green */ } # all\n}",
    ] {
        assert_eq!(data(text).unwrap_or_else(|why| panic!("{text}: {why}")).value, tea, "{text}");
    }
}

#[test]
fn the_first_value_that_satisfies_wins_and_else_the_best() {
    let parsed = data("{\"data\": {}} {\"data\": {\"a\": 1}} {\"data\": {\"b\": 1}} {\"x\": 1}");
    assert_eq!(parsed.unwrap().value, json!({"data": {"a": 1}}));
    let parsed =
        data("{\"data\": {\"a\": 1}} {\"data\": {\"product\": null}} {\"data\": {}}").unwrap();
    assert_eq!(
        (parsed.value, parsed.verdict),
        (json!({"data": {"product": null}}), Verdict::Satisfied)
    );
    assert_eq!(data("{\"x\": 1} [2]"), Err(Unparsed::NotAccepted));
}

#[test]
fn a_value_that_is_cut_off_is_never_completed() {
    let whole =
        "{\"data\": {\"product\": \"green tea\", \"lines\": [1, {\"a\": null}], \"n\": 12}}";
    for end in 1..whole.len() {
        let text = &whole[..end];
        assert_eq!(read(text), Err(Unparsed::Truncated), "{text}");
        assert_eq!(data(&format!("Here: ```json\n{text}")), Err(Unparsed::Truncated), "{text}");
    }
    for text in [
        "{\"data\": {\"product\": \"tea\"}\n```\nThat is all.",
        "[{\"data\": {\"product\": \"tea\"}}, {\"data\"",
        "{\"draft\": {\"data\": {\"product\": \"tea\"}}, \"data\": {\"prod",
        "{\"data\": {\"product\": \"tea\" /* and",
        "{\"a\": \"\\u00",
    ] {
        assert_eq!(data(text), Err(Unparsed::Truncated), "{text}");
    }
    // A whole one in a second fence is a second try of the model's.
    let again = "```\n{\"data\": {\"product\": \"t\n```\n{\"data\": {\"product\": \"tea\"}}";
    assert_eq!(data(again).unwrap().value["data"]["product"], "tea");
    let again = "```\n{\"data\": {\n```\n{\"data\": {\"product\": \"tea\"}}";
    assert_eq!(data(again).unwrap().value["data"]["product"], "tea");
}

#[test]
fn what_was_mended_is_reported() {
    use RepairKind as Kind;
    for (text, expected) in [
        ("{\"a\": 1}", vec![]),
        ("{\"a\": 1,}", vec![Kind::StrayComma]),
        ("{\"a\": True}", vec![Kind::Literal]),
        ("{'a': 1}", vec![Kind::SingleQuotes]),
        ("{“a”: 1}", vec![Kind::SmartQuotes]),
        ("{a: 1}", vec![Kind::BareKey]),
        ("{\"a\": b}", vec![Kind::BareString]),
        ("{\"a\": 1 /* b */}", vec![Kind::Comment]),
        ("{\"a\": \"b \"c\" d\"}", vec![Kind::InnerQuote]),
        ("{\"a\": \"b\nc\"}", vec![Kind::ControlCharacter]),
        ("{\"a\": \"b\\d\"}", vec![Kind::UnknownEscape]),
        ("{\"a\": 1 \"b\": 2}", vec![Kind::MissingComma]),
        ("{\"a\": 1, \"b\" \"c\"}", vec![Kind::MissingColon]),
        ("{\"a\": 1, \"a\": 2}", vec![Kind::DuplicateKey]),
        ("{\"a\": .5}", vec![Kind::NumberForm]),
        ("{\"a\": 123456789012345678901}", vec![Kind::ExactNumber]),
        ("{\"a\": NaN}", vec![Kind::NotANumber]),
        ("{\"a\": }", vec![Kind::MissingValue]),
        ("[1, 2, ...]", vec![Kind::Ellipsis]),
        ("{\"a\": (1, 2)}", vec![Kind::PythonList]),
        ("{\"a\": 1}, \"b\": 2}", vec![Kind::StrayCloser]),
        ("[{\"a\": [1}, {\"a\": [2]}]", vec![Kind::MissingCloser]),
        ("[\"a\": 1]", vec![Kind::MissingOpener]),
        ("{\"a\": \"b\" oops }", vec![Kind::StrayText]),
        ("```\n{\"a\": 1}\n```", vec![Kind::Fence]),
        ("Yes: {\"a\": 1}", vec![Kind::Prose]),
        ("{\"a\": 1} so", vec![Kind::Prose]),
        ("<think></think>{\"a\": 1}", vec![Kind::Reasoning]),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
    let parsed = read("{a: 1, b: 2}").unwrap();
    assert_eq!((parsed.repairs[0].at, parsed.repairs[0].count), (1, 2));
    assert_eq!(data("{} [{\"data\": {\"product\": 1}}]").unwrap().repairs.len(), 3);
}

#[test]
fn quotes_within_strings_stay_where_they_are() {
    for (text, expected) in [
        ("{\"a\": \"the \"big\" one\"}", json!({"a": "the \"big\" one"})),
        ("{\"a\": \"say \"hi\", then go\", \"b\": 1}", json!({"a": "say \"hi\", then go", "b": 1})),
        ("{'a': 'it's fine', 'b': 'O\\'Hara'}", json!({"a": "it's fine", "b": "O'Hara"})),
        ("{\"a\": \"12\" screen\"}", json!({"a": "12"})), // the rest is stray text
        ("{\"a\": \"a {b} [c] // d\"}", json!({"a": "a {b} [c] // d"})),
        ("{\"a\": \"\\ud83c\\udf75 \\u00e7ay\"}", json!({"a": "🍵 çay"})),
        ("{\"a\": \"\\ud83c\"}", json!({"a": "\\ud83c"})),
    ] {
        match read(text) {
            Ok(parsed) => assert_eq!(parsed.value, expected, "{text}"),
            Err(why) => assert_eq!(why, Unparsed::Truncated, "{text}"),
        }
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_not_read() {
    for text in [
        "{\"a\": {\"b\": [\"c\"}, \"d\": 1}",
        "{\"a\": b c: d}",
        "{\"a\": \"b, \"c\": \"d\"}",
        "{\"a\": 1,000}",
        "{\"a\" \"b\"}",
        "{\"a\": [1], [2]}",
    ] {
        assert!(
            matches!(
                data(text),
                Err(Unparsed::NoJson | Unparsed::NotAccepted | Unparsed::Truncated)
            ),
            "{text}: {:?}",
            read(text)
        );
        assert!(!matches!(read(text), Ok(parsed) if parsed.value.is_object()), "{text}");
    }
}

/// EXT-08
#[test]
fn no_number_is_rounded_and_none_is_nan() {
    assert_eq!(value("{\"a\": 18446744073709551615}"), json!({"a": u64::MAX}));
    let long = "{\"a\": 12345678901234567890123}";
    assert_eq!(value(long), json!({"a": "12345678901234567890123"}));
    assert_eq!(value("{\"a\": [NaN, -Infinity]}"), json!({"a": ["NaN", "-Infinity"]}));
}

#[test]
fn limits_hold() {
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    assert_eq!(read(&deep), Err(Unparsed::TooDeep));
    let limits = ReplyLimits::default().max_depth(100);
    assert!(parse_reply(&deep, &limits, &mut |_| Verdict::Satisfied).is_ok());
    let short = ReplyLimits::default().max_bytes(3);
    assert_eq!(
        parse_reply("{\"a\": 1}", &short, &mut |_| Verdict::Satisfied),
        Err(Unparsed::TooLarge)
    );
    for text in ["", " \n", "tea", "no { brace } of worth", "\"", "}"] {
        assert_eq!(read(text), Err(Unparsed::NoJson), "{text}");
    }
    assert_eq!(read("{"), Err(Unparsed::Truncated));
}

/// Judging a value may cost much more than reading it.
#[test]
fn a_reply_of_very_many_values_is_not_judged_to_its_end() {
    let (mut judged, limits) = (0, ReplyLimits::default());
    let outcome = parse_reply(&"{\"a\": [1]} ".repeat(10_000), &limits, &mut |_| {
        judged += 1;
        Verdict::Refused
    });
    assert_eq!(outcome, Err(Unparsed::NotAccepted));
    assert!((100..300).contains(&judged), "{judged}");
}

#[test]
fn a_reply_that_is_one_scalar_is_offered() {
    let any = &mut |_: &Value| Verdict::Satisfied;
    let limits = ReplyLimits::default();
    assert_eq!(parse_reply(" 5\n", &limits, any).unwrap().value, json!(5));
    assert_eq!(parse_reply("\"tea\"", &limits, any).unwrap().value, json!("tea"));
    assert_eq!(parse_reply("null", &limits, any).unwrap().value, json!(null));
}

#[test]
fn partial_pieces_are_complete_and_in_order() {
    let text = "<think>{\"data\": 1}</think> Here {so}:\n```json\n{\"data\": {\"a/b\": \"x \\\"y\\\"\", \
                \"l\": [1, {\"z\": null}, []], \"n\": -2.5e1 }, \"new\": true}\n``` {\"data\": 2}";
    let expected = [
        ("/data/a~1b", PieceKind::Scalar(json!("x \"y\""))),
        ("/data/l/0", PieceKind::Scalar(json!(1))),
        ("/data/l/1/z", PieceKind::Scalar(json!(null))),
        ("/data/l/1", PieceKind::Object),
        ("/data/l/2", PieceKind::List),
        ("/data/l", PieceKind::List),
        ("/data/n", PieceKind::Scalar(json!(-25.0))),
        ("/data", PieceKind::Object),
        ("/new", PieceKind::Scalar(json!(true))),
        ("", PieceKind::Object),
    ];
    for size in [1, 2, 3, 7, 1000] {
        let mut reply = PartialReply::default();
        let mut pieces = Vec::new();
        let chars: Vec<char> = text.chars().collect();
        for part in chars.chunks(size) {
            pieces.extend(reply.push(&part.iter().collect::<String>()));
        }
        let got: Vec<_> = pieces.iter().map(|it| (it.pointer.as_str(), it.kind.clone())).collect();
        assert_eq!(got, expected, "{size}");
    }
}

#[test]
fn a_partial_value_is_given_only_when_nothing_can_change_it() {
    let mut reply = PartialReply::default();
    assert_eq!(reply.push("{\"a\": \"tea\""), []);
    assert_eq!(reply.push("  "), []);
    assert_eq!(reply.push(",").len(), 1);
    assert_eq!(reply.push(" \"b\": 12"), []);
    assert_eq!(reply.push("3"), []);
    assert_eq!(reply.push(" }").len(), 2);
    assert_eq!(reply.push(", \"c\": 1}"), []);
    // From a fault on, nothing is certain.
    let mut reply = PartialReply::default();
    assert_eq!(reply.push("{\"a\": \"say \"hi\", \"b\": 1}{\"c\": 2,"), []);
    let mut reply = PartialReply::default();
    assert_eq!(reply.push("{\"a\": 1, \"b\": None, \"c\": 2}").len(), 1);
    let mut reply = PartialReply::default();
    assert_eq!(reply.push(&"[".repeat(1000)), []);
    assert_eq!(reply.push(&format!("{{\"a\": {}", "[".repeat(1000))), []);
}
