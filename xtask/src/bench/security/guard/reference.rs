//! The six rows that the reference library publishes of its classifier, beside ours.

use serde_json::Value;

use super::judges::{FLAGGED, Judges};
use super::prose::PROSE;
use super::rate::Rate;
use super::sets::{As, Judged, inside};
use super::{Scored, section};
use crate::bench::report::Report;

/// What it says of protectai/deberta-v3-base-prompt-injection-v2 at 0.5, in percent.
const THEIRS: [&str; 6] = ["0.2", "43", "44", "34", "43", "20 (n = 10)"];

/// Documents before an attack that comes last.
const BEFORE: usize = 3;

pub(super) fn beside(judges: &Judges, scored: &[Scored], report: &mut Report) -> Value {
    let of = |name: &str| scored.iter().find(|each| each.set.name == name);
    let rate = |name: &str| of(name).map_or_else(Rate::default, |each| each.both(FLAGGED));
    let texts = |name: &str| of(name).map_or(&[][..], |each| each.set.texts.as_slice());
    let (abstracts, attacks) = (texts("SciFact"), texts("deepset, attacks"));
    let within: Vec<Judged> = attacks
        .iter()
        .zip(abstracts)
        .enumerate()
        .map(|(n, (attack, text))| inside(&attack.text(), &text.text(), n % 3))
        .collect();
    let after: Vec<Judged> = attacks
        .iter()
        .zip(abstracts.chunks_exact(BEFORE))
        .map(|(attack, texts)| {
            let before: Vec<String> = texts.iter().map(Judged::text).collect();
            inside(&attack.text(), &before.join("\n"), 2)
        })
        .collect();
    let prose: Vec<Judged> = PROSE.iter().map(|text| Judged::whole(text)).collect();
    let found = |texts: &[Judged]| {
        Rate::of(texts, |text| judges.both(As::Document, &text.text()) >= FLAGGED)
    };
    let rows = [
        ("clean SciFact abstracts, flagged", rate("SciFact")),
        ("NotInject, flagged", rate("NotInject")),
        ("deepset attacks on their own, found", rate("deepset, attacks")),
        ("the same inside an abstract", found(&within)),
        ("the same after three abstracts", found(&after)),
        ("ten injections phrased as ordinary prose", found(&prose)),
    ];
    let text = "Theirs are the numbers that the reference library publishes of the classifier \
                protectai/deberta-v3-base-prompt-injection-v2 at 0.5, on all rows; ours are of the test \
                part. On their own the attacks are judged as questions, the others as documents. Our ten \
                texts are not theirs, which are not published."
        .into();
    let lines = rows.iter().zip(THEIRS).map(|((name, rate), theirs)| {
        vec![(*name).to_owned(), theirs.to_owned(), rate.cell(), rate.interval_cell()]
    });
    let columns = ["set", "theirs, %", "ours", "interval"];
    report.sections.push(section("Guard: beside a classifier", text, &columns, lines.collect()));
    rows.iter()
        .map(|(name, rate)| ((*name).to_owned(), rate.json()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}
