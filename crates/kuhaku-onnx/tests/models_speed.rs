//! How fast the embedder is beside Python's onnxruntime on the same model in the same run, and what
//! it leaves of the processor to others (D40). Meant for release mode and a machine without other
//! work.

#![cfg(feature = "runtime")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests"
)]

mod real;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kuhaku_core::{Embedder, Runtime};
use kuhaku_onnx::{Family, LongText, ModelFolder, OnnxEmbedder};
use real::scripts::{english, mixed};
use real::{E5, MINILM, Python, builder, onnx, open};

fn parts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// After this long nothing spins any more.
const PAUSE: Duration = Duration::from_millis(20);

fn plain(model: &str, file: &str) -> Option<OnnxEmbedder> {
    open(builder(model, file)?.family(Family::Plain).threads(2))
}

fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// Runs both in turn; the ratio of Python's time to ours per round, of which the middle one counts.
async fn ratio(
    embedder: &OnnxEmbedder,
    python: &mut Python,
    texts: &[String],
    rounds: usize,
) -> f64 {
    let parts = parts(texts);
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        embedder.embed_documents(&parts).await.unwrap();
        let ours = start.elapsed().as_secs_f64();
        ratios.push(python.seconds(texts) / ours);
    }
    println!("  ratios {ratios:.3?}");
    middle(ratios)
}

#[tokio::test]
async fn measured_throughput_beside_python() {
    if !real::measures() {
        return;
    }
    for (model, file) in [(E5, "model.onnx"), (MINILM, "model_fp32.onnx")] {
        let Some(embedder) = plain(model, file) else { return };
        let Some(mut python) = Python::open(model, file, 2) else { return };
        embedder.is_batch_invariant().await.unwrap();
        python.seconds(&mixed(8));
        let equal = ratio(&embedder, &mut python, &english(vec![60; 128]), 5).await;
        let mixed = ratio(&embedder, &mut python, &mixed(160), 5).await;
        println!("{model}/{file}: {equal:.2} times Python at equal lengths, {mixed:.2} at mixed");
        assert!(equal >= 1.0, "{model}: {equal} at equal lengths");
        assert!(mixed >= 1.3, "{model}: {mixed} at mixed lengths");
    }
}

#[tokio::test]
async fn measured_latency_of_a_query_beside_python() {
    if !real::measures() {
        return;
    }
    for (model, file) in [(E5, "model.onnx"), (MINILM, "model_fp32.onnx")] {
        let Some(embedder) = plain(model, file) else { return };
        let Some(mut python) = Python::open(model, file, 2) else { return };
        let queries = english((0..24).map(|at| 4 + at % 12));
        let mut blocks = Vec::new();
        // In blocks: the threads of a session spin for a while after a query, and whoever comes next
        // would wait behind those of the other.
        for _ in 0..31 {
            let mut ours = Vec::new();
            tokio::time::sleep(PAUSE).await;
            for query in &queries {
                let start = Instant::now();
                embedder.embed_query(query).await.unwrap();
                ours.push(start.elapsed().as_secs_f64());
            }
            tokio::time::sleep(PAUSE).await;
            let theirs = queries.iter().map(|query| python.seconds(std::slice::from_ref(query)));
            blocks.push((middle(ours), middle(theirs.collect())));
        }
        let ratio = middle(blocks.iter().map(|(ours, theirs)| ours / theirs).collect());
        let ours = middle(blocks.iter().map(|block| block.0).collect()) * 1e3;
        let theirs = middle(blocks.iter().map(|block| block.1).collect()) * 1e3;
        println!(
            "{model}/{file}: a query takes {ours:.2} ms, Python {theirs:.2} ms, {ratio:.3} times"
        );
        assert!(ratio <= 1.05, "{model}: {ratio} times the time of Python");
    }
}

#[tokio::test]
async fn measured_a_word_of_a_megabyte() {
    if !real::measures() {
        return;
    }
    for model in [E5, MINILM] {
        let windows = LongText::Windows { overlap: 16 };
        let Some(builder) = builder(model, "model.onnx") else { return };
        let embedder = open(builder.long_text(windows)).unwrap();
        let start = Instant::now();
        let tokens = embedder.tokens(&"x".repeat(1 << 20)).unwrap().len();
        println!("{model}: a word of a megabyte is {tokens} tokens after {:?}", start.elapsed());
        assert!(start.elapsed() < Duration::from_secs(10));
        assert_eq!(embedder.embed_query(&"x".repeat(1 << 16)).await.unwrap().len(), 384);
    }
}

/// On a tiny model: it is the way of the texts that is long here.
#[tokio::test]
async fn measured_100_000_texts_in_one_call() {
    if !real::measures() {
        return;
    }
    let Some(onnx) = onnx() else { return };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/onnx/bert-encoder");
    let builder = OnnxEmbedder::builder(ModelFolder::new(path));
    let embedder = builder.open(&onnx, &Runtime::system()).unwrap();
    let texts: Vec<&str> = (0..100_000).map(|at| if at % 2 == 0 { "red" } else { "" }).collect();
    let start = Instant::now();
    let vectors = embedder.embed_documents(&texts).await.unwrap();
    println!("100,000 texts of 2 or 3 tokens through a tiny model in {:?}", start.elapsed());
    assert_eq!(vectors.len(), 100_000);
    assert_eq!(vectors[0], vectors[99_998]);
    assert_eq!(vectors[1], vectors[99_999]);
    assert_ne!(vectors[0], vectors[1]);
}

/// How late a timer is at worst while `work` goes on, and what share of its ticks is over 5 ms late.
async fn lateness_beside(work: impl Future<Output = ()>) -> (f64, f64) {
    let busy = Arc::new(AtomicBool::new(true));
    let timer = tokio::spawn({
        let busy = Arc::clone(&busy);
        async move { lateness(&busy).await }
    });
    work.await;
    busy.store(false, Ordering::Relaxed);
    timer.await.unwrap()
}

async fn lateness(busy: &AtomicBool) -> (f64, f64) {
    let (mut worst, mut late, mut ticks) = (0.0f64, 0u32, 0u32);
    while busy.load(Ordering::Relaxed) {
        let start = Instant::now();
        tokio::time::sleep(Duration::from_millis(10)).await;
        let delay = start.elapsed().as_secs_f64() * 1e3 - 10.0;
        worst = worst.max(delay);
        late += u32::from(delay > 5.0);
        ticks += 1;
    }
    (worst, f64::from(late) / f64::from(ticks.max(1)))
}

/// R12. Beside it the same with as many threads that only count, which no executor can do anything
/// about; threads that do not spin leave the tasks of others more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn measured_delay_of_a_timer_beside_200_callers() {
    if !real::measures() {
        return;
    }
    let mut shares = Vec::new();
    for spinning in [true, false] {
        let Some(builder) = builder(E5, "model.onnx") else { return };
        let Some(embedder) = open(builder.family(Family::Plain).threads(2).spinning(spinning))
        else {
            return;
        };
        let embedder = Arc::new(embedder);
        embedder.is_batch_invariant().await.unwrap();
        let (worst, late) = lateness_beside(async {
            let callers: Vec<_> = (0..200)
                .map(|caller| {
                    let embedder = Arc::clone(&embedder);
                    tokio::spawn(async move {
                        let texts = english([10 + caller % 20, 20]);
                        embedder.embed_documents(&parts(&texts)).await.unwrap().len()
                    })
                })
                .collect();
            for caller in callers {
                assert_eq!(caller.await.unwrap(), 2);
            }
        })
        .await;
        println!(
            "timer, spinning {spinning}: worst {worst:.1} ms, {:.1} % over 5 ms",
            late * 100.0
        );
        shares.push(late);
    }
    let busy = Arc::new(AtomicBool::new(true));
    let counting: Vec<_> = (0..2)
        .map(|_| {
            let busy = Arc::clone(&busy);
            std::thread::spawn(move || while busy.load(Ordering::Relaxed) {})
        })
        .collect();
    let (worst, late) = lateness_beside(tokio::time::sleep(Duration::from_secs(6))).await;
    busy.store(false, Ordering::Relaxed);
    counting.into_iter().for_each(|thread| thread.join().unwrap());
    println!(
        "timer beside two counting threads: worst {worst:.1} ms, {:.1} % over 5 ms",
        late * 100.0
    );
    let most = late.max(0.01);
    assert!(shares.iter().all(|share| *share <= most), "{shares:?} of the ticks");
}
