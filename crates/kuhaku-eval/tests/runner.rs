//! Runs: order, failures, files, resuming.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::future;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use kuhaku_eval::{
    Case, Dataset, ErrorKind, Evaluation, Expected, Measure, Outcome, RecordedTarget, Run, Sample,
    Scorer, SeededRandom, Summary, Target, TrecRun, Usage, async_target_fn, target_fn,
};
use serde_json::{Value, json};

fn strings(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

fn case(id: &str, relevant: &[&str]) -> Case {
    let relevant = relevant.iter().copied();
    Case::new(Sample::new(id, "where?"), Expected::default().relevant(relevant))
}

fn scorer(names: &str) -> Scorer {
    Scorer::new(Measure::list(names).unwrap())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn mean_of(summary: &Summary, name: &str) -> f64 {
    summary.measure(name.parse().unwrap()).unwrap().mean.unwrap()
}

/// EVA-08
#[test]
fn means_of_two_rows_are_those_of_the_rows() {
    let set = Dataset::new("two", [case("1", &["a"]), case("2", &["z"])]).unwrap();
    let mut recorded = TrecRun::default();
    for (query, document, score) in
        [("1", "a", 2.0), ("1", "b", 1.0), ("2", "x", 2.0), ("2", "y", 1.0)]
    {
        recorded.push(query, document, score);
    }
    let target = RecordedTarget::new("recorded", recorded);
    let scorer = scorer("recall@2,mrr,hit_rate@2,ndcg@2,precision@2");
    let run = block_on(Evaluation::new(&set, scorer).run(&target)).unwrap();
    let summary = Summary::new(&run);
    for name in ["recall@2", "mrr", "hit_rate@2", "ndcg@2"] {
        assert_eq!(mean_of(&summary, name), 0.5, "{name}");
    }
    assert_eq!(mean_of(&summary, "precision@2"), 0.25);
}

/// EVA-09
#[test]
fn a_failing_sample_is_scored_as_empty_and_counted_and_the_run_goes_on() {
    let cases = [case("1", &["a"]), case("2", &["a"]), case("3", &["a"])];
    let set = Dataset::new("three", cases).unwrap();
    let target = target_fn("fails-on-2", |sample| match sample.id.as_str() {
        "2" => Outcome::failed("core.timed_out"),
        _ => Outcome::retrieved(strings(&["a"])),
    });
    let run = block_on(Evaluation::new(&set, scorer("mrr,token_f1")).run(&target)).unwrap();
    let scores: Vec<Option<f64>> =
        run.rows.iter().map(|row| row.score("mrr".parse().unwrap())).collect();
    assert_eq!(scores, [Some(1.0), Some(0.0), Some(1.0)]);
    let summary = Summary::new(&run);
    assert_eq!(summary.failed, [("core.timed_out".to_owned(), 1)].into());
    // Nobody gave answers to compare with, so there is no mean of them, not even 0.
    let unmeasured = summary.measure("token_f1".parse().unwrap()).unwrap();
    assert_eq!((unmeasured.mean, unmeasured.measured), (None, 0));
}

/// EVA-10
#[test]
fn means_are_over_the_rows_that_have_the_measure_and_an_empty_run_has_none() {
    let unjudged = Case::new(Sample::new("2", "?"), Expected::default());
    let set = Dataset::new("mixed", [case("1", &["a"]), unjudged]).unwrap();
    let target = target_fn("finds", |_| Outcome::retrieved(strings(&["a"])));
    let run = block_on(Evaluation::new(&set, scorer("mrr")).run(&target)).unwrap();
    let summary = Summary::new(&run);
    assert_eq!(mean_of(&summary, "mrr"), 1.0);
    assert_eq!(summary.measures[0].measured, 1);
    let empty = Dataset::new("empty", []).unwrap();
    let run = block_on(Evaluation::new(&empty, scorer("mrr")).run(&target)).unwrap();
    let summary = Summary::new(&run);
    assert_eq!((summary.measures[0].mean, summary.latency), (None, None));
    assert!(run.is_complete());
}

/// EVA-10
#[test]
fn a_run_file_is_not_reused_unless_resuming_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let set = Dataset::new("one", [case("1", &["a"])]).unwrap();
    let target = target_fn("finds", |_| Outcome::retrieved(strings(&["a"])));
    let evaluation = || Evaluation::new(&set, scorer("mrr"));
    block_on(evaluation().write_to(&path).run(&target)).unwrap();
    let before = fs::read(&path).unwrap();
    let error = block_on(evaluation().write_to(&path).run(&target)).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::RunExists);
    assert_eq!(fs::read(&path).unwrap(), before);
    // A finished run is not run again.
    let never = target_fn("finds", |_| panic!("was run again"));
    let run = block_on(evaluation().resume(&path).run(&never)).unwrap();
    assert_eq!(run, Run::read(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_run_resumes_only_as_it_was_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let set = Dataset::new("one", [case("1", &["a"])]).unwrap();
    let other = Dataset::new("one", [case("1", &["b"])]).unwrap();
    let target = target_fn("a", |_| Outcome::retrieved(strings(&[])));
    let renamed = target_fn("b", |_| Outcome::retrieved(strings(&[])));
    block_on(Evaluation::new(&set, scorer("mrr")).write_to(&path).run(&target)).unwrap();
    let resume = |evaluation: Evaluation<'_>, target: &dyn Target| {
        let error = block_on(evaluation.resume(&path).run(target)).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Mismatch);
        error.wrong().to_owned()
    };
    let evaluation = || Evaluation::new(&set, scorer("mrr"));
    let found = [
        resume(evaluation(), &renamed),
        resume(Evaluation::new(&other, scorer("mrr")), &target),
        resume(Evaluation::new(&set, scorer("map")), &target),
        resume(Evaluation::new(&set, scorer("mrr").relevant_from(2)), &target),
        resume(evaluation().seed(3), &target),
        resume(evaluation().setting("k", "10"), &target),
    ];
    let parts = ["target", "dataset", "measures", "relevant_from", "seed", "settings"];
    for (wrong, part) in found.iter().zip(parts) {
        assert_eq!(wrong, &format!("it was run with another {part}"));
    }
}

#[test]
fn files_that_are_no_runs_are_refused_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let set = Dataset::new("two", [case("1", &["a"]), case("2", &["a"])]).unwrap();
    let target = target_fn("a", |_| Outcome::retrieved(strings(&[])));
    block_on(Evaluation::new(&set, scorer("mrr")).write_to(&path).run(&target)).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    let bad = [
        ("secret\n".to_owned(), "line 1 is"),
        (format!("{}\nsecret\n", lines[0]), "line 2 is"),
        (good.replace("\"mrr\":0.0", "\"mrr\":null"), "line 2 is"),
        (format!("{good}{}\n", lines[1]), "line 5 is"),
        (good.replace("\"kuhaku_run\":1", "\"kuhaku_run\":9"), "newer version"),
        (String::new(), "no header"),
    ];
    for (text, wrong) in bad {
        fs::write(&path, text).unwrap();
        let error = Run::read(&path).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::InvalidRun);
        assert!(error.wrong().contains(wrong) && !error.to_string().contains("secret"), "{error}");
    }
    let swapped = [lines[0], lines[2], lines[1], ""].join("\n");
    fs::write(&path, swapped).unwrap();
    let error = block_on(Evaluation::new(&set, scorer("mrr")).resume(&path).run(&target));
    assert_eq!(error.unwrap_err().kind(), &ErrorKind::InvalidRun);
}

#[test]
fn samples_are_bounded_in_flight_and_keep_their_order() {
    let cases = (0..40).map(|at| case(&format!("{at:02}"), &["a"]));
    let set = Dataset::new("forty", cases).unwrap();
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (now, most) = (&now, &most);
    let target = async_target_fn("uneven", move |sample: Sample| async move {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let steps = sample.id.parse::<usize>().unwrap() * 7 % 5;
        for _ in 0..steps {
            tokio::task::yield_now().await;
        }
        now.fetch_sub(1, Ordering::SeqCst);
        Outcome::retrieved(strings(&["a"]))
    });
    let seen = Mutex::new(Vec::new());
    let evaluation = Evaluation::new(&set, scorer("mrr"))
        .concurrency(NonZeroUsize::new(4).unwrap())
        .on_progress(|progress| seen.lock().unwrap().push((progress.done, progress.total)));
    let run = block_on(must_be_send(evaluation.run(&target))).unwrap();
    assert_eq!(most.load(Ordering::SeqCst), 4);
    assert!(run.rows.is_sorted_by(|a, b| a.id < b.id) && run.is_complete());
    let expected: Vec<(usize, usize)> = (1..=40).map(|done| (done, 40)).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

/// Servers spawn evaluations on threaded runtimes.
fn must_be_send<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn answers_are_kept_only_where_that_is_asked() {
    let set = Dataset::new("one", [case("1", &["a"])]).unwrap();
    let target = target_fn("says", |_| {
        Outcome::answered("the words of the answer").using(Usage::new(Some(10), Some(3)))
    });
    let evaluation = || Evaluation::new(&set, scorer("mrr"));
    let run = block_on(evaluation().run(&target)).unwrap();
    assert_eq!(run.rows[0].text, None);
    assert_eq!((run.rows[0].input_tokens, run.rows[0].output_tokens), (Some(10), Some(3)));
    let run = block_on(evaluation().keep_answers().run(&target)).unwrap();
    assert_eq!(run.rows[0].text.as_deref(), Some("the words of the answer"));
}

/// A run of many samples, of all kinds of outcome, each a function of its id.
fn long_set(count: usize) -> Dataset {
    let cases = (0..count)
        .map(|at| case(&format!("q{at}"), &["d1", "d2"]).category(format!("c{}", at % 3)));
    Dataset::new("long", cases).unwrap()
}

fn answer(sample: &Sample) -> Outcome {
    let mut random = SeededRandom::for_purpose(1, &sample.id);
    if random.below(20) == 0 {
        return Outcome::failed("core.unavailable");
    }
    let mut outcome = Outcome::retrieved((0..5).map(|_| format!("d{}", random.below(9))));
    outcome.usage = Usage::new(Some(random.next_u64() >> 40), None);
    outcome
}

fn evaluation(set: &Dataset) -> Evaluation<'_> {
    let measures = "ndcg@3,mrr,map,recall@5,token_f1";
    Evaluation::new(set, scorer(measures)).seed(4).concurrency(NonZeroUsize::new(8).unwrap())
}

/// The lines of a run's file without what depends on time.
fn without_times(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("latency_ms");
        if let Some(summary) = line.get_mut("summary") {
            summary["latency"] = json!(null);
        }
        line
    });
    lines.collect()
}

#[test]
fn the_file_of_a_run_has_its_documented_form() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let unjudged = Case::new(Sample::new("2", "?"), Expected::default());
    let set = Dataset::new("two", [case("1", &["a"]).category("c"), unjudged]).unwrap();
    let target = target_fn("t", |sample| match sample.id.as_str() {
        "1" => Outcome::answered("a text").from_sources(["a"]).using(Usage::new(Some(7), None)),
        _ => Outcome::failed("core.timed_out"),
    });
    let evaluation = Evaluation::new(&set, scorer("mrr")).seed(5).setting("k1", "1.2");
    block_on(evaluation.write_to(&path).run(&target)).unwrap();
    let measure = |mean: Value, measured: u32, unmeasured: Value| {
        json!({
            "measure": "mrr", "mean": mean, "interval": null, "measured": measured,
            "unmeasured": unmeasured,
        })
    };
    let expected = [
        json!({
            "kuhaku_run": 1, "target": "t", "dataset": "two", "dataset_hash": set.content_hash(),
            "cases": 2, "measures": ["mrr"], "relevant_from": 1, "objects": "Folded, ByPosition",
            "seed": 5, "settings": {"k1": "1.2"},
        }),
        json!({
            "id": "1", "category": "c", "input_tokens": 7, "abstained": false, "retrieved": ["a"],
            "scores": {"mrr": 1.0},
        }),
        json!({"id": "2", "failed": "core.timed_out", "scores": {"mrr": "unjudged"}}),
        json!({"summary": {
            "target": "t", "dataset": "two", "dataset_hash": set.content_hash(), "samples": 2,
            "failed": {"core.timed_out": 1},
            "measures": [measure(json!(1.0), 1, json!({"unjudged": 1}))],
            "categories": {"c": [measure(json!(1.0), 1, json!({}))]},
            "fields": {}, "latency": null,
            "tokens": {"input": 7, "output": null, "reported": 1},
        }}),
    ];
    assert_eq!(without_times(&path), expected);
}

#[test]
fn a_run_cut_at_any_byte_resumes_to_the_same_run() {
    let folder = tempfile::tempdir().unwrap();
    let set = long_set(4);
    let target = target_fn("long", answer);
    let whole = folder.path().join("whole.jsonl");
    block_on(evaluation(&set).write_to(&whole).run(&target)).unwrap();
    let bytes = fs::read(&whole).unwrap();
    let expected = without_times(&whole);
    assert_eq!(expected.len(), 6);
    let path = folder.path().join("cut.jsonl");
    for cut in (0..=bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        fs::write(&path, &bytes[..cut]).unwrap();
        let run = block_on(evaluation(&set).resume(&path).run(&target)).unwrap();
        assert!(run.is_complete());
        assert_eq!(without_times(&path), expected, "cut at byte {cut}");
    }
}

const CHILD: &str = "KUHAKU_EVAL_TEST_CHILD";

#[test]
fn a_killed_run_of_ten_thousand_samples_resumes_to_the_same_run() {
    let set = long_set(10_000);
    if let Some(path) = env::var_os(CHILD) {
        // The process that is killed. It never comes to its end by itself.
        let target = async_target_fn("long", async |sample: Sample| match sample.id.as_str() {
            "q9000" => future::pending().await,
            _ => answer(&sample),
        });
        block_on(evaluation(&set).write_to(path).run(&target)).unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("killed.jsonl");
    let name = "a_killed_run_of_ten_thousand_samples_resumes_to_the_same_run";
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", name])
        .env(CHILD, &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    while fs::metadata(&path).map_or(0, |file| file.len()) < 200_000 {
        assert!(started.elapsed() < Duration::from_secs(120), "the child writes nothing");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let rows = Run::read(&path).unwrap().rows.len();
    assert!((500..=9_000).contains(&rows), "{rows}");

    let runs = AtomicUsize::new(0);
    let target = target_fn("long", |sample| {
        runs.fetch_add(1, Ordering::SeqCst);
        answer(sample)
    });
    block_on(evaluation(&set).resume(&path).run(&target)).unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 10_000 - rows);
    let whole = folder.path().join("whole.jsonl");
    block_on(evaluation(&set).write_to(&whole).run(&target)).unwrap();
    assert_eq!(without_times(&path), without_times(&whole));
}

#[test]
fn one_process_at_a_time_writes_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let set = Dataset::new("one", [case("1", &["a"])]).unwrap();
    let (set, path) = (&set, path.as_path());
    let target = async_target_fn("a", move |_| async move {
        let second = target_fn("a", |_| Outcome::retrieved(strings(&[])));
        let result = Evaluation::new(set, scorer("mrr")).resume(path).run(&second).await;
        Outcome::failed(result.unwrap_err().code())
    });
    let run = block_on(Evaluation::new(set, scorer("mrr")).write_to(path).run(&target)).unwrap();
    assert_eq!(run.rows[0].failed.as_deref(), Some("eval.run_locked"));
}
