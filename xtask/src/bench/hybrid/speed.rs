//! How long a hybrid query takes without the model that embeds it, beside the same steps in Python.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use kuhaku::eval::{Dataset, percentile};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::block_on;
use super::super::peer;
use super::super::report::Section;
use super::choose::{PAGE, ndcg};
use super::corpus::{Corpus, Way, Weighted};
use super::matrix::{Matrix, Set};
use crate::error::{Result, cannot};

/// What is asked: ours of the peer's median.
const SHARE: f64 = 0.2;

/// What the peer prints.
#[derive(Debug, Deserialize)]
struct Peer {
    words_us: Vec<f64>,
    vectors_us: Vec<f64>,
    hybrid_us: Vec<f64>,
    rankings: HashMap<String, Vec<String>>,
}

/// The tables, and what was not reached.
#[derive(Debug, Default)]
pub(super) struct Speed {
    pub(super) section: Section,
    pub(super) value: Value,
    pub(super) missed: Vec<String>,
    pub(super) skipped: Vec<String>,
}

pub(super) fn measure(
    root: &Path,
    data: &Path,
    matrix: &Matrix,
    set: &Set,
    (corpus, dataset, split): (&Corpus, &Dataset, &str),
) -> Result<Speed> {
    let both = corpus.default_way();
    let depth = match both {
        Way::Both(Weighted { depth, .. }) => depth,
        _ => PAGE,
    };
    let ours = [(Way::Words, depth), (Way::Vectors, depth), (both, PAGE)];
    let mut times = Vec::new();
    for (way, limit) in ours {
        times.push(timed(corpus, dataset, way, limit)?);
    }
    let mut speed = Speed::default();
    let names = ["words", "vectors", "both, fused"];
    let mut rows = vec![row("kuhaku", &times)];
    let mut value = json!({ "kuhaku": summed(&names, &times) });
    for peer in &matrix.peers {
        let questions = set.questions.iter().find(|name| name.contains(split));
        let arguments = [
            data.join("vectors").display().to_string(),
            set.documents.clone(),
            questions.cloned().unwrap_or_default(),
            split.to_owned(),
            depth.to_string(),
            PAGE.to_string(),
        ];
        let ran = peer::install(root, peer)
            .and_then(|installed| installed.ask::<Peer>(&data.join(&set.name), &arguments));
        let ran = match ran {
            Ok(ran) => ran,
            Err(reason) => {
                speed.skipped.push(format!("peer {}: {reason}", peer.name));
                continue;
            }
        };
        let quality = ndcg(dataset, |id| ran.rankings.get(id).map_or(&[], Vec::as_slice))?;
        let theirs = [ran.words_us, ran.vectors_us, ran.hybrid_us];
        rows.push(row(&format!("Python, nDCG@10 {quality:.4}"), &theirs));
        let share = |at: usize| {
            let p50 =
                |times: &[Vec<f64>]| times.get(at).map_or(f64::NAN, |it| at_percent(it, 50.0));
            p50(&times) / p50(&theirs)
        };
        let mut shares = vec!["share at the median".to_string()];
        shares.extend((0..3).map(|at| format!("{:.3}", share(at))));
        rows.push(shares);
        if !share(2).le(&SHARE) {
            speed
                .missed
                .push(format!("a hybrid query: {:.3} of Python's median, asked {SHARE}", share(2)));
        }
        if let Some(value) = value.as_object_mut() {
            value.insert(peer.name.clone(), summed(&names, &theirs));
        }
    }
    let mut columns = vec!["engine".to_string()];
    columns.extend(names.map(|name| format!("{name}, p50 / p95 µs")));
    speed.section = Section {
        heading: format!("Time of a query, {}", set.heading(split)),
        text: format!(
            "The vector of the question is there already. {depth} documents by words, {depth} by \
             vectors, the best {PAGE} of both; the best of three per query. Ours reads the texts of \
             what it finds too."
        ),
        columns,
        rows,
    };
    speed.value = value;
    Ok(speed)
}

/// Each question alone, the best of three, in microseconds.
fn timed(corpus: &Corpus, dataset: &Dataset, way: Way, limit: usize) -> Result<Vec<f64>> {
    let retriever = corpus.retriever(way);
    block_on(async {
        let mut times = Vec::new();
        for case in dataset.cases() {
            let request = corpus.request(&case.sample.query, limit);
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let begun = Instant::now();
                let found = retriever.retrieve(&request).await;
                best = best.min(begun.elapsed().as_secs_f64() * 1e6);
                std::hint::black_box(found.map_err(|error| cannot("search", error))?);
            }
            times.push(best);
        }
        Ok(times)
    })?
}

fn at_percent(times: &[f64], percent: f64) -> f64 {
    percentile(times, percent).unwrap_or(f64::NAN)
}

fn row(name: &str, times: &[Vec<f64>]) -> Vec<String> {
    let mut row = vec![name.to_owned()];
    row.extend(
        times.iter().map(|it| format!("{:.0} / {:.0}", at_percent(it, 50.0), at_percent(it, 95.0))),
    );
    row
}

fn summed(names: &[&str], times: &[Vec<f64>]) -> Value {
    let of = |(name, times): (&&str, &Vec<f64>)| {
        let p = [50.0, 95.0].map(|percent| at_percent(times, percent));
        ((*name).to_owned(), json!({ "p50_us": p.first(), "p95_us": p.last() }))
    };
    names.iter().zip(times).map(of).collect::<serde_json::Map<_, _>>().into()
}
