//! The suite `retrieval`: quality and speed of search by words, beside Python peers.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kuhaku::eval::{
    BeirFolder, Dataset, Evaluation, Measure, Outcome, Scorer, Summary, percentile, target_fn,
};
use kuhaku::index::{MemoryIndex, SparseQuery};
use kuhaku::{IndexTarget, RagSettings, Scope, Section as _, Sources, corpus_batches, empty_index};
use serde_json::{Value, json};

use super::block_on;
use super::matrix::{Configuration, Matrix, Set};
use super::peer::{self, Installed};
use super::report::{Report, Section};
use crate::error::{Result, cannot};

/// One configuration, or one peer, on one set.
struct Line {
    name: String,
    summary: Summary,
    index_ms: f64,
    p50_us: f64,
    p95_us: f64,
    /// The median at the depth of a page of results.
    shallow_p50_us: f64,
}

/// How many hits a page of results has; queries are timed at this depth too.
const SHALLOW: usize = 10;

pub(crate) fn run(root: &Path, data: &Path) -> Result<Report> {
    let matrix = Matrix::read(&root.join("xtask/bench/retrieval.toml"))?;
    let measures =
        Measure::list(&matrix.measures).map_err(|error| cannot("read measures", error))?;
    let mut report = Report { title: "Retrieval by words".into(), ..Report::default() };
    let mut peers: Vec<Installed> = Vec::new();
    for peer in &matrix.peers {
        match peer::install(root, peer) {
            Ok(installed) => peers.push(installed),
            Err(reason) => report.skipped.push(format!("peer {}: {reason}", peer.name)),
        }
    }
    let mut values = Vec::new();
    for set in &matrix.sets {
        let path = data.join(&set.name);
        if !path.is_dir() {
            report.skipped.push(format!("set {}: not in the data folder", set.name));
            continue;
        }
        let folder = BeirFolder::open(&path).map_err(|error| cannot("open a set", error))?;
        let dataset = folder.dataset(&set.split).map_err(|error| cannot("read a set", error))?;
        let mut lines = Vec::new();
        for configuration in &matrix.configurations {
            lines.push(measure(&matrix, set, &folder, &dataset, configuration, &measures)?);
        }
        judge(set, lines.first(), &mut report.missed)?;
        for installed in &peers {
            lines.push(beside(&matrix, set, &path, &dataset, installed, &measures)?);
        }
        values.push(json!({
            "set": set.name,
            "split": set.split,
            "hash": dataset.content_hash(),
            "queries": dataset.cases().len(),
            "lines": lines.iter().map(value).collect::<Vec<_>>(),
        }));
        report.sections.push(section(set, &dataset, &lines, &measures, peers.len()));
    }
    report.values = json!({ "seed": matrix.seed, "depth": matrix.depth, "sets": values });
    Ok(report)
}

/// One configuration: indexed from text in memory on one thread, then each query alone.
fn measure(
    matrix: &Matrix,
    set: &Set,
    folder: &BeirFolder,
    dataset: &Dataset,
    configuration: &Configuration,
    measures: &[Measure],
) -> Result<Line> {
    let mut sources = Sources::new().set("rag.language", set.language.as_str());
    for (path, value) in &configuration.settings {
        sources = sources.set(path, value.as_str());
    }
    let settings =
        RagSettings::load(&sources).map_err(|error| cannot("read a configuration", error))?;
    let batches = corpus_batches(folder).map_err(|error| cannot("read a corpus", error))?;
    let index = empty_index(&settings);
    let begun = Instant::now();
    for batch in batches {
        index.write(batch).map_err(|error| cannot("index a corpus", error))?;
    }
    let index_ms = begun.elapsed().as_secs_f64() * 1e3;
    let (p50_us, p95_us) = time_queries(&index, &settings, dataset, matrix.depth)?;
    let (shallow_p50_us, _) = time_queries(&index, &settings, dataset, SHALLOW)?;
    let depth = matrix.depth;
    let target = IndexTarget::new(Arc::new(index), Scope::anonymous(), depth, settings.bm25());
    let evaluation =
        Evaluation::new(dataset, Scorer::new(measures.iter().copied())).seed(matrix.seed);
    let run = block_on(evaluation.run(&target))?.map_err(|error| cannot("run a set", error))?;
    let summary = Summary::new(&run);
    let name = configuration.name.clone();
    Ok(Line { name, summary, index_ms, p50_us, p95_us, shallow_p50_us })
}

/// Median and 95th percentile of the queries in microseconds, best of three runs each.
fn time_queries(
    index: &MemoryIndex,
    settings: &RagSettings,
    dataset: &Dataset,
    depth: usize,
) -> Result<(f64, f64)> {
    let mut times = Vec::new();
    for case in dataset.cases() {
        let query = SparseQuery::new(case.sample.query.as_str(), depth).bm25(settings.bm25());
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let begun = Instant::now();
            let view = index.view(&Scope::anonymous());
            let hits = view.sparse(&query).map_err(|error| cannot("search", error))?;
            std::hint::black_box(hits);
            best = best.min(begun.elapsed().as_secs_f64() * 1e6);
        }
        times.push(best);
    }
    Ok(percentiles(&times))
}

fn percentiles(times: &[f64]) -> (f64, f64) {
    let at = |share| percentile(times, share).unwrap_or(f64::NAN);
    (at(50.0), at(95.0))
}

/// A peer on the same set, scored by the same measures.
fn beside(
    matrix: &Matrix,
    set: &Set,
    path: &Path,
    dataset: &Dataset,
    installed: &Installed,
    measures: &[Measure],
) -> Result<Line> {
    let ran = installed.run(path, set, (matrix.depth, SHALLOW))?;
    let rankings = ran.rankings;
    let target = target_fn(installed.name.clone(), move |sample| {
        Outcome::retrieved(rankings.get(&sample.id).cloned().unwrap_or_default())
    });
    let evaluation =
        Evaluation::new(dataset, Scorer::new(measures.iter().copied())).seed(matrix.seed);
    let run = block_on(evaluation.run(&target))?.map_err(|error| cannot("score a peer", error))?;
    let micro = |times: &[f64]| times.iter().map(|ms| ms * 1e3).collect::<Vec<f64>>();
    let (p50_us, p95_us) = percentiles(&micro(&ran.query_ms));
    let (shallow_p50_us, _) = percentiles(&micro(&ran.shallow_ms));
    let (name, index_ms) = (installed.name.clone(), ran.index_ms);
    Ok(Line { name, summary: Summary::new(&run), index_ms, p50_us, p95_us, shallow_p50_us })
}

/// Notes what the first configuration was asked and did not reach.
fn judge(set: &Set, line: Option<&Line>, missed: &mut Vec<String>) -> Result<()> {
    for (name, asked) in &set.at_least {
        let measure: Measure = name.parse().map_err(|error| cannot("read a measure", error))?;
        let mean = line.and_then(|line| line.summary.measure(measure)).and_then(|it| it.mean);
        if mean.is_none_or(|mean| mean < *asked) {
            let got = mean.map_or_else(|| "nothing".into(), |mean| format!("{mean:.4}"));
            missed.push(format!("{} {}: {name} {got}, asked {asked}", set.name, set.split));
        }
    }
    Ok(())
}

fn value(line: &Line) -> Value {
    json!({
        "name": line.name,
        "summary": line.summary,
        "index_ms": line.index_ms,
        "p50_us": line.p50_us,
        "p95_us": line.p95_us,
        "shallow_p50_us": line.shallow_p50_us,
    })
}

fn section(
    set: &Set,
    dataset: &Dataset,
    lines: &[Line],
    measures: &[Measure],
    peers: usize,
) -> Section {
    let mut columns = vec!["configuration".to_string()];
    columns.extend(measures.iter().map(|measure| measure.title()));
    columns.extend(["index ms", "p50 µs", "p95 µs", "p50 µs at 10"].map(String::from));
    let row = |line: &Line| {
        let mut row = vec![line.name.clone()];
        for measure in measures {
            let mean = line.summary.measure(*measure).and_then(|it| it.mean);
            row.push(mean.map_or_else(|| "–".into(), |mean| format!("{mean:.4}")));
        }
        row.extend(
            [line.index_ms, line.p50_us, line.p95_us, line.shallow_p50_us]
                .map(|time| format!("{time:.1}")),
        );
        row
    };
    let text = match (lines.first(), lines.len().checked_sub(peers).and_then(|at| lines.get(at))) {
        (Some(ours), Some(peer)) if peers > 0 => format!(
            "{} queries. Beside {}: queries {:.1} times faster at the median ({:.1} times for the \
             best 10), indexing {:.1} times.",
            dataset.cases().len(),
            peer.name,
            peer.p50_us / ours.p50_us,
            peer.shallow_p50_us / ours.shallow_p50_us,
            peer.index_ms / ours.index_ms
        ),
        _ => format!("{} queries.", dataset.cases().len()),
    };
    let heading = format!("{} {} ({})", set.name, set.split, set.language);
    Section { heading, text, columns, rows: lines.iter().map(row).collect() }
}
