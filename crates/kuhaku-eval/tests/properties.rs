//! No measure leaves `[0, 1]`, whatever it is given.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::BTreeMap;

use kuhaku_eval::{
    BeirFolder, Bootstrap, Case, Cut, Dataset, Expected, GradedRanking, ListAlignment, Measure,
    ObjectRules, Outcome, PairedT, Run, Sample, Scorer, TextRule, TrecRun, benjamini_hochberg,
    holm, percentile, randomisation_test, read_qrels,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn id() -> impl Strategy<Value = String> {
    "[a-f]{1,2}"
}

fn ids() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(id(), 0..20)
}

fn grades() -> impl Strategy<Value = BTreeMap<String, i64>> {
    let grade = prop_oneof![-3_i64..5, any::<i64>(), Just(i64::MAX), Just(i64::MIN)];
    prop::collection::btree_map(id(), grade, 0..12)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..3_i64).prop_map(Value::from),
        (0..3_i64).prop_map(|number| json!(number as f64)),
        "[ab ]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..4).prop_map(|items| json!(items)),
        ]
    })
}

fn expected() -> impl Strategy<Value = Expected> {
    let text = prop::option::of("[ab .]{0,6}");
    (prop::option::of(grades()), text, prop::option::of(value()), any::<Option<bool>>()).prop_map(
        |(grades, answer, object, answerable)| {
            let mut expected = Expected::default();
            expected.grades = grades;
            expected.answer = answer;
            expected.object = object;
            expected.answerable = answerable;
            expected
        },
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let text = prop::option::of("[ab .]{0,6}");
    let ids = || prop::option::of(ids());
    let state = (any::<Option<bool>>(), prop::option::of("[a-z]{3}"));
    (ids(), ids(), text, prop::option::of(value()), state).prop_map(
        |(retrieved, cited, text, object, (abstained, failed))| {
            let mut outcome = Outcome::default();
            outcome.retrieved = retrieved;
            outcome.cited = cited;
            outcome.text = text;
            outcome.object = object;
            outcome.abstained = abstained;
            outcome.failed = failed;
            outcome
        },
    )
}

fn every_measure(k: usize) -> Vec<Measure> {
    let names = Measure::names();
    names
        .flat_map(|name| match name.strip_suffix("[@k]") {
            Some(name) => vec![name.to_owned(), format!("{name}@{k}")],
            None => vec![name],
        })
        .map(|name| name.parse().unwrap())
        .collect()
}

proptest! {
    #[test]
    fn no_measure_leaves_its_range(
        expected in expected(),
        outcome in outcome(),
        k in prop_oneof![1_usize..40, Just(usize::MAX)],
        level in 0_u64..4,
        by_likeness: bool,
    ) {
        let lists = if by_likeness { ListAlignment::ByLikeness } else { ListAlignment::ByPosition };
        let scorer = Scorer::new(every_measure(k))
            .relevant_from(level)
            .object_rules(ObjectRules::new(TextRule::Folded, lists));
        let case = Case::new(Sample::new("q", "?"), expected);
        let scores = scorer.score(&case, &outcome);
        prop_assert_eq!(scores.len(), scorer.measures().len());
        for (measure, score) in scorer.measures().iter().zip(scores) {
            if let Some(value) = score.value() {
                prop_assert!((0.0..=1.0).contains(&value), "{}: {}", measure, value);
            }
        }
    }

    #[test]
    fn scores_that_are_no_numbers_keep_every_document_and_come_last(
        hits in prop::collection::vec((id(), prop_oneof![Just(f64::NAN), any::<f64>()]), 0..20),
    ) {
        let mut run = TrecRun::default();
        for (document, score) in &hits {
            run.push("q", document, *score);
        }
        let ranking: Vec<&str> = run.ranking("q").collect();
        prop_assert_eq!(ranking.len(), hits.len());
        let numbers = hits.iter().filter(|(_, score)| !score.is_nan()).count();
        let grades = hits.iter().map(|(id, _)| (id.clone(), id.len() as i64 - 1)).collect();
        let by_id = GradedRanking::with_level(run.ranking("q"), &grades, 1);
        prop_assert_eq!(run.graded("q", &grades, 1), by_id);
        for document in &ranking[..numbers] {
            prop_assert!(hits.iter().any(|(id, score)| id == document && !score.is_nan()));
        }
    }

    #[test]
    fn a_perfect_ranking_scores_one(grades in grades()) {
        let relevant = grades.values().filter(|grade| **grade > 0).count();
        prop_assume!(relevant > 0);
        let mut ids: Vec<String> = grades.keys().cloned().collect();
        ids.sort_by_key(|id| std::cmp::Reverse(grades[id]));
        let mut expected = Expected::default();
        expected.grades = Some(grades);
        let measures = format!("mrr,map,ndcg,ndcg_exp,bpref,r_precision,recall,precision@{relevant}");
        let scorer = Scorer::new(Measure::list(&measures).unwrap());
        let scores = scorer.score(&Case::new(Sample::new("q", "?"), expected), &Outcome::retrieved(ids));
        for (measure, score) in scorer.measures().iter().zip(scores) {
            prop_assert!((score.value().unwrap() - 1.0).abs() < 1e-12, "{measure}: {score:?}");
        }
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), 0.0..1.0, Just(0.0), Just(f64::MAX), Just(f64::NAN)]
}

proptest! {
    #[test]
    fn statistics_stay_in_range_on_any_numbers(
        values in prop::collection::vec(number(), 0..30),
        seed: u64,
    ) {
        if let Some(interval) = Bootstrap::new(seed).resamples(100).interval(&values) {
            prop_assert!(interval.low <= interval.high, "{interval:?}");
        }
        let p = randomisation_test(&values, 99, seed);
        let t = PairedT::new(&values).map(|test| test.p);
        for p in p.into_iter().chain(t).chain(holm(&values)).chain(benjamini_hochberg(&values)) {
            prop_assert!((0.0..=1.0).contains(&p), "{p}");
        }
        percentile(&values, values.first().copied().unwrap_or_default());
    }

    #[test]
    fn readers_take_any_bytes(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..200),
            "([a-z0-9\"{}:,\\[\\] \t\r\n]|\"question\"|\"_id\"|Q0 ){0,60}".prop_map(String::into_bytes),
        ],
        packed: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if packed { "file.gz" } else { "file" });
        std::fs::write(&path, bytes).unwrap();
        // What they give is tested elsewhere; here they must come back.
        let _ = (Dataset::golden(&path), Dataset::csv(&path), TrecRun::read(&path));
        let _ = (read_qrels(&path), Run::read(&path));
        let _ = BeirFolder::open(folder.path());
    }
}

#[test]
fn a_depth_of_zero_cannot_be_written() {
    assert_eq!(Cut::at(0), None);
    for name in ["ndcg@0", "recall@-1", "p@", "mrr@ten", "bpref@5"] {
        let error = name.parse::<Measure>().unwrap_err();
        assert_eq!(error.code(), "eval.unknown_measure", "{name}");
        assert!(error.next_step().is_some(), "{name}");
    }
}
