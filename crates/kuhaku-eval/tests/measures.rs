//! The measures, case by case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use kuhaku_eval::{
    Case, Expected, FieldTally, ListAlignment, Measure, Measurement, ObjectComparison, ObjectRules,
    Outcome, Sample, Scorer, TextRule, Unmeasured, answer_correctness, exact_match, token_f1,
};
use serde_json::{Value, json};

fn strings(ids: &str) -> Vec<String> {
    ids.split_whitespace().map(str::to_owned).collect()
}

/// Grades written as `a:2 b`, where a missing grade is 1.
fn graded(grades: &str) -> Expected {
    let mut expected = Expected::default();
    let grade = |item: &str| match item.split_once(':') {
        Some((id, grade)) => (id.to_owned(), grade.parse().unwrap()),
        None => (item.to_owned(), 1),
    };
    expected.grades = Some(grades.split_whitespace().map(grade).collect());
    expected
}

fn one(measure: &str, expected: &Expected, outcome: &Outcome) -> Measurement {
    let case = Case::new(Sample::new("q", "?"), expected.clone());
    Scorer::new([measure.parse::<Measure>().unwrap()]).score(&case, outcome)[0]
}

fn ranked(measure: &str, retrieved: &str, grades: &str) -> f64 {
    let outcome = Outcome::retrieved(strings(retrieved));
    one(measure, &graded(grades), &outcome).value().unwrap()
}

fn close(ours: f64, expected: f64) -> bool {
    (ours - expected).abs() < 1e-6
}

/// EVA-01, EVA-03, RK-62
#[test]
fn rankings_have_their_known_values() {
    let table = [
        ("recall@3", "a b c", "a z", 0.5),
        ("precision@3", "a x y", "a", 1.0 / 3.0),
        ("mrr", "x a b", "a", 0.5),
        ("hit_rate@1", "x a b", "a", 0.0),
        ("hit_rate@2", "x a b", "a", 1.0),
        // A document that is found twice counts once, at its best rank.
        ("ndcg@2", "a a", "a", 1.0),
        ("precision", "a a x", "a", 0.5),
        ("precision_of_returned@3", "a a x", "a", 0.5),
        ("precision@3", "a a x", "a", 1.0 / 3.0),
        ("recall", "a a", "a:1", 1.0),
        ("ndcg", "a a b", "a:2 b:1", 1.0),
        ("ndcg", "n a", "n:-1 a:1", 1.0 / 3_f64.log2()),
        ("bpref", "n a", "n:-1 a:1", 0.0),
        // A depth beyond the list takes the list.
        ("recall@1000", "a", "a b", 0.5),
        ("ndcg@1000", "a b", "a b", 1.0),
    ];
    for (measure, retrieved, grades, expected) in table {
        let ours = ranked(measure, retrieved, grades);
        assert!(close(ours, expected), "{measure} of {retrieved} for {grades}: {ours}");
    }
}

/// EVA-03
#[test]
fn an_empty_list_scores_zero_and_what_nobody_judged_is_not_measured() {
    let measures = "hit_rate@3,success@3,precision@3,precision_of_returned@3,recall@3,mrr,map,\
                    ndcg@3,ndcg_exp@3,bpref,r_precision";
    let nothing_relevant = graded("");
    for measure in measures.split(',') {
        assert_eq!(ranked(measure, "", "a"), 0.0, "{measure}");
        assert_eq!(ranked(measure, "a", "a:0"), 0.0, "{measure}");
        let found = Outcome::retrieved(strings("a"));
        let of = |expected: &Expected, outcome: &Outcome| one(measure, expected, outcome);
        let unmeasured = Measurement::Unmeasured;
        assert_eq!(of(&Expected::default(), &found), unmeasured(Unmeasured::Unjudged));
        assert_eq!(of(&nothing_relevant, &found), unmeasured(Unmeasured::Inapplicable));
        let silent = Outcome::default();
        assert_eq!(of(&graded("a"), &silent), unmeasured(Unmeasured::Unreported));
        assert_eq!(of(&graded("a"), &Outcome::failed("x.y")).value(), Some(0.0));
    }
}

/// EVA-04
#[test]
fn answer_correctness_is_the_overlap_of_words() {
    let table = [
        ("a b c", "a b d", 0.5),
        ("same words", "Same  words", 1.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("Open Settings then Security", "open settings then reset", 0.6),
    ];
    for (expected, given, overlap) in table {
        assert!(close(answer_correctness(expected, given), overlap), "{expected} / {given}");
    }
}

#[test]
fn answers_are_compared_as_squad_does() {
    let table = [
        ("The Eiffel Tower", "eiffel tower.", true, 1.0),
        ("27", "27 days", false, 2.0 / 3.0),
        ("a b b", "b b b", false, 0.8),
        ("x", "y", false, 0.0),
        ("", "", true, 1.0),
        ("x", "", false, 0.0),
        ("\u{201c}Zürich\u{201d}", "zürich", true, 1.0),
    ];
    for (expected, given, same, f1) in table {
        assert_eq!(exact_match(expected, given), same, "{expected} / {given}");
        assert!(close(token_f1(expected, given), f1), "{expected} / {given}");
    }
}

#[test]
fn the_words_of_a_refusal_are_no_answer() {
    let mut expected = Expected::default();
    expected.answer = Some("27 days".into());
    let mut refused = Outcome::answered("I do not know about 27 days");
    refused.abstained = Some(true);
    assert_eq!(one("token_f1", &expected, &refused).value(), Some(0.0));
    assert_eq!(one("exact_match", &expected, &Outcome::failed("x")).value(), Some(0.0));
    expected.answerable = Some(false);
    let inapplicable = Measurement::Unmeasured(Unmeasured::Inapplicable);
    assert_eq!(one("token_f1", &expected, &refused), inapplicable);
}

#[test]
fn citations_count_once_and_their_absence_has_no_precision() {
    let table = [("a a x", "a b", Some(0.5), Some(0.5)), ("", "a", None, Some(0.0))];
    for (cited, grades, precision, recall) in table {
        let mut outcome = Outcome::answered("yes");
        outcome.cited = Some(strings(cited));
        let expected = graded(grades);
        assert_eq!(one("citation_precision", &expected, &outcome).value(), precision, "{cited}");
        assert_eq!(one("citation_recall", &expected, &outcome).value(), recall, "{cited}");
    }
}

#[test]
fn abstaining_is_right_where_nothing_can_be_answered() {
    let abstained = |state| {
        let mut outcome = Outcome::answered("text");
        outcome.abstained = Some(state);
        outcome
    };
    // (answerable, abstained, precision, recall)
    let table = [
        (true, true, Some(0.0), None),
        (true, false, None, None),
        (false, true, Some(1.0), Some(1.0)),
        (false, false, None, Some(0.0)),
    ];
    for (answerable, state, precision, recall) in table {
        let mut expected = Expected::default();
        expected.answerable = Some(answerable);
        let outcome = abstained(state);
        assert_eq!(one("abstention_precision", &expected, &outcome).value(), precision);
        assert_eq!(one("abstention_recall", &expected, &outcome).value(), recall);
    }
}

fn of_object(label: Value, answer: Option<Value>) -> (Option<f64>, Option<f64>) {
    let mut expected = Expected::default();
    expected.object = Some(label);
    let mut outcome = Outcome::answered("the reply as it came");
    outcome.object = answer;
    let score = |measure| one(measure, &expected, &outcome).value();
    (score("field_accuracy"), score("exact_object"))
}

/// EVA-06
#[test]
fn objects_are_compared_leaf_by_leaf() {
    let table = [
        (json!({"a": 1.0, "b": "x"}), Some(json!({"a": 1, "b": "X "})), (1.0, 1.0)),
        (json!({"a": 2, "b": "x"}), Some(json!({"a": 1, "b": "X "})), (0.5, 0.0)),
        (json!({"a": [1, 2]}), Some(json!({"a": [1, 2, 3]})), (1.0, 0.0)),
        (json!({"a": null, "b": 1}), Some(json!({"b": 1})), (1.0, 1.0)),
        (json!({"a": null}), Some(json!({"a": "made up"})), (0.0, 0.0)),
        (json!({"a": true}), Some(json!({"a": 1})), (0.0, 0.0)),
        (json!({"a": 1}), None, (0.0, 0.0)),
        (json!({"a": null}), None, (0.0, 0.0)),
        (json!({"a": 1}), Some(json!([1])), (0.0, 0.0)),
        (json!({"a": []}), Some(json!({})), (0.0, 0.0)),
        (json!({"a": []}), Some(json!({"a": []})), (1.0, 1.0)),
        (json!({"a": 1}), Some(json!({"a": 1, "b": 2})), (1.0, 1.0)),
        (json!({"a": {"b": 1, "c": null}}), Some(json!({})), (0.5, 0.0)),
        (json!({"a": [1, 2]}), Some(json!({"a": [2, 1]})), (0.0, 0.0)),
        (json!({"a": [1, 2]}), Some(json!({"a": [1]})), (0.5, 0.0)),
    ];
    for (label, answer, (accuracy, exact)) in table {
        let ours = of_object(label.clone(), answer.clone());
        assert_eq!(ours, (Some(accuracy), Some(exact)), "{label} / {answer:?}");
    }
    assert_eq!(of_object(json!(["no object"]), Some(json!({}))), (None, None));
}

#[test]
fn texts_are_compared_exactly_where_that_is_asked() {
    let rules = ObjectRules::new(TextRule::Exact, ListAlignment::ByPosition);
    let answer = json!({"a": "X "});
    let compared = ObjectComparison::new(&json!({"a": "x"}), Some(&answer), rules).unwrap();
    assert_eq!(compared.accuracy().value(), Some(0.0));
}

#[test]
fn items_are_aligned_by_likeness_where_that_is_asked() {
    let label = json!({"items": [{"name": "tea", "n": 3}, {"name": "milk", "n": 1}]});
    let answer =
        json!({"items": [{"name": "milk", "n": 1}, {"name": "tea", "n": 2}, {"name": "x"}]});
    let compare = |lists| {
        let rules = ObjectRules::new(TextRule::Folded, lists);
        ObjectComparison::new(&label, Some(&answer), rules).unwrap()
    };
    assert_eq!(compare(ListAlignment::ByPosition).accuracy().value(), Some(0.0));
    let aligned = compare(ListAlignment::ByLikeness);
    assert_eq!(aligned.accuracy().value(), Some(0.75));
    assert_eq!(aligned.total().hallucinated, 1);
    assert!(!aligned.is_exact());
}

#[test]
fn fields_have_precision_recall_and_made_up_values() {
    let label = json!({"name": "Ada", "born": 1815, "died": null, "tags": ["x"]});
    let answer = json!({"name": "Ada", "died": 1852, "tags": ["x", "y"], "extra": {"k": 1}});
    let compared = ObjectComparison::new(&label, Some(&answer), ObjectRules::default()).unwrap();
    let tally = |expected, given, correct, hallucinated| {
        let mut tally = FieldTally::default();
        (tally.expected, tally.given) = (expected, given);
        (tally.correct, tally.hallucinated) = (correct, hallucinated);
        tally
    };
    let fields: Vec<(&str, FieldTally)> =
        compared.fields().iter().map(|(name, tally)| (name.as_str(), *tally)).collect();
    let expected = [
        ("born", tally(1, 0, 0, 0)),
        ("died", tally(0, 1, 0, 1)),
        ("extra.k", tally(0, 1, 0, 1)),
        ("name", tally(1, 1, 1, 0)),
        ("tags[]", tally(1, 2, 1, 1)),
    ];
    assert_eq!(fields, expected);
    let total = compared.total();
    assert_eq!(total.precision().value(), Some(2.0 / 5.0));
    assert_eq!(total.recall().value(), Some(2.0 / 3.0));
    assert_eq!(total.f1().value(), Some(4.0 / 8.0));
    assert_eq!(total.hallucinated_share().value(), Some(3.0 / 5.0));
}

#[test]
fn every_name_reads_back_as_it_is_written() {
    for name in Measure::names() {
        for name in [name.replace("[@k]", ""), name.replace("[@k]", "@7")] {
            let measure: Measure = name.parse().unwrap();
            assert_eq!(measure.to_string().parse::<Measure>().unwrap(), measure);
            assert!(!measure.title().is_empty());
        }
    }
    let listed = Measure::list("nDCG@10, p@5,ndcg@10,exact-match").unwrap();
    let names: Vec<String> = listed.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["ndcg@10", "precision@5", "exact_match"]);
    let error = "recal@10".parse::<Measure>().unwrap_err();
    assert!(error.next_step().unwrap().contains("recall[@k]"), "{error}");
}
