//! Summaries, comparisons and gates.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use kuhaku_eval::{
    Case, Comparison, ComparisonSettings, Dataset, ErrorKind, Evaluation, Expected, Measure,
    Outcome, Run, Sample, Scorer, SeededRandom, Summary, Threshold, Usage, table, target_fn,
};

fn run(set: &Dataset, measures: &[Measure], target: impl kuhaku_eval::Target) -> Run {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let scorer = Scorer::new(measures.iter().copied());
    runtime.block_on(Evaluation::new(set, scorer).run(&target)).unwrap()
}

fn case(id: &str, grades: &[(&str, i64)]) -> Case {
    let mut expected = Expected::default();
    expected.grades = Some(grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect());
    Case::new(Sample::new(id, "?"), expected)
}

fn mean(summary: &Summary, name: &str) -> f64 {
    summary.measure(name.parse().unwrap()).unwrap().mean.unwrap()
}

/// RK-63
#[test]
fn means_and_the_table_are_the_published_ones() {
    let cases = [case("1", &[("d2", 2), ("d1", 1)]), case("2", &[("d9", 1)])];
    let set = Dataset::new("two", cases).unwrap();
    let depths = [1, 3].map(|k| NonZeroUsize::new(k).unwrap());
    let measures = Measure::of_retrieval(&depths);
    let target = target_fn("n", |sample| {
        let ids: &[&str] = if sample.id == "1" { &["d1", "d2"] } else { &["x", "x", "d9"] };
        Outcome::retrieved(ids.iter().map(|id| (*id).to_owned()))
    });
    let mut found = run(&set, &measures, target);
    // Times that give p50 3.6 and p95 4.25.
    let spread = (4.25 - 3.6) / 0.9;
    found.rows[0].latency_ms = 3.6 - spread;
    found.rows[1].latency_ms = 3.6 + spread;
    let summary = Summary::new(&found);
    for (name, expected) in
        [("mrr@10", 0.75), ("recall@1", 0.25), ("recall@3", 1.0), ("ndcg@3", 0.745_324)]
    {
        assert!((mean(&summary, name) - expected).abs() < 1e-6, "{name}");
    }
    assert!((mean(&summary, "ndcg@1") - 0.25).abs() < 1e-12);
    let mut exact = summary;
    let latency = exact.latency.as_mut().unwrap();
    assert!((latency.p50_ms - 3.6).abs() < 1e-9 && (latency.p95_ms - 4.25).abs() < 1e-9);
    (latency.p50_ms, latency.p95_ms) = (3.6, 4.25);
    let expected = "\
|  | MRR@10 | Recall@1 | Recall@3 | nDCG@1 | nDCG@3 | p50 ms | p95 ms |
|---|---|---|---|---|---|---|---|
| n | 0.750 | 0.250 | 1.000 | 0.250 | 0.745 | 3.6 | 4.2 |
";
    assert_eq!(table(&[exact]), expected);
}

/// RK-63
#[test]
fn a_document_found_twice_takes_one_place() {
    let set = Dataset::new("one", [case("1", &[("a", 1)])]).unwrap();
    let target = target_fn("t", |_| Outcome::retrieved(["x", "x", "a"].map(str::to_owned)));
    let found = run(&set, &Measure::list("recall@2").unwrap(), target);
    assert_eq!(mean(&Summary::new(&found), "recall@2"), 1.0);
}

/// RK-64
#[test]
fn an_empty_set_gives_an_empty_result() {
    let set = Dataset::new("none", []).unwrap();
    let target = target_fn("t", |_| Outcome::failed("never"));
    let summary = Summary::new(&run(&set, &Measure::list("mrr").unwrap(), target));
    assert_eq!((summary.samples, summary.measures[0].mean), (0, None));
    assert_eq!(
        table(&[summary]),
        "|  | MRR | p50 ms | p95 ms |\n|---|---|---|---|\n| t | – | – | – |\n"
    );
    assert_eq!(table(&[]), "");
}

/// Sixty cases of two categories; `skill` is how often the relevant document comes first.
fn skilled(name: &'static str, skill: f64, measures: &str) -> Run {
    let cases = (0..60).map(|at| {
        let mut case = case(&format!("q{at:02}"), &[("a", 1)]);
        case.category = Some(if at % 2 == 0 { "even" } else { "odd | pipe" }.to_owned());
        case
    });
    let set = Dataset::new("sixty", cases).unwrap();
    let target = target_fn(name, move |sample| {
        let luck = SeededRandom::for_purpose(3, &sample.id).unit();
        let ids = if luck < skill { ["a", "b"] } else { ["b", "a"] };
        let mut outcome = Outcome::retrieved(ids.map(str::to_owned));
        outcome.usage = Usage::new(Some(10), Some(1));
        outcome
    });
    run(&set, &Measure::list(measures).unwrap(), target)
}

/// EVA-12
#[test]
fn a_summary_has_categories_intervals_latency_and_tokens() {
    let summary = Summary::new(&skilled("half", 0.5, "mrr,success@1"));
    let names: Vec<&str> = summary.categories.keys().map(String::as_str).collect();
    assert_eq!(names, ["even", "odd | pipe"]);
    let by_category: f64 =
        summary.categories.values().map(|measures| measures[1].mean.unwrap() / 2.0).sum();
    assert!((by_category - mean(&summary, "success@1")).abs() < 1e-12);
    let interval = summary.measures[1].interval.unwrap();
    assert!(interval.low < interval.high && interval.low > 0.2 && interval.high < 0.8);
    assert!(summary.latency.unwrap().p95_ms >= summary.latency.unwrap().p50_ms);
    assert_eq!((summary.tokens.input, summary.tokens.output), (Some(600), Some(60)));
    let text = summary.to_markdown();
    for part in [
        "# half on sixty",
        "60 samples, 0 failed",
        "| MRR |",
        "## Category odd \\| pipe",
        "Tokens: 600 in, 60 out",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&json).unwrap(), summary);
}

/// EVA-12
#[test]
fn a_comparison_tells_who_wins_where_and_whether_it_is_noise() {
    let (weak, strong) =
        (skilled("weak", 0.4, "mrr,success@1"), skilled("strong", 0.8, "success@1,mrr"));
    let settings = ComparisonSettings::default();
    let compared = Comparison::new(&weak, &strong, settings).unwrap();
    let success = &compared.measures[1];
    assert_eq!(success.measure.to_string(), "success@1");
    assert_eq!(success.wins + success.ties + success.losses, 60);
    assert!(success.wins > 10 && success.losses == 0);
    let difference = success.difference.unwrap();
    assert!((difference - success.wins as f64 / 60.0).abs() < 1e-12);
    assert!((success.candidate.unwrap() - success.baseline.unwrap() - difference).abs() < 1e-12);
    assert!(success.interval.unwrap().low > 0.0);
    assert!(success.p.unwrap() < 0.001 && success.p_t.unwrap() < 0.001);
    assert!(success.p_adjusted.unwrap() >= success.p.unwrap());
    assert!(success.effect.unwrap() > 0.5);
    assert_eq!(success.most_moved.len(), 10);
    assert!(success.most_moved.is_sorted_by(|a, b| a.id < b.id));
    let text = compared.to_markdown();
    assert!(text.contains("# strong against weak on sixty") && text.contains("Moved most by MRR"));

    assert_eq!(compared.not_shared, []);
    let fewer = skilled("fewer", 0.4, "mrr");
    let compared_fewer = Comparison::new(&weak, &fewer, settings).unwrap();
    assert_eq!(compared_fewer.measures.len(), 1);
    assert!(compared_fewer.to_markdown().contains("Not in both runs: Success@1."));

    let same = Comparison::new(&weak, &weak, settings).unwrap();
    assert_eq!(same.measures[0].p, Some(1.0));
    assert_eq!((same.measures[0].wins, same.measures[0].most_moved.len()), (0, 0));
    assert_eq!(compared, Comparison::new(&weak, &strong, settings).unwrap());
}

#[test]
fn runs_of_other_data_or_measures_are_not_compared() {
    let a = skilled("a", 0.5, "mrr");
    let set = Dataset::new("other", [case("q00", &[("a", 1)])]).unwrap();
    let target = target_fn("t", |_| Outcome::retrieved(["a".to_owned()]));
    let other = run(&set, &Measure::list("mrr").unwrap(), target);
    for (b, wrong) in
        [(other, "different data"), (skilled("b", 0.5, "map"), "no measure in common")]
    {
        let error = Comparison::new(&a, &b, ComparisonSettings::default()).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Mismatch);
        assert!(error.wrong().contains(wrong), "{error}");
    }
}

#[test]
fn samples_that_one_run_alone_measured_are_left_out_and_counted() {
    let (a, mut b) = (skilled("a", 0.5, "mrr"), skilled("b", 0.5, "mrr"));
    b.rows.truncate(50);
    let compared = Comparison::new(&a, &b, ComparisonSettings::default()).unwrap();
    assert_eq!((compared.measures[0].pairs, compared.measures[0].left_out), (50, 10));
}

#[test]
fn gates_pass_by_the_mean_and_fail_on_what_was_not_measured() {
    let summary = Summary::new(&skilled("all", 2.0, "success@1,hallucinated_fields"));
    let gates = |texts: &[&str]| -> Vec<Threshold> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    };
    let passed = |verdicts: Vec<kuhaku_eval::Verdict>| -> Vec<bool> {
        verdicts.iter().map(|verdict| verdict.passed).collect()
    };
    let at_least = ["success@1=1", "success@1=0.5", "mrr=0", "hallucinated_fields=0"];
    assert_eq!(passed(summary.at_least(&gates(&at_least))), [true, true, false, false]);
    assert_eq!(passed(summary.at_most(&gates(&["success@1=0.9", "success@1=1.0"]))), [false, true]);
    let reasons: BTreeMap<usize, String> =
        summary.at_least(&gates(&at_least)).into_iter().map(|it| it.reason).enumerate().collect();
    assert_eq!(reasons[&0], "success@1 1.0000, at least 1 asked");
    for bad in ["ndcg@10", "ndcg@10=", "ndcg@10=high", "ndcg@10=NaN", "ndcg@10=1.2", "x=0.5"] {
        let error = bad.parse::<Threshold>().unwrap_err();
        assert!(error.next_step().is_some(), "{bad}");
    }
}

#[test]
fn no_worse_fails_on_a_loss_that_is_no_noise_only() {
    let runs = [("weak", 0.4), ("near", 0.43), ("strong", 0.8)]
        .map(|(name, skill)| skilled(name, skill, "success@1,mrr"));
    let passes = |baseline: &Run, candidate: &Run, alpha| {
        let compared = Comparison::new(baseline, candidate, ComparisonSettings::default());
        compared.unwrap().no_worse(alpha).iter().all(|verdict| verdict.passed)
    };
    let [weak, near, strong] = &runs;
    assert!(passes(weak, strong, 0.05));
    assert!(passes(near, weak, 0.05));
    assert!(!passes(strong, weak, 0.05));
    assert!(passes(strong, weak, 0.0));
    let mut unmeasured = weak.clone();
    unmeasured.rows.clear();
    assert!(!passes(weak, &unmeasured, 0.05));
}
