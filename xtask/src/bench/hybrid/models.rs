//! Words and the vectors of two models, fused by the parts of the product.

use std::collections::HashMap;
use std::path::Path;

use kuhaku::eval::Dataset;
use kuhaku::index::{DenseQuery, SparseQuery, Vector};
use kuhaku::rag::{Fuser, Ranking};
use kuhaku_core::Embedder as _;
use serde_json::{Value, json};

use super::super::block_on;
use super::super::embed::Vectors;
use super::super::report::Report;
use super::SPLIT;
use super::choose::ndcg;
use super::compare::Lines;
use super::corpus::{Corpus, dataset, settings};
use super::matrix::Matrix;
use crate::error::{Result, cannot};

/// One question's rankings, before they are fused.
struct Lists {
    id: String,
    words: Vec<(String, f64)>,
    /// Of each model.
    vectors: Vec<Vec<(String, f64)>>,
}

pub(super) fn run(
    data: &Path,
    matrix: &Matrix,
    read: &dyn Fn(&str) -> Result<Option<Vectors>>,
    report: &mut Report,
) -> Result<Option<Value>> {
    let mut corpora = Vec::new();
    for set in matrix.sets.iter().filter(|set| set.name == matrix.both.set) {
        if data.join(&set.name).is_dir() {
            corpora.extend(Corpus::open(data, set, settings(&set.language, [])?, read)?);
        }
    }
    let heading = format!("{} {SPLIT}, both models", matrix.both.set);
    if corpora.len() < 2 {
        report.skipped.push(format!("{heading}: without the vectors of two models"));
        return Ok(None);
    }
    let training = dataset(data, &matrix.both.set, &matrix.both.chosen_on)?;
    let lists = all(&corpora, &training, matrix.limit)?;
    let mut best = (f64::NAN, f64::NEG_INFINITY);
    let mut points = Vec::new();
    for weight in &matrix.weights {
        let rankings = fused(&corpora, &lists, *weight)?;
        let quality = ndcg(&training, |id| rankings.get(id).map_or(&[], Vec::as_slice))?;
        points.push(json!({ "dense": weight, "ndcg@10": quality }));
        if quality > best.1 {
            best = (*weight, quality);
        }
    }
    let test = dataset(data, &matrix.both.set, SPLIT)?;
    let lists = all(&corpora, &test, matrix.limit)?;
    let alone = |of: &dyn Fn(&Lists) -> &[(String, f64)]| -> HashMap<String, Vec<String>> {
        let ids = |lists: &Lists| of(lists).iter().map(|(id, _)| id.clone()).collect();
        lists.iter().map(|one| (one.id.clone(), ids(one))).collect()
    };
    let mut lines = Lines::new(matrix)?;
    lines.push("words", matrix, &test, alone(&|one| &one.words))?;
    let mean = fused(&corpora, &lists, 1.0)?;
    lines.push("vectors of both", matrix, &test, mean)?;
    let name = format!("both models and words, {}", best.0);
    lines.push(name.clone(), matrix, &test, fused(&corpora, &lists, best.0)?)?;
    let got = lines.named(&name).map_or(f64::NAN, |line| lines.mean(line));
    if !got.ge(&matrix.both.at_least) {
        let asked = matrix.both.at_least;
        report.missed.push(format!("{heading}: nDCG@10 {got:.4}, asked {asked}"));
    }
    let text = format!(
        "How much the vectors of both count was chosen on the training split (nDCG@10 {:.4} there).",
        best.1
    );
    report.sections.push(lines.section(heading, text, matrix)?);
    Ok(Some(
        json!({ "set": matrix.both.set, "models": 2, "lines": lines.value()?, "training": points }),
    ))
}

/// The rankings of all questions: each model's cosines for all that any ranking found.
fn all(corpora: &[Corpus], dataset: &Dataset, depth: usize) -> Result<Vec<Lists>> {
    let failed = |error| cannot("search", error);
    let first = corpora.first().ok_or_else(|| cannot("search", "there is no corpus"))?;
    block_on(async {
        let mut lists = Vec::new();
        for case in dataset.cases() {
            let text = case.sample.query.as_str();
            let words = SparseQuery::new(text, depth).bm25(first.settings.bm25());
            let words = first.reader.sparse(&words).await.map_err(failed)?;
            let (mut questions, mut found) = (Vec::new(), Vec::new());
            found.extend(words.iter().map(|hit| hit.id.clone()));
            for corpus in corpora {
                let row = corpus.embedder.embed_query(text).await;
                let row = row.map_err(|error| cannot("look up a question", error))?;
                let question = Vector::new(row).map_err(failed)?;
                let near = corpus.reader.dense(&DenseQuery::new(question.clone(), depth)).await;
                found.extend(near.map_err(failed)?.into_iter().map(|hit| hit.id));
                questions.push(question);
            }
            found.sort();
            found.dedup();
            let mut vectors = Vec::new();
            for (corpus, question) in corpora.iter().zip(&questions) {
                let rows = corpus.reader.vectors(&found).await.map_err(failed)?;
                let cosines = found.iter().zip(rows).filter_map(|(id, row)| {
                    Some((id.document().to_string(), question.cosine(&row?)?))
                });
                let mut cosines: Vec<(String, f64)> = cosines.collect();
                cosines.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
                vectors.push(cosines);
            }
            let words = words.iter().map(|hit| (hit.id.document().to_string(), hit.bm25));
            let id = case.sample.id.clone();
            lists.push(Lists { id, words: words.collect(), vectors });
        }
        Ok(lists)
    })?
}

fn fused(corpora: &[Corpus], lists: &[Lists], dense: f64) -> Result<HashMap<String, Vec<String>>> {
    let fusion = corpora.first().map(|corpus| corpus.settings.fusion).unwrap_or_default();
    let share = dense / corpora.len() as f64;
    let mut rankings = HashMap::new();
    for one in lists {
        let mut all = vec![Ranking::new(one.words.iter().cloned()).weight(1.0 - dense)];
        let near = one.vectors.iter();
        all.extend(near.map(|it| Ranking::new(it.iter().cloned()).weight(share).floor(-1.0)));
        let fused = Fuser::new(fusion).fuse(&all).map_err(|error| cannot("fuse", error))?;
        rankings.insert(one.id.clone(), fused.into_iter().map(|(id, _)| id).collect());
    }
    Ok(rankings)
}
