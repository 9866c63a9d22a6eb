//! The reranker on tiny cross-encoders.

#![cfg(feature = "runtime")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

mod tiny;

use std::time::{Duration, Instant};

use kuhaku_core::{Probability, Reranker, Runtime};
use kuhaku_onnx::{LongPassage, OnnxReranker};
use tiny::{Counted, folder, numbers, onnx, reference, words};

const MODELS: [&str; 2] = ["cross-encoder", "xlmr-cross-encoder"];

/// How many tokens of the 64 a passage has beside a query of one word.
const ROOM: [usize; 2] = [64 - 3 - 1, 64 - 4 - 1];

fn open(name: &str) -> Option<OnnxReranker> {
    Some(OnnxReranker::builder(folder(name)).open(&onnx()?, &Runtime::system()).unwrap())
}

fn values(probabilities: &[Probability]) -> Vec<f64> {
    probabilities.iter().map(|probability| probability.get()).collect()
}

#[tokio::test]
async fn probabilities_are_the_logistic_function_of_the_references_numbers() {
    for name in MODELS {
        let Some(reranker) = open(name) else { return };
        let mut spread = (1.0_f64, 0.0_f64);
        for case in reference(name) {
            let text = |member: &str| case[member].as_str().unwrap().to_owned();
            let found = reranker.rerank(&text("query"), &[&text("passage")]).await.unwrap();
            let logit = numbers(&case, "logits").unwrap()[0];
            let due = 1.0 / (1.0 + (-logit).exp());
            let found = found[0].get();
            assert!((found - due).abs() < 1e-5, "{name}: {found} instead of {due} for {case}");
            spread = (spread.0.min(found), spread.1.max(found));
        }
        assert!(spread.1 - spread.0 > 0.2, "{name} tells nothing apart: {spread:?}");
        assert_eq!(reranker.id(), name);
    }
}

/// R4, D7: bit for bit, whatever else is in the call and however it is cut into batches.
#[tokio::test]
async fn the_score_of_a_pair_does_not_depend_on_the_pairs_beside_it() {
    for name in MODELS {
        let Some(reranker) = open(name) else { return };
        let texts: Vec<String> = (0..90).map(|n| words(n, n * 7 % 58)).collect();
        let mut alone = Vec::new();
        for text in &texts {
            alone.extend(values(&reranker.rerank("cat", &[text]).await.unwrap()));
        }
        let distinct: std::collections::BTreeSet<u64> =
            alone.iter().map(|score| score.to_bits()).collect();
        assert!(distinct.len() > 20, "{name}: {} scores", distinct.len());
        for (step, budget) in [(1, 2048), (7, 100), (13, 5000)] {
            let builder = OnnxReranker::builder(folder(name)).batch_tokens(budget);
            let other = builder.open(&onnx().unwrap(), &Runtime::system()).unwrap();
            let order: Vec<usize> = (0..90).map(|n| n * step % 90).collect();
            let shuffled: Vec<&str> = order.iter().map(|at| texts[*at].as_str()).collect();
            let together = values(&other.rerank("cat", &shuffled).await.unwrap());
            for (at, score) in order.iter().zip(together) {
                assert_eq!(score.to_bits(), alone[*at].to_bits(), "{name}: {:?}", texts[*at]);
            }
        }
    }
}

#[tokio::test]
async fn equal_scores_keep_the_order_of_the_passages() {
    let Some(reranker) = open("cross-encoder") else { return };
    let passages = ["the cat", "water and fire", "the cat", "earth", "the cat", "earth"];
    let ranking = reranker.rank("a dog", &passages).await.unwrap();
    for pair in ranking.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        assert!(first.probability >= second.probability);
        if first.probability == second.probability {
            assert!(first.passage < second.passage, "{ranking:?}");
        }
    }
    let of = |text: &str| -> Vec<usize> {
        let places = ranking.iter().map(|ranked| ranked.passage);
        places.filter(|place| passages[*place] == text).collect()
    };
    assert_eq!((of("the cat"), of("earth")), (vec![0, 2, 4], vec![3, 5]));
}

#[tokio::test]
async fn a_long_passage_is_judged_by_its_best_window_and_counted() {
    for (name, room) in MODELS.into_iter().zip(ROOM) {
        let Some(onnx) = onnx() else { return };
        let counted = Counted::default();
        let with = |long| {
            let builder = OnnxReranker::builder(folder(name)).long_passage(long);
            builder.open(&onnx, &counted.runtime()).unwrap()
        };
        let reranker = with(LongPassage::Windows { overlap: 20 });
        let cutting = with(LongPassage::Cut);
        let metric = "kuhaku_rerank_long_passages_total".to_owned();
        let mut later_windows_won = 0;
        for from in 0..6 {
            let passages = [words(from + 1, room), words(from, 150), words(from, room)];
            let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
            let judged = reranker.judge("cat", &passages).await.unwrap();
            assert_eq!((judged.windowed, judged.cut), (1, 0));
            assert_eq!(counted.take(), [(metric.clone(), "windowed".to_owned(), 1)]);
            let mut best = 0.0_f64;
            for start in (0..150 - 20).step_by(room - 20) {
                let window = words(from + start, room.min(150 - start));
                best = best.max(reranker.rerank("cat", &[&window]).await.unwrap()[0].get());
            }
            assert!(counted.take().is_empty(), "a window was longer than the model takes");
            assert_eq!(judged.probabilities[1].get(), best, "{name} from {from}");

            let cut = cutting.judge("cat", &passages).await.unwrap();
            assert_eq!((cut.windowed, cut.cut), (0, 1));
            assert_eq!(counted.take(), [(metric.clone(), "cut".to_owned(), 1)]);
            assert_eq!(cut.probabilities[1], cut.probabilities[2], "the beginning counts");
            assert_eq!(cut.probabilities[0], judged.probabilities[0]);
            later_windows_won += usize::from(best > cut.probabilities[1].get());
        }
        assert!(later_windows_won > 0, "{name}: only beginnings were read");
    }
}

#[tokio::test]
async fn a_query_that_leaves_no_room_is_refused_and_never_cut() {
    let Some(reranker) = open("cross-encoder") else { return };
    assert!(reranker.rerank(&words(0, 45), &["cat"]).await.is_ok());
    let error = reranker.rerank(&words(0, 46), &["cat"]).await.unwrap_err();
    assert_eq!(error.code(), "core.context_too_long");
    assert!(error.to_string().contains("46 tokens") && error.next_step().is_some(), "{error}");
}

#[tokio::test]
async fn odd_texts_are_judged_and_nothing_fails() {
    for name in MODELS {
        let Some(reranker) = open(name) else { return };
        assert!(reranker.rerank("cat", &[]).await.unwrap().is_empty());
        let mega = "x".repeat(20_000);
        let odd = ["", " \n\t ", "\0", "\u{200b}\u{feff}", "👩‍👩‍👧", "[SEP] </s>", &mega];
        assert_eq!(reranker.rerank("", &odd).await.unwrap().len(), odd.len());
        // White space at the end of a text is no part of it.
        let trimmed = reranker.rerank("cat \n", &["dog", "dog \n "]).await.unwrap();
        assert_eq!(trimmed[0], trimmed[1]);
        assert_eq!(trimmed[0], reranker.rerank("cat", &["dog"]).await.unwrap()[0]);
    }
}

/// R12
#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_ends_the_work_and_the_next_caller_does_not_wait_for_it() {
    let Some(reranker) = open("cross-encoder") else { return };
    let texts: Vec<String> = (0..500).map(|n| words(n, 58)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let begun = Instant::now();
    reranker.rerank("cat", &texts).await.unwrap();
    let whole = begun.elapsed();
    let late = tokio::time::timeout(whole / 20, reranker.rerank("cat", &texts)).await;
    assert!(late.is_err(), "the work took {whole:?} and then less than a twentieth of it");
    let begun = Instant::now();
    reranker.rerank("dog", &["fish"]).await.unwrap();
    let waited = begun.elapsed();
    assert!(waited < whole / 4 + Duration::from_millis(20), "{waited:?} of {whole:?}");
}

#[tokio::test]
async fn a_classifier_is_no_reranker() {
    let Some(onnx) = onnx() else { return };
    let opened = OnnxReranker::builder(folder("classifier")).open(&onnx, &Runtime::system());
    let error = opened.unwrap_err();
    assert_eq!(error.code(), "onnx.unusable_model");
    assert!(error.to_string().contains("2 numbers"), "{error}");
    let opened = OnnxReranker::builder(folder("bert-encoder")).open(&onnx, &Runtime::system());
    let error = opened.unwrap_err();
    assert!(error.to_string().contains("last_hidden_state"), "{error}");
}
