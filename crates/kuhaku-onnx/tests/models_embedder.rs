//! The embedder on real models, beside Python's packages.

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

use std::time::{Duration, Instant};

use kuhaku_core::Embedder;
use kuhaku_onnx::{Family, LongText};
use real::scripts::{english, texts};
use real::{E5, EXACT, INT8, Python, builder, cosine, open, processor_seconds};

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|number| number.to_bits()).collect()
}

fn parts(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn tokens_and_vectors_are_those_of_python_on_300_texts_in_12_scripts() {
    let texts = texts(25);
    assert_eq!(texts.len(), 300);
    for (model, file) in EXACT {
        let Some(embedder) = builder(model, file).map(|builder| builder.family(Family::Plain))
        else {
            return;
        };
        let embedder = open(embedder).unwrap();
        let Some(mut python) = Python::open(model, file, 2) else { return };
        let short: Vec<String> = texts
            .iter()
            .filter(|text| embedder.tokens(text).unwrap().len() <= embedder.longest())
            .cloned()
            .collect();
        assert!(short.len() >= 290, "{model}: {}", short.len());
        let (ids, vectors) = python.embed(&short);
        let ours = embedder.embed_documents(&parts(&short)).await.unwrap();
        let mut lowest = 1.0f64;
        for (at, text) in short.iter().enumerate() {
            assert_eq!(embedder.tokens(text).unwrap(), ids[at], "{model}: {text:?}");
            lowest = lowest.min(cosine(&ours[at], &vectors[at]));
        }
        println!("{model}/{file}: {} texts, lowest cosine {lowest:.9}", short.len());
        assert!(lowest > 1.0 - 1e-5, "{model}/{file}: {lowest}");
        for text in texts.iter().filter(|text| !short.contains(text)) {
            let (ids, _) = python.embed(&[text.chars().take(300).collect()]);
            let cut: String = text.chars().take(300).collect();
            assert_eq!(embedder.tokens(&cut).unwrap(), ids[0], "{model}: {cut:?}");
        }
    }
}

/// D7.
#[tokio::test]
async fn a_vector_has_the_same_bits_alone_and_in_any_batch() {
    let mut texts = texts(5);
    texts.extend(english([0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 200]));
    for ((model, file), shares) in
        EXACT.map(|one| (one, true)).into_iter().chain(INT8.map(|one| (one, false)))
    {
        let Some(builder) = builder(model, file) else { return };
        let embedder = open(builder).unwrap();
        assert_eq!(embedder.is_batch_invariant().await.unwrap(), shares, "{model}/{file}");
        let together = embedder.embed_documents(&parts(&texts)).await.unwrap();
        for (text, vector) in texts.iter().zip(&together) {
            let alone = embedder.embed_documents(&[text]).await.unwrap();
            assert_eq!(bits(vector), bits(&alone[0]), "{model}/{file}: {text:?}");
        }
    }
}

#[tokio::test]
async fn a_long_text_is_read_in_windows_or_refused() {
    let Some(builder) = builder(E5, "model.onnx") else { return };
    let long = english([900]).remove(0);
    let refusing = open(builder.clone()).unwrap();
    assert_eq!(refusing.longest(), 512);
    let error = refusing.embed_documents(&[&long]).await.unwrap_err();
    assert_eq!(error.code(), "core.context_too_long");
    let reading = open(builder.long_text(LongText::Windows { overlap: 64 })).unwrap();
    let vectors = reading.embed_documents(&[&long, &long[..1500]]).await.unwrap();
    let near = cosine(&vectors[0], &vectors[1]);
    assert!(near > 0.9 && near < 0.999_999, "{near}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_call_stops_within_one_batch() {
    let Some(builder) = builder(E5, "model.onnx") else { return };
    let embedder = open(builder.batch_tokens(512)).unwrap();
    let texts = english(vec![60; 2000]);
    embedder.is_batch_invariant().await.unwrap();
    let warm = Instant::now();
    embedder.embed_documents(&parts(&texts)[..8]).await.unwrap();
    let batch = warm.elapsed();
    let parts = parts(&texts);
    let call = embedder.embed_documents(&parts);
    assert!(tokio::time::timeout(batch * 4, call).await.is_err(), "2,000 texts took no time");
    // The batch under way, and the runtime's threads that look out for more.
    tokio::time::sleep(batch * 3 + Duration::from_millis(300)).await;
    let before = processor_seconds();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let used = processor_seconds() - before;
    println!("a batch takes {batch:?}; after the drop {used:.2} s of processor time in 2 s");
    assert!(used < 0.2, "{used} s of work after the call was dropped");
}
