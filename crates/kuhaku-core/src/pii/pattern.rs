//! Patterns that are compiled when a text first may match them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex::Regex;

/// Bytes to read before a pattern is compiled in any case, since looking through texts in front of it
/// has a price too.
const ENOUGH: usize = 1 << 16;

/// A pattern, and a cheap look that tells most texts without a match.
///
/// Compiling all of them takes longer than to read an index and search it, and most questions need
/// none.
#[derive(Debug)]
pub(super) struct Pattern {
    alternatives: &'static [&'static str],
    may_match: fn(&str) -> bool,
    compiled: OnceLock<Regex>,
    /// Bytes without it.
    read: AtomicUsize,
}

impl Pattern {
    /// A constant pattern. `may_match` is true of every text with a match, and may be of others.
    pub(super) fn new(alternatives: &'static [&'static str], may_match: fn(&str) -> bool) -> Self {
        Self { alternatives, may_match, compiled: OnceLock::new(), read: AtomicUsize::new(0) }
    }

    /// The expression, unless nothing in the text can match it.
    pub(super) fn that_may_match(&self, text: &str) -> Option<&Regex> {
        if self.compiled.get().is_none() {
            let before = self.read.fetch_add(text.len(), Ordering::Relaxed);
            if before.saturating_add(text.len()) < ENOUGH && !(self.may_match)(text) {
                return None;
            }
        }
        Some(self.compiled.get_or_init(|| compile(&self.alternatives.join("|"))))
    }
}

#[expect(clippy::expect_used, reason = "the patterns are constants, compiled by every test")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_compiled_for_the_first_text_that_may_match_or_when_enough_was_read() {
        let pattern = || Pattern::new(&["ab", "ac"], |text| text.contains('a'));
        let rare = pattern();
        assert!(rare.that_may_match("b").is_none() && rare.compiled.get().is_none());
        assert!(rare.that_may_match("a").is_some_and(|it| it.is_match("xac")));
        assert!(rare.that_may_match("b").is_some());

        let text = "b".repeat(ENOUGH / 2);
        let read = pattern();
        assert!(read.that_may_match(&text).is_none());
        assert!(read.that_may_match(&text).is_some());
    }
}
