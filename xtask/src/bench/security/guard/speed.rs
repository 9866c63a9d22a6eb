//! How long a question takes.

use std::time::Instant;

use kuhaku_core::InjectionGuard;
use serde_json::{Value, json};

use super::{Scored, section};
use crate::bench::report::Report;

/// Characters of a question, and of the long text whose time is compared.
const QUESTION: usize = 500;
const TIMES_LONGER: usize = 64;

/// What is asked, in microseconds.
const AT_MOST: f64 = 100.0;

/// Rounds; the best of them counts, since others may use the machine too.
const ROUNDS: usize = 9;

/// Questions in a round.
const QUESTIONS: usize = 200;

pub(super) fn measure(scored: &[Scored], report: &mut Report) -> Value {
    let benign = scored.iter().find(|each| each.set.name == "NotInject");
    let texts: Vec<String> = benign
        .iter()
        .flat_map(|each| each.set.texts.iter().map(|text| text.text() + " "))
        .collect();
    if texts.is_empty() {
        report.skipped.push("speed of the guard: no questions".into());
        return Value::Null;
    }
    let letters: Vec<char> = texts.concat().chars().collect();
    let cut = |from: usize, length: usize| -> String {
        letters.iter().cycle().skip(from % letters.len()).take(length).collect()
    };
    let questions: Vec<String> = (0..QUESTIONS).map(|n| cut(n * 97, QUESTION)).collect();
    let long = cut(0, QUESTION * TIMES_LONGER);
    let guard = InjectionGuard::new();
    let best = |work: &dyn Fn()| {
        let once = |_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64() * 1e6
        };
        (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min)
    };
    let question = best(&|| {
        for question in &questions {
            std::hint::black_box(guard.screen(question));
        }
    }) / QUESTIONS as f64;
    let passage = best(&|| {
        for question in &questions {
            std::hint::black_box(guard.screen_document(question));
        }
    }) / QUESTIONS as f64;
    let long = best(&|| {
        std::hint::black_box(guard.screen(&long));
    }) / TIMES_LONGER as f64;
    let rows = [
        (format!("a question of {QUESTION} characters"), question),
        (format!("a passage of {QUESTION} characters"), passage),
        (format!("{QUESTION} characters of a question {TIMES_LONGER} times as long"), long),
    ];
    let text = format!(
        "The best of {ROUNDS} rounds over {QUESTIONS} texts; asked: {AT_MOST} µs a question."
    );
    let lines = rows.iter().map(|(what, time)| vec![what.clone(), format!("{time:.0}")]).collect();
    report.sections.push(section("Guard: speed", text, &["what", "µs"], lines));
    if question > AT_MOST {
        report.missed.push(format!("guard: {question:.0} µs for a question > {AT_MOST} µs"));
    }
    json!({ "question_us": question, "passage_us": passage, "long_us": long })
}
