//! The exact scan over codes beside a plain scan of the same numbers, and by scope and filter.
//!
//! 100,000 vectors of 384 numbers: 2,000 centres, each with 50 vectors around it, at a cosine of about
//! 0.7 to it, as paragraphs of one topic are. Queries lie as near to a centre. A tenth of the vectors has
//! each of ten tags. The plain scan multiplies and adds single-precision numbers in a contiguous matrix
//! with the same 16 lanes and keeps the best ten.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench"
)]

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Instant;

use divan::{Bencher, counter::ItemsCount};
use kuhaku_core::{AccessTags, DocumentId, Masked, Roles, Scope};
use kuhaku_index::{
    Ann, Batch, ChunkIndex as _, ChunkRecord, DenseQuery, DocumentRecord, Filter, Fingerprint,
    IdKey, Language, MemoryIndex, Tokenizer, Vector, View,
};

const VECTORS: usize = 100_000;
const DIMENSION: usize = 384;
const CENTRES: usize = 2_000;
const COUNT: usize = 10;

fn main() {
    let before = private_mb();
    LazyLock::force(&CORPUS);
    // The plain matrix is not the index's.
    let plain = (VECTORS * DIMENSION * 4) as f64 / 1e6;
    println!("two indexes in memory, with records: {:.0} MB", private_mb() - before - plain);
    let begun = Instant::now();
    CORPUS.graphs.build_graphs();
    let built = begun.elapsed();
    let everybody = Scope::anonymous();
    let (exact, graphs) = (view(10), CORPUS.graphs.view(&everybody));
    let found = CORPUS.queries.iter().map(|query| {
        let query = DenseQuery::new(query.clone(), COUNT);
        let ids = |view: &View| -> Vec<String> {
            let hits = view.dense(&query).expect("hits");
            hits.iter().map(|hit| hit.id.to_string()).collect()
        };
        let exact = ids(&exact);
        ids(&graphs).iter().filter(|id| exact.contains(id)).count()
    });
    let recall = found.sum::<usize>() as f64 / (COUNT * CORPUS.queries.len()) as f64;
    println!("a graph: built in {:.1} s, recall@10 {recall:.4}", built.as_secs_f64());
    divan::main();
}

/// What this process holds for itself in memory, in millions of bytes.
fn private_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

struct Random(u64);

impl Random {
    /// About a normal distribution, from -6 to 6.
    fn normal(&mut self) -> f32 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            sum += (self.0 >> 40) as f32 / (1_u64 << 24) as f32;
        }
        sum - 6.0
    }

    fn row(&mut self) -> Vec<f32> {
        (0..DIMENSION).map(|_| self.normal()).collect()
    }

    fn near(&mut self, centre: &[f32]) -> Vector {
        let row = centre.iter().map(|number| number + self.normal()).collect();
        Vector::new(row).expect("it has a direction")
    }
}

struct Corpus {
    matrix: Vec<f32>,
    queries: Vec<Vector>,
    index: MemoryIndex,
    /// The same without tags, for one graph.
    graphs: MemoryIndex,
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let centres: Vec<Vec<f32>> = (0..CENTRES).map(|_| random.row()).collect();
    let queries = (0..32).map(|n| random.near(&centres[n * 7 % CENTRES])).collect();
    let fingerprint = Fingerprint::new(Tokenizer::Simple, Language::None, "none", "none")
        .embedder("bench", DIMENSION);
    let key = IdKey::from_bytes([1; 32]);
    let index = MemoryIndex::new(fingerprint, key.clone());
    let graphs = MemoryIndex::new(index.fingerprint(), key.clone()).ann(Ann::Hnsw);
    let mut matrix = Vec::with_capacity(VECTORS * DIMENSION);
    let (mut batch, mut untagged) = (Batch::new(), Batch::new());
    for number in 0..VECTORS {
        let vector = random.near(&centres[number % CENTRES]);
        matrix.extend_from_slice(vector.as_slice());
        let id = DocumentId::new(format!("d{number:06}")).expect("an id");
        let content = key.content_hash(&[&number.to_le_bytes()]);
        let text = Masked::replacing("-", Vec::new()).canonical();
        let mut record = DocumentRecord::new(id, content, text);
        record.tags = AccessTags::new([format!("tag-{}", number % 10)]).expect("a tag");
        record.doc_type = if number % 100 == 0 { "rare" } else { "common" }.into();
        let mut chunk = ChunkRecord::new(0..1);
        chunk.vector = Some(vector);
        record.chunks = vec![chunk];
        batch = batch.upsert(record.clone());
        record.tags = AccessTags::none();
        untagged = untagged.upsert(record);
    }
    index.write(batch).expect("a valid batch");
    graphs.write(untagged).expect("a valid batch");
    Corpus { matrix, queries, index, graphs }
});

fn view(tags: usize) -> View {
    let roles = Roles::new((0..tags).map(|tag| format!("tag-{tag}")));
    CORPUS.index.view(&Scope::with_roles(roles))
}

fn searched(bencher: Bencher<'_, '_>, tags: usize, filter: Filter) {
    let view = view(tags);
    let mut queries = CORPUS.queries.iter().cycle();
    bencher.counter(ItemsCount::new(VECTORS)).bench_local(|| {
        let query = queries.next().expect("there are queries").clone();
        view.dense(&DenseQuery::new(query, COUNT).filter(filter.clone())).expect("hits").len()
    });
}

#[divan::bench]
fn plain(bencher: Bencher<'_, '_>) {
    let mut queries = CORPUS.queries.iter().cycle();
    bencher.counter(ItemsCount::new(VECTORS)).bench_local(|| {
        let query = queries.next().expect("there are queries").as_slice();
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(COUNT + 1);
        for (number, row) in CORPUS.matrix.chunks_exact(DIMENSION).enumerate() {
            let mut lanes = [0.0_f32; 16];
            for (a, b) in query.as_chunks::<16>().0.iter().zip(row.as_chunks::<16>().0) {
                for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                    *lane += a * b;
                }
            }
            let score: f32 = lanes.iter().sum();
            if best.len() < COUNT || best.last().is_some_and(|(worst, _)| score > *worst) {
                let at = best.partition_point(|(better, _)| *better >= score);
                best.insert(at, (score, number));
                best.truncate(COUNT);
            }
        }
        black_box(best)
    });
}

#[divan::bench]
fn codes(bencher: Bencher<'_, '_>) {
    searched(bencher, 10, Filter::none());
}

#[divan::bench]
fn graph(bencher: Bencher<'_, '_>) {
    let view = CORPUS.graphs.view(&Scope::anonymous());
    let mut queries = CORPUS.queries.iter().cycle();
    bencher.bench_local(|| {
        let query = queries.next().expect("there are queries").clone();
        view.dense(&DenseQuery::new(query, COUNT)).expect("hits").len()
    });
}

#[divan::bench]
fn codes_of_a_tenth_that_is_seen(bencher: Bencher<'_, '_>) {
    searched(bencher, 1, Filter::none());
}

#[divan::bench]
fn codes_of_a_hundredth_that_passes(bencher: Bencher<'_, '_>) {
    searched(bencher, 10, Filter::none().doc_type("rare"));
}
