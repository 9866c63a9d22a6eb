//! Where values stand in a text, and where they do not.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test ends when something is wrong"
)]

use kuhaku_extract::{DateOrder, Evidence, Finding, Source};
use serde_json::{Value, json};

fn find(text: &str, pointer: &str, value: Value, quote: Option<&str>) -> Finding {
    Evidence::find(&Source::new(text), pointer, &value, quote)
}

/// The evidence for a value, which must be there.
fn evidence(text: &str, value: Value, quote: Option<&str>) -> String {
    let source = Source::new(text);
    match Evidence::find(&source, "/x", &value, quote) {
        Finding::Grounded(span) => {
            let chars: String = text.chars().collect::<Vec<_>>()[span.chars].iter().collect();
            assert_eq!(chars, text[span.bytes.clone()]);
            text[span.bytes].to_owned()
        }
        other => panic!("{value} in {text:?}: {other:?}"),
    }
}

fn is_grounded(text: &str, pointer: &str, value: Value, quote: Option<&str>) -> bool {
    matches!(find(text, pointer, value, quote), Finding::Grounded(_))
}

/// EXT-14, the part that matches.
#[test]
fn a_quote_states_its_value_or_is_a_mismatch_or_not_there() {
    let text = "5 boxes of tea";
    assert_eq!(evidence(text, json!("tea"), Some("tea")), "tea");
    assert_eq!(evidence(text, json!(5), Some("5 boxes")), "5 boxes");
    let Finding::Mismatch(span) = find(text, "/q", json!(500), Some("5 boxes")) else { panic!() };
    assert_eq!((span.bytes, span.chars), (0..7, 0..7));
    assert_eq!(find(text, "/p", json!("coffee"), Some("coffee")), Finding::Ungrounded);
    // A quote that is not there leaves the value, and the value may be there.
    assert_eq!(evidence(text, json!(5), Some("five cases")), "5");
    assert_eq!(evidence(text, json!("Tea"), None), "tea");
    assert_eq!(evidence(text, json!("tea"), Some(" \n")), "tea");
    for nothing in [json!(null), json!(""), json!(" "), json!([]), json!({})] {
        assert_eq!(find(text, "/p", nothing, Some("tea")), Finding::Ungrounded);
    }
}

/// EXT-15
#[test]
fn case_width_and_blanks_do_not_matter_in_any_script() {
    for (text, value, expected) in [
        ("iki ÇAY", "çay", "ÇAY"),
        ("biraz ISPANAK", "ıspanak", "ISPANAK"),
        ("İSTANBUL'a", "istanbul", "İSTANBUL"),
        ("ISTANBUL", "İstanbul", "ISTANBUL"),
        ("I\u{307}stanbul!", "istanbul", "I\u{307}stanbul"),
        ("green \n tea", "Green Tea", "green \n tea"),
        ("ＧＲＥＥＮ　ＴＥＡ", "green tea", "ＧＲＥＥＮ　ＴＥＡ"),
        ("πράσινο ΤΣΑΪ", "τσάϊ", ""),
        ("πράσινος", "ΠΡΆΣΙΝΟΣ", "πράσινος"),
        ("зелёный ЧАЙ", "чай", "ЧАЙ"),
        ("أريد شاي أخضر", "شاي", "شاي"),
        ("मुझे चाय चाहिए", "चाय", "चाय"),
        ("ขอชาเขียวสองกล่อง", "ชาเขียว", "ชาเขียว"),
        ("我要绿茶三盒", "绿茶", "绿茶"),
        ("緑茶をください", "緑茶", "緑茶"),
        ("녹차를 주세요", "녹차", "녹차"),
        ("one 🍵 please", "🍵", "🍵"),
        ("cafe\u{301} noir", "CAFÉ", "cafe\u{301}"),
        ("Straße 5", "STRASSE", "Straße"),
        ("late delivery", "late_delivery", "late delivery"),
    ] {
        if expected.is_empty() {
            assert!(!is_grounded(text, "/x", json!(value), None), "{text}"); // another accent
        } else {
            assert_eq!(evidence(text, json!(value), None), expected, "{text}");
        }
    }
}

/// EXT-15, W-73
#[test]
fn numbers_are_stated_by_value() {
    for (text, value) in [
        ("1500 boxes", json!(1500)),
        ("1.500 kutu", json!(1500)),
        ("1,500 boxes", json!(1500)),
        ("1 500 boxes", json!(1500)),
        ("1\u{202f}500 boxes", json!(1500)),
        ("2,5 kg", json!(2.5)),
        ("2.50 kg", json!(2.5)),
        ("1.234,5", json!(1234.5)),
        ("٣ صناديق", json!(3)),
        ("३ डिब्बे", json!(3)),
        ("１２箱", json!(12)),
        ("๕ กล่อง", json!(5)),
        ("Yirmi beş kutu", json!(25)),
        ("twenty-five boxes", json!(25)),
        ("a dozen eggs", json!(12)),
        ("5 boxes", json!(5.0)),
        ("five boxes", json!("5")),
        ("−5°C", json!(-5)),
        ("12 May 2024", json!("2024-05-12")),
        ("12.05.2024", json!("2024-05-12")),
        ("12 Mayıs 2024", json!("2024-05-12")),
        ("31/12/2024", json!("2024-12-31")),
    ] {
        assert!(is_grounded(text, "/x", value.clone(), None), "{value} by {text}");
        assert!(is_grounded(text, "/x", value.clone(), Some(text)), "{value} by {text}");
    }
    let source = Source::new("03/04/2024");
    let april = json!("2024-04-03");
    assert_eq!(Evidence::find(&source, "/x", &april, None), Finding::Ungrounded);
    let source = source.with_date_order(DateOrder::DayFirst);
    assert!(matches!(Evidence::find(&source, "/x", &april, None), Finding::Grounded(_)));
}

/// What looks like evidence and is none. W-73
#[test]
fn nothing_false_is_grounded() {
    let cases = [
        ("5.5 kg", json!(5)),
        ("0.5 kg", json!(5)),
        ("5,5 kg", json!(5)),
        ("٥٫٥ كغ", json!(5)),
        ("-5 degrees", json!(5)),
        ("−5", json!(5)),
        ("5 degrees", json!(-5)),
        ("3-5 boxes", json!(-5)),
        ("in 2012", json!(12)),
        ("in 2012", json!(201)),
        ("in 2012", json!("12")),
        ("1500.75", json!(1500)),
        ("150", json!(15)),
        ("1 500", json!(500)),
        ("1.500,25", json!(1500)),
        ("12,345", json!(345)),
        ("5½ kg", json!(5)),
        ("5² m", json!(52)),
        ("5e3", json!(5)),
        ("5.000 TL", json!(5)),
        ("5 and a half", json!(5)),
        ("iki buçuk", json!(2)),
        ("5/8 inch", json!(8)),
        ("12:30", json!(12)),
        ("12.05.2024", json!(12)),
        ("2024-05-12", json!(5)),
        ("2024-05-12", json!("05")),
        ("+90 555-1234", json!(555)),
        ("version 1.2.3", json!(1.2)),
        ("B12 vitamin", json!(12)),
        ("covid-19", json!(19)),
        ("５．５", json!(5)),
        ("5 thousand", json!(5)),
        ("5万", json!(5)),
        ("fifteen", json!(5)),
        ("twenty five", json!(20)),
        ("yirmi beş", json!(5)),
        ("someone", json!(1)),
        ("tea on the table", json!(10)),
        ("steak", json!("tea")),
        ("teas", json!("tea")),
        ("STEAK", json!("Tea")),
        ("tea_bag", json!("tea")),
        ("çayır", json!("çay")),
        ("cay", json!("çay")),
        ("café", json!("cafe")),
        ("cafe\u{301}", json!("cafe")),
        ("ﬁne", json!("f")),
        ("👨‍👩‍👧", json!("👧")),
        ("👍🏽", json!("👍")),
        ("🇹🇷", json!("🇹")),
        ("กำ", json!("ก")),
        ("कि", json!("क")),
        ("чайник", json!("чай")),
        ("자동차", json!("차")),
        ("5.5", json!("5")),
        ("-5", json!("5")),
        ("12 May", json!("2024-05-12")),
        ("12/05/2024", json!("2024-05-12")),
        ("tomorrow", json!("2024-05-12")),
        ("2024-05-1", json!("2024-05-12")),
        ("007", json!(7)),
        ("tea", json!(true)),
        ("5 boxes of tea", json!(true)),
        ("5 boxes of tea", json!(false)),
        ("no gift", json!(true)),
        ("", json!("tea")),
    ];
    for (text, value) in &cases {
        assert!(!is_grounded(text, "/gift", value.clone(), None), "{value} by {text}");
        assert!(!is_grounded(text, "/gift", value.clone(), Some(text)), "{value} quoted {text}");
        // A quote that is cut out of it changes nothing.
        for (start, _) in text.char_indices() {
            for end in (start + 1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                let quote = &text[start..end];
                assert!(
                    !is_grounded(text, "/gift", value.clone(), Some(quote)),
                    "{value} quoted {quote} of {text}"
                );
            }
        }
    }
}

/// W-73
#[test]
fn a_boolean_needs_a_phrase_that_says_it() {
    let text = "5 boxes of tea, no gift wrap. Express: yes";
    let bool = |pointer: &str, value: bool, quote| find(text, pointer, json!(value), quote);
    assert!(matches!(bool("/gift_wrap", true, Some("tea")), Finding::Mismatch(_)));
    assert!(matches!(bool("/gift_wrap", true, Some("gift wrap")), Finding::Mismatch(_)));
    assert!(matches!(bool("/gift_wrap", false, Some("no gift wrap")), Finding::Grounded(_)));
    assert!(matches!(bool("/gift_wrap", false, None), Finding::Grounded(_)));
    assert!(matches!(bool("/express", true, Some("Express: yes")), Finding::Grounded(_)));
    assert!(matches!(bool("/express", true, Some("yes")), Finding::Grounded(_)));
    assert!(matches!(bool("/express", false, Some("yes")), Finding::Mismatch(_)));
    assert_eq!(bool("/insured", true, None), Finding::Ungrounded);
    assert!(is_grounded("şekersiz olsun", "/şeker", json!(false), Some("şekersiz")));
}
