//! The scan over codes equals a scan over all rows as they are, whatever the vectors.
#![cfg(feature = "seeded-faults")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChunkRecord, DenseHit, DenseQuery, DocumentRecord, Filter, Fingerprint, IdKey, Language,
    MemoryIndex, Tokenizer, Vector,
};
use proptest::prelude::*;

/// What becomes of a vector that others are made of.
#[derive(Clone, Debug)]
enum Twist {
    Same,
    /// One unit in the last place of one number.
    Nudged(usize),
    Noisy(f32),
    Opposite,
    /// All but one number vanish.
    Spiked(usize, f32),
}

fn twist() -> impl Strategy<Value = Twist> {
    prop_oneof![
        Just(Twist::Same),
        (0_usize..400).prop_map(Twist::Nudged),
        prop_oneof![Just(1e-7_f32), Just(1e-4), Just(0.01), Just(1.0)].prop_map(Twist::Noisy),
        Just(Twist::Opposite),
        (0_usize..400, prop_oneof![Just(1e-20_f32), Just(1e-3), Just(1.0)])
            .prop_map(|(at, rest)| Twist::Spiked(at, rest)),
    ]
}

fn twisted(base: &[f32], twist: &Twist, salt: f32) -> Vector {
    let mut numbers = base.to_vec();
    let count = numbers.len();
    match twist {
        Twist::Same => {}
        Twist::Nudged(at) => numbers[at % count] = numbers[at % count].next_up(),
        Twist::Noisy(size) => {
            for (at, number) in numbers.iter_mut().enumerate() {
                *number += size * (at as f32 * 12.9 + salt * 78.2).sin();
            }
        }
        Twist::Opposite => numbers.iter_mut().for_each(|number| *number = -*number),
        Twist::Spiked(at, rest) => {
            numbers.iter_mut().for_each(|number| *number *= rest);
            numbers[at % count] += 1.0;
        }
    }
    // Nothing but zeros has no direction.
    Vector::new(numbers).unwrap_or_else(|_| Vector::new(vec![1.0; count]).unwrap())
}

fn bits(hits: &[DenseHit]) -> Vec<(String, u64)> {
    hits.iter().map(|hit| (hit.id.to_string(), hit.cosine.to_bits())).collect()
}

fn id(number: usize) -> DocumentId {
    DocumentId::new(format!("d{}", number * 37 % 101)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// D8, R4
    #[test]
    fn the_scan_over_codes_gives_what_a_scan_over_all_rows_gives(
        dimension in prop_oneof![1_usize..20, Just(64), Just(129), Just(384)],
        seed in any::<u32>(),
        rows in prop::collection::vec((twist(), 0_usize..3, any::<bool>()), 1..120),
        query in twist(),
        limit in prop_oneof![0_usize..12, Just(40), Just(usize::MAX)],
        removed in prop::collection::vec(0_usize..120, 0..40),
        cuts in prop::collection::vec(1_usize..40, 1..8),
        filtered in any::<bool>(),
    ) {
        let base: Vec<f32> =
            (0..dimension).map(|at| ((at * at) as f32 * 0.37 + seed as f32).sin()).collect();
        let fingerprint = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none")
            .embedder("e", dimension);
        let key = IdKey::from_bytes([1; 32]);
        let index = MemoryIndex::new(fingerprint, key.clone());
        let mut batch = Batch::new();
        let mut cuts = cuts.into_iter().cycle();
        let mut left = cuts.next().unwrap();
        for (number, (twist, tag, typed)) in rows.iter().enumerate() {
            let text = Masked::replacing("- -", Vec::new()).canonical();
            let content = key.content_hash(&[&number.to_le_bytes()]);
            let mut record = DocumentRecord::new(id(number), content, text);
            record.tags = AccessTags::new([["a"], ["b"], ["c"]][*tag]).unwrap();
            record.doc_type = if *typed { "note" } else { "policy" }.into();
            let mut chunk = ChunkRecord::new(0..1);
            chunk.vector = Some(twisted(&base, twist, number as f32));
            // Some chunks have none.
            record.chunks = vec![ChunkRecord::new(2..3), chunk];
            batch = batch.upsert(record);
            left -= 1;
            if left == 0 {
                index.write(std::mem::take(&mut batch)).unwrap();
                left = cuts.next().unwrap();
            }
        }
        index.write(batch).unwrap();
        index.write(removed.iter().fold(Batch::new(), |batch, at| batch.remove(id(*at)))).unwrap();
        let mut query = DenseQuery::new(twisted(&base, &query, 0.5), limit);
        if filtered {
            query = query.filter(Filter::none().doc_type("note"));
        }
        for roles in [&["a", "b", "c"][..], &["b"], &["a", "c"], &[]] {
            let view = index.view(&Scope::with_roles(Roles::new(roles)));
            let hits = view.dense(&query).unwrap();
            prop_assert_eq!(bits(&hits), bits(&view.dense_exhaustively(&query)));
            if !filtered {
                prop_assert_eq!(hits.len(), limit.min(view.visible_vectors() as usize));
            }
        }
    }
}
