//! What the trained stage looks at: hashed runs of characters and words.

/// Buckets of the hash, as a power of two.
pub(super) const BITS: u32 = 18;

/// The longest run of characters that is one feature.
const LONGEST: usize = 5;

/// An odd constant near 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming 3,
/// 6.4), whose products spread over the high bits.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Where the hash of a run of characters and of a run of words begin.
const CHARACTERS: u64 = 0x51;
const WORDS: u64 = 0xa7;

/// Reads a text one character at a time and hands on the bucket of each feature that ends there.
///
/// Features are the runs of one to five characters, and each word with up to two words before it. Digits
/// are all the same; whatever is neither letter, digit nor full stop parts words. Nothing is allocated.
#[derive(Debug)]
pub(super) struct Reader {
    /// The last characters, the newest first.
    last: [char; LONGEST],
    word: u64,
    /// The hashes of the last two words, the newest first.
    before: [u64; 2],
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { last: [' '; LONGEST], word: 0, before: [0; 2] }
    }

    /// Takes a character. False when it adds nothing: a second space.
    pub(super) fn take(&mut self, c: char, mut feature: impl FnMut(usize)) -> bool {
        let c = folded(c);
        let [newest, ..] = self.last;
        if c == ' ' && newest == ' ' {
            return false;
        }
        self.last.rotate_right(1);
        if let Some(first) = self.last.first_mut() {
            *first = c;
        }
        let mut hash = CHARACTERS;
        for c in self.last {
            hash = mixed(hash, u64::from(u32::from(c)));
            feature(bucket(hash));
        }
        if c.is_alphanumeric() {
            self.word = mixed(self.word, u64::from(u32::from(c)));
        } else if self.word != 0 {
            self.end_word(feature);
        }
        true
    }

    /// Ends the last word, which nothing may follow.
    pub(super) fn end(&mut self, feature: impl FnMut(usize)) {
        if self.word != 0 {
            self.end_word(feature);
        }
    }

    fn end_word(&mut self, mut feature: impl FnMut(usize)) {
        let word = std::mem::take(&mut self.word);
        let [one, two] = self.before;
        let hash = mixed(WORDS, word);
        feature(bucket(hash));
        feature(bucket(mixed(hash, one)));
        feature(bucket(mixed(mixed(hash, one), two)));
        // The word between left out: "ignore … instructions".
        feature(bucket(mixed(hash.rotate_left(7), two)));
        self.before = [word, one];
    }
}

fn folded(c: char) -> char {
    match c {
        '.' | 'a'..='z' => c,
        _ if c.is_numeric() => '0',
        _ if c.is_alphabetic() => c,
        _ => ' ',
    }
}

fn mixed(hash: u64, value: u64) -> u64 {
    let hash = (hash ^ value).wrapping_mul(SPREAD);
    hash ^ (hash >> 29)
}

/// The high bits, which depend on all others.
fn bucket(hash: u64) -> usize {
    usize::try_from(hash.wrapping_mul(SPREAD) >> (u64::BITS - BITS)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(text: &str) -> Vec<usize> {
        let (mut reader, mut found) = (Reader::new(), Vec::new());
        for c in text.chars() {
            reader.take(c, |bucket| found.push(bucket));
        }
        reader.end(|bucket| found.push(bucket));
        found
    }

    #[test]
    fn a_text_has_five_features_for_each_character_and_four_for_each_word() {
        assert_eq!(buckets("ignore it").len(), 9 * 5 + 2 * 4);
        assert!(buckets("ignore it").iter().all(|bucket| *bucket < 1 << BITS));
        assert!(buckets("").is_empty());
    }

    #[test]
    fn gaps_and_digits_are_read_alike_and_order_is_not() {
        assert_eq!(buckets("in 12 - days"), buckets("in 34, days"));
        assert_ne!(buckets("a b"), buckets("b a"));
    }
}
