//! The suite `hybrid`: search by words, by vectors and by both, with the retrievers of the product, on
//! vectors that are there already.

mod choose;
mod compare;
mod corpus;
mod matrix;
mod models;
mod speed;
mod whole;

use std::path::Path;

use serde_json::json;

use super::embed::{self, Vectors};
use super::report::{Report, Section};
use crate::error::Result;
use compare::{Lines, paged};
use corpus::{Corpus, Way, dataset, settings};
pub(super) use corpus::{Lookup, with_vectors};
use matrix::{Matrix, Set};

/// The split that is reported.
const SPLIT: &str = "test";
/// What the defaults of the product are called.
const DEFAULTS: &str = "both, defaults";
/// A difference with a smaller p is one.
const SIGNIFICANT: f64 = 0.05;

pub(crate) fn run(root: &Path, data: &Path) -> Result<Report> {
    let matrix = Matrix::read(&root.join("xtask/bench/hybrid.toml"))?;
    let mut report = Report { title: "Words, vectors and both".into(), ..Report::default() };
    report.skipped.push(
        "reranking: unrun, since no weights of a cross-encoder can be had here without a download"
            .into(),
    );
    let kept = embed::folder(root);
    let ready = data.join("vectors");
    let read = |name: &str| match Vectors::read(&ready, name)? {
        Some(found) => Ok(Some(found)),
        None => Vectors::read(&kept, name),
    };
    let mut values = Vec::new();
    for set in &matrix.sets {
        let opened = data
            .join(&set.name)
            .is_dir()
            .then(|| Corpus::open(data, set, settings(&set.language, [])?, &read))
            .transpose()?
            .flatten();
        let Some(corpus) = opened else {
            report.skipped.push(format!(
                "{}: without the set, or its vectors ({}); next: `cargo xtask bench embed`",
                set.heading(SPLIT),
                set.documents
            ));
            continue;
        };
        values.push(one(root, data, &matrix, set, &corpus, &read, &mut report)?);
    }
    if let Some(value) = models::run(data, &matrix, &read, &mut report)? {
        values.push(value);
    }
    report.values = json!({ "seed": matrix.seed, "sets": values });
    Ok(report)
}

/// One set: where there is a training split, what is best there; then the test split once.
fn one(
    root: &Path,
    data: &Path,
    matrix: &Matrix,
    set: &Set,
    corpus: &Corpus,
    read: &dyn Fn(&str) -> Result<Option<Vectors>>,
    report: &mut Report,
) -> Result<serde_json::Value> {
    let asked = set.asked_in.as_ref().unwrap_or(&set.name);
    let test = dataset(data, asked, SPLIT)?;
    let mut lines = Lines::new(matrix)?;
    for (name, way) in [("words", Way::Words), ("vectors", Way::Vectors)] {
        lines.push(name, matrix, &test, paged(corpus, &test, way, matrix.limit)?)?;
    }
    let mut curves = serde_json::Value::Null;
    if let Some(split) = &set.chosen_on {
        let training = dataset(data, asked, split)?;
        let chosen = choose::choose(corpus, &training, matrix)?;
        for curve in &chosen.fusions {
            let best = curve.best;
            let name = format!("both, {}, {}, depth {}", best.fusion, best.dense, best.depth);
            let rankings = paged(corpus, &test, Way::Both(best), matrix.limit)?;
            lines.push(name, matrix, &test, rankings)?;
        }
        let heading = format!("Chosen on {}", set.heading(split));
        report.sections.push(chosen.section(heading, matrix));
        curves = chosen.value();
    }
    let rankings = paged(corpus, &test, corpus.default_way(), matrix.limit)?;
    lines.push(DEFAULTS, matrix, &test, rankings)?;
    let mut weight = matrix.dense;
    if let Some(split) = &set.chosen_on {
        let training = dataset(data, asked, split)?;
        let lists = whole::lists(&[corpus], &training, matrix.depth)?;
        let (best, points) = whole::choose(&lists, &training, &matrix.weights)?;
        let heading = format!("Chosen on {}, all measured", set.heading(split));
        report.sections.push(measured(heading, &points));
        weight = best;
    }
    let lists = whole::lists(&[corpus], &test, matrix.depth)?;
    let mut named = vec![matrix.dense];
    named.extend((weight != matrix.dense).then_some(weight));
    for weight in named {
        let rankings = whole::fused(&lists, weight)?;
        lines.push(format!("both, all measured, {weight}"), matrix, &test, rankings)?;
    }
    if let Some(split) = &set.chosen_on {
        let words = settings(&set.language, &matrix.best)?;
        if let Some(tuned) = Corpus::open(data, set, words, read)? {
            let training = dataset(data, asked, split)?;
            let lists = whole::lists(&[&tuned], &training, matrix.depth)?;
            let (best, points) = whole::choose(&lists, &training, &matrix.weights)?;
            let heading = format!("Chosen on {}, all measured, tuned words", set.heading(split));
            report.sections.push(measured(heading, &points));
            let lists = whole::lists(&[&tuned], &test, matrix.depth)?;
            lines.push("tuned words", matrix, &test, whole::words(&lists))?;
            let name = format!("both, all measured, {best}, tuned words");
            lines.push(name, matrix, &test, whole::fused(&lists, best)?)?;
        }
        let speed = speed::measure(root, data, matrix, set, (corpus, &test, SPLIT))?;
        report.missed.extend(speed.missed);
        report.skipped.extend(speed.skipped);
        report.sections.push(speed.section);
        curves = json!({ "training": curves, "speed": speed.value });
    }
    judge(set, &lines, report)?;
    let text = format!("{} questions.", test.cases().len());
    report.sections.push(lines.section(set.heading(SPLIT), text, matrix)?);
    Ok(json!({
        "set": set.name, "asked_in": set.asked_in, "model": set.model, "hash": test.content_hash(),
        "lines": lines.value()?, "chosen": curves,
    }))
}

fn measured(heading: String, points: &[(f64, f64)]) -> Section {
    Section {
        heading,
        text: "nDCG@10 by how much vectors count.".into(),
        columns: points.iter().map(|(weight, _)| weight.to_string()).collect(),
        rows: vec![points.iter().map(|(_, quality)| format!("{quality:.4}")).collect()],
    }
}

/// Notes what was asked of the defaults and not reached.
fn judge(set: &Set, lines: &Lines, report: &mut Report) -> Result<()> {
    let Some(line) = lines.named(DEFAULTS) else { return Ok(()) };
    let Some(beside) = lines.beside(line)? else { return Ok(()) };
    let heading = set.heading(SPLIT);
    let (by, p) = (beside.difference.unwrap_or(f64::NAN), beside.p.unwrap_or(f64::NAN));
    if let Some(asked) = set.at_least {
        let got = lines.mean(line);
        if !got.ge(&asked) {
            report.missed.push(format!("{heading}: nDCG@10 {got:.4}, asked {asked}"));
        }
        if !(by > 0.0 && p < SIGNIFICANT) {
            report.missed.push(format!("{heading}: {by:+.4} with p {p:.4} is not better"));
        }
    } else if set.asked_in.is_none() && !(by >= 0.0 || p >= SIGNIFICANT) {
        report.missed.push(format!("{heading}: {by:+.4} with p {p:.4} is worse"));
    }
    Ok(())
}
