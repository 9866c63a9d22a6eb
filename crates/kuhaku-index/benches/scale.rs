//! Indexing and searching 100,000 chunks of 60 made-up words by Zipf's law, five to a document;
//! `KUHAKU_BENCH_CHUNKS` sets another number.
//!
//! Half of the queries have three common words (ranks up to 100 of 60,000), half three rare ones
//! (5,000 to 50,000). Times depend on the machine; xtask sets them beside those of peers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use kuhaku_core::{DocumentId, Runtime, Scope};
use kuhaku_index::{
    Batch, ChunkIndex as _, Fingerprint, IdKey, Language, MemoryIndex, OpenOptions, SparseQuery,
    SqliteIndex, Tokenizer, View,
};
use kuhaku_testkit::index::Scale;

/// Documents per transaction.
const BATCH: usize = 500;

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn batches(corpus: &Scale, documents: usize) -> impl Iterator<Item = Batch> {
    let numbers: Vec<usize> = (0..documents).collect();
    let batches: Vec<Batch> = numbers
        .chunks(BATCH)
        .map(|numbers| {
            let records = numbers.iter().map(|number| corpus.document(*number).unwrap());
            records.fold(Batch::new(), Batch::upsert)
        })
        .collect();
    batches.into_iter()
}

fn search(view: &View, query: &str) -> Duration {
    timed(|| black_box(view.sparse(&SparseQuery::new(query, 10)).unwrap())).0
}

/// The median over queries of the best of three runs.
fn median(view: &View, queries: &[String]) -> Duration {
    for query in queries {
        search(view, query);
    }
    let best = |query: &String| (0..3).map(|_| search(view, query)).min().unwrap();
    let mut times: Vec<_> = queries.iter().map(best).collect();
    times.sort();
    times[times.len() / 2]
}

fn report(name: &str, view: &View, corpus: &Scale) {
    let (common, rare) = (median(view, &corpus.common(200)), median(view, &corpus.rare(200)));
    println!("  {name}: common words {common:.2?}, rare words {rare:.2?}");
}

/// What this process holds in memory, in MB, where the system says so.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default()
        / 1000
}

fn in_memory(name: &str, corpus: &Scale, documents: usize, scope: &Scope) {
    println!("\n{name}, in memory");
    let fingerprint = Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
    let index = MemoryIndex::new(fingerprint, IdKey::from_bytes([1; 32]));
    let batches = batches(corpus, documents);
    let (time, ()) = timed(|| batches.for_each(|batch| drop(index.write(batch).unwrap())));
    println!("  indexing: {time:.2?}");
    report("queries", &index.view(scope), corpus);
    let (mut warm, mut after) = (Vec::new(), Vec::new());
    for (number, query) in corpus.common(60).iter().enumerate() {
        warm.push(search(&index.view(scope), query));
        let mut one = corpus.document(number).unwrap();
        one.id = DocumentId::new(format!("added-{number}")).unwrap();
        index.write(Batch::new().upsert(one)).unwrap();
        after.push(search(&index.view(scope), query));
    }
    warm.sort();
    after.sort();
    println!("  a query {:.2?}, after one more document {:.2?}", warm[30], after[30]);
}

fn durable(name: &str, corpus: &Scale, documents: usize, scope: &Scope) {
    println!("\n{name}, durable");
    let folder = tempfile::tempdir().unwrap();
    let options = || OpenOptions::new(folder.path(), Runtime::system());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let batches = batches(corpus, documents);
    runtime.block_on(async {
        let index = SqliteIndex::open(options().create(true)).await.unwrap();
        let start = Instant::now();
        let mut slowest = Duration::ZERO;
        for batch in batches {
            let start = Instant::now();
            index.apply(batch).await.unwrap();
            slowest = slowest.max(start.elapsed());
        }
        println!("  indexing: {:.2?}, the slowest batch {slowest:.2?}", start.elapsed());
        let start = Instant::now();
        index.close().await;
        println!("  closing: {:.2?}", start.elapsed());
        drop(index);
        let before = resident();
        let start = Instant::now();
        let index = SqliteIndex::open(options()).await.unwrap();
        println!("  opening: {:.2?}, {} MB more resident", start.elapsed(), resident() - before);
        report("queries", &index.view(scope), corpus);
        index.close().await;
    });
}

fn main() {
    let chunks = std::env::var("KUHAKU_BENCH_CHUNKS").ok().and_then(|text| text.parse().ok());
    let documents = chunks.unwrap_or(100_000_usize) / 5;
    let everybody = Scope::anonymous();
    in_memory("without tags", &Scale::new(), documents, &everybody);
    in_memory(
        "20,000 sets of tags, a caller of 50 roles",
        &Scale::new().tagged(),
        documents,
        &Scale::caller(),
    );
    durable("without tags", &Scale::new(), documents, &everybody);
}
