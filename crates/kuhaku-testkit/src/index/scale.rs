//! Large corpora of made-up words whose frequencies follow Zipf's law, the same for every run.

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{ChunkRecord, DocumentRecord, Error, ErrorKind, IdKey};

use crate::random::Random;

/// How many different words there are.
const WORDS: usize = 60_000;
/// Words per chunk.
const LENGTH: usize = 60;
/// Chunks per document.
const CHUNKS: usize = 5;
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

fn invalid(error: kuhaku_core::Error) -> Error {
    error.map_kind(|_| ErrorKind::InvalidInput)
}

impl Scale {
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

    /// A document; the same for the same number.
    ///
    /// # Errors
    /// None that this crate's own values can cause.
    pub fn document(&self, number: usize) -> Result<DocumentRecord, Error> {
        let mut random = Random::new(number as u64);
        let mut text = String::new();
        let mut chunks = Vec::new();
        for _ in 0..CHUNKS {
            let start = text.len();
            for _ in 0..LENGTH {
                text.push_str(self.pick(&mut random, 0, WORDS));
                text.push(' ');
            }
            chunks.push(ChunkRecord::new(start..text.len()));
        }
        let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
        let id = DocumentId::new(format!("document-{number:07}")).map_err(invalid)?;
        let canonical = Masked::replacing(&text, Vec::new()).canonical();
        let mut record = DocumentRecord::new(id, content, canonical);
        record.chunks = chunks;
        if self.tagged {
            let set = number % TAG_SETS;
            // Pairs with a distance of up to 80 in a ring of roles: no two of them are equal.
            let (first, distance) = (set % ROLES, set / ROLES + 1);
            let roles = [first, (first + distance) % ROLES].map(|role| format!("role-{role}"));
            record.tags = AccessTags::new(roles).map_err(invalid)?;
        }
        Ok(record)
    }

    /// A caller of 50 roles, who sees about a third of the tagged documents.
    pub fn caller() -> Scope {
        let roles: Vec<String> = (0..50).map(|number| format!("role-{}", number * 5)).collect();
        Scope::with_roles(Roles::new(roles))
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
