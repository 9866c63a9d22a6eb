//! The search leaves out what cannot be among the best: its results are those of scoring every chunk.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use kuhaku_core::{AccessTags, Date, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, Bm25, ChunkRecord, DocumentRecord, Filter, Fingerprint, IdKey, Language, MemoryIndex,
    SparseHit, SparseQuery, Tokenizer, Validity, View,
};
use proptest::prelude::*;

/// A linear congruential generator; its upper bits are used.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) as usize) % bound
    }

    /// A word whose rank is small most of the time: a few are in most chunks, many in one.
    fn word(&mut self) -> String {
        let bits = 1 + self.below(11);
        format!("w{}", self.below(1 << bits))
    }

    fn words(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

const TAGS: [&[&str]; 5] = [&[], &["a"], &["b"], &["a", "b"], &["c"]];

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

fn document(random: &mut Random, number: usize) -> DocumentRecord {
    let texts: Vec<String> = (0..random.below(60)).map(|_| random.words(24)).collect();
    let text = texts.join("\n");
    let content = IdKey::from_bytes([1; 32]).content_hash(&[&random.0.to_le_bytes()]);
    let id = DocumentId::new(format!("d{number:03}")).unwrap();
    let canonical = Masked::replacing(&text, Vec::new()).canonical();
    let mut record = DocumentRecord::new(id, content, canonical);
    record.tags = AccessTags::new(TAGS[random.below(TAGS.len())]).unwrap();
    record.doc_type = ["note", "policy"][random.below(2)].to_owned();
    record.validity = Validity::between(None, (random.below(3) == 0).then(|| day("2026-01-01")));
    record.title = random.words(3);
    let mut start = 0;
    for text in &texts {
        let mut chunk = ChunkRecord::new(start..start + text.len());
        start += text.len() + 1;
        if random.below(5) == 0 {
            chunk.extra = random.words(4);
        }
        record.chunks.push(chunk);
    }
    record
}

/// Some thousand chunks in segments of several sizes, with tombstones.
fn index(random: &mut Random) -> MemoryIndex {
    let fingerprint = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none");
    let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([1; 32]));
    for size in [160, 20, 6, 1] {
        let mut batch = Batch::new();
        for _ in 0..size {
            let number = random.below(240);
            batch = match random.below(9) {
                0 => batch.remove(DocumentId::new(format!("d{number:03}")).unwrap()),
                _ => batch.upsert(document(random, number)),
            };
        }
        index.write(batch).unwrap();
    }
    index
}

fn query(random: &mut Random) -> SparseQuery {
    let mut filter = Filter::none();
    if random.below(4) == 0 {
        filter = filter.doc_type("policy");
    }
    if random.below(5) == 0 {
        filter = filter.valid_on(day("2026-06-01"));
    }
    let mut bm25 =
        Bm25::new([0.0, 0.4, 1.2, 1.5, 100.0][random.below(5)], [0.0, 0.75, 1.0][random.below(3)]);
    if random.below(3) == 0 {
        bm25.weights.heading = [0.0, 0.3, 2.5][random.below(3)];
        bm25.weights.body = [0.0, 1.0, 1.1][random.below(3)];
    }
    let limit = [1, 3, 10, 100, 1_000, usize::MAX][random.below(6)];
    SparseQuery::new(random.words(12), limit).filter(filter).bm25(bm25)
}

fn bits(hits: &[SparseHit]) -> Vec<(String, u64)> {
    hits.iter().map(|hit| (hit.id.to_string(), hit.bm25.to_bits())).collect()
}

fn same(view: &View, query: &SparseQuery) {
    let found = view.sparse(query).unwrap();
    assert_eq!(bits(&found), bits(&view.sparse_exhaustively(query)), "{query:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_best_chunks_are_those_of_scoring_every_chunk_to_the_last_bit(seed in any::<u64>()) {
        let mut random = Random(seed);
        let index = index(&mut random);
        for roles in [&[][..], &["a"], &["a", "b", "c"]] {
            let view = index.view(&Scope::with_roles(Roles::new(roles.iter().copied())));
            for _ in 0..40 {
                same(&view, &query(&mut random));
            }
        }
    }
}
