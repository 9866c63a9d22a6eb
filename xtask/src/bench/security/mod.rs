//! The suite `security`. Part PII: what the default masker finds and what it takes for more than it is.
//! Part [`guard`]: the injection guard.
//!
//! Rules of masking are tuned on one half of the labelled rows; what counts are the numbers of the other half
//! (D41). The tuning half is shown beside it: the distance tells how far the rules have been fitted.

mod archive;
pub(crate) mod attacks;
mod clean;
pub(crate) mod documents;
mod guard;
mod rows;
mod score;
mod speed;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use kuhaku_core::{Masker as _, PiiMasker};
use serde_json::{Value, json};

use self::rows::{Halves, SEED};
use self::score::{Score, Scores};
use super::report::{Report, Section};
use crate::error::{Result, cannot};

/// What is asked of each kind that has so many rows.
const AT_LEAST: f64 = 0.97;
const ROWS: usize = 10;

pub(crate) fn run(data: &Path) -> Result<Report> {
    let mut report =
        Report { title: "Masking and the injection guard".into(), ..Report::default() };
    let masker = PiiMasker::new();
    let mut values = BTreeMap::new();
    if data.join("pii").is_dir() {
        let halves = Halves::read(&data.join("pii"))?;
        let kept = Scores::of(&masker, &halves.kept);
        report.missed.extend(missed(&kept));
        for (name, scores) in [("kept", kept), ("tuning", Scores::of(&masker, &halves.tuning))] {
            report.sections.extend(sections(name, &scores));
            values.insert(name, numbers(&scores));
        }
    } else {
        report.skipped.push("set pii: not in the data folder".into());
    }
    let texts = clean::clean_texts(data, &mut report)?;
    values.insert("clean", clean::false_masks(&masker, &texts, &mut report));
    if let Some((name, text)) = texts.first() {
        values.insert("speed", speed::speed(&masker, name, text, &mut report));
    }
    let guard = guard::run(data, &mut report)?;
    report.values = json!({ "seed": SEED, "masker": masker.id(), "parts": values, "guard": guard });
    Ok(report)
}

/// Where a kind with rows enough falls short.
fn missed(scores: &Scores) -> Vec<String> {
    let enough = scores.claimed.iter().filter(|(_, score)| score.values >= ROWS);
    let measures = enough.flat_map(|(name, score)| {
        [(name, "precision", score.precision()), (name, "recall", score.recall())]
    });
    let short = measures.filter(|(.., value)| *value < AT_LEAST);
    short
        .map(|(name, measure, value)| format!("{name}: {measure} {value:.3} < {AT_LEAST}"))
        .collect()
}

/// The tables of one half.
fn sections(half: &str, scores: &Scores) -> [Section; 2] {
    let columns = ["kind", "n", "found", "false masks", "precision", "recall", "F1"];
    let claimed = Section {
        heading: format!("Kinds that are claimed, {half} half"),
        text: "A value counts as found when a mask of its kind covers it (an address without the \
               length of its network's prefix) and nothing else but punctuation. The kinds of masks \
               are followed by the types of values they stand for."
            .into(),
        columns: columns.map(String::from).to_vec(),
        rows: scores.claimed.iter().map(|(name, score)| line(name, score)).collect(),
    };
    let other = |(name, score): (&String, &Score)| {
        let counts = [score.values, score.found].map(|count| count.to_string());
        [vec![name.clone()], counts.to_vec(), vec![format!("{:.3}", score.recall())]].concat()
    };
    let others = Section {
        heading: format!("Kinds that are not claimed, {half} half"),
        text: "Each value that no mask covers is a miss.".into(),
        columns: ["type", "n", "masked", "recall"].map(String::from).to_vec(),
        rows: scores.others.iter().map(other).collect(),
    };
    [claimed, others]
}

fn numbers(scores: &Scores) -> Value {
    let all = |scores: &BTreeMap<String, Score>| -> Value {
        let of = |(name, score): (&String, &Score)| {
            (name.clone(), json!([score.values, score.found, score.false_masks]))
        };
        scores.iter().map(of).collect::<serde_json::Map<_, _>>().into()
    };
    json!({ "claimed": all(&scores.claimed), "others": all(&scores.others) })
}

fn line(name: &str, score: &Score) -> Vec<String> {
    [vec![name.to_string()], score.cells()].concat()
}

fn inflated(path: &Path) -> Result<Vec<u8>> {
    let tried = || format!("read {}", path.display());
    let file = File::open(path).map_err(|error| cannot(tried(), error))?;
    let mut content = Vec::new();
    let read = MultiGzDecoder::new(BufReader::new(file)).read_to_end(&mut content);
    read.map_err(|error| cannot(tried(), error))?;
    Ok(content)
}
