//! What the output guard costs: `cargo bench -p kuhaku-rag --bench output_guard`.
//!
//! A reply of 2 KB over ten sources of 500 characters, and replies of a megabyte that are made to cost
//! time. The times are those of the stage `output_guard`, of an answer as a whole. What counts is that the
//! first stays below a millisecond, and that the others grow with their length alone.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench prints what it measured")]

use std::sync::{Arc, Mutex};

use kuhaku_core::{AccessTags, Masker, MetricsSink, PiiMasker, Runtime, Scope};
use kuhaku_index::{ChunkIndex, IdKey, MemoryIndex};
use kuhaku_rag::{AskRequest, Ingestor, Mode, RagEngine, RagSettings, TextDocument};
use kuhaku_testkit::ScriptedLlm;

#[derive(Clone, Debug, Default)]
struct Times(Arc<Mutex<Vec<f64>>>);

impl MetricsSink for Times {
    fn count(&self, _: &'static str, _: &str, _: u64) {}

    fn record(&self, _: &'static str, labels: &[(&'static str, &str)], value: f64) {
        if labels.contains(&("stage", "output_guard")) {
            self.0.lock().unwrap().push(value);
        }
    }
}

const SENTENCE: &str = "Parcels of 25 kilograms are weighed at the northern gate, stamped twice by the \
                        clerk on duty, and sent on by rail in the evening of the same day";

/// Microseconds of the check, the median and the best of some.
async fn check(reply: String, times: usize) -> (f64, f64) {
    let mut settings = RagSettings::default();
    (settings.top_k, settings.max_chunks_per_document) = (10, 0);
    let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
    let fingerprint = Ingestor::fingerprint(&settings, &masker).unwrap();
    let key = IdKey::from_bytes([7; 32]);
    let index: Arc<dyn ChunkIndex> = Arc::new(MemoryIndex::new(fingerprint, key));
    let ingestor = Ingestor::new(index.clone(), masker, settings.clone(), None).unwrap();
    for n in 0..10 {
        let text = format!("Rule {n}. {SENTENCE}. {SENTENCE}. {SENTENCE}.");
        let document = TextDocument::new(format!("{n}.txt"), text).tags(AccessTags::none());
        ingestor.text(document).await.unwrap();
    }
    let measured = Times::default();
    let engine = RagEngine::builder(index)
        .settings(settings)
        .runtime(Runtime::builder().metrics(measured.clone()).build())
        .model(Arc::new(ScriptedLlm::new(vec![reply; times])))
        .build()
        .unwrap();
    let question = AskRequest::new("How are parcels weighed and stamped?", Scope::anonymous());
    for _ in 0..times {
        let answer = engine.ask(&question).await.unwrap();
        assert!(answer.mode == Mode::Refused || answer.sources.len() == 10);
    }
    let mut times = measured.0.lock().unwrap().clone();
    times.sort_by(f64::total_cmp);
    let at = |place: usize| times.get(place).copied().unwrap_or_default() * 1e6;
    (at(times.len() / 2), at(0))
}

fn repeated(shard: &str, length: usize) -> String {
    shard.repeat(length / shard.len())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let cited: Vec<String> = (0..14).map(|n| format!("{SENTENCE} [S{}].", 1 + n % 10)).collect();
    let plain = cited.join(" ");
    let (median, best) = check(plain.clone(), 300).await;
    println!(
        "a reply of {} bytes, ten sources: median {median:.0} us, best {best:.0} us",
        plain.len()
    );
    let uncited = plain.replace("[S", "(S");
    let (median, _) = check(uncited, 300).await;
    println!("the same without citations: median {median:.0} us");
    for shard in [
        "word ",
        "[S1]",
        "[S",
        "[",
        "a1-",
        "%61",
        "&#9",
        "\\u",
        "1 ",
        "11 ",
        "4111 ",
        "@",
        "a@b.co ",
        "aGVsbG8",
        "61",
        ". ",
        "x\n",
        "é",
        "日本。",
    ] {
        let (quarter, _) = check(repeated(shard, 1 << 16), 3).await;
        let (whole, _) = check(repeated(shard, 1 << 18), 3).await;
        println!(
            "{shard:?}: 64 KiB {quarter:.0} us, 256 KiB {whole:.0} us, {:.1} times",
            whole / quarter
        );
    }
}
