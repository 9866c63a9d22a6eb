//! Runs the recognisers over one text.

use std::ops::Range;
use std::sync::Arc;

use crate::masking::{Masked, Placeholder};

use super::fold::Folded;
use super::joins::{opened, whole};
use super::reading::{Filter, Marks, PLACES, Reading};
use super::recogniser::Recogniser;
use super::token::TokenRecogniser;
use super::{
    card, crypto, email, iban, id_codes, id_numbers, ip, national_id, phone, secret, windows,
};

/// A validated candidate: the bytes and what they are.
pub(super) type Span = (Range<usize>, Placeholder);

/// How often what is left of a text with hidden separators is read again, at most.
const ROUNDS: usize = 3;

/// A recogniser, or several of equal rank.
type Stage<'a> = &'a dyn Fn(&Reading<'_>) -> Vec<Span>;

/// The default recognisers and those of the user.
#[derive(Clone, Debug)]
pub(super) struct Recognisers {
    tokens: Arc<TokenRecogniser>,
    own: Vec<Arc<dyn Recogniser>>,
}

impl Recognisers {
    pub(super) fn new() -> Self {
        Self { tokens: Arc::new(TokenRecogniser::new()), own: Vec::new() }
    }

    pub(super) fn with(mut self, recogniser: Arc<dyn Recogniser>) -> Self {
        self.own.push(recogniser);
        self
    }

    /// The spans of `text` to be masked: disjoint, in order.
    ///
    /// A long text is read in parts, unless a value may reach over any distance in it.
    pub(super) fn spans(&self, text: &str) -> Vec<Span> {
        self.spans_in(text, windows::parts)
    }

    fn spans_in(&self, text: &str, parts: fn(&str) -> Vec<Range<usize>>) -> Vec<Span> {
        if !self.own.is_empty() || self.tokens.may_hold_private_key(text) {
            return self.spans_of(text, ROUNDS);
        }
        let spans_of = |part: Range<usize>| {
            let spans = self.spans_of(text.get(part.clone()).unwrap_or_default(), ROUNDS);
            let moved =
                move |(span, kind): Span| (span.start + part.start..span.end + part.start, kind);
            spans.into_iter().map(moved)
        };
        parts(text).into_iter().flat_map(spans_of).collect()
    }

    /// The spans of a part, in both readings where it has hidden separators. What is left is read again
    /// then, as a second masking would: a mask of one reading may uncover something to the other.
    fn spans_of(&self, text: &str, rounds: usize) -> Vec<Span> {
        let mut spans = self.spans_at(text, PLACES);
        let Some(opened) = opened(text) else { return spans };
        let second = self.spans_at(&opened, PLACES);
        spans.extend(second.into_iter().map(|(range, kind)| (whole(text, range), kind)));
        let mut spans = merge(spans);
        if !spans.is_empty() && rounds > 0 {
            let left = Masked::replacing(text, spans.clone());
            let rest = self.spans_of(left.text(), rounds - 1);
            spans.extend(rest.into_iter().map(|(range, kind)| (left.map().to_source(range), kind)));
            spans = merge(spans);
        }
        spans
    }

    /// The spans at the places that a filter lets through.
    fn spans_at(&self, text: &str, filter: Filter) -> Vec<Span> {
        let folded = Folded::new(text);
        let addresses = |text: &Reading<'_>| self.tokens.find_user_info(text);
        let words = |text: &Reading<'_>| {
            let secrets = [self.tokens.find(text), secret::find(text)].concat();
            let words = [email::find(text), secrets, crypto::find(text)].concat();
            let glued = glued_numbers(text, &words);
            [words, glued].concat()
        };
        let short = |text: &Reading<'_>| self.tokens.find_short_prefixes(text);
        let numbers = |text: &Reading<'_>| {
            [ip::find(text), card::find(text), national_id::find(text)].concat()
        };
        let spread =
            |text: &Reading<'_>| [card::find_spread(text), national_id::find_spread(text)].concat();
        let own = |text: &Reading<'_>| self.find_own(text.text());
        let stages: [Stage<'_>; 11] = [
            &addresses,
            &words,
            &short,
            &iban::find,
            &id_codes::find,
            &numbers,
            &spread,
            &id_numbers::find,
            &phone::find,
            &card::find_short_groups,
            &own,
        ];
        let reading = Reading::new(folded.text(), Marks::of(folded.text()), filter);
        let found = read(&reading, &stages);
        found.into_iter().map(|(range, kind)| (folded.to_source(range), kind)).collect()
    }

    /// What the user's recognisers find outside of placeholders.
    fn find_own(&self, text: &str) -> Vec<Span> {
        if self.own.is_empty() {
            return Vec::new();
        }
        let mut masked: Vec<Range<usize>> = Vec::new();
        for placeholder in Placeholder::ALL.map(Placeholder::as_str) {
            masked.extend(text.match_indices(placeholder).map(|(at, it)| at..at + it.len()));
        }
        masked.sort_by_key(|range| range.start);
        let is_free = |range: &Range<usize>| {
            let next = masked.partition_point(|it| it.end <= range.start);
            text.get(range.clone()).is_some_and(|value| !value.is_empty())
                && masked.get(next).is_none_or(|it| range.end <= it.start)
        };
        let found = self
            .own
            .iter()
            .flat_map(|own| own.find(text).into_iter().map(|range| (range, own.kind())));
        found.filter(|(range, _)| is_free(range)).collect()
    }
}

/// The numbers whose first characters the end of a secret has taken: they go with it.
fn glued_numbers(reading: &Reading<'_>, words: &[Span]) -> Vec<Span> {
    let mut ends: Vec<&Range<usize>> = words
        .iter()
        .filter(|(_, kind)| *kind == Placeholder::Token)
        .map(|(range, _)| range)
        .collect();
    if ends.is_empty() {
        return Vec::new();
    }
    ends.sort_by_key(|range| range.end);
    let is_glued = |number: &Range<usize>| {
        let next = ends.partition_point(|secret| secret.end <= number.start);
        ends.get(next).is_some_and(|secret| {
            secret.start < number.start && number.start < secret.end && secret.end < number.end
        })
    };
    let mut numbers = [iban::find(reading), card::find(reading), phone::find(reading)].concat();
    numbers.retain(|(range, _)| is_glued(range));
    numbers
}

/// Each stage reads what the earlier ones left, with their placeholders in it, as a second masking
/// would. And no recogniser looks at a neighbour that a recogniser of its own or a later stage may
/// replace. Together that makes masking idempotent.
fn read(reading: &Reading<'_>, stages: &[Stage<'_>]) -> Vec<Span> {
    let Some((stage, later)) = stages.split_first() else {
        return Vec::new();
    };
    let mut spans = merge(stage(reading));
    if spans.is_empty() {
        return read(reading, later);
    }
    let text = reading.text();
    let left = Masked::replacing(text, spans.clone());
    let rest = read(&reading.masked(left.text(), &spans), later);
    spans.extend(rest.into_iter().map(|(range, kind)| (left.map().to_source(range), kind)));
    spans.sort_by_key(|(range, _)| range.start);
    spans
}

/// Joins candidates that overlap, so that no part of a value is left beside its mask. The longest
/// names the whole; of two equally long ones the first.
pub(super) fn merge(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|(range, _)| range.start);
    let mut merged: Vec<(Range<usize>, Placeholder, usize)> = Vec::with_capacity(spans.len());
    for (range, kind) in spans {
        match merged.last_mut() {
            Some((whole, name, longest)) if range.start < whole.end => {
                if range.len() > *longest {
                    (*name, *longest) = (kind, range.len());
                }
                whole.end = whole.end.max(range.end);
            }
            _ => {
                let length = range.len();
                merged.push((range, kind, length));
            }
        }
    }
    merged.into_iter().map(|(range, kind, _)| (range, kind)).collect()
}

/// True when a placeholder ends at byte `at` of `text`.
pub(super) fn placeholder_before(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|head| Placeholder::ALL.iter().any(|p| head.ends_with(p.as_str())))
}

/// True when a placeholder begins at byte `at` of `text`.
pub(super) fn placeholder_after(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|tail| Placeholder::ALL.iter().any(|p| tail.starts_with(p.as_str())))
}

/// The character that ends at byte `at`.
pub(super) fn before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// The character that begins at byte `at`.
pub(super) fn after(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::super::long_words::is_part;
    use super::*;

    /// Has read enough for all patterns to be compiled.
    static ALL: LazyLock<Recognisers> = LazyLock::new(|| {
        let all = Recognisers::new();
        all.spans(&"some words that say nothing of anybody, ".repeat(2_000));
        all
    });

    /// Lets recognisers look everywhere.
    const EVERYWHERE: Filter = Filter { fewest: 0, joins: |_| true, long_words: every_word };

    fn every_word(bytes: &[u8]) -> Vec<Range<usize>> {
        let mut start = 0;
        let words = bytes.split(|byte| !is_part(byte)).map(|word| {
            let range = start..start + word.len();
            start = range.end + 1;
            range
        });
        words.filter(|word| !word.is_empty()).collect()
    }

    /// Parts of values, what joins them, and the words that announce some.
    const PIECES: [&str; 62] = [
        "4111",
        " 1111",
        "4111111111111111",
        "3782 822463 10005",
        "620000 0000000000000",
        "43 ",
        "100 000 001 46",
        "10000000146",
        "TR33 0006 1005 1978 6457 8413 26",
        "GB29 NWBK 6016 ",
        "1331 9268 19",
        "10.0.0.1",
        "fe80::1",
        "::",
        "1.2.3.4.5",
        "ada@example.com",
        "%40b.com",
        "&#64;b.com",
        "+90 532 123 45 67",
        "(212) 555-1234",
        "0532",
        " 123 45 67",
        "555-1234",
        " ext. 12",
        "x7",
        "219-09-9999",
        " 219 09 9999",
        "943 476 5919",
        "52998224725",
        "529.982.247-25",
        "AB 12 34 56 C",
        "AB123456C",
        "12345678Z",
        "131052-308T",
        "RSSMRA85T10A562S",
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "sk-ABCDEFGHIJKLMNOP1234",
        "ghp_",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGci.eyJzdWIi.c2ln",
        "Bearer ",
        "basic ",
        "YTpi",
        "://",
        "ada:pw@",
        "password=",
        "api_key: ",
        "wJalrXUtnFEMI7K4MDENGbPx",
        "phone ",
        "SSN ",
        "order ",
        "*",
        "_",
        "\n",
        "\n> ",
        "\t",
        "-",
        "é",
        "\u{a0}",
        "４",
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\n-----END PRIVATE KEY-----",
    ];

    /// Prose of so many words.
    fn prose(words: usize) -> String {
        let all = ["of", "the", "number", "that", "is", "mobile,", "and (well-known)", "text."];
        (0..words).flat_map(|place| [all[place * 5 % all.len()], " "]).collect()
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            6 => prop::sample::select(PIECES.as_slice()).prop_map(String::from),
            1 => (0_usize..60).prop_map(prose),
            1 => "[0-9a-fA-Z:. @-]{0,12}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]

        #[test]
        fn a_look_at_the_likely_places_finds_what_a_look_everywhere_finds(text in texts()) {
            prop_assert_eq!(ALL.spans_at(&text, PLACES), ALL.spans_at(&text, EVERYWHERE));
        }

        #[test]
        fn a_text_that_is_read_in_parts_holds_what_the_whole_holds(
            texts in prop::collection::vec((texts(), 20_usize..60), 1..6),
        ) {
            let text: String =
                texts.into_iter().map(|(text, words)| text + " " + &prose(words)).collect();
            let parts = ALL.spans_in(&text, |text| windows::windows(text, 1));
            prop_assert_eq!(parts, ALL.spans_of(&text, ROUNDS));
        }
    }

    proptest! {
        #[test]
        fn a_masker_that_has_compiled_nothing_yet_finds_the_same(text in texts()) {
            prop_assert_eq!(Recognisers::new().spans(&text), ALL.spans(&text));
        }
    }

    #[test]
    fn overlapping_candidates_become_one_span_named_by_the_longest() {
        let merged = merge(vec![
            (5..9, Placeholder::Ip),
            (0..6, Placeholder::Email),
            (9..12, Placeholder::Card),
        ]);
        assert_eq!(merged, [(0..9, Placeholder::Email), (9..12, Placeholder::Card)]);
    }

    fn mask(text: &str) -> String {
        Masked::replacing(text, ALL.spans(text)).text().to_owned()
    }

    /// Random values as keys and generated passwords are.
    fn value() -> impl Strategy<Value = String> {
        "[A-Z][a-z][0-9][A-Za-z0-9]{17,25}".prop_filter("random", |value| {
            let bytes: BTreeSet<u8> = value.bytes().collect();
            bytes.len() >= 12
        })
    }

    proptest! {
        #[test]
        fn no_value_of_two_assignments_stays_and_masking_is_idempotent(
            names in prop::sample::subsequence(
                vec!["api_key=", "token=", "password: ", "secret:", "pwd=\"", "clientSecret=>"], 2,
            ),
            separator in prop::sample::select(vec![
                "&", "/", "?", ".", ";", ",", "|", "..", "&amp;", " ", "\n", "-", "_", "+", "!",
                "*", "~", "@", "#", "^", "$", "\"", "==", "==&", ", ", "&x=1&", "/a.b?", ")",
            ]),
            first in value(),
            second in value(),
        ) {
            let text = format!("{}{first}{separator}{}{second}", names[0], names[1]);
            let masked = mask(&text);
            prop_assert!(!masked.contains(&first) && !masked.contains(&second), "{text} {masked}");
            for value in [&first, &second] {
                prop_assert!(!masked.contains(&value[value.len() - 8..]), "{text} {masked}");
            }
            prop_assert_eq!(mask(&masked), masked);
        }
    }

    #[test]
    fn what_follows_a_secret_is_masked_or_kept_whole() {
        let cases = [
            ("https://x.org/?api_key=V&token=V", "https://x.org/?api_key=[TOKEN]&token=[TOKEN]"),
            ("secret=V/password=V", "secret=[TOKEN]/password=[TOKEN]"),
            ("api_key: V..password=V", "api_key: [TOKEN]..password=[TOKEN]"),
            ("token=V&user=1", "token=[TOKEN]&user=1"),
            ("password=V&mail=bob@example.com", "password=[TOKEN]&mail=[EMAIL]"),
            ("api_key: V++49 30 12345678", "api_key: [TOKEN]"),
            ("api_key: V?GB82 WEST 1234 5698 7654 32", "api_key: [IBAN]"),
            ("password=aB3$xY9!kL2@mN5.example", "password=[TOKEN]"),
        ];
        for (text, expected) in cases {
            assert_eq!(mask(&text.replace('V', "q8Zt3kLm9XwP2vRb")), expected, "{text}");
        }
    }
}
