//! Worked numbers of BM25, and what happens at the edges.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, Bm25, ChunkIndex, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language,
    MemoryIndex, SparseQuery, Tokenizer, Validity,
};

fn index(tokenizer: Tokenizer) -> MemoryIndex {
    let fingerprint = Fingerprint::new(tokenizer, Language::En, "none", "none");
    MemoryIndex::new(fingerprint, IdKey::from_bytes([1; 32]))
}

fn document(id: &str, text: &str) -> DocumentRecord {
    let key = IdKey::from_bytes([1; 32]);
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = key.content_hash(&[id.as_bytes(), text.as_bytes()]);
    let mut record = DocumentRecord::new(DocumentId::new(id).unwrap(), content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

fn filled(tokenizer: Tokenizer, texts: &[&str]) -> MemoryIndex {
    let index = index(tokenizer);
    let batch = texts.iter().enumerate().fold(Batch::new(), |batch, (place, text)| {
        batch.upsert(document(&format!("d{place}"), text))
    });
    index.write(batch).unwrap();
    index
}

fn search(index: &MemoryIndex, query: SparseQuery) -> Vec<(String, f64)> {
    let hits = index.view(&Scope::anonymous()).sparse(&query).unwrap();
    hits.into_iter().map(|hit| (hit.id.document().to_string(), hit.bm25)).collect()
}

fn assert_hits(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((id, score), (wanted, value)) in found.iter().zip(expected) {
        assert_eq!(id, wanted, "{found:?}");
        assert!((score - value).abs() < 1e-5, "{found:?} instead of {expected:?}");
    }
}

/// SPS-03
#[test]
fn a_rare_term_outweighs_a_repeated_common_one() {
    let texts = ["payment payment payment", "payment payment payment", "payment chargeback"];
    let found =
        search(&filled(Tokenizer::Simple, &texts), SparseQuery::new("payment chargeback", 10));
    assert_hits(&found, &[("d2", 1.255_618), ("d0", 0.215_808), ("d1", 0.215_808)]);
    let single = filled(Tokenizer::Simple, &["alpha beta"]);
    assert_hits(&search(&single, SparseQuery::new("alpha", 10)), &[("d0", 0.287_682)]);
}

fn ragkit(query: &str, limit: usize) -> SparseQuery {
    SparseQuery::new(query, limit).bm25(Bm25::new(1.2, 0.75))
}

/// RK-27
#[test]
fn only_documents_that_hold_a_term_are_hits_and_a_repeated_term_counts_once() {
    let index = filled(Tokenizer::Porter, &["apple pie", "banana split", "cherry tart"]);
    for query in ["apple", "apple apple APPLE"] {
        assert_hits(&search(&index, ragkit(query, 10)), &[("d0", 0.980_829)]);
    }
}

/// RK-28
#[test]
fn rare_and_common_terms_add_up() {
    let texts = ["common word here", "common word zebra", "common thing"];
    let found = search(&filled(Tokenizer::Porter, &texts), ragkit("common zebra", 10));
    assert_hits(&found, &[("d1", 1.060_148), ("d2", 0.148_744), ("d0", 0.127_035)]);
}

/// RK-29
#[test]
fn length_counts_as_much_as_b_says_and_repetition_saturates() {
    let long = format!("python{}", " filler".repeat(20));
    let index = filled(Tokenizer::Porter, &["python", &long]);
    assert_hits(&search(&index, ragkit("python", 9)), &[("d0", 0.290_275), ("d1", 0.132_897)]);
    let flat = SparseQuery::new("python", 9).bm25(Bm25::new(1.2, 0.0));
    assert_hits(&search(&index, flat), &[("d0", 0.182_322), ("d1", 0.182_322)]);

    let ten = ["x"; 10].join(" ");
    let index = filled(Tokenizer::Porter, &["x", "x x", &ten, "y"]);
    let flat = SparseQuery::new("x", 9).bm25(Bm25::new(1.2, 0.0));
    let expected = [("d2", 0.700_611), ("d1", 0.490_428), ("d0", 0.356_675)];
    assert_hits(&search(&index, flat), &expected);
}

/// RK-30
#[test]
fn the_best_are_kept_when_the_limit_cuts() {
    let index = filled(Tokenizer::Porter, &["cat", "cat cat dog", "dog", "cat dog bird"]);
    let expected = [("d0", 0.448_391), ("d1", 0.429_964), ("d3", 0.296_108)];
    assert_hits(&search(&index, ragkit("cat", 2)), &expected[..2]);
    assert_hits(&search(&index, ragkit("cat", 3)), &expected);
}

/// RK-31, SPS-04: the part about documents that come later.
#[test]
fn statistics_follow_what_is_added() {
    let index = index(Tokenizer::Porter);
    index.write(Batch::new().upsert(document("a", "apple"))).unwrap();
    assert_hits(&search(&index, ragkit("apple", 9)), &[("a", 0.287_682)]);
    let more = Batch::new()
        .upsert(document("b", "apple"))
        .upsert(document("c", "banana"))
        .upsert(document("d", "cherry"));
    index.write(more).unwrap();
    assert_hits(&search(&index, ragkit("apple", 9)), &[("a", 2.0_f64.ln()), ("b", 2.0_f64.ln())]);
}

/// RK-32
#[test]
fn stems_and_stop_words_act_on_both_sides() {
    let texts = ["The cat sat on the mat", "Dogs chase cats", "A mat for dogs"];
    let found = search(&filled(Tokenizer::Porter, &texts), ragkit("cats on mats", 9));
    assert_hits(&found, &[("d0", 0.894_28), ("d2", 0.523_55), ("d1", 0.447_14)]);
}

/// RK-33
#[test]
fn nothing_to_find_is_no_error() {
    let empty = index(Tokenizer::Porter);
    assert!(search(&empty, ragkit("apple", 9)).is_empty());
    let full = filled(Tokenizer::Porter, &["apple pie"]);
    for query in ["", "  ", "the and of", "zebra", "[EMAIL]"] {
        assert!(search(&full, ragkit(query, 9)).is_empty(), "{query:?}");
    }
    let stop_words = filled(Tokenizer::Porter, &["the and", "of"]);
    assert!(search(&stop_words, ragkit("the apple", 9)).is_empty());
}

/// RK-34
#[test]
fn a_corpus_of_one_document_has_scores() {
    let index = filled(Tokenizer::Porter, &["one doc only"]);
    assert_hits(&search(&index, ragkit("doc", 9)), &[("d0", 0.287_682)]);
}

/// SPS-04: a limit of nothing, and ties.
#[test]
fn ties_are_in_the_order_of_ids_whatever_the_order_of_ingest() {
    let index = index(Tokenizer::Simple);
    for id in ["c", "a", "d", "b"] {
        index.write(Batch::new().upsert(document(id, "same words"))).unwrap();
    }
    assert!(search(&index, SparseQuery::new("same", 0)).is_empty());
    let ids: Vec<_> =
        search(&index, SparseQuery::new("same", 3)).into_iter().map(|hit| hit.0).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(search(&index, SparseQuery::new("same", usize::MAX)).len(), 4);
}

/// SPS-06
#[test]
fn stale_documents_and_other_types_do_not_crowd_out_the_eligible() {
    let index = index(Tokenizer::Simple);
    let today = "2026-05-01".parse().unwrap();
    let mut batch = Batch::new();
    for number in 0..4 {
        let mut stale = document(&format!("stale{number}"), "refund refund refund");
        stale.validity = Validity::between(None, Some("2025-01-01".parse().unwrap()));
        stale.doc_type = "draft".into();
        batch = batch.upsert(stale);
    }
    for number in 0..5 {
        let mut fresh = document(&format!("fresh{number}"), "refund within thirty days of sale");
        fresh.doc_type = "policy".into();
        fresh.metadata.insert("team".into(), "sales".into());
        batch = batch.upsert(fresh);
    }
    index.write(batch).unwrap();
    let filters = [
        kuhaku_index::Filter::none().valid_on(today),
        kuhaku_index::Filter::none().doc_type("policy"),
        kuhaku_index::Filter::none().metadata("team", "sales").metadata("team", "support"),
    ];
    for filter in filters {
        let found = search(&index, SparseQuery::new("refund", 4).filter(filter));
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|(id, _)| id.starts_with("fresh")), "{found:?}");
    }
    assert!(search(&index, SparseQuery::new("refund", 4))[0].0.starts_with("stale"));
}

/// SPS-08
#[test]
fn a_masked_query_does_not_match_masked_text() {
    for tokenizer in Tokenizer::ALL {
        let index = filled(*tokenizer, &["write to [EMAIL]", "the refund policy"]);
        let found = search(&index, SparseQuery::new("refund for [EMAIL]", 9));
        assert_eq!(found.len(), 1, "{tokenizer}");
        assert_eq!(found[0].0, "d1");
    }
}

/// ACL-02: keyword search.
#[test]
fn restricted_chunks_do_not_crowd_out_open_ones() {
    let index = index(Tokenizer::Simple);
    let mut batch = Batch::new();
    for number in 0..10 {
        let mut restricted = document(&format!("r{number}"), "bonus bonus bonus");
        restricted.tags = AccessTags::new(["people_ops"]).unwrap();
        batch = batch.upsert(restricted);
    }
    for number in 0..5 {
        batch = batch.upsert(document(&format!("o{number}"), "a bonus is paid in the spring"));
    }
    index.write(batch).unwrap();
    let view = index.view(&Scope::with_roles(Roles::new(["engineering"])));
    let hits = view.sparse(&SparseQuery::new("bonus", 4)).unwrap();
    assert_eq!(hits.len(), 4);
    assert!(hits.iter().all(|hit| hit.id.document().as_str().starts_with('o')));
}

/// ACL-05
#[test]
fn restricted_documents_never_change_an_outsiders_scores() {
    let index = filled(Tokenizer::Simple, &["payroll runs monthly", "holidays are listed"]);
    let outsider = index.view(&Scope::anonymous());
    let before = outsider.sparse(&SparseQuery::new("payroll", 9)).unwrap();
    for number in 0..5 {
        let mut restricted = document(&format!("r{number}"), "payroll payroll and more payroll");
        restricted.tags = AccessTags::new(["finance"]).unwrap();
        index.write(Batch::new().upsert(restricted)).unwrap();
    }
    let after = index.view(&Scope::anonymous());
    assert_eq!(after.sparse(&SparseQuery::new("payroll", 9)).unwrap(), before);
    assert_eq!(after.visible_chunks(), 2);
    let insider = index.view(&Scope::with_roles(Roles::new(["finance"])));
    assert_eq!(insider.sparse(&SparseQuery::new("payroll", 9)).unwrap().len(), 6);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let index = filled(Tokenizer::Simple, &["alpha"]);
    let view = index.view(&Scope::anonymous());
    for (k1, b) in [(-0.1, 0.5), (f64::NAN, 0.5), (f64::INFINITY, 0.5), (1.0, 1.1), (1.0, -0.1)] {
        let query = SparseQuery::new("alpha", 3).bm25(Bm25::new(k1, b));
        assert_eq!(view.sparse(&query).unwrap_err().code(), "index.invalid_input");
    }
    let mut heavy = Bm25::default();
    heavy.weights.extra = -1.0;
    assert!(view.sparse(&SparseQuery::new("alpha", 3).bm25(heavy)).is_err());
}

#[test]
fn fields_count_as_their_weights_say() {
    let index = index(Tokenizer::Simple);
    let mut titled = document("titled", "about something else");
    titled.title = "kuhaku".into();
    let mut extra = document("extra", "about something else");
    extra.chunks[0].extra = "kuhaku".into();
    index.write(Batch::new().upsert(titled).upsert(extra)).unwrap();
    let weighted = |heading, extra| {
        let mut bm25 = Bm25::default();
        (bm25.weights.heading, bm25.weights.extra) = (heading, extra);
        search(&index, SparseQuery::new("kuhaku", 9).bm25(bm25))
    };
    assert_eq!(weighted(3.0, 1.0)[0].0, "titled");
    assert_eq!(weighted(1.0, 3.0)[0].0, "extra");
    assert_eq!(weighted(0.0, 1.0).len(), 1);
    assert!(weighted(0.0, 0.0).is_empty());
}

#[tokio::test]
async fn a_hit_can_be_fetched_by_its_id_and_other_ids_are_left_out() {
    let index = filled(Tokenizer::Simple, &["alpha beta"]);
    let reader = index.reader(&Scope::anonymous()).await.unwrap();
    let id = |document: &str, ordinal| ChunkId::new(DocumentId::new(document).unwrap(), ordinal);
    let ids = [id("nowhere", 0), id("d0", 0), id("d0", 1)];
    let fetched = reader.fetch(&ids).await.unwrap();
    assert_eq!(fetched.len(), 1);
    assert_eq!(fetched[0].text, "alpha beta");
}

/// SPS-07
#[test]
fn readers_see_whole_batches_while_others_write() {
    const BATCHES: usize = 150;
    let index = index(Tokenizer::Simple);
    std::thread::scope(|threads| {
        for writer in ["a", "b"] {
            let index = &index;
            threads.spawn(move || {
                for number in 0..BATCHES {
                    let left = document(&format!("{writer}{number}-left"), "shared words");
                    let right = document(&format!("{writer}{number}-right"), "shared words");
                    index.write(Batch::new().upsert(left).upsert(right)).unwrap();
                }
            });
        }
        for _ in 0..2 {
            threads.spawn(|| {
                let mut last = 0;
                while last < 4 * BATCHES as u64 {
                    let view = index.view(&Scope::anonymous());
                    let hits = view.sparse(&SparseQuery::new("shared", usize::MAX)).unwrap();
                    assert_eq!(hits.len() as u64, view.visible_chunks());
                    assert!(view.visible_chunks() >= last, "a later view lost something");
                    let halves = |half: &str| {
                        hits.iter().filter(|hit| hit.id.document().as_str().ends_with(half)).count()
                    };
                    assert_eq!(halves("left"), halves("right"), "half a batch was seen");
                    last = view.visible_chunks();
                }
            });
        }
    });
}
