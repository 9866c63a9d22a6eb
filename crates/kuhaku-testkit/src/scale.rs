//! Large corpora of made-up words whose frequencies follow Zipf's law, the same for every run and for
//! every engine that is measured.

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{ChunkRecord, DocumentRecord, Error, ErrorKind, IdKey};

use crate::random::Random;

/// How many different words there are.
const WORDS: usize = 60_000;
/// Words per chunk.
const LENGTH: usize = 60;
/// Different roles, and different sets of two of them.
const ROLES: usize = 250;
const TAG_SETS: usize = 20_000;

/// A corpus: documents of five chunks of 60 words, with queries of common and of rare words.
#[derive(Clone, Debug)]
pub struct Scale {
    words: Vec<String>,
    tagged: bool,
}

impl Default for Scale {
    fn default() -> Self {
        Self { words: (0..WORDS).map(word).collect(), tagged: false }
    }
}

/// The word of a rank: syllables by its digits, so that no two ranks share one, and an ending that no
/// stemmer takes off.
fn word(mut rank: usize) -> String {
    let mut word = String::new();
    loop {
        word.extend("bdfgklmnprstvwz".chars().nth(rank % 15));
        word.extend("aou".chars().nth(rank / 15 % 3));
        rank /= 45;
        if rank == 0 {
            word.push('x');
            return word;
        }
    }
}

/// The two roles of a document, one of 20,000 pairs.
fn roles(document: usize) -> [String; 2] {
    let set = document % TAG_SETS;
    // Pairs with a distance of up to 80 in a ring of roles: no two of them are equal.
    let (first, distance) = (set % ROLES, set / ROLES + 1);
    [first, (first + distance) % ROLES].map(|role| format!("role-{role}"))
}

/// The roles of a caller who sees about a third of them.
fn callers_roles() -> impl Iterator<Item = String> {
    (0..50).map(|number| format!("role-{}", number * 5))
}

fn invalid(error: kuhaku_core::Error) -> Error {
    error.map_kind(|_| ErrorKind::InvalidInput)
}

impl Scale {
    /// Chunks per document.
    pub const CHUNKS: usize = 5;

    /// Documents without tags.
    pub fn new() -> Self {
        Self::default()
    }

    /// Each document gets one of 20,000 sets of tags.
    #[must_use]
    pub fn tagged(mut self) -> Self {
        self.tagged = true;
        self
    }

    fn pick(&self, random: &mut Random, from: usize, to: usize) -> &str {
        // The inverse of the continuous distribution: the probability falls with the rank.
        let share = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let (low, high) = ((from as f64 + 1.0).ln(), (to as f64).ln());
        let rank = (low + share * (high - low)).exp() as usize;
        self.words.get(rank.saturating_sub(1)).map_or("", String::as_str)
    }

    /// The texts of the chunks of a document; the same for the same number.
    pub fn texts(&self, number: usize) -> Vec<String> {
        let mut random = Random::new(number as u64);
        let mut words = || {
            let words: Vec<&str> = (0..LENGTH).map(|_| self.pick(&mut random, 0, WORDS)).collect();
            words.join(" ")
        };
        (0..Self::CHUNKS).map(|_| words()).collect()
    }

    /// A document; the same for the same number.
    ///
    /// # Errors
    /// None that this crate's own values can cause.
    pub fn document(&self, number: usize) -> Result<DocumentRecord, Error> {
        self.record(number, &self.texts(number))
    }

    /// The document of this number with the texts of its chunks as given: those of
    /// [`Scale::texts`] make [`Scale::document`].
    ///
    /// # Errors
    /// None that this crate's own values can cause.
    pub fn record(
        &self,
        number: usize,
        chunks: &[impl AsRef<str>],
    ) -> Result<DocumentRecord, Error> {
        let mut text = String::new();
        let mut records = Vec::new();
        for chunk in chunks {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            let start = text.len();
            text.push_str(chunk.as_ref());
            records.push(ChunkRecord::new(start..text.len()));
        }
        let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
        let id = DocumentId::new(format!("document-{number:07}")).map_err(invalid)?;
        let canonical = Masked::replacing(&text, Vec::new()).canonical();
        let mut record = DocumentRecord::new(id, content, canonical);
        record.chunks = records;
        if self.tagged {
            record.tags = AccessTags::new(roles(number)).map_err(invalid)?;
        }
        Ok(record)
    }

    /// A caller of 50 roles, who sees about a third of the tagged documents.
    pub fn caller() -> Scope {
        Scope::with_roles(Roles::new(callers_roles()))
    }

    /// Queries of three words that stand in many chunks each.
    pub fn common(&self, count: usize) -> Vec<String> {
        self.queries(11, count, 0, 100)
    }

    /// Queries of three words that stand in a few chunks each.
    pub fn rare(&self, count: usize) -> Vec<String> {
        self.queries(13, count, 5_000, 50_000)
    }

    fn queries(&self, seed: u64, count: usize, from: usize, to: usize) -> Vec<String> {
        let mut random = Random::new(seed);
        let mut pick = || self.words.get(from + random.below(to - from)).map_or("", String::as_str);
        (0..count).map(|_| [pick(), pick(), pick()].join(" ")).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_as_many_tag_sets_as_stated() {
        let sets: BTreeSet<BTreeSet<String>> =
            (0..TAG_SETS).map(|document| roles(document).into()).collect();
        assert_eq!(sets.len(), TAG_SETS);
        let caller: BTreeSet<String> = callers_roles().collect();
        let seen = sets.iter().filter(|set| !set.is_disjoint(&caller)).count();
        assert!((TAG_SETS / 4..TAG_SETS / 2).contains(&seen), "{seen}");
    }

    #[test]
    fn words_differ_and_texts_repeat() {
        let corpus = Scale::new();
        let words: BTreeSet<&String> = corpus.words.iter().collect();
        assert_eq!(words.len(), WORDS);
        assert_eq!(corpus.texts(7), corpus.texts(7));
        assert_ne!(corpus.texts(7), corpus.texts(8));
        assert!(corpus.texts(7).iter().all(|chunk| chunk.split(' ').count() == LENGTH));
    }

    #[test]
    fn the_chunks_of_a_document_are_its_texts() {
        let corpus = Scale::new();
        let document = corpus.document(3).unwrap();
        let text = document.text.as_str();
        let chunks: Vec<&str> = document.chunks.iter().map(|it| &text[it.range.clone()]).collect();
        assert_eq!(chunks, corpus.texts(3));
    }
}
