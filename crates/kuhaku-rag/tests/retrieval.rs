//! Which chunks an answer may rest on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use kuhaku_core::AccessTags;
use kuhaku_index::{Filter, StoredChunk};
use kuhaku_rag::{Hit, RagSettings, Retrieval, RetrievalRequest, Retriever};
use support::{Base, anonymous, with_roles};

/// A retriever that finds what it likes, whoever asks.
#[derive(Debug)]
struct Careless;

#[async_trait::async_trait]
impl Retriever for Careless {
    async fn retrieve(&self, _request: &RetrievalRequest) -> kuhaku_rag::Result<Retrieval> {
        let chunk = |id: &str, tags: &[&str]| {
            let tags = AccessTags::new(tags).unwrap();
            Hit::new(StoredChunk::new(id.parse().unwrap(), "The salary is 90 falcons.", tags))
        };
        let hits = vec![chunk("a::0", &["people_ops"]), chunk("b::0", &[]), chunk("b::0", &[])];
        Ok(Retrieval::new(hits))
    }
}

/// ACL-04
#[tokio::test]
async fn what_a_custom_retriever_may_not_return_is_dropped() {
    let base = Base::new();
    base.add("salary.md", "The salary is ninety.", &[]).await;
    let engine = base.engine().retriever(Careless).build().unwrap();
    let question = "What is the salary?";
    let outsider = engine.ask(&with_roles(question, &["engineering"])).await.unwrap();
    let found: Vec<String> = outsider.retrieved.iter().map(|hit| hit.chunk.to_string()).collect();
    assert_eq!(found, ["b::0"], "hidden and repeated chunks are gone");
    let insider = engine.ask(&with_roles(question, &["people_ops"])).await.unwrap();
    assert_eq!(insider.retrieved.len(), 2);
}

/// ACL-02: the part about sparse retrieval.
#[tokio::test]
async fn hidden_chunks_take_no_places() {
    let base = Base::new();
    for n in 0..10 {
        base.add(&format!("hidden{n}.txt"), "salary salary salary bands", &["people_ops"]).await;
    }
    for n in 0..5 {
        base.add(&format!("open{n}.txt"), "the salary of a goose is grass and water", &[]).await;
    }
    let engine = base.engine().build().unwrap();
    let found = engine.search(&with_roles("salary bands", &["engineering"])).await.unwrap();
    assert_eq!(found.hits.len(), 4);
    assert!(found.hits.iter().all(|hit| hit.retrieved.source.starts_with("open")));
}

/// SPS-06
#[tokio::test]
async fn stale_and_foreign_documents_take_no_places() {
    let base = Base::new();
    for n in 0..4 {
        let stale = "---\nexpiry_date: 2025-12-31\n---\nrefund refund refund refund";
        base.add(&format!("stale{n}.md"), stale, &[]).await;
        let obsolete = "---\nobsolete: true\n---\nrefund refund refund";
        base.add(&format!("obsolete{n}.md"), obsolete, &[]).await;
    }
    for n in 0..5 {
        let fresh = "---\ndoc_type: policy\n---\na refund takes five working days at the least";
        base.add(&format!("fresh{n}.md"), fresh, &[]).await;
    }
    for n in 0..4 {
        base.add(&format!("other{n}.txt"), "refund refund refund", &[]).await;
    }
    let engine = base.engine().build().unwrap();
    let policy = Filter::none().doc_type("policy");
    let found = engine.search(&anonymous("refund").filter(policy)).await.unwrap();
    assert_eq!(found.hits.len(), 4);
    assert!(found.hits.iter().all(|hit| hit.retrieved.source.starts_with("fresh")));
    let today = engine.search(&anonymous("refund").top_k(50)).await.unwrap();
    assert_eq!(today.hits.len(), 9);
    let ever = engine.search(&anonymous("refund").top_k(50).any_validity()).await.unwrap();
    assert_eq!(ever.hits.len(), 17);
}

/// FUS-05: the part about sparse retrieval.
#[tokio::test]
async fn weaker_matches_are_kept_behind_the_best_one() {
    let base = Base::new();
    for n in 1..=3 {
        let text = format!("Document {n} about shipping parcels to zone {n}");
        base.add(&format!("zone{n}.txt"), &text, &[]).await;
    }
    let engine = base.engine().build().unwrap();
    let answer = engine.ask(&anonymous("shipping zone 1")).await.unwrap();
    assert_eq!(answer.retrieved.len(), 3);
    assert_eq!(answer.retrieved[0].source, "zone1.txt");
}

/// FUS-06
#[tokio::test]
async fn common_words_alone_are_no_evidence() {
    let base = Base::new();
    for n in 1..=3 {
        let text = format!("Document {n} about shipping parcels to zone {n}");
        base.add(&format!("zone{n}.txt"), &text, &[]).await;
    }
    let engine = base.engine().build().unwrap();
    for question in ["capital of France? about to", "what is the airspeed of a swallow"] {
        assert!(engine.ask(&anonymous(question)).await.unwrap().abstained, "{question}");
    }
}

/// FUS-09
#[tokio::test]
async fn one_document_may_fill_all_places() {
    let mut settings = RagSettings::default();
    settings.chunk_size = 60;
    settings.chunk_overlap = 0;
    let base = Base::with(settings);
    let text: Vec<String> =
        (0..8).map(|n| format!("Rule {n} on parcels: they are weighed and stamped.")).collect();
    base.add("rules.txt", &text.join("\n\n"), &[]).await;
    let engine = base.engine().build().unwrap();
    assert_eq!(engine.search(&anonymous("parcels")).await.unwrap().hits.len(), 4);
}

/// ING-07
#[tokio::test]
async fn a_document_counts_from_its_first_to_its_last_day() {
    let base = Base::new();
    let dates = "effective_date: 2026-01-01\nexpiry_date: 2026-12-31";
    base.add("in.md", &format!("---\n{dates}\n---\nrefund"), &[]).await;
    base.add("never.md", &format!("---\n{dates}\nobsolete: true\n---\nrefund"), &[]).await;
    let engine = base.engine().build().unwrap();
    let days = [("2025-12-31", 0), ("2026-01-01", 1), ("2026-12-31", 1), ("2027-01-01", 0)];
    for (day, expected) in days {
        let filter = Filter::none().valid_on(day.parse().unwrap());
        let found = engine.search(&anonymous("refund").filter(filter)).await.unwrap();
        assert_eq!(found.hits.len(), expected, "{day}");
    }
}
