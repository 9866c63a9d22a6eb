//! Properties: the analyzer on any text, and the engine against a plain reading of the formula.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeMap;

use kuhaku_core::{DocumentId, Masked, Scope};
use kuhaku_index::{
    Analyzer, Batch, Bm25, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, MemoryIndex,
    SparseQuery, Tokenizer, inverse_document_frequency,
};
use proptest::prelude::*;

fn any_analyzer() -> impl Strategy<Value = Analyzer> {
    (prop::sample::select(Tokenizer::ALL), prop::sample::select(Language::ALL))
        .prop_map(|(tokenizer, language)| Analyzer::new(tokenizer, language))
}

/// Texts with what is hard to read: marks, joiners, dense scripts, identifiers, placeholders.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9_.:'-]{0,12}",
        "[\u{300}\u{301}\u{200d}\u{ad}\u{feff}ıİßÉ東京タﾞกี]{0,6}",
        "[ğüşöçıİ'a-z]{0,12}",
        "[а-яё]{0,12}",
        "[\u{620}-\u{652}]{0,9}",
        "[\u{b80}-\u{bcd}]{0,9}",
        "[α-ωάέ]{0,9}",
        Just("[EMAIL]".to_owned()),
        Just(" ".to_owned()),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn tokens_lie_on_character_borders_in_order_and_have_terms(
        analyzer in any_analyzer(),
        text in any_text(),
    ) {
        let mut last_end = 0;
        for token in analyzer.tokens(&text) {
            prop_assert!(text.get(token.range.clone()).is_some_and(|raw| !raw.is_empty()));
            prop_assert!((1..=255).contains(&token.term.len()));
            if !token.part {
                prop_assert!(token.range.end > last_end, "{text:?}");
                last_end = token.range.end;
            }
        }
    }

    #[test]
    fn what_is_searched_is_among_what_is_stored(
        analyzer in any_analyzer(),
        text in any_text(),
    ) {
        let stored = analyzer.tokens(&text);
        for searched in analyzer.query_terms(&text) {
            prop_assert!(stored.iter().any(|token| token.term == searched.term));
        }
    }

    #[test]
    fn upper_case_makes_no_difference(text in "[a-z]{1,9}( [a-z]{1,9}){0,4}") {
        for tokenizer in Tokenizer::ALL {
            let analyzer = Analyzer::new(*tokenizer, Language::En);
            let terms = |text: &str| -> Vec<String> {
                analyzer.tokens(text).into_iter().map(|token| token.term).collect()
            };
            prop_assert_eq!(terms(&text), terms(&text.to_uppercase()));
        }
    }
}

#[test]
fn very_long_words_are_read_in_linear_time() {
    for unit in ["a", "y", "ß", "a-", "aB", "_", "京", "e\u{301}", "[", "a.", "'"] {
        let text = unit.repeat(200_000);
        for tokenizer in Tokenizer::ALL {
            for language in [Language::En, Language::Tr] {
                Analyzer::new(*tokenizer, language).tokens(&text);
            }
        }
    }
}

type Texts = BTreeMap<u8, String>;

fn record(number: u8, text: &str) -> DocumentRecord {
    let canonical = Masked::replacing(text, Vec::new()).canonical();
    let content = IdKey::from_bytes([1; 32]).content_hash(&[text.as_bytes()]);
    let id = DocumentId::new(format!("d{number:03}")).unwrap();
    let mut record = DocumentRecord::new(id, content, canonical);
    record.chunks = vec![ChunkRecord::new(0..text.len())];
    record
}

/// The formula of the documentation, read document by document.
fn expected(texts: &Texts, analyzer: &Analyzer, query: &str, bm25: &Bm25) -> Vec<(String, f64)> {
    let tokens: BTreeMap<u8, Vec<String>> = texts
        .iter()
        .map(|(id, text)| (*id, analyzer.tokens(text).into_iter().map(|t| t.term).collect()))
        .collect();
    let total: usize = tokens.values().map(Vec::len).sum();
    let average = if total == 0 { 1.0 } else { total as f64 / tokens.len() as f64 };
    let mut hits = Vec::new();
    for (id, terms) in &tokens {
        let mut score = 0.0;
        for term in analyzer.query_terms(query) {
            let holding = tokens.values().filter(|terms| terms.contains(&term.term)).count();
            let tf = terms.iter().filter(|word| **word == term.term).count() as f64;
            let idf = inverse_document_frequency(tokens.len() as u64, holding as u64);
            let norm = 1.0 - bm25.b + bm25.b * terms.len() as f64 / average;
            if tf > 0.0 {
                let once = idf * tf * (bm25.k1 + 1.0) / (tf + bm25.k1 * norm);
                score += f64::from(term.count) * once;
            }
        }
        if score > 0.0 {
            hits.push((format!("d{id:03}"), score));
        }
    }
    hits.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the order of batches, and so of segments and merges.
    #[test]
    fn scores_are_those_of_the_formula_and_of_a_fresh_index(
        steps in prop::collection::vec(
            prop::collection::vec((0_u8..40, prop::option::of("[abcd]{1,2}( [abcd]{1,2}){0,8}")), 1..6),
            1..24,
        ),
        query in "[abcd]{1,2}( [abcd]{1,2}){0,3}",
    ) {
        let fingerprint = || Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none");
        let key = || IdKey::from_bytes([1; 32]);
        let index = MemoryIndex::new(fingerprint(), key());
        let mut texts = Texts::new();
        for step in steps {
            let mut batch = Batch::new();
            for (number, text) in step {
                batch = match text {
                    Some(text) => {
                        texts.insert(number, text.clone());
                        batch.upsert(record(number, &text))
                    }
                    None => {
                        texts.remove(&number);
                        batch.remove(DocumentId::new(format!("d{number:03}")).unwrap())
                    }
                };
            }
            index.write(batch).unwrap();
        }
        let view = index.view(&Scope::anonymous());
        prop_assert_eq!(view.visible_chunks(), texts.len() as u64);
        let bm25 = Bm25::new(1.2, 0.6);
        let found = view.sparse(&SparseQuery::new(&query, usize::MAX).bm25(bm25)).unwrap();
        let expected = expected(&texts, view.analyzer(), &query, &bm25);
        prop_assert_eq!(found.len(), expected.len());
        let by_id: BTreeMap<_, _> = expected.into_iter().collect();
        for hit in &found {
            let value = by_id[hit.id.document().as_str()];
            prop_assert!((hit.bm25 - value).abs() <= 1e-9 * value.max(1.0));
        }
        for (better, worse) in found.iter().zip(found.iter().skip(1)) {
            prop_assert!(better.bm25 > worse.bm25 || better.bm25 == worse.bm25 && better.id < worse.id);
        }
        let fresh = MemoryIndex::new(fingerprint(), key());
        let all = texts.iter().fold(Batch::new(), |batch, (id, text)| batch.upsert(record(*id, text)));
        fresh.write(all).unwrap();
        let query = SparseQuery::new(&query, usize::MAX).bm25(bm25);
        let again = fresh.view(&Scope::anonymous()).sparse(&query).unwrap();
        let bits = |hits: &[kuhaku_index::SparseHit]| -> Vec<_> {
            hits.iter().map(|hit| (hit.id.clone(), hit.bm25.to_bits())).collect()
        };
        prop_assert_eq!(bits(&found), bits(&again));
    }
}

/// Weights at and beyond the borders of what is allowed.
fn odd_weight() -> impl Strategy<Value = f64> {
    let borders = [
        0.0,
        -0.0,
        5e-324,
        1e-320,
        1e-300,
        9.9e-7,
        1e-6,
        0.5,
        1.0,
        100.0,
        100.1,
        -1e-6,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
    ];
    prop_oneof![4 => prop::sample::select(borders.to_vec()), 1 => 0.0..1.0_f64, 1 => any::<f64>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn odd_weights_are_refused_or_give_each_chunk_once_with_a_score(
        weights in prop::array::uniform3(odd_weight()),
        k1 in prop::sample::select(&[0.0, 1e-300, 1.5, 100.0][..]),
        b in prop::sample::select(&[0.0, 1e-300, 0.75, 1.0][..]),
        fields in prop::collection::vec(prop::array::uniform3("([abc] ){0,3}"), 1..8),
        query in "[abc]( [abc]){0,5}",
    ) {
        let fingerprint = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none");
        let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([1; 32]));
        let batch = (0..).zip(&fields).fold(Batch::new(), |batch, (number, [title, text, extra])| {
            let mut record = record(number, text);
            record.title.clone_from(title);
            record.chunks[0].extra.clone_from(extra);
            batch.upsert(record)
        });
        index.write(batch).unwrap();
        let mut bm25 = Bm25::new(k1, b);
        [bm25.weights.heading, bm25.weights.body, bm25.weights.extra] = weights;
        let view = index.view(&Scope::anonymous());
        let found = view.sparse(&SparseQuery::new(&query, usize::MAX).bm25(bm25));
        let allowed = |weight: &f64| *weight == 0.0 || (1e-6..=100.0).contains(weight);
        if !weights.iter().all(allowed) {
            let refused = found.is_err_and(|error| error.code() == "index.invalid_input");
            prop_assert!(refused, "{weights:?}");
            return Ok(());
        }
        let words: Vec<&str> = query.split(' ').collect();
        let holds = |fields: &[String; 3]| {
            fields.iter().zip(weights).any(|(field, weight)| {
                weight > 0.0 && field.split(' ').any(|word| words.contains(&word))
            })
        };
        let mut expected: Vec<String> = (0..)
            .zip(&fields)
            .filter(|(_, fields)| holds(fields))
            .map(|(number, _): (u8, _)| format!("d{number:03}"))
            .collect();
        expected.sort();
        let found = found.unwrap();
        prop_assert!(found.iter().all(|hit| hit.bm25 > 0.0 && hit.bm25.is_finite()), "{found:?}");
        let mut ids: Vec<String> = found.iter().map(|hit| hit.id.document().to_string()).collect();
        ids.sort();
        prop_assert_eq!(ids, expected);
    }
}
