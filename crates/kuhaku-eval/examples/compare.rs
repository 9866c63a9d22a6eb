//! Two ways to search a small corpus, compared: `cargo run -p kuhaku-eval --example compare`.
#![allow(clippy::print_stdout, reason = "an example shows what it found")]

use std::collections::BTreeSet;

use kuhaku_eval::{
    Case, Comparison, ComparisonSettings, Dataset, Evaluation, Expected, Measure, Outcome, Result,
    Sample, Scorer, Summary, Threshold, table, target_fn,
};

const PAGES: [(&str, &str); 5] = [
    ("leave", "Ask for leave two weeks ahead; your manager approves days off."),
    ("travel", "The company pays for travel and hotels when a trip was approved."),
    ("parking", "Park behind the building; the gate opens with your badge."),
    ("badge", "A lost badge is replaced at the front desk."),
    ("security", "Lock your screen; never share a password with anyone."),
];

const QUESTIONS: [(&str, &str); 5] = [
    ("How do I ask for days off?", "leave"),
    ("Who pays for hotels?", "travel"),
    ("Where do I park?", "parking"),
    ("My badge is lost", "badge"),
    ("May I share my password?", "security"),
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let cases = QUESTIONS.iter().enumerate().map(|(at, (question, page))| {
        let sample = Sample::new(format!("q{}", at + 1), *question);
        Case::new(sample, Expected::default().relevant([*page]))
    });
    let set = Dataset::new("office", cases)?;

    let by_title =
        target_fn("titles", |sample| ranked(&sample.query, |(title, _)| title.to_string()));
    let by_text = target_fn("texts", |sample| {
        ranked(&sample.query, |(title, text)| format!("{title} {text}"))
    });

    let measures = Measure::list("mrr,recall@1,ndcg@3")?;
    let evaluation = Evaluation::new(&set, Scorer::new(measures)).seed(7);
    let (baseline, candidate) = (evaluation.run(&by_title).await?, evaluation.run(&by_text).await?);
    let summaries = [Summary::new(&baseline), Summary::new(&candidate)];
    println!("{}", table(&summaries));

    let compared = Comparison::new(&baseline, &candidate, ComparisonSettings::default())?;
    println!("{}", compared.to_markdown());

    let gates: [Threshold; 1] = ["recall@1=0.6".parse()?];
    let [_, candidate] = &summaries;
    for verdict in candidate.at_least(&gates).into_iter().chain(compared.no_worse(0.05)) {
        println!("{}: {}", if verdict.passed { "passed" } else { "failed" }, verdict.reason);
    }
    Ok(())
}

/// The pages that share words with the question, most first.
fn ranked(question: &str, text_of: impl Fn(&(&str, &str)) -> String) -> Outcome {
    let asked = words(question);
    let mut hits: Vec<(usize, &str)> = PAGES
        .iter()
        .map(|page| (words(&text_of(page)).intersection(&asked).count(), page.0))
        .filter(|(shared, _)| *shared > 0)
        .collect();
    hits.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    Outcome::retrieved(hits.into_iter().map(|(_, title)| title))
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !char.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.len() > 2).collect()
}
