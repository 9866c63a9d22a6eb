//! Where a rule may match at all.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::table::Needs;
use crate::guard::normalise::as_read;

/// The longest match of a rule, in bytes; a test holds the rules to it.
pub(super) const REACH: usize = 640;

/// Looks in one pass for the words that rules need, and gives the places where both parts of a rule
/// stand near each other. Rules are then matched there only, so that a long text costs hardly more
/// than the pass.
#[derive(Debug)]
pub(super) struct Candidates {
    words: AhoCorasick,
    /// For each word the rules and their parts that need it.
    uses: Vec<Vec<(usize, usize)>>,
    rules: usize,
}

/// What is known of a rule so far: where each of its parts was seen last, and the place under way.
#[derive(Clone, Debug, Default)]
struct Seen {
    parts: [Option<usize>; 2],
    place: Option<Range<usize>>,
}

impl Candidates {
    #[expect(clippy::expect_used, reason = "the words are constants, compiled by every test")]
    pub(super) fn new(needs: impl Iterator<Item = Needs>) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut uses: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut rules = 0;
        for (rule, needs) in needs.enumerate() {
            rules = rule + 1;
            for (part, needed) in needs.into_iter().enumerate() {
                for word in needed {
                    let word = as_read(word);
                    let at = words.iter().position(|known| *known == word).unwrap_or_else(|| {
                        words.push(word);
                        uses.push(Vec::new());
                        words.len() - 1
                    });
                    uses.get_mut(at).into_iter().for_each(|uses| uses.push((rule, part)));
                }
            }
        }
        let words = AhoCorasick::new(&words).expect("few words");
        Self { words, uses, rules }
    }

    /// Rules, by number, and where each may match.
    pub(super) fn places(&self, text: &str) -> Vec<(usize, Range<usize>)> {
        let mut places = Vec::new();
        let mut seen: Vec<Seen> = Vec::new();
        for word in self.words.find_overlapping_iter(text) {
            if seen.is_empty() {
                seen.resize(self.rules, Seen::default());
            }
            let uses = self.uses.get(word.pattern().as_usize()).map_or(&[][..], Vec::as_slice);
            for (rule, part) in uses {
                let Some(seen) = seen.get_mut(*rule) else { continue };
                if let Some(done) = seen.add(*part, word.end(), text) {
                    places.push((*rule, done));
                }
            }
        }
        for (rule, seen) in seen.into_iter().enumerate() {
            places.extend(seen.place.map(|place| (rule, place)));
        }
        places
    }
}

impl Seen {
    /// Adds a word of a part; gives the place before when this begins another.
    fn add(&mut self, part: usize, at: usize, text: &str) -> Option<Range<usize>> {
        *self.parts.get_mut(part)? = Some(at);
        let [Some(one), Some(other)] = self.parts else { return None };
        if one.abs_diff(other) > REACH {
            return None;
        }
        let start = text.floor_char_boundary(one.min(other).saturating_sub(REACH));
        let end = text.ceil_char_boundary((at + REACH).min(text.len()));
        match &mut self.place {
            Some(place) if start <= place.end => {
                place.end = end;
                None
            }
            place => place.replace(start..end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_needs_both_parts_near_each_other() {
        let candidates = Candidates::new([[&["ab", "x"][..], &["yz"][..]]].into_iter());
        let far = " ".repeat(3 * REACH);
        assert_eq!(candidates.places(&format!("ab{far}yz")), []);
        let text = format!("{far}ab yz{far}yz yz{far}yz x");
        let (first, last) = (far.len() + 5, text.len());
        let expected = [first - 3 - REACH..first + REACH, last - 2 - REACH..last];
        let places: Vec<_> = candidates.places(&text).into_iter().map(|(_, place)| place).collect();
        assert_eq!(places, expected);
    }
}
