//! How long it takes to score 100,000 queries with 100 hits each, on one core, and how much memory
//! that needs: `cargo bench -p kuhaku-eval`.
//!
//! The run is made, not read: 100,000 queries over 200,000 documents, three judged documents per
//! query, hits at random. Scored by nDCG@10, Recall@100, MRR and MAP. The number to compare across
//! machines is the ratio to the calibration loop (D40), which hashes as many ids.
#![allow(clippy::print_stdout, reason = "a bench tells its numbers")]

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use kuhaku_eval::{Cut, Gain, SeededRandom, TrecRun};

const QUERIES: usize = 100_000;
const HITS: usize = 100;
const DOCUMENTS: usize = 200_000;

fn main() {
    let mut random = SeededRandom::new(1);
    let mut run = TrecRun::default();
    let mut qrels: Vec<(String, BTreeMap<String, i64>)> = Vec::with_capacity(QUERIES);
    for query in 0..QUERIES {
        let query = format!("q{query}");
        let mut judged = BTreeMap::new();
        for rank in 0..HITS {
            let document = format!("d{}", random.below(DOCUMENTS));
            run.push(&query, &document, random.unit());
            if rank < 3 {
                judged.insert(document, 1 + i64::from(rank == 0));
            }
        }
        qrels.push((query, judged));
    }

    let started = Instant::now();
    for _ in 0..QUERIES {
        let ids: HashSet<u64> = (0..HITS).map(|_| random.next_u64()).collect();
        black_box(ids.len());
    }
    let calibration = started.elapsed();

    let started = Instant::now();
    let (mut ndcg, mut recall, mut mrr, mut map) = (0.0, 0.0, 0.0, 0.0);
    for (query, judged) in &qrels {
        let ranking = run.graded(query, judged, 1);
        ndcg += Cut::at(10).map_or(0.0, |cut| ranking.ndcg(cut, Gain::Linear));
        recall += Cut::at(100).map_or(0.0, |cut| ranking.recall(cut));
        mrr += ranking.reciprocal_rank(Cut::Whole);
        map += ranking.average_precision(Cut::Whole);
    }
    let took = started.elapsed();

    let [ndcg, recall, mrr, map] = [ndcg, recall, mrr, map].map(|sum| sum / QUERIES as f64);
    println!("{QUERIES} queries x {HITS} hits: {:.3} s", took.as_secs_f64());
    println!("calibration loop: {:.3} s", calibration.as_secs_f64());
    println!("ratio: {:.2}", took.as_secs_f64() / calibration.as_secs_f64());
    println!("ndcg@10 {ndcg:.4} recall@100 {recall:.4} mrr {mrr:.4} map {map:.4}");
    println!("peak memory: {}", peak_memory().unwrap_or_else(|| "not known here".to_owned()));
}

/// What the kernel counted, where it does.
fn peak_memory() -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.trim_start_matches("VmHWM:").trim().to_owned())
}
