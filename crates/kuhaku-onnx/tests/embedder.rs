//! The embedder on tiny models.

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

mod tiny;

use std::sync::Arc;

use kuhaku_core::{Embedder, Runtime, Section, Sources};
use kuhaku_onnx::{
    Device, Family, LongText, ModelFolder, OnnxEmbedder, OnnxEmbedderBuilder, OnnxSettings, Pooling,
};
use serde_json::{Value, json};
use tiny::{Counted, copy, folder, numbers, onnx, path, reference, set, words};

fn builder(name: &str) -> OnnxEmbedderBuilder {
    OnnxEmbedder::builder(folder(name))
}

fn open(builder: OnnxEmbedderBuilder) -> Option<OnnxEmbedder> {
    Some(builder.open(&onnx()?, &Runtime::system()).unwrap())
}

fn bits(vector: &[f32]) -> Vec<u32> {
    vector.iter().map(|number| number.to_bits()).collect()
}

fn ids(case: &Value) -> Vec<u32> {
    numbers(case, "ids").unwrap().iter().map(|id| *id as u32).collect()
}

fn assert_near(vector: &[f32], expected: &[f64], what: &str) {
    assert_eq!(vector.len(), expected.len(), "{what}");
    let cosine: f64 = vector.iter().zip(expected).map(|(a, b)| f64::from(*a) * b).sum();
    assert!((cosine - 1.0).abs() < 1e-5, "{what}: cosine {cosine}");
}

#[tokio::test]
async fn tokens_and_vectors_are_those_of_the_reference() {
    for name in ["bert-encoder", "xlmr-encoder", "int8-encoder"] {
        for (pooling, member) in [(Pooling::Mean, "mean"), (Pooling::Cls, "cls")] {
            let Some(embedder) = open(builder(name).pooling(pooling)) else { return };
            let mut compared = 0;
            for case in reference(name) {
                let text = case["text"].as_str().unwrap();
                if text.trim_end() == text {
                    assert_eq!(embedder.tokens(text).unwrap(), ids(&case), "{name}: {text:?}");
                }
                let Some(expected) = numbers(&case, member) else { continue };
                let vectors = embedder.embed_documents(&[text]).await.unwrap();
                assert_near(&vectors[0], &expected, &format!("{name}, {member}: {text:?}"));
                compared += 1;
            }
            assert!(compared > 20, "{name}: {compared}");
        }
    }
}

/// D7: what a text gets depends on the text alone, to the last bit; a model in dynamic int8, whose
/// numbers depend on the batch, is found out and gets a text per batch.
#[tokio::test]
async fn a_vector_does_not_depend_on_the_batch() {
    for (name, shares) in [("bert-encoder", true), ("xlmr-encoder", true), ("int8-encoder", false)]
    {
        let Some(embedder) = open(builder(name).batch_tokens(300)) else { return };
        assert_eq!(embedder.is_batch_invariant().await.unwrap(), shares, "{name}");
        let texts: Vec<String> = (0..40).map(|at| words(at, at * 7 % 30)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let together = embedder.embed_documents(&texts).await.unwrap();
        let backwards: Vec<&str> = texts.iter().rev().copied().collect();
        let backwards = embedder.embed_documents(&backwards).await.unwrap();
        for (at, text) in texts.iter().enumerate() {
            let alone = embedder.embed_documents(&[text]).await.unwrap();
            assert_eq!(bits(&together[at]), bits(&alone[0]), "{name}: {text:?}");
            assert_eq!(bits(&backwards[39 - at]), bits(&alone[0]), "{name}: {text:?}");
        }
    }
}

/// D7: a budget too small for the measurement's own rows must not hide that batches change vectors.
#[tokio::test]
async fn a_small_budget_does_not_hide_that_vectors_depend_on_the_batch() {
    let Some(embedder) = open(builder("int8-encoder").batch_tokens(32)) else { return };
    assert!(!embedder.is_batch_invariant().await.unwrap());
    let texts: Vec<String> = (0..40).map(|at| words(at, at % 6 + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = embedder.embed_documents(&texts).await.unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder.embed_documents(&[text]).await.unwrap();
        assert_eq!(bits(vector), bits(&alone[0]), "{text:?}");
    }
}

#[tokio::test]
async fn vectors_have_length_one_and_the_order_of_their_texts() {
    let Some(embedder) = open(builder("bert-encoder")) else { return };
    assert!(embedder.embed_documents(&[]).await.unwrap().is_empty());
    let texts: Vec<String> = (0..300).map(|at| words(at, at % 25)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed_documents(&texts).await.unwrap();
    assert_eq!(vectors.len(), 300);
    for (text, vector) in texts.iter().zip(&vectors).step_by(23) {
        assert_eq!(vector.len(), embedder.dimension());
        let length: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
        assert!((length - 1.0).abs() < 1e-6, "{length}");
        assert_eq!(*vector, embedder.embed_documents(&[text]).await.unwrap()[0], "{text:?}");
    }
}

#[tokio::test]
async fn odd_texts_have_vectors_too() {
    for name in ["bert-encoder", "xlmr-encoder"] {
        let windows = LongText::Windows { overlap: 8 };
        let Some(embedder) = open(builder(name).long_text(windows)) else { return };
        let word = "x".repeat(1 << 14);
        let odd = [
            "",
            " \t\n\u{3000}",
            "\0",
            "a\0b",
            "👩‍🚀👨‍👩‍👧‍👦🔥",
            "\u{301}\u{301}",
            "\u{feff}",
            "\u{202e}abc",
            "[CLS] [SEP] </s> <pad>",
            &word,
        ];
        let vectors = embedder.embed_documents(&odd).await.unwrap();
        assert_eq!(vectors.len(), odd.len());
        assert!(vectors.iter().flatten().all(|number| number.is_finite()), "{name}");
        assert_eq!(bits(&vectors[0]), bits(&vectors[1]), "white space is nothing");
    }
}

#[tokio::test]
async fn white_space_at_the_end_of_a_text_changes_nothing() {
    let Some(embedder) = open(builder("xlmr-encoder").family(Family::E5)) else { return };
    let vectors = embedder.embed_documents(&["red fish", "red fish \n", "red fish\u{a0}"]).await;
    let vectors = vectors.unwrap();
    assert!(vectors.iter().all(|vector| bits(vector) == bits(&vectors[0])));
}

/// ING-10: the prefixes of e5.
#[tokio::test]
async fn a_family_puts_its_words_before_queries_and_documents() {
    let name = "xlmr-encoder";
    let Some(e5) = open(builder(name).family(Family::E5)) else { return };
    let plain = open(builder(name)).unwrap();
    let expected = plain.embed_documents(&["query: red fish", "passage: red fish"]).await.unwrap();
    assert_eq!(bits(&e5.embed_query("red fish").await.unwrap()), bits(&expected[0]));
    let document = e5.embed_documents(&["red fish"]).await.unwrap();
    assert_eq!(bits(&document[0]), bits(&expected[1]));
    assert_ne!(e5.fingerprint(), plain.fingerprint());
}

/// A hub's cache calls the folder by its commit; a program may call the model as it likes. Neither
/// may cost the prefixes.
#[test]
fn a_model_in_a_hubs_cache_or_with_an_id_of_its_own_keeps_its_prefixes() {
    let Some(onnx) = onnx() else { return };
    let made = copy("xlmr-encoder");
    let hub = made.path().join("models--intfloat--multilingual-e5-small/snapshots");
    let commit = hub.join("0123456789abcdef0123456789abcdef01234567");
    std::fs::create_dir_all(&commit).unwrap();
    for file in ["model.onnx", "tokenizer.json", "config.json"] {
        std::fs::copy(made.path().join(file), commit.join(file)).unwrap();
    }
    let open = |builder: OnnxEmbedderBuilder| builder.open(&onnx, &Runtime::system()).unwrap();
    let stored = open(OnnxEmbedder::builder(ModelFolder::new(&commit)));
    let named = open(OnnxEmbedder::builder(ModelFolder::new(&commit)).id("ours"));
    let plain = open(OnnxEmbedder::builder(ModelFolder::new(&commit)).family(Family::Plain));
    let prefixes = "document=\"passage: \";query=\"query: \"";
    assert!(stored.fingerprint().contains(prefixes), "{}", stored.fingerprint());
    assert!(stored.fingerprint().starts_with("onnx:multilingual-e5-small;"));
    assert!(named.fingerprint().contains(prefixes), "{}", named.fingerprint());
    assert!(plain.fingerprint().contains("document=\"\";query=\"\""));
}

#[tokio::test]
async fn a_text_that_is_too_long_is_refused_and_counted_never_cut() {
    let Some(onnx) = onnx() else { return };
    let counted = Counted::default();
    let embedder = builder("bert-encoder").open(&onnx, &counted.runtime()).unwrap();
    assert_eq!(embedder.longest(), 64);
    assert_eq!(embedder.tokens(&words(0, 62)).unwrap().len(), 64);
    let error = embedder.embed_documents(&["red", &words(0, 63)]).await.unwrap_err();
    assert_eq!(error.code(), "core.context_too_long");
    let text = error.to_string();
    assert!(text.contains("text 2 of this call") && text.contains("65 tokens"), "{text}");
    assert!(!text.contains("water"), "{text}");
    assert!(error.next_step().is_some());
    let name = "kuhaku_embedding_long_texts_total".to_owned();
    assert_eq!(counted.take(), [(name, "refused".to_owned(), 1)]);
    assert!(embedder.embed_query(&words(0, 63)).await.is_err());
    embedder.embed_documents(&[&words(0, 62)]).await.unwrap();
}

/// The mean of the windows, weighted by how many tokens each holds.
#[tokio::test]
async fn a_long_text_in_windows_is_the_mean_of_its_parts() {
    let Some(onnx) = onnx() else { return };
    let counted = Counted::default();
    let windows = LongText::Windows { overlap: 0 };
    let embedder =
        builder("bert-encoder").long_text(windows).open(&onnx, &counted.runtime()).unwrap();
    let (first, second) = (words(0, 62), words(7, 31));
    let whole = embedder.embed_documents(&[&format!("{first} {second}")]).await.unwrap();
    assert_eq!(counted.take()[0].1, "windowed");
    let parts = embedder.embed_documents(&[&first, &second]).await.unwrap();
    let sum: Vec<f64> = parts[0]
        .iter()
        .zip(&parts[1])
        .map(|(a, b)| 62.0 * f64::from(*a) + 31.0 * f64::from(*b))
        .collect();
    let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mean: Vec<f64> = sum.iter().map(|x| x / length).collect();
    assert_near(&whole[0], &mean, "two windows");
    assert!(counted.take().is_empty(), "short texts are not counted");
}

#[tokio::test]
async fn every_window_has_the_prefix_and_the_last_word_counts() {
    let name = "xlmr-encoder";
    let windows = LongText::Windows { overlap: 10 };
    let Some(e5) = open(builder(name).family(Family::E5).long_text(windows)) else { return };
    let long = words(0, 200);
    let other = format!("{} house", long.rsplit_once(' ').unwrap().0);
    assert_ne!(long, other);
    let vectors = e5.embed_documents(&[&long, &other]).await.unwrap();
    assert_ne!(bits(&vectors[0]), bits(&vectors[1]));
    let overlap = LongText::Windows { overlap: 60 };
    let error = builder(name).family(Family::E5).long_text(overlap);
    let error = error.open(&onnx().unwrap(), &Runtime::system()).unwrap_err();
    assert_eq!(error.code(), "core.invalid_input");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_get_their_own_answers() {
    let Some(embedder) = open(builder("bert-encoder").sessions(2)) else { return };
    let embedder = Arc::new(embedder);
    let callers: Vec<_> = (0..200)
        .map(|caller| {
            let embedder = Arc::clone(&embedder);
            tokio::spawn(async move {
                let text = words(caller, caller % 9 + 1);
                match caller % 2 {
                    0 => (text.clone(), embedder.embed_query(&text).await.unwrap()),
                    _ => {
                        let vectors = embedder.embed_documents(&["red", &text]).await.unwrap();
                        (text, vectors.into_iter().nth(1).unwrap())
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        let (text, vector) = caller.await.unwrap();
        let alone = embedder.embed_documents(&[&text]).await.unwrap();
        assert_eq!(bits(&vector), bits(&alone[0]), "{text:?}");
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_the_embedder_usable() {
    let Some(embedder) = open(builder("bert-encoder").batch_tokens(64)) else { return };
    let texts = vec!["red fish and blue fish"; 500];
    for _ in 0..5 {
        let call = embedder.embed_documents(&texts);
        let limit = std::time::Duration::from_millis(5);
        let _ = tokio::time::timeout(limit, call).await;
    }
    assert_eq!(embedder.embed_query("red").await.unwrap().len(), embedder.dimension());
}

#[test]
fn the_fingerprint_names_what_shapes_a_vector() {
    let Some(plain) = open(builder("bert-encoder")) else { return };
    let same = open(builder("bert-encoder").threads(1).batch_tokens(64)).unwrap();
    assert_eq!(plain.fingerprint(), same.fingerprint());
    let hash = reference_sha256("bert-encoder");
    assert!(plain.fingerprint().contains(&hash[..32]), "{}", plain.fingerprint());
    let checked = open(builder("bert-encoder").checksum(hash.to_ascii_uppercase())).unwrap();
    assert_eq!(plain.fingerprint(), checked.fingerprint());
    let windows = LongText::Windows { overlap: 8 };
    let mut seen = vec![plain.fingerprint().to_owned()];
    for other in [
        builder("bert-encoder").pooling(Pooling::Cls),
        builder("bert-encoder").prefixes("passage: ", ""),
        builder("bert-encoder").prefixes("", "query: "),
        builder("bert-encoder").long_text(windows),
        builder("bert-encoder").longest(32),
        builder("bert-encoder").id("another"),
        builder("int8-encoder").id("bert-encoder"),
        builder("xlmr-encoder").id("bert-encoder"),
    ] {
        let other = open(other).unwrap().fingerprint().to_owned();
        assert!(!seen.contains(&other), "{other}");
        seen.push(other);
    }
}

#[test]
fn a_checksum_that_is_none_is_refused_and_one_does_not_stand_for_weights_beside_the_model() {
    let Some(onnx) = onnx() else { return };
    for sum in ["", "abc", &"é".repeat(32), &"0".repeat(63), &"g".repeat(64)] {
        let error = builder("bert-encoder").checksum(sum).open(&onnx, &Runtime::system());
        assert_eq!(error.unwrap_err().code(), "core.invalid_input", "{sum:?}");
    }
    let copy = copy("bert-encoder");
    let fingerprint = || {
        let builder = OnnxEmbedder::builder(ModelFolder::new(copy.path())).id("one");
        let known = builder.checksum(reference_sha256("bert-encoder"));
        known.open(&onnx, &Runtime::system()).unwrap().fingerprint().to_owned()
    };
    let mut seen = vec![fingerprint()];
    for (file, bytes) in
        [("model.onnx_data", "one"), ("model.onnx_data", "two"), ("model.onnx_data_1", "three")]
    {
        std::fs::write(copy.path().join(file), bytes).unwrap();
        let other = fingerprint();
        assert!(!seen.contains(&other), "{file}: {other}");
        seen.push(other);
    }
}

fn reference_sha256(name: &str) -> String {
    let text = std::fs::read_to_string(path(name).join("reference.json")).unwrap();
    let reference: Value = serde_json::from_str(&text).unwrap();
    reference["sha256"]["model.onnx"].as_str().unwrap().to_owned()
}

#[test]
fn a_model_of_another_kind_or_with_anothers_tokenizer_is_refused() {
    let Some(onnx) = onnx() else { return };
    let wrong = |folder: &std::path::Path| {
        let builder = OnnxEmbedder::builder(ModelFolder::new(folder));
        let error = builder.open(&onnx, &Runtime::system()).unwrap_err();
        assert_eq!(error.code(), "onnx.unusable_model", "{error}");
        assert!(error.next_step().is_some());
        error.to_string()
    };
    for kind in ["classifier", "cross-encoder"] {
        let text = wrong(&path(kind));
        assert!(text.contains("last_hidden_state") && text.contains("logits"), "{text}");
    }
    for (model, tokenizer) in [("bert-encoder", "xlmr-encoder"), ("xlmr-encoder", "bert-encoder")] {
        let copy = copy(model);
        let file = "tokenizer.json";
        std::fs::copy(path(tokenizer).join(file), copy.path().join(file)).unwrap();
        let text = wrong(copy.path());
        assert!(text.contains("tokenizer of another model"), "{text}");
        // Without a size in config.json, the model itself tells.
        set(&copy.path().join("config.json"), "/vocab_size", Value::Null);
        set(&copy.path().join("config.json"), "/pad_token_id", Value::Null);
        if tokenizer == "bert-encoder" {
            assert!(wrong(copy.path()).contains("another model"));
        }
    }
    for vocabulary in [json!(612), Value::Null] {
        let unfillable = copy("bert-encoder");
        let config = unfillable.path().join("config.json");
        set(&config, "/pad_token_id", json!(4_000_000));
        set(&config, "/vocab_size", vocabulary);
        assert!(wrong(unfillable.path()).contains("fills rows with a token that is none here"));
    }
    let narrow = copy("bert-encoder");
    set(&narrow.path().join("config.json"), "/hidden_size", json!(32));
    let text = wrong(narrow.path());
    assert!(text.contains("24 numbers per token where config.json says 32"), "{text}");
}

#[test]
fn the_pooling_of_the_models_own_files_is_taken() {
    let Some(onnx) = onnx() else { return };
    let copy = copy("bert-encoder");
    std::fs::create_dir(copy.path().join("1_Pooling")).unwrap();
    let file = copy.path().join("1_Pooling/config.json");
    let open = |mean, cls| {
        let json = json!({"pooling_mode_mean_tokens": mean, "pooling_mode_cls_token": cls});
        std::fs::write(&file, json.to_string()).unwrap();
        OnnxEmbedder::builder(ModelFolder::new(copy.path())).open(&onnx, &Runtime::system())
    };
    assert!(open(false, true).unwrap().fingerprint().contains("pooling=cls"));
    assert!(open(true, false).unwrap().fingerprint().contains("pooling=mean"));
    assert_eq!(open(false, false).unwrap_err().code(), "onnx.unusable_model");
    std::fs::write(copy.path().join("sentence_bert_config.json"), r#"{"max_seq_length": 20}"#)
        .unwrap();
    assert_eq!(open(true, false).unwrap().longest(), 20);
}

#[test]
fn settings_change_how_a_model_is_opened() {
    let Some(onnx) = onnx() else { return };
    let open = |name: &str, value: &str| {
        let sources = Sources::new().env([(name, value)]);
        let settings = OnnxSettings::load(&sources).unwrap();
        builder("bert-encoder").settings(&settings).open(&onnx, &Runtime::system())
    };
    for (name, value, shown) in [
        ("KUHAKU_ONNX__SESSIONS", "2", "sessions: 2"),
        ("KUHAKU_ONNX__THREADS", "3", "threads_per_session: 3"),
        ("KUHAKU_ONNX__BATCH_TOKENS", "100", "batch_tokens: 100"),
        ("KUHAKU_ONNX__DEVICE", "cpu", "device: Cpu"),
    ] {
        let shows = format!("{:?}", open(name, value).unwrap());
        assert!(shows.contains(shown), "{shows}");
    }
    let error = open("KUHAKU_ONNX__LONG_TEXT", "windows").unwrap_err();
    assert_eq!(error.code(), "core.invalid_input", "windows of 64 tokens cannot overlap by 64");
    if !cfg!(feature = "cuda") {
        let error = open("KUHAKU_ONNX__DEVICE", "cuda").unwrap_err();
        assert_eq!(error.code(), "onnx.device_unavailable");
    }
}

#[test]
fn auto_takes_the_best_device_and_says_which() {
    let Some(onnx) = onnx() else { return };
    let devices = onnx.devices();
    assert_eq!(devices.last(), Some(&Device::Cpu));
    let embedder = open(builder("bert-encoder")).unwrap();
    assert_eq!(Some(&embedder.device()), devices.first());
}
