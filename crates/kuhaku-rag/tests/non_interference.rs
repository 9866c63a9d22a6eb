//! R4 through the whole pipeline: what a caller gets is the same, to the last bit, as if the chunks
//! that it may not see had never been there. By vectors, by both, with all stages behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "the proof is shown")]

mod support;

use std::sync::Arc;

use kuhaku_core::{AccessTags, DocumentId, Embedder, Masked, Roles, Scope};
use kuhaku_index::{
    Batch, ChunkIndex, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language, MemoryIndex,
    Tokenizer, Vector,
};
use kuhaku_rag::{AskRequest, Fusion, RagEngine, RagSettings, Strategy};
use kuhaku_testkit::{MarkerClassifier, MixingEmbedder, OverlapReranker, WordEmbedder};
use support::between::Between;
use support::comparable;

const CASES: u64 = 2_000;
const DIMENSION: usize = 16;
/// Few words, so that visible and hidden texts share them (D5).
const WORDS: [&str; 10] = [
    "refund", "invoice", "payment", "gateway", "timeout", "retry", "ledger", "salary", "bonus",
    "contract",
];
const TAG_SETS: [&[&str]; 7] =
    [&[], &[], &["hr"], &["legal"], &["hr", "legal"], &["board"], &["board"]];
const ALL_ROLES: [&str; 3] = ["hr", "legal", "board"];

/// splitmix64 (Steele, Lea and Flood 2014, figure 16).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn words(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        (0..count).map(|_| self.pick(&WORDS)).collect::<Vec<_>>().join(" ")
    }
}

/// A document before it is embedded.
#[derive(Clone)]
struct Document {
    id: DocumentId,
    title: String,
    chunks: Vec<String>,
    tags: AccessTags,
    /// Whether its chunks have vectors.
    embedded: bool,
    version: u64,
}

/// Documents to store together, and one to remove.
type Step = (Vec<Document>, Option<DocumentId>);

fn id(random: &mut Random) -> DocumentId {
    DocumentId::new(format!("doc-{:02}", random.below(12))).unwrap()
}

fn document(random: &mut Random) -> Document {
    Document {
        id: id(random),
        title: if random.below(3) == 0 { random.words(2) } else { String::new() },
        chunks: (0..1 + random.below(3)).map(|_| random.words(7)).collect(),
        tags: AccessTags::new(random.pick(&TAG_SETS)).unwrap(),
        embedded: random.below(5) != 0,
        version: random.next(),
    }
}

fn history(random: &mut Random) -> Vec<Step> {
    let step = |random: &mut Random| {
        let documents = (0..1 + random.below(5)).map(|_| document(random)).collect();
        let removed = (random.below(3) == 0).then(|| id(random));
        (documents, removed)
    };
    (0..2 + random.below(3)).map(|_| step(random)).collect()
}

/// An index after a history as a scope knows it (D4), or after all of it. A step is embedded in one
/// batch, so that an embedder that breaks D7 shows.
async fn index(history: &[Step], embedder: &dyn Embedder, scope: Option<&Scope>) -> MemoryIndex {
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
        .embedder(embedder.fingerprint(), DIMENSION);
    let key = IdKey::from_bytes([42; 32]);
    let index = MemoryIndex::new(fingerprint, key.clone());
    for (documents, removed) in history {
        let mut batch = removed.iter().fold(Batch::new(), |it, id| it.remove(id.clone()));
        let sees = |document: &Document| scope.is_none_or(|scope| scope.sees(&document.tags));
        let seen: Vec<&Document> = documents.iter().filter(|it| sees(it)).collect();
        let texts: Vec<&str> =
            seen.iter().flat_map(|it| it.chunks.iter().map(String::as_str)).collect();
        let mut vectors = embedder.embed_documents(&texts).await.unwrap().into_iter();
        for document in documents {
            if !sees(document) {
                batch = batch.remove(document.id.clone());
                continue;
            }
            let text = Masked::replacing(&document.chunks.join("\n"), Vec::new()).canonical();
            let content = key.content_hash(&[&document.version.to_le_bytes()]);
            let mut record = DocumentRecord::new(document.id.clone(), content, text);
            record.title.clone_from(&document.title);
            record.tags = document.tags.clone();
            record.source = format!("{}.md", document.id);
            let mut start = 0;
            for text in &document.chunks {
                let mut chunk = ChunkRecord::new(start..start + text.len());
                start += text.len() + 1;
                let vector = Vector::new(vectors.next().unwrap()).unwrap();
                chunk.vector = document.embedded.then_some(vector);
                record.chunks.push(chunk);
            }
            batch = batch.upsert(record);
        }
        if !batch.is_empty() {
            index.apply(batch).await.unwrap();
        }
    }
    index
}

fn scope(random: &mut Random) -> Scope {
    match random.below(3) {
        0 => Scope::anonymous(),
        1 => Scope::with_roles(Roles::new(["hr"])),
        _ => Scope::with_roles(Roles::new(["hr", "legal"])),
    }
}

/// Random settings of everything that orders chunks.
fn settings(random: &mut Random) -> RagSettings {
    let mut settings = RagSettings::default();
    settings.retrieval = random.pick(&[Strategy::Auto, Strategy::Dense, Strategy::Hybrid]);
    settings.fusion = random.pick(Fusion::ALL);
    settings.rrf_k = random.pick(&[1, 60]);
    settings.dense_weight = random.pick(&[0.3, 1.0]);
    settings.fetch_k = 1 + random.below(4);
    settings.rerank_candidates = 1 + random.below(4);
    settings.rerank_alpha = random.pick(&[0.4, 1.0]);
    settings.mmr_lambda = random.pick(&[None, Some(0.3), Some(0.7)]);
    settings.max_chunks_per_document = random.below(3);
    settings.top_k = 1 + random.below(4);
    settings.cosine_weight = random.pick(&[None, Some(2.0)]);
    settings.cosine_neutral = Some(0.4);
    settings.cosine_threshold = random.pick(&[None, Some(0.7)]);
    settings
}

/// Which stages with a model there are.
#[derive(Clone, Copy)]
struct Stages {
    rerank: bool,
    guard: bool,
}

/// All that a caller gets for some questions.
async fn observed(
    index: Arc<dyn ChunkIndex>,
    embedder: &Arc<dyn Embedder>,
    settings: &RagSettings,
    stages: Stages,
    asked: &[AskRequest],
) -> Vec<String> {
    let now = "2026-06-15T12:00:00Z".parse().unwrap();
    let (reranker, classifier) =
        (Arc::new(OverlapReranker::new()), Arc::new(MarkerClassifier::new("bonus")));
    let mut engine = RagEngine::builder(index)
        .settings(settings.clone())
        .embedder(embedder.clone())
        .runtime(kuhaku_testkit::fixed_runtime(now));
    if stages.rerank {
        engine = engine.reranker(reranker.clone());
    }
    if stages.guard {
        engine = engine.classifier(classifier.clone());
    }
    let engine = engine.build().unwrap();
    let mut seen = Vec::new();
    for request in asked {
        seen.push(comparable(&engine.search(request).await.unwrap()));
        seen.push(comparable(&engine.ask(request).await.unwrap()));
    }
    // Steps that call a model: their requests are equal too.
    seen.push(format!("{:?} {:?}", reranker.calls(), classifier.calls()));
    seen
}

/// What is compared with an index that never held the rest.
#[derive(Clone, Copy, PartialEq)]
enum Under {
    Honest,
    PoolCutBeforeScope,
}

/// Of some cases, how many differ from an index that never held what the caller may not see, how many
/// found something, and how many had something hidden.
#[derive(Debug, Default)]
struct Proof {
    differ: u64,
    found: u64,
    hidden: u64,
}

async fn compare(cases: u64, embedder: Arc<dyn Embedder>, under: Under) -> Proof {
    let mut proof = Proof::default();
    for case in 0..cases {
        let mut random = Random(case.wrapping_mul(0x1000_0001).wrapping_add(7));
        let history = history(&mut random);
        let scope = scope(&mut random);
        let settings = settings(&mut random);
        let stages = Stages { rerank: random.below(2) == 0, guard: random.below(2) == 0 };
        let asked: Vec<AskRequest> =
            (0..2).map(|_| AskRequest::new(random.words(3), scope.clone())).collect();
        let whole: Arc<dyn ChunkIndex> = Arc::new(index(&history, &embedder, None).await);
        let whole = match under {
            Under::Honest => whole,
            Under::PoolCutBeforeScope => {
                Arc::new(Between::cutting_before_scope(whole, Roles::new(ALL_ROLES)))
            }
        };
        let absent = Arc::new(index(&history, &embedder, Some(&scope)).await);
        let whole = observed(whole, &embedder, &settings, stages, &asked).await;
        let absent = observed(absent, &embedder, &settings, stages, &asked).await;
        proof.found += u64::from(whole.iter().any(|seen| seen.contains("\"chunk\"")));
        let hides = |(documents, _): &Step| documents.iter().any(|it| !scope.sees(&it.tags));
        proof.hidden += u64::from(history.iter().any(hides));
        if whole != absent {
            proof.differ += 1;
            let pair = whole.iter().zip(&absent).find(|(whole, absent)| whole != absent);
            assert!(under != Under::Honest || embedder.fingerprint() == MIXING, "{case}: {pair:?}");
        }
    }
    println!("{cases} cases: {proof:?}");
    proof
}

const MIXING: &str = "test:mixing";

/// R4, D5: the number of cases in which a pool that is cut before the scope acts would show is that of
/// the next test, at least half of them.
#[tokio::test]
async fn hidden_chunks_change_nothing_that_vectors_fusion_and_the_stages_give() {
    let proof = compare(CASES, Arc::new(WordEmbedder::new(DIMENSION)), Under::Honest).await;
    assert_eq!(proof.differ, 0);
    assert!(proof.found > CASES * 4 / 5 && proof.hidden > CASES * 4 / 5, "{proof:?}");
}

/// D5: a seeded fault.
#[tokio::test]
async fn a_pool_that_is_cut_before_the_scope_acts_is_found_out() {
    let words = Arc::new(WordEmbedder::new(DIMENSION));
    let proof = compare(200, words, Under::PoolCutBeforeScope).await;
    assert!(proof.differ >= 100, "{proof:?}");
}

/// D5, D7: a seeded fault.
#[tokio::test]
async fn an_embedder_whose_vectors_depend_on_their_batch_is_found_out() {
    let mixing = Arc::new(MixingEmbedder::new(DIMENSION));
    assert_eq!(mixing.fingerprint(), MIXING);
    let proof = compare(200, mixing, Under::Honest).await;
    assert!(proof.differ >= 100, "{proof:?}");
}
