//! `cargo xtask train-guard`: the trained stage of the injection guard.

mod choose;
mod corpus;
mod learn;
mod own;
mod random;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use kuhaku_core::GuardWeights;
use serde_json::json;

use self::choose::Logits;
use self::corpus::Corpus;
use self::learn::{By, Model};
use crate::bench::security::attacks::Split;
use crate::error::{Result, cannot};

/// Where the sets are.
const DATA: &str = "KUHAKU_BENCH_DATA";

/// Where the weights belong.
const WEIGHTS: &str = "crates/kuhaku-core/src/guard/trained/weights.bin";

/// The seed of the training.
const SEED: u64 = 20;

/// The probabilities from which on a text is refused or put aside, and answered with care or reported.
const REFUSED: f32 = 0.7;
const RESTRICTED: f32 = 0.3;

/// False positives that the two thresholds of a head allow on held-out texts of the training part: a source,
/// and its shares for [`REFUSED`] and for [`RESTRICTED`].
type Allowed = &'static [(&'static str, [f64; 2])];

const QUESTIONS: Allowed = &[
    ("benign notinject", [0.01, 0.03]),
    ("benign deepset_prompt_injections_lower", [0.02, 0.06]),
    ("benign agentdojo_tasks", [0.07, 0.15]),
    ("benign scifact", [0.003, 0.01]),
    ("benign xquad-en", [0.003, 0.01]),
    ("benign xquad-tr", [0.003, 0.01]),
    ("benign bfcl", [0.01, 0.03]),
    ("benign sgd", [0.01, 0.03]),
];

const DOCUMENTS: Allowed = &[
    ("benign scifact", [0.0025, 0.01]),
    ("benign rust-book", [0.0025, 0.01]),
    ("benign xquad-en", [0.0025, 0.01]),
    ("benign xquad-tr", [0.0025, 0.01]),
    ("benign bipia_contexts", [0.031, 0.08]),
    ("benign docling", [0.01, 0.03]),
    ("benign sgd", [0.01, 0.03]),
];

/// The same for documents of a kind that the model has never seen.
const UNSEEN: Allowed = &[
    ("benign scifact", [0.002, 0.01]),
    ("benign rust-book", [0.01, 0.03]),
    ("benign docling", [0.01, 0.03]),
    ("benign xquad-tr", [0.06, 0.15]),
];

/// How far apart the two thresholds are at least: the line between them must not be too steep.
const LEAST_APART: f32 = 0.5;

/// The logits that become [`REFUSED`] and [`RESTRICTED`].
#[derive(Clone, Copy, Debug)]
struct Thresholds {
    refused: f32,
    restricted: f32,
}

impl Thresholds {
    fn choose(logits: &Logits, allowed: Allowed) -> Self {
        let [refused, restricted] = [0, 1].map(|which| {
            let share = |source: &str| {
                let (_, shares) = allowed.iter().find(|(name, _)| *name == source)?;
                shares.get(which).copied()
            };
            choose::threshold(logits, share)
        });
        Self { refused, restricted: restricted.min(refused - LEAST_APART) }
    }

    /// The stricter of two.
    fn or(self, other: Self) -> Self {
        let refused = self.refused.max(other.refused);
        let restricted = self.restricted.max(other.restricted).min(refused - LEAST_APART);
        Self { refused, restricted }
    }

    /// What logits are multiplied by, and what is added then.
    fn line(self) -> (f32, f32) {
        let odds = |probability: f32| (probability / (1.0 - probability)).ln();
        let slope = (odds(REFUSED) - odds(RESTRICTED)) / (self.refused - self.restricted);
        (slope, odds(REFUSED) - slope * self.refused)
    }
}

/// Trains the weights; in a debug build, runs itself again in release mode first.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    if cfg!(debug_assertions) {
        let mut again = Command::new(env!("CARGO"));
        again.args(["run", "--release", "--quiet", "--package", "xtask", "--", "train-guard"]);
        let status = again.current_dir(root).status();
        let status = status.map_err(|error| cannot("run the training in release", error))?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    match train(root)? {
        Some(path) => println!("\nwrote {}", path.display()),
        None => println!("\nnothing changed"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Trains the weights and writes their file; none when it holds them already.
pub(crate) fn train(root: &Path) -> Result<Option<PathBuf>> {
    let corpus = Corpus::read(root, &data(root)?)?;
    let [asked, written] = choose::held_out(&corpus, SEED);
    let unseen = choose::unseen_kinds(&corpus, SEED);
    let thresholds = [
        Thresholds::choose(&asked, QUESTIONS),
        Thresholds::choose(&written, DOCUMENTS).or(Thresholds::choose(&unseen, UNSEEN)),
    ];
    let [for_questions, for_documents] = thresholds;
    show("As questions", &asked, for_questions);
    show("As documents", &written, for_documents);
    show("As documents of a kind that was held out", &unseen, for_documents);
    let file = file(&corpus, thresholds, SEED);
    let path = root.join(WEIGHTS);
    if fs::read(&path).is_ok_and(|before| before == file) {
        return Ok(None);
    }
    fs::write(&path, file).map_err(|error| cannot(format!("write {}", path.display()), error))?;
    Ok(Some(path))
}

/// The file of the weights that a corpus gives.
fn file(corpus: &Corpus, thresholds: [Thresholds; 2], seed: u64) -> Vec<u8> {
    let question = Model::train(By::Itself, &corpus.for_questions(seed), seed);
    let document = Model::train(By::Contrast, &corpus.for_documents(seed), seed);
    let [(asked, questions), (written, documents)] = [question.quantised(), document.quantised()];
    let [(for_questions, asked_more), (for_documents, written_more)] =
        thresholds.map(Thresholds::line);
    GuardWeights::file(
        [asked * for_questions, written * for_documents],
        [question.bias * for_questions + asked_more, document.bias * for_documents + written_more],
        [&questions, &documents],
    )
}

fn show(name: &str, logits: &Logits, thresholds: Thresholds) {
    println!("\n{name}, held out in turn: {thresholds:?}\n");
    println!(
        "| texts | n | refused | restricted | refused - 1 | - 0.5 | + 0.5 |\n|---|---|---|---|---|---|---|"
    );
    for (source, logits) in logits {
        let refused = thresholds.refused;
        let shares = [refused, thresholds.restricted, refused - 1.0, refused - 0.5, refused + 0.5]
            .map(|threshold| format!("{:.2} %", 100.0 * choose::share(logits, threshold)));
        println!("| {source} | {} | {} |", logits.len(), shares.join(" | "));
    }
}

fn data(root: &Path) -> Result<PathBuf> {
    let data = std::env::var_os(DATA).ok_or_else(|| {
        cannot("read the attacks", format!("{DATA} does not name the folder with the sets"))
    })?;
    Ok(root.join(data))
}

/// Writes the training part of the attacks into a folder, one file for each source.
pub(crate) fn dump(root: &Path, folder: &str) -> Result<Vec<PathBuf>> {
    let split = Split::read(&data(root)?.join("injection"))?;
    let folder = root.join(folder);
    let tried = || format!("write into {}", folder.display());
    fs::create_dir_all(&folder).map_err(|error| cannot(tried(), error))?;
    let mut sources: Vec<&str> = split.train.iter().map(|row| row.source).collect();
    sources.dedup();
    let mut written = Vec::new();
    for source in sources {
        let rows = split.train.iter().filter(|row| row.source == source).map(|row| {
            let span = row.span.as_ref().map(|span| [span.start, span.end]);
            json!({ "id": row.id, "label": u8::from(row.attack), "source": source,
                    "about": row.about, "span_bytes": span, "text": row.text })
            .to_string()
        });
        let path = folder.join(format!("{source}.jsonl"));
        let text = rows.collect::<Vec<_>>().join("\n") + "\n";
        fs::write(&path, text).map_err(|error| cannot(tried(), error))?;
        written.push(path);
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A small corpus of the kinds that the fixtures have.
    fn corpus() -> Corpus {
        let mut corpus = Corpus::default();
        corpus.add_own(&root(), |n| n % 20 == 0).unwrap();
        corpus
    }

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_one_does_not() {
        let thresholds = [Thresholds { refused: 1.0, restricted: 0.0 }; 2];
        let first = file(&corpus(), thresholds, 1);
        assert!(first == file(&corpus(), thresholds, 1));
        assert!(first != file(&corpus(), thresholds, 2));
    }

    #[test]
    fn what_is_learnt_parts_attacks_from_harmless_texts_and_their_places() {
        let weights = file(&corpus(), [Thresholds { refused: 1.0, restricted: -1.0 }; 2], 1);
        let weights = GuardWeights::from_file(weights).unwrap();
        let mean = |texts: &[corpus::Text]| {
            let judged = texts.iter().map(|text| weights.judge_words(&text.words, &[]));
            let (asked, written) = judged.fold((0.0, 0.0), |(asked, written), verdict| {
                (asked + verdict.question, written + verdict.document)
            });
            (asked / texts.len() as f32, written / texts.len() as f32)
        };
        let corpus = corpus();
        assert!(mean(&corpus.attacks).0 > mean(&corpus.questions).0 + 0.3);
        assert!(mean(&corpus.requests).1 > mean(&corpus.documents).1 + 0.3);
    }

    #[test]
    fn a_threshold_becomes_its_probability() {
        let thresholds = Thresholds { refused: 2.5, restricted: 1.0 };
        let (slope, shift) = thresholds.line();
        for (logit, probability) in [(2.5, REFUSED), (1.0, RESTRICTED)] {
            let found = 1.0 / (1.0 + (-(logit * slope + shift)).exp());
            assert!((found - probability).abs() < 1e-6, "{found}");
        }
    }

    #[test]
    fn a_threshold_keeps_each_source_within_its_share() {
        let logits = Logits::from([
            ("benign a".to_owned(), (0..100).map(|n| n as f32).collect()),
            ("benign b".to_owned(), vec![120.0, 1.0]),
            ("attack".to_owned(), vec![500.0]),
        ]);
        let threshold =
            choose::threshold(&logits, |source| source.starts_with("benign").then_some(0.02));
        assert!((120.0..121.0).contains(&threshold), "{threshold}");
        let of_a = choose::threshold(&logits, |source| (source == "benign a").then_some(0.02));
        assert_eq!(choose::share(&logits["benign a"], of_a), 0.02);
    }

    #[test]
    fn our_own_texts_are_in_ten_languages_and_of_all_kinds() {
        let folder = root().join("fixtures/guard");
        let mut seen = BTreeSet::new();
        for entry in fs::read_dir(folder).unwrap() {
            for line in fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap();
                let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
                seen.insert((field("language"), field("kind")));
            }
        }
        for language in ["en", "tr", "de", "es", "fr", "it", "pt", "ru", "zh", "ar"] {
            for kind in ["attack", "request", "question", "document"] {
                assert!(
                    seen.contains(&(language.to_owned(), kind.to_owned())),
                    "{language} {kind}"
                );
            }
        }
    }
}
