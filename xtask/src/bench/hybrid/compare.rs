//! Rankings beside the better single one.

use std::collections::HashMap;

use kuhaku::eval::{
    Comparison, ComparisonSettings, Dataset, Evaluation, Interval, Measure, MeasureComparison,
    Outcome, Run, Scorer, Summary, target_fn,
};
use serde_json::{Value, json};

use super::super::block_on;
use super::super::report::Section;
use super::choose::PAGE;
use super::corpus::{Corpus, Way};
use super::matrix::Matrix;
use crate::error::{Result, cannot};

/// A ranking that was measured.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) run: Run,
}

/// The lines of one split; the first two are words and vectors alone.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) lines: Vec<Line>,
    measure: Measure,
    settings: ComparisonSettings,
}

impl Lines {
    pub(super) fn new(matrix: &Matrix) -> Result<Self> {
        let measures = measures(matrix)?;
        let measure = measures.first().copied().ok_or_else(|| cannot("measure", "no measure"))?;
        let mut settings = ComparisonSettings::default();
        settings.seed = matrix.seed;
        Ok(Self { lines: Vec::new(), measure, settings })
    }

    pub(super) fn push(
        &mut self,
        name: impl Into<String>,
        matrix: &Matrix,
        dataset: &Dataset,
        rankings: HashMap<String, Vec<String>>,
    ) -> Result<()> {
        let name = name.into();
        let target = target_fn(name.clone(), move |sample| {
            Outcome::retrieved(rankings.get(&sample.id).cloned().unwrap_or_default())
        });
        let scorer = Scorer::new(measures(matrix)?);
        let evaluation = Evaluation::new(dataset, scorer).seed(matrix.seed);
        let run = block_on(evaluation.run(&target))?.map_err(|error| cannot("score", error))?;
        self.lines.push(Line { name, run });
        Ok(())
    }

    pub(super) fn mean(&self, line: &Line) -> f64 {
        let summary = Summary::new(&line.run);
        summary.measure(self.measure).and_then(|it| it.mean).unwrap_or(f64::NAN)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.name == name)
    }

    /// The better of words and vectors alone.
    pub(super) fn better_single(&self) -> Option<&Line> {
        let (words, vectors) = (self.lines.first()?, self.lines.get(1)?);
        Some(if self.mean(vectors) > self.mean(words) { vectors } else { words })
    }

    /// A line set against the better single one.
    pub(super) fn beside(&self, line: &Line) -> Result<Option<MeasureComparison>> {
        let Some(single) = self.better_single() else { return Ok(None) };
        let compared = Comparison::new(&single.run, &line.run, self.settings)
            .map_err(|error| cannot("compare rankings", error))?;
        Ok(compared.measures.into_iter().find(|it| it.measure == self.measure))
    }

    pub(super) fn section(
        &self,
        heading: String,
        text: String,
        matrix: &Matrix,
    ) -> Result<Section> {
        let measures = measures(matrix)?;
        let mut columns = vec!["ranking".to_string()];
        columns.extend(measures.iter().map(|measure| measure.title()));
        columns.extend(
            ["95 %", "beside the better single one", "p", "better, equal, worse"].map(String::from),
        );
        let mut rows = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            let summary = Summary::new(&line.run);
            let mut row = vec![line.name.clone()];
            for measure in &measures {
                let mean = summary.measure(*measure).and_then(|it| it.mean);
                row.push(mean.map_or_else(|| "–".into(), |mean| format!("{mean:.4}")));
            }
            row.push(interval(summary.measure(self.measure).and_then(|it| it.interval)));
            match self.beside(line)?.filter(|_| at > 1) {
                Some(compared) => row.extend([
                    format!(
                        "{:+.4} ({})",
                        compared.difference.unwrap_or(f64::NAN),
                        interval(compared.interval)
                    ),
                    format!("{:.4}", compared.p.unwrap_or(f64::NAN)),
                    format!("{}, {}, {}", compared.wins, compared.ties, compared.losses),
                ]),
                None => row.extend([(); 3].map(|()| String::new())),
            }
            rows.push(row);
        }
        Ok(Section { heading, text, columns, rows })
    }

    pub(super) fn value(&self) -> Result<Value> {
        let mut lines = Vec::new();
        for line in &self.lines {
            let (summary, beside) = (Summary::new(&line.run), self.beside(line)?);
            lines.push(json!({ "name": line.name, "summary": summary, "beside": beside }));
        }
        Ok(Value::Array(lines))
    }
}

/// The first page as it is asked for alone, then what a deeper search adds: nDCG is of pages, recall of
/// the whole.
pub(super) fn paged(
    corpus: &Corpus,
    dataset: &Dataset,
    way: Way,
    limit: usize,
) -> Result<HashMap<String, Vec<String>>> {
    let mut pages = corpus.rankings(dataset, way, PAGE)?;
    for (id, deeper) in corpus.rankings(dataset, way, limit)? {
        let page = pages.entry(id).or_default();
        let more: Vec<String> = deeper.into_iter().filter(|id| !page.contains(id)).collect();
        page.extend(more);
        page.truncate(limit);
    }
    Ok(pages)
}

fn measures(matrix: &Matrix) -> Result<Vec<Measure>> {
    Measure::list(&matrix.measures).map_err(|error| cannot("read measures", error))
}

fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(|| "–".into(), |it| format!("{:.3} to {:.3}", it.low, it.high))
}
