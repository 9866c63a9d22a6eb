//! Indexing and searching BEIR SciFact: 5,183 abstracts of about 200 words, 8 MB; 300 test queries.
//!
//! `KUHAKU_BENCH_DATA` names a folder that holds `scifact/corpus.jsonl.gz`, `queries.jsonl` and
//! `qrels/test.tsv` in BEIR layout, relative to the workspace; without it the bench says so and ends.
//!
//! Times depend on the machine. Beside them stand a calibration loop (how long 200 million additions
//! take here) and the `bm25` crate as a peer; compare the ratios. The targets: indexing to disk, from
//! text to a durable commit, under 3 s; half of the queries under 100 µs, without reading text.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::Read as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kuhaku_core::{DocumentId, Masked, Runtime, Scope};
use kuhaku_index::{
    Analyzer, Batch, ChunkIndex, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language,
    MemoryIndex, OpenOptions, SparseQuery, SqliteIndex, Tokenizer, View,
};

struct Abstract {
    id: String,
    title: String,
    text: String,
}

fn lines(text: &str) -> impl Iterator<Item = serde_json::Value> {
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap())
}

fn field(value: &serde_json::Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn corpus(folder: &Path) -> Vec<Abstract> {
    let packed = std::fs::File::open(folder.join("corpus.jsonl.gz")).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    lines(&text)
        .map(|value| Abstract {
            id: field(&value, "_id"),
            title: field(&value, "title"),
            text: field(&value, "text"),
        })
        .collect()
}

fn queries(folder: &Path) -> Vec<String> {
    let judged = std::fs::read_to_string(folder.join("qrels/test.tsv")).unwrap();
    let judged: BTreeSet<&str> =
        judged.lines().skip(1).filter_map(|line| line.split('\t').next()).collect();
    let all = std::fs::read_to_string(folder.join("queries.jsonl")).unwrap();
    lines(&all)
        .filter(|value| judged.contains(field(value, "_id").as_str()))
        .map(|value| field(&value, "text"))
        .collect()
}

/// One range for the whole text.
fn whole(text: &str) -> Vec<Range<usize>> {
    vec![Range { start: 0, end: text.len() }]
}

/// Ranges of about 500 bytes that end at spaces.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(' ').filter(|(at, _)| text.is_char_boundary(*at)) {
        if at - start >= 500 {
            ranges.push(start..at);
            start = at + 1;
        }
    }
    ranges.push(start..text.len());
    ranges
}

/// How a text becomes chunks.
type Cut = fn(&str) -> Vec<Range<usize>>;

fn batch(corpus: &[Abstract], cut: Cut) -> Batch {
    let key = IdKey::from_bytes([1; 32]);
    corpus.iter().fold(Batch::new(), |batch, entry| {
        let canonical = Masked::replacing(&entry.text, Vec::new()).canonical();
        let content = key.content_hash(&[entry.text.as_bytes()]);
        let id = DocumentId::new(entry.id.as_str()).unwrap();
        let mut record = DocumentRecord::new(id, content, canonical);
        record.title = entry.title.clone();
        record.chunks = cut(&entry.text).into_iter().map(ChunkRecord::new).collect();
        batch.upsert(record)
    })
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

/// 200 million dependent additions and rotations.
fn calibration() -> Duration {
    timed(|| {
        (0..200_000_000_u64).fold(1_u64, |sum, n| black_box(sum.rotate_left(5).wrapping_add(n)))
    })
    .0
}

/// The median and the 95th percentile of the best of three runs of each query.
fn latencies(queries: &[String], mut search: impl FnMut(&str)) -> (Duration, Duration) {
    queries.iter().for_each(|query| search(query));
    let mut times: Vec<_> = queries
        .iter()
        .map(|query| (0..3).map(|_| timed(|| search(query)).0).min().unwrap_or_default())
        .collect();
    times.sort();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// The median and the 95th percentile of making a reader, which looks whether others have written.
fn readers(runtime: &tokio::runtime::Runtime, index: &SqliteIndex) -> (Duration, Duration) {
    let everybody = Scope::anonymous();
    let mut times: Vec<_> = runtime.block_on(async {
        let mut times = Vec::new();
        for _ in 0..2_000 {
            let start = Instant::now();
            black_box(index.reader(&everybody).await.unwrap());
            times.push(start.elapsed());
        }
        times
    });
    times.sort();
    (times[times.len() / 2], times[times.len() * 95 / 100])
}

/// Making a reader when another handle has written one document since; the median of 15.
fn following(
    runtime: &tokio::runtime::Runtime,
    index: &SqliteIndex,
    options: OpenOptions,
    entry: &Abstract,
    cut: Cut,
) -> Duration {
    let one = std::slice::from_ref(entry);
    let id = DocumentId::new(entry.id.as_str()).unwrap();
    let mut times = runtime.block_on(async {
        let other = SqliteIndex::open(options).await.unwrap();
        let mut times = Vec::new();
        for _ in 0..15 {
            other.apply(Batch::new().remove(id.clone())).await.unwrap();
            other.apply(batch(one, cut)).await.unwrap();
            let start = Instant::now();
            black_box(index.reader(&Scope::anonymous()).await.unwrap());
            times.push(start.elapsed());
        }
        other.close().await;
        times
    });
    times.sort();
    times[times.len() / 2]
}

fn search(view: &View, query: &str, limit: usize) {
    black_box(view.sparse(&SparseQuery::new(query, limit)).unwrap());
}

fn main() {
    let Some(data) = std::env::var_os("KUHAKU_BENCH_DATA").map(PathBuf::from) else {
        println!("skipped: KUHAKU_BENCH_DATA names no folder with the retrieval sets");
        return;
    };
    // Cargo runs benches in the crate's folder; a relative path is meant from the workspace.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = workspace.join(data).join("scifact");
    if !folder.join("corpus.jsonl.gz").exists() {
        println!("skipped: the folder of KUHAKU_BENCH_DATA holds no scifact/corpus.jsonl.gz");
        return;
    }
    let (corpus, queries) = (corpus(&folder), queries(&folder));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let unit = calibration();
    println!("calibration loop: {unit:.2?}");
    println!("{} documents, {} queries", corpus.len(), queries.len());

    let fingerprint = || Fingerprint::new(Tokenizer::Default, Language::En, "none", "none");
    let cuts: [(&str, Cut); 2] =
        [("a chunk per document", whole), ("paragraphs of 500 characters", paragraphs)];
    let mut ours = Duration::MAX;
    for (name, cut) in cuts {
        println!("\n{name}");
        let temporary = tempfile::tempdir().unwrap();
        let options = || OpenOptions::new(temporary.path(), Runtime::system());
        let (time, index) = timed(|| {
            runtime.block_on(async {
                let index = SqliteIndex::open(options().create(true)).await.unwrap();
                index.apply(batch(&corpus, cut)).await.unwrap();
                index
            })
        });
        let ratio = time.as_secs_f64() / unit.as_secs_f64();
        println!("  indexing to disk: {time:.2?} ({ratio:.2} calibration loops)");
        let (time, ()) = timed(|| runtime.block_on(index.close()));
        println!("  closing: {time:.2?}");
        let (time, index) = timed(|| runtime.block_on(SqliteIndex::open(options())).unwrap());
        println!("  opening again: {time:.2?}");
        let chunks = index.view(&Scope::anonymous()).visible_chunks();
        let (p50, p95) = readers(&runtime, &index);
        println!("  making a reader: p50 {p50:.2?}, p95 {p95:.2?}");
        let time = following(&runtime, &index, options(), &corpus[0], cut);
        println!("  making one after another handle has written a document: {time:.2?}");
        let size = std::fs::metadata(temporary.path().join("index.sqlite3")).unwrap().len();
        println!("  {chunks} chunks, {} KiB on disk", size / 1024);

        let memory = MemoryIndex::new(fingerprint(), IdKey::from_bytes([1; 32]));
        let (time, _) = timed(|| memory.write(batch(&corpus, cut)).unwrap());
        println!("  indexing in memory: {time:.2?}");
        let view = memory.view(&Scope::anonymous());
        for limit in [100, 10] {
            let (p50, p95) = latencies(&queries, |query| search(&view, query, limit));
            println!("  queries for the best {limit}: p50 {p50:.2?}, p95 {p95:.2?}");
            ours = ours.min(p50);
        }

        let first = &corpus[0];
        let one = std::slice::from_ref(first);
        let id = DocumentId::new(first.id.as_str()).unwrap();
        memory.write(Batch::new().remove(id)).unwrap();
        let (time, _) = timed(|| memory.write(batch(one, cut)).unwrap());
        println!("  adding one document: {time:.2?}");
    }

    println!("\nthe bm25 crate, a chunk per document, the same terms");
    let (time, engine) = timed(|| {
        let documents = corpus.iter().enumerate().map(|(id, entry)| bm25::Document {
            id,
            contents: format!("{}\n{}", entry.title, entry.text),
        });
        bm25::SearchEngineBuilder::<usize, u32, Terms>::with_tokenizer_and_documents(
            Terms(Analyzer::new(Tokenizer::Default, Language::En)),
            documents.collect::<Vec<_>>(),
        )
        .build()
    });
    println!("  indexing in memory: {time:.2?}");
    let (p50, p95) = latencies(&queries, |query| {
        black_box(engine.search(query, 10));
    });
    println!("  queries: p50 {p50:.2?}, p95 {p95:.2?}");
    println!("  our p50 is {:.1} times as fast", p50.as_secs_f64() / ours.as_secs_f64());
}

/// Our own terms, so that the peer searches the same.
struct Terms(Analyzer);

impl bm25::Tokenizer for Terms {
    fn tokenize(&self, text: &str) -> Vec<String> {
        self.0.tokens(text).into_iter().map(|token| token.term).collect()
    }
}
