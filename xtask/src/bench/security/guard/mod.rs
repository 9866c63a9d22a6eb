//! The suite `security`, part guard: what the injection guard finds, and what it takes for an attack.
//!
//! Only the test part is shown; rules, weights and thresholds are made on the other one (D41).

mod evasions;
mod judges;
mod prose;
mod rate;
mod reference;
mod robustness;
mod sets;
mod speed;

use std::path::Path;

use serde_json::{Value, json};

use self::judges::{FLAGGED, JUDGES, Judges, Scores};
use self::rate::Rate;
use self::sets::{Set, Target};
use super::attacks::{SEED, Split};
use crate::bench::report::{Report, Section};
use crate::error::Result;

/// The thresholds of the curve.
const CURVE: [f64; 9] = [0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/// A set with the scores of its texts.
struct Scored {
    set: Set,
    scores: Vec<Scores>,
}

impl Scored {
    /// How many texts one of the judges flags at a threshold.
    fn rate(&self, judge: usize, threshold: f64) -> Rate {
        Rate::of(&self.scores, |scores| scores.get(judge).is_some_and(|score| *score >= threshold))
    }

    fn both(&self, threshold: f64) -> Rate {
        self.rate(JUDGES.len() - 1, threshold)
    }
}

pub(in crate::bench) fn run(data: &Path, report: &mut Report) -> Result<Value> {
    let folder = data.join("injection");
    if !folder.is_dir() {
        report.skipped.push("set injection: not in the data folder".into());
        return Ok(Value::Null);
    }
    let split = Split::read(&folder)?;
    let judges = Judges::new();
    let scored: Vec<Scored> =
        sets::sets(data, &split)?.into_iter().map(|set| score(&judges, set)).collect();
    for each in &scored {
        report.missed.extend(missed(each));
    }
    report.sections.push(rates(&scored, split.dropped));
    report.sections.push(ablation(&scored));
    report.sections.push(curve(&scored));
    let values: serde_json::Map<String, Value> = scored
        .iter()
        .map(|each| {
            let rates = (0..JUDGES.len()).map(|judge| each.rate(judge, FLAGGED).json());
            (each.set.name.to_owned(), json!(rates.collect::<Vec<_>>()))
        })
        .collect();
    let reference = reference::beside(&judges, &scored, report);
    let robustness = robustness::measure(&judges, &scored, report);
    let speed = speed::measure(&scored, report);
    Ok(json!({
        "seed": SEED,
        "judges": JUDGES,
        "threshold": FLAGGED,
        "sets": values,
        "reference": reference,
        "robustness": robustness,
        "speed": speed,
    }))
}

fn score(judges: &Judges, set: Set) -> Scored {
    let scores = set.texts.iter().map(|text| judges.scores(set.judged_as, &text.text())).collect();
    Scored { set, scores }
}

fn missed(scored: &Scored) -> Option<String> {
    let rate = scored.both(FLAGGED);
    let (name, percent) = (scored.set.name, rate.percent());
    match scored.set.target {
        Target::AtMost(most) if percent > most => {
            Some(format!("{name}: {percent:.1} % flagged > {most} %"))
        }
        Target::AtLeast(least) if percent < least && rate.n > 0 => {
            Some(format!("{name}: {percent:.1} % found < {least} %"))
        }
        _ => None,
    }
}

fn section(heading: &str, text: String, columns: &[&str], rows: Vec<Vec<String>>) -> Section {
    let columns = columns.iter().map(|column| (*column).to_owned()).collect();
    Section { heading: heading.into(), text, columns, rows }
}

fn rates(scored: &[Scored], dropped: usize) -> Section {
    let line = |each: &Scored| {
        let rate = each.both(FLAGGED);
        let asked = match each.set.target {
            Target::AtMost(most) => format!("at most {most} %"),
            Target::AtLeast(least) => format!("at least {least} %"),
            Target::None => String::new(),
        };
        let kind = if each.set.attack { "attacks" } else { "benign" };
        let judged_as = format!("{:?}", each.set.judged_as).to_lowercase();
        let name = each.set.name.to_owned();
        vec![name, kind.into(), judged_as, rate.cell(), rate.interval_cell(), asked]
    };
    let text = format!(
        "The test part, split by attack and by carrier with seed {SEED}; {dropped} composed e-mails whose \
         attack and carrier belong to different parts are left out. Flagged is what scores at least \
         {FLAGGED}: a question is refused, a passage held back. 95 % intervals of Wilson, in percent."
    );
    let columns = ["set", "what", "judged as a", "flagged", "interval", "asked"];
    section("Guard: the test part", text, &columns, scored.iter().map(line).collect())
}

fn ablation(scored: &[Scored]) -> Section {
    let line = |each: &Scored| {
        let cells = (0..JUDGES.len()).map(|judge| each.rate(judge, FLAGGED).cell());
        [each.set.name.to_owned()].into_iter().chain(cells).collect()
    };
    let text =
        "The trained stage alone reads the words of the text, not what it encodes, and knows \
                nothing of the rules."
            .into();
    let columns = ["flagged", "rules alone", "trained alone", "both"];
    section("Guard: ablation", text, &columns, scored.iter().map(line).collect())
}

fn curve(scored: &[Scored]) -> Section {
    let columns = CURVE.map(|threshold| format!("≥ {threshold}"));
    let columns: Vec<&str> =
        ["flagged, %"].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let line = |each: &Scored| {
        let cells = CURVE.iter().map(|at| format!("{:.1}", each.both(*at).percent()));
        [each.set.name.to_owned()].into_iter().chain(cells).collect()
    };
    let text = "By the score of rules and trained stage together.".into();
    section("Guard: the curve", text, &columns, scored.iter().map(line).collect())
}
