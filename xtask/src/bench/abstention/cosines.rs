//! Coverage and cosines together, on vectors that are there already: documents in one piece, hybrid
//! retrieval and decisions with the defaults of the product. Rules are chosen on [`CHOSEN_ON`] alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use kuhaku::eval::{BeirFolder, Dataset};
use kuhaku::index::{Batch, Change, ChunkIndex as _, VectorSpace};
use kuhaku::rag::{Mode, RagEngine};
use kuhaku::{AskRequest, RagSettings, Scope, Section as _, Sources, corpus_batches, empty_index};
use kuhaku_core::{Masker as _, PiiMasker};
use serde_json::{Value, json};

use super::super::block_on;
use super::super::embed::Vectors;
use super::super::hybrid::{Lookup, with_vectors};
use super::super::report::{Report, Section};
use super::rules::{Asked, Rule, best, differ, shares};
use super::{gold, half_unanswerable};
use crate::error::{Result, cannot};

/// Models, with the cosines among which thresholds are sought, in hundredths.
const MODELS: [(&str, (u32, u32)); 2] = [("e5", (75, 95)), ("minilm", (20, 90))];
/// Where rules are chosen.
const CHOSEN_ON: (&str, &str) = ("scifact", "train");
/// Sets and splits, each model's own training split first.
const SETS: [(&str, &str, &str); 3] =
    [("scifact", "train", "en"), ("scifact", "test", "en"), ("xquad-tr", "test", "tr")];

pub(super) fn run(data: &Path, report: &mut Report) -> Result<Value> {
    let mut values = Vec::new();
    for (model, cosines) in MODELS {
        let mut chosen = BTreeMap::new();
        for (name, split, language) in SETS {
            let heading = format!("With cosines: {name} {split} ({language}), {model}");
            let read = |what: &str| Vectors::read(&data.join("vectors"), what);
            let documents = read(&format!("{name}-docs.{model}"))?;
            let questions = read(&format!("{name}-{split}.{model}"))?;
            let (Some(documents), Some(questions), true) =
                (documents, questions, data.join(name).is_dir())
            else {
                report.skipped.push(format!("{heading}: without the set, or its vectors"));
                continue;
            };
            let folder = BeirFolder::open(data.join(name));
            let folder = folder.map_err(|error| cannot("open a set", error))?;
            let dataset = folder.dataset(split).map_err(|error| cannot("read a set", error))?;
            let asked = ask_all(&folder, &dataset, language, &documents, &questions)?;
            let here = Rule::kinds(cosines).map(|rules| best(&asked, &rules));
            if (name, split) == CHOSEN_ON {
                chosen.insert(model, here);
            }
            let Some([cosine, either, sum]) = chosen.get(model) else {
                report.skipped.push(format!("{heading}: without the set where rules are chosen"));
                continue;
            };
            let rules = [
                ("coverage", Some(Rule::Coverage)),
                ("cosine alone", *cosine),
                ("coverage, or cosine", *either),
                ("the default", Some(Rule::Product)),
                ("a sum, chosen on train", *sum),
                ("a sum, the best here: nothing held out", here[2]),
            ];
            let mut lines = Vec::new();
            for (what, rule) in rules {
                lines.extend(rule.map(|rule| (what, rule, shares(&asked, rule))));
            }
            let (ours, theirs) =
                sum.map(|sum| differ(&asked, Rule::Product, sum)).unwrap_or_default();
            let answerable = asked.iter().filter(|it| it.answerable).count();
            report.sections.push(Section {
                heading,
                text: format!(
                    "{answerable} answerable and {} unanswerable questions. Of those that the \
                     default and the sum chosen on train decide differently, the default is right \
                     on {ours}, the other on {theirs}.",
                    asked.len() - answerable
                ),
                columns: [
                    "rule",
                    "answered of the answerable",
                    "with the gold passage",
                    "answered of the unanswerable",
                    "balanced accuracy",
                ]
                .map(String::from)
                .to_vec(),
                rows: lines
                    .iter()
                    .map(|(what, rule, shares)| {
                        let numbers = [shares.right, shares.gold, shares.wrong, shares.balanced];
                        let mut row = vec![format!("{what}{}", values_of(*rule))];
                        row.extend(numbers.map(|value| format!("{value:.3}")));
                        row
                    })
                    .collect(),
            });
            let lines: Vec<Value> = lines
                .iter()
                .map(|(what, rule, shares)| json!({ "what": what, "rule": rule, "shares": shares }))
                .collect();
            values.push(json!({
                "set": name, "split": split, "model": model, "hash": dataset.content_hash(),
                "answerable": answerable, "questions": asked.len(), "lines": lines,
                "default_right": ours, "chosen_right": theirs,
            }));
        }
    }
    Ok(Value::Array(values))
}

/// The numbers of a rule.
fn values_of(rule: Rule) -> String {
    match rule {
        Rule::Product | Rule::Coverage => String::new(),
        Rule::Cosine { at_least } | Rule::Either { at_least } => format!(": {at_least}"),
        Rule::Sum { weight, neutral } => format!(": w {weight}, n {neutral}"),
    }
}

/// Indexes what is left of the corpus and asks every question.
fn ask_all(
    folder: &BeirFolder,
    dataset: &Dataset,
    language: &str,
    documents: &Vectors,
    questions: &Vectors,
) -> Result<Vec<Asked>> {
    let removed = half_unanswerable(dataset);
    let sources = Sources::new().set("rag.language", language);
    let settings = RagSettings::load(&sources).map_err(|error| cannot("read settings", error))?;
    let model = &documents.manifest.model;
    let lookup = Arc::new(Lookup::new(model, by_text(dataset, questions)));
    let index = empty_index(&settings);
    let failed = |error| cannot("index a set", error);
    let embedder = kuhaku::Embedder::fingerprint(lookup.as_ref());
    let space = VectorSpace::new(embedder, documents.manifest.dim);
    block_on(index.maintenance().adopt_embedder(Some(space)))?.map_err(failed)?;
    for batch in corpus_batches(folder).map_err(|error| cannot("read a set", error))? {
        index.write(with_vectors(without(batch, &removed), documents)?).map_err(failed)?;
    }
    let engine = RagEngine::builder(Arc::new(index)).embedder(lookup).settings(settings).build();
    let engine = engine.map_err(|error| cannot("put an engine together", error))?;
    block_on(async {
        let mut asked = Vec::new();
        for case in dataset.cases() {
            let request = AskRequest::new(case.sample.query.as_str(), Scope::anonymous());
            let answer = engine.ask(&request).await;
            let answer = answer.map_err(|error| cannot("run the pipeline", error))?;
            if let Some(skipped) = answer.skipped.iter().find(|it| it.stage == "dense") {
                let wrong = format!("{} did not run: {}", skipped.stage, skipped.reason);
                return Err(cannot(format!("ask `{}`", case.sample.id), wrong));
            }
            let gold = gold(case);
            let hits = answer.retrieved.iter();
            asked.push(Asked {
                answerable: gold.iter().any(|id| !removed.contains(id)),
                found: hits.clone().any(|hit| gold.contains(hit.chunk.document().as_str())),
                hits: hits.map(|hit| (hit.coverage, hit.cosine.unwrap_or(-1.0))).collect(),
                answered: answer.mode == Mode::Extractive,
            });
        }
        Ok(asked)
    })?
}

/// The vectors of questions by their texts, as they are asked: masked.
fn by_text(dataset: &Dataset, questions: &Vectors) -> HashMap<String, Vec<f32>> {
    let masker = PiiMasker::new();
    let rows = dataset.cases().iter().filter_map(|case| {
        let row = questions.get(&case.sample.id)?;
        Some((masker.mask(&case.sample.query).text().trim().to_owned(), row.to_vec()))
    });
    rows.collect()
}

/// A batch without these documents.
fn without(batch: Batch, removed: &BTreeSet<String>) -> Batch {
    let mut left = Batch::new();
    for change in batch.into_changes() {
        let Change::Upsert(record) = change else { continue };
        if !removed.contains(record.id.as_str()) {
            left = left.upsert(*record);
        }
    }
    left
}
