//! What may leave of a reply while it is still being written.
//!
//! Nothing leaves unchecked (R7): text is held back until enough has come behind it for the masker to
//! know what it is and for the canary to be seen, and a citation until its sentence is complete. What a
//! masker decides from farther away, or takes back later, shows when the whole is checked at the end;
//! the answer then replaces what has left.

use crate::output::{Annotator, Held, OutputGuard, Read, Watch, plain_letters};

/// Bytes that are held back at least: more than the longest number with blanks in it has.
const HELD: usize = 96;

/// Words that are held back at least: more than a masker looks at behind a value.
const HELD_WORDS: usize = 6;

/// Letters and digits that are held back at least: a canary shows with one more.
const HELD_DIGITS: usize = 7;

/// Bytes behind which neither the number of words nor that of letters matters: scripts without blanks
/// have few of the ones, and others few of the letters that a canary may be read in.
const HELD_AT_MOST: usize = 512;

/// Bytes of what has left that are read again, for the words that announce a value.
const CONTEXT: usize = 512;

/// The reply so far, and what of it has left.
pub(crate) struct Pieces<'a> {
    guard: &'a OutputGuard<'a>,
    watch: Watch<'a>,
    annotator: Annotator<'a>,
    /// From its first character that is no blank.
    reply: String,
    /// Where the next check begins to read.
    start: usize,
    /// How much has been let through.
    left: usize,
    /// The length from which the next check is worth its time.
    due: usize,
    /// What has left was to be masked after all, or cannot be checked.
    spoilt: bool,
}

/// What came of a further piece of the reply.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing more may leave yet.
    Waits,
    /// This may leave.
    Leaves(String),
    /// Nothing more may leave.
    Stops(Held),
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(guard: &'a OutputGuard<'a>) -> Self {
        Self {
            guard,
            watch: guard.canary().watch(),
            annotator: guard.annotator(),
            reply: String::new(),
            start: 0,
            left: 0,
            due: 0,
            spoilt: false,
        }
    }

    /// Takes the next text of the model.
    pub(crate) fn push(&mut self, text: &str) -> Step {
        let text = if self.reply.is_empty() { text.trim_start() } else { text };
        self.reply.push_str(text);
        if self.watch.sees(text, false) {
            return Step::Stops(Held::Canary);
        }
        if self.spoilt || self.reply.len() < self.due {
            return Step::Waits;
        }
        // The time is linear in the reply however much is held back.
        self.due = self.reply.len() + self.reply.len().saturating_sub(self.start) / 32;
        let end = self.held_from();
        self.check(end, false)
    }

    /// What may leave of a reply that goes no further: not its last word, which may be half of one,
    /// nor the words before it that could be the beginning of a value.
    pub(crate) fn cut_off(&mut self) -> Step {
        if self.spoilt {
            return Step::Waits;
        }
        let mut end = border(&self.reply, self.reply.len(), self.left);
        while end > self.left {
            let begin = border(&self.reply, end - 1, self.left);
            let word = self.reply.get(begin..end).unwrap_or_default();
            if word.chars().all(|c| c.is_alphabetic() || is_plain(c)) {
                break;
            }
            end = begin;
        }
        self.check(end, true)
    }

    /// The reply so far.
    pub(crate) fn into_reply(self) -> String {
        self.reply
    }

    /// Where the text begins that is held back.
    fn held_from(&self) -> usize {
        let (mut words, mut digits, mut in_word) = (0, 0, false);
        for (at, c) in self.reply.char_indices().rev().take_while(|(at, _)| *at > self.left) {
            words += usize::from(in_word && !c.is_alphabetic());
            in_word = c.is_alphabetic();
            digits += plain_letters(c);
            let bytes = self.reply.len() - at;
            let enough = bytes >= HELD && words >= HELD_WORDS && digits >= HELD_DIGITS;
            if enough || bytes >= HELD_AT_MOST {
                return border(&self.reply, at, self.left);
            }
        }
        self.left
    }

    /// Lets text leave up to `end`, masked, unless it is to be held back.
    fn check(&mut self, end: usize, last: bool) -> Step {
        match self.let_through(end, last) {
            Ok(text) => {
                let text = self.annotator.push(&text, last);
                if text.is_empty() { Step::Waits } else { Step::Leaves(text) }
            }
            // The end of the reply decides.
            Err(Held::Broken) if self.guard.is_permissive() => {
                self.spoilt = true;
                Step::Waits
            }
            Err(held) => Step::Stops(held),
        }
    }

    fn let_through(&mut self, end: usize, last: bool) -> Result<String, Held> {
        let window = self.reply.get(self.start..).unwrap_or_default();
        if let Some(held) = self.guard.disguised(window, last)? {
            return Err(held);
        }
        if end <= self.left {
            return Ok(String::new());
        }
        let Read { masked, mut values } = self.guard.read(window)?;
        let map = masked.map();
        let whole = |at: usize| map.to_source(map.to_output(at..at + 1));
        let (left, mut end) = (self.left - self.start, end - self.start);
        if left > 0 && whole(left - 1).end > left {
            self.spoilt = true;
            return Ok(String::new());
        }
        while let Some((value, _)) = values.iter().find(|(it, _)| it.start < end && it.end > end) {
            end = border(&self.reply, self.start + value.start, self.left) - self.start;
        }
        values.retain(|(value, _)| value.start >= left && value.end <= end);
        if let Some(held) = self.guard.unshown(&values, window) {
            return Err(held);
        }
        let leaving = map.to_output(left..end);
        let Some(text) = masked.text().get(leaving).filter(|_| end > left) else {
            return Ok(String::new());
        };
        let text = text.to_owned();
        self.left = self.start + end;
        let context = self.left.saturating_sub(CONTEXT);
        self.start = border(&self.reply, context, self.start);
        Ok(text)
    }
}

/// The last place at or before `end` at which a text may be cut, but not before `first`: in front of a
/// blank, or between characters of a script without blanks.
fn border(text: &str, end: usize, first: usize) -> usize {
    let end = (first..=end.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let Some(end) = end else { return first };
    let mut behind = text.get(end..).and_then(|rest| rest.chars().next());
    for (at, c) in text.get(..end).unwrap_or_default().char_indices().rev() {
        let place = at + c.len_utf8();
        if place <= first {
            break;
        }
        if behind.is_some_and(|behind| {
            behind.is_whitespace() && !c.is_whitespace() || !behind.is_ascii() && !c.is_ascii()
        }) {
            return place;
        }
        behind = Some(c);
    }
    first
}

/// Characters that may stand beside letters in a word that is no part of a value.
fn is_plain(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '.' | ';' | '!' | '?' | '\'' | '’' | '(' | ')' | '"')
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use kuhaku_core::{AccessTags, Masker, PiiMasker};
    use kuhaku_index::{Analyzer, Language, StoredChunk, Tokenizer};
    use proptest::prelude::*;

    use super::*;
    use crate::output::{Against, Canary, OutputPolicy};
    use crate::retrieve::Hit;

    static MASKER: LazyLock<PiiMasker> = LazyLock::new(PiiMasker::new);
    static ANALYZER: LazyLock<Analyzer> =
        LazyLock::new(|| Analyzer::new(Tokenizer::Default, Language::En));

    const SECRET: &str = "0123456789abcdef0123456789abcdef";

    /// A guard with sources that hold every value of these tests.
    fn guard() -> OutputGuard<'static> {
        static HITS: LazyLock<Vec<Hit>> = LazyLock::new(|| {
            let text = format!("{VALUES} My phone is 555-1234, 25 days.");
            vec![Hit::new(StoredChunk::new("d::0".parse().unwrap(), text, AccessTags::none()))]
        });
        static SOURCES: LazyLock<Vec<&'static Hit>> = LazyLock::new(|| HITS.iter().collect());
        let against = Against {
            masker: &*MASKER,
            recognisers: &*MASKER,
            analyzer: &ANALYZER,
            question: "",
            hits: &SOURCES,
            threshold: 0.0,
            mark: "[unverified]",
            policy: OutputPolicy::Strict,
        };
        OutputGuard::new(Canary::of(SECRET), against)
    }

    const VALUES: &str = "ada@example.com, 4111 1111 1111 1111, TR33 0006 1005 1978 6457 8413 26, \
                          10.0.0.1, sk-ABCDEFGHIJKLMNOP1234, password=wJalrXUtnFEMI7K4MDENGbPx";

    const PROSE: &str = "Everybody has some days of annual leave, and unused ones expire early in \
                         the following year unless somebody decides otherwise in good time. ";

    /// What leaves, piece by piece, and whether the reply leaked.
    fn leaves(pieces: &mut Pieces<'_>, texts: &[&str]) -> (Vec<String>, bool) {
        let mut left = Vec::new();
        for text in texts {
            match pieces.push(text) {
                Step::Waits => {}
                Step::Leaves(text) => left.push(text),
                Step::Stops(_) => return (left, true),
            }
        }
        (left, false)
    }

    #[test]
    fn text_leaves_while_the_reply_goes_on_and_the_newest_is_held_back() {
        let guard = guard();
        let mut pieces = Pieces::new(&guard);
        let reply = PROSE.repeat(4);
        let words: Vec<&str> = reply.split_inclusive(' ').collect();
        let (left, _) = leaves(&mut pieces, &words);
        assert!(left.len() > 10, "{left:?}");
        let left = left.concat();
        assert!(reply.starts_with(&left), "{left}");
        let held = reply.len() - left.len();
        assert!((HELD..2 * HELD).contains(&held), "{held}");
        assert_eq!(pieces.into_reply(), reply);
    }

    /// R7: whatever its borders, no part of a value leaves raw.
    #[test]
    fn a_value_never_leaves_in_parts() {
        let guard = guard();
        for value in [
            "ada@example.com",
            "4111 1111 1111 1111",
            "TR33 0006 1005 1978 6457 8413 26",
            "sk-ABCDEFGHIJKLMNOP1234",
            "password=wJalrXUtnFEMI7K4MDENGbPx",
        ] {
            let reply = format!("{PROSE}{value} {}", PROSE.repeat(3));
            let mut pieces = Pieces::new(&guard);
            let letters: Vec<String> = reply.chars().map(String::from).collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            let (left, _) = leaves(&mut pieces, &letters);
            let whole = MASKER.mask(&reply);
            assert!(!left.is_empty() && whole.text().starts_with(&left.concat()), "{left:?}");
        }
    }

    /// OUT-02: also when its digits come one by one, far apart.
    #[test]
    fn a_leak_is_seen_before_any_part_of_it_leaves() {
        let guard = guard();
        for between in
            ["", "-", " . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . "]
        {
            let spelt: Vec<String> =
                SECRET.chars().map(|digit| format!("{digit}{between}")).collect();
            let prose = PROSE.repeat(2);
            let mut texts: Vec<&str> = prose.split_inclusive(' ').collect();
            texts.extend(spelt.iter().map(String::as_str));
            let mut pieces = Pieces::new(&guard);
            let (left, leaked) = leaves(&mut pieces, &texts);
            assert!(leaked, "{between}");
            assert!(prose.starts_with(&left.concat()), "{left:?}");
        }
    }

    #[test]
    fn of_a_reply_that_is_cut_off_no_half_word_and_no_half_value_leaves() {
        let guard = guard();
        for (reply, expected) in [
            ("You have five days, and mo", "You have five days, and"),
            ("His card is 4111 1111 1111 11", "His card is"),
            ("Write to ada@exam", "Write to"),
            ("Write to ada@example.com for mo", "Write to [EMAIL] for"),
            ("You have 25 days [S1] of le", "You have 25 days [S1] of"),
            ("twenty", ""),
            ("", ""),
        ] {
            let mut pieces = Pieces::new(&guard);
            assert_eq!(pieces.push(reply), Step::Waits);
            let left = match pieces.cut_off() {
                Step::Leaves(text) => text,
                _ => String::new(),
            };
            assert_eq!(left, expected, "{reply}");
        }
    }

    /// The time is linear in the reply.
    #[test]
    fn one_endless_word_takes_no_time() {
        let guard = guard();
        let mut pieces = Pieces::new(&guard);
        let letters = "zz-zy".repeat(2);
        for _ in 0..2_000 {
            assert!(!matches!(pieces.push(&letters), Step::Stops(_)));
        }
    }

    proptest! {
        #[test]
        fn what_leaves_is_a_part_of_the_masked_reply(
            words in prop::collection::vec(
                prop_oneof![
                    4 => prop::sample::select(vec!["of", "the", "leave", "[S1].", "\n\n", "日本語の", "é", "25"])
                        .prop_map(String::from),
                    1 => prop::sample::select(vec![
                        "ada@example.com", "4111 1111 1111 1111", "555-1234 is my phone",
                        "10.0.0.1", "sk-ABCDEFGHIJKLMNOP1234",
                    ]).prop_map(String::from),
                    1 => "[a-z]{1,9}",
                ],
                0..120,
            ),
            borders in prop::collection::vec(1_usize..12, 1..20),
        ) {
            let reply = words.join(" ");
            let guard = guard();
            let mut pieces = Pieces::new(&guard);
            let mut left = String::new();
            let mut rest = reply.as_str();
            for length in borders.iter().cycle() {
                let end = (*length..=rest.len()).find(|at| rest.is_char_boundary(*at));
                let (piece, more) = rest.split_at(end.unwrap_or(rest.len()));
                if let Step::Leaves(text) = pieces.push(piece) {
                    left.push_str(&text);
                }
                rest = more;
                if rest.is_empty() {
                    break;
                }
            }
            let whole = MASKER.mask(reply.trim());
            prop_assert!(whole.text().starts_with(&left), "{:?} of {:?}", left, whole.text());
        }
    }
}
