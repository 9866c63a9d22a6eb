//! Words and the vectors of two models.

use std::path::Path;

use serde_json::{Value, json};

use super::super::embed::Vectors;
use super::super::report::Report;
use super::compare::Lines;
use super::corpus::{Corpus, dataset, settings};
use super::matrix::Matrix;
use super::{SPLIT, whole};
use crate::error::Result;

pub(super) fn run(
    data: &Path,
    matrix: &Matrix,
    read: &dyn Fn(&str) -> Result<Option<Vectors>>,
    report: &mut Report,
) -> Result<Option<Value>> {
    let both = &matrix.both;
    let mut corpora = Vec::new();
    for set in matrix.sets.iter().filter(|set| set.name == both.set) {
        if data.join(&set.name).is_dir() {
            corpora.extend(Corpus::open(data, set, settings(&set.language, [])?, read)?);
        }
    }
    let heading = format!("{} {SPLIT}, both models", both.set);
    if corpora.len() < 2 {
        report.skipped.push(format!("{heading}: without the vectors of two models"));
        return Ok(None);
    }
    let corpora: Vec<&Corpus> = corpora.iter().collect();
    let training = dataset(data, &both.set, &both.chosen_on)?;
    let lists = whole::lists(&corpora, &training, matrix.depth)?;
    let (best, points) = whole::choose(&lists, &training, &matrix.weights)?;
    let test = dataset(data, &both.set, SPLIT)?;
    let lists = whole::lists(&corpora, &test, matrix.depth)?;
    let mut lines = Lines::new(matrix)?;
    lines.push("words", matrix, &test, whole::words(&lists))?;
    lines.push("vectors of both", matrix, &test, whole::fused(&lists, 1.0)?)?;
    let name = format!("both models and words, {best}");
    lines.push(name.clone(), matrix, &test, whole::fused(&lists, best)?)?;
    let got = lines.named(&name).map_or(f64::NAN, |line| lines.mean(line));
    if !got.ge(&both.at_least) {
        report.missed.push(format!("{heading}: nDCG@10 {got:.4}, asked {}", both.at_least));
    }
    let there: Vec<String> =
        points.iter().map(|(weight, quality)| format!("{weight}: {quality:.4}")).collect();
    let text = format!("On the training split, by how much vectors count: {}.", there.join(", "));
    report.sections.push(lines.section(heading, text, matrix)?);
    let value = lines.value()?;
    Ok(Some(json!({ "set": both.set, "models": 2, "lines": value, "training": points })))
}
