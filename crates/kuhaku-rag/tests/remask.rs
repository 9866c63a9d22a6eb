//! An index that an earlier masker has shaped.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;

use kuhaku_core::{AccessTags, DocumentId, Masked, Masker, PiiMasker, Placeholder, Scope};
use kuhaku_index::{ChunkIndex, IdKey, MemoryIndex};
use kuhaku_rag::{DocumentOutcome, Ingestor, RagEngine, RagSettings, TextDocument};
use support::{anonymous, with_roles};

/// Knows one address, and no other value.
#[derive(Debug)]
struct Early;

impl Masker for Early {
    fn id(&self) -> &str {
        "early-1"
    }

    fn mask(&self, text: &str) -> Masked {
        const KNOWN: &str = "ada@example.com";
        let spans = text.match_indices(KNOWN).map(|(at, _)| at..at + KNOWN.len());
        Masked::replacing(text, spans.map(|span| (span, Placeholder::Email)).collect())
    }
}

fn ingestor(index: &Arc<dyn ChunkIndex>, masker: Arc<dyn Masker>) -> Ingestor {
    Ingestor::new(index.clone(), masker, RagSettings::default(), None).unwrap()
}

async fn filled() -> Arc<dyn ChunkIndex> {
    let fingerprint = Ingestor::fingerprint(&RagSettings::default(), &Early).unwrap();
    let key = IdKey::from_bytes([7; 32]);
    let index: Arc<dyn ChunkIndex> = Arc::new(MemoryIndex::new(fingerprint, key));
    let early = ingestor(&index, Arc::new(Early));
    let contacts = "# Call +44 20 7946 0958\n\nWrite to ada@example.com or bob@example.com.\n\n\
                    # Server\n\nIt answers at 203.0.113.7 every day.";
    let contacts = TextDocument::new("c 4111 1111 1111 1111.md", contacts)
        .key(DocumentId::new("contacts").unwrap())
        .tags(AccessTags::new(["it"]).unwrap())
        .metadata("owner", "bob@example.com");
    assert_eq!(early.text(contacts).await.unwrap().outcome, DocumentOutcome::Added);
    let plain = TextDocument::new("plain.txt", "Nothing personal stands here.");
    assert_eq!(early.text(plain).await.unwrap().outcome, DocumentOutcome::Added);
    index
}

#[tokio::test]
async fn masking_again_replaces_what_the_earlier_masker_let_through_everywhere() {
    let index = filled().await;
    let report = ingestor(&index, Arc::new(PiiMasker::new())).remask().await.unwrap();
    assert_eq!((report.documents, report.changed), (2, 1));
    assert_eq!((report.from.as_str(), report.to.as_str()), ("early-1", PiiMasker::new().id()));
    assert!(report.redactions.count(Placeholder::Email) >= 2);
    assert_eq!(index.fingerprint().masker, PiiMasker::new().id());

    let engine = RagEngine::builder(index.clone()).build().unwrap();
    let found = engine.search(&with_roles("server answers call write", &["it"])).await.unwrap();
    let shown = serde_json::to_string(&found).unwrap();
    for raw in ["bob@", "203.0.113.7", "7946 0958", "4111"] {
        assert!(!shown.contains(raw), "{raw} in {shown}");
    }
    for placeholder in ["[EMAIL] or [EMAIL]", "[IP]", "[PHONE]", "[CARD]"] {
        assert!(shown.contains(placeholder), "{placeholder} in {shown}");
    }
    // The ids of the chunks, and who may see them, are what they were.
    assert!(found.hits.iter().all(|hit| hit.retrieved.chunk.document().as_str() == "contacts"));
    assert!(engine.search(&anonymous("server answers")).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn ranges_stay_exact_slices_of_the_canonical_text() {
    let index = filled().await;
    ingestor(&index, Arc::new(PiiMasker::new())).remask().await.unwrap();
    let check = |record: kuhaku_index::DocumentRecord| {
        for chunk in &record.chunks {
            let text = record.text.as_str().get(chunk.range.clone()).unwrap();
            assert_eq!(PiiMasker::new().mask(text).text(), text);
            assert!(chunk.text.is_none());
        }
        record
    };
    index.maintenance().rewrite(index.fingerprint(), &check).await.unwrap();
    assert_eq!(index.reader(&Scope::anonymous()).await.unwrap().visible_chunks(), 1);
}

#[tokio::test]
async fn masking_again_with_the_same_masker_changes_nothing_and_sources_count_as_changed() {
    let index = filled().await;
    let now = ingestor(&index, Arc::new(PiiMasker::new()));
    now.remask().await.unwrap();
    let again = now.remask().await.unwrap();
    assert_eq!((again.documents, again.changed), (2, 0));
    assert!(again.redactions.is_empty());
    let plain = TextDocument::new("plain.txt", "Nothing personal stands here.");
    assert_eq!(now.text(plain).await.unwrap().outcome, DocumentOutcome::Updated);
}
