//! The suite `abstention`: how well the share of a question's words that evidence holds tells
//! answerable questions from unanswerable ones (D23, docs/abstention.md).
//!
//! Question after question, in random order, the gold passages are taken out of the corpus until half
//! of all questions have lost theirs (questions share passages). The whole pipeline then runs with its
//! default settings, documents are chunked as for users, and the signal is the best coverage among the
//! chunks that an answer would rest on. The same is asked with ready-made vectors by [`cosines`].

mod cosines;
mod rules;

use std::collections::BTreeSet;
use std::path::Path;

use kuhaku::eval::{BeirFolder, Case, Dataset, SeededRandom};
use kuhaku::{
    AskRequest, DocumentId, Rag, RagSettings, Scope, Section as _, Sources, TextDocument,
};
use serde_json::json;

use super::block_on;
use super::report::{Report, Section};
use crate::error::{Result, cannot};

/// The seed by which the unanswerable half is drawn.
const SEED: u64 = 0;

/// Sets, splits and languages; the first is where the threshold is chosen.
const SETS: [(&str, &str, &str); 4] = [
    ("scifact", "train", "en"),
    ("scifact", "test", "en"),
    ("xquad-en", "test", "en"),
    ("xquad-tr", "test", "tr"),
];

/// A question: whether the corpus still holds an answer, and the signal.
struct Asked {
    answerable: bool,
    /// The gold passage is among the evidence; only then is an answer right.
    found: bool,
    signal: f64,
}

pub(crate) fn run(data: &Path) -> Result<Report> {
    let title = "When there is no answer: coverage as the signal".to_string();
    let mut report = Report { title, ..Report::default() };
    let mut values = Vec::new();
    for (name, split, language) in SETS {
        let path = data.join(name);
        if !path.is_dir() {
            report.skipped.push(format!("set {name}: not in the data folder"));
            continue;
        }
        let folder = BeirFolder::open(&path).map_err(|error| cannot("open a set", error))?;
        let dataset = folder.dataset(split).map_err(|error| cannot("read a set", error))?;
        let asked = block_on(ask_all(&folder, &dataset, language))??;
        let curve = curve(&asked);
        let answerable = asked.iter().filter(|it| it.answerable).count();
        report.sections.push(Section {
            heading: format!("{name} {split} ({language})"),
            text: format!(
                "{answerable} answerable and {} unanswerable questions.",
                asked.len() - answerable
            ),
            columns: [
                "threshold",
                "answered of the answerable",
                "with the gold passage",
                "answered of the unanswerable",
                "balanced accuracy",
            ]
            .map(String::from)
            .to_vec(),
            rows: curve
                .iter()
                .map(|point| point.iter().map(|value| format!("{value:.3}")).collect())
                .collect(),
        });
        values.push(json!({
            "set": name,
            "split": split,
            "hash": dataset.content_hash(),
            "answerable": answerable,
            "questions": asked.len(),
            "curve": curve,
        }));
    }
    let with_cosines = cosines::run(data, &mut report)?;
    report.values = json!({ "seed": SEED, "sets": values, "with_cosines": with_cosines });
    Ok(report)
}

/// Ingests what is left of the corpus and asks every question.
async fn ask_all(folder: &BeirFolder, dataset: &Dataset, language: &str) -> Result<Vec<Asked>> {
    let failed = |error: kuhaku::Error| cannot("run the pipeline", error);
    let removed = half_unanswerable(dataset);
    let sources = Sources::new().set("rag.language", language);
    let settings = RagSettings::load(&sources).map_err(|error| cannot("read settings", error))?;
    let rag = Rag::builder().settings(settings).open().await.map_err(failed)?;
    for document in folder.corpus().map_err(|error| cannot("read a corpus", error))? {
        let document = document.map_err(|error| cannot("read a corpus", error))?;
        if removed.contains(&document.id) {
            continue;
        }
        let text = match document.title.as_str() {
            "" => document.text,
            title => format!("# {title}\n\n{}", document.text),
        };
        let key = DocumentId::new(document.id).map_err(|error| cannot("use an id", error))?;
        let name = format!("{key}.md");
        rag.ingest(TextDocument::new(name, text).key(key)).await.map_err(failed)?;
    }
    let mut asked = Vec::new();
    for case in dataset.cases() {
        let gold = gold(case);
        let request = AskRequest::new(case.sample.query.as_str(), Scope::anonymous());
        let found = rag.search(&request).await.map_err(failed)?;
        let hits = found.hits.iter().map(|hit| &hit.retrieved);
        let signal = hits.clone().map(|hit| hit.coverage).fold(0.0, f64::max);
        asked.push(Asked {
            answerable: gold.iter().any(|id| !removed.contains(id)),
            found: hits.clone().any(|hit| gold.contains(hit.chunk.document().as_str())),
            signal,
        });
    }
    Ok(asked)
}

/// The gold passages of a question.
fn gold(case: &Case) -> BTreeSet<String> {
    let grades = case.expected.grades.iter().flatten();
    grades.filter(|(_, grade)| **grade > 0).map(|(id, _)| id.clone()).collect()
}

/// Passages without which half of the questions, or just more, have none of theirs.
fn half_unanswerable(dataset: &Dataset) -> BTreeSet<String> {
    let golds: Vec<BTreeSet<String>> = dataset.cases().iter().map(gold).collect();
    let mut order: Vec<usize> = (0..golds.len()).collect();
    SeededRandom::new(SEED).shuffle(&mut order);
    let mut removed = BTreeSet::new();
    for at in order {
        let lost = golds.iter().filter(|gold| gold.is_subset(&removed)).count();
        if lost * 2 >= golds.len() {
            break;
        }
        removed.extend(golds.get(at).into_iter().flatten().cloned());
    }
    removed
}

/// Per threshold: the shares answered, and the balanced accuracy of answering or not.
fn curve(asked: &[Asked]) -> Vec<[f64; 5]> {
    let share = |of: &dyn Fn(&&Asked) -> bool, which: &dyn Fn(&&Asked) -> bool| {
        let all = asked.iter().filter(of).count();
        let some = asked.iter().filter(of).filter(which).count();
        if all == 0 { f64::NAN } else { some as f64 / all as f64 }
    };
    (0..=20)
        .map(|step| {
            let threshold = f64::from(step) / 20.0;
            let answered = |it: &&Asked| it.signal >= threshold && it.signal > 0.0;
            let right = share(&|it| it.answerable, &answered);
            let gold = share(&|it| it.answerable, &|it| answered(it) && it.found);
            let wrong = share(&|it| !it.answerable, &answered);
            [threshold, right, gold, wrong, f64::midpoint(right, 1.0 - wrong)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_falls_from_everything_answered_to_nothing() {
        let asked = |answerable, signal| Asked { answerable, found: answerable, signal };
        let points =
            curve(&[asked(true, 0.9), asked(true, 0.4), asked(false, 0.5), asked(false, 0.2)]);
        assert_eq!(points[0], [0.0, 1.0, 1.0, 1.0, 0.5]);
        let at = |threshold: f64| points.iter().find(|point| (point[0] - threshold).abs() < 1e-9);
        assert_eq!(at(0.6).unwrap()[1..], [0.5, 0.5, 0.0, 0.75]);
        assert_eq!(at(1.0).unwrap()[1..], [0.0, 0.0, 0.0, 0.5]);
    }
}
