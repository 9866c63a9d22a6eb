//! Agreement with trec_eval: line by line where its own tests lie at hand, and by hand-computed
//! values always.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use kuhaku_eval::{Cut, Gain, GradedRanking, Qrels, TrecRun, read_qrels};

fn bench_data() -> Option<PathBuf> {
    let path = std::env::var_os("KUHAKU_BENCH_DATA").map(PathBuf::from);
    if path.is_none() {
        eprintln!("skipped: KUHAKU_BENCH_DATA is not set");
    }
    path
}

/// The value that a line of trec_eval prints, for the measures that this crate claims.
fn value(line: &str, ranking: &GradedRanking) -> Option<f64> {
    let (name, cut) = match line.rsplit_once('_').map(|(name, k)| (name, k.parse().map(Cut::at))) {
        Some((name, Ok(cut))) => (name, cut.unwrap()),
        _ => (line, Cut::Whole),
    };
    Some(match (name, cut) {
        ("num_ret", Cut::Whole) => ranking.retrieved() as f64,
        ("num_rel", Cut::Whole) => ranking.relevant() as f64,
        ("num_rel_ret", Cut::Whole) => ranking.relevant_retrieved() as f64,
        ("map", Cut::Whole) | ("map_cut", Cut::At(_)) => ranking.average_precision(cut),
        ("Rprec", Cut::Whole) => ranking.r_precision(),
        ("bpref", Cut::Whole) => ranking.bpref(),
        ("recip_rank", Cut::Whole) => ranking.reciprocal_rank(cut),
        ("P", Cut::At(_)) | ("set_P", Cut::Whole) => ranking.precision(cut),
        ("recall", Cut::At(_)) | ("set_recall", Cut::Whole) => ranking.recall(cut),
        ("ndcg", Cut::Whole) | ("ndcg_cut", Cut::At(_)) => ranking.ndcg(cut, Gain::Linear),
        ("success", Cut::At(_)) => ranking.success(cut),
        _ => return None,
    })
}

fn is_count(name: &str) -> bool {
    matches!(name, "num_q" | "num_ret" | "num_rel" | "num_rel_ret")
}

struct Call {
    output: &'static str,
    qrels: &'static str,
    run: &'static str,
    relevant_from: u64,
    depth: usize,
    /// `-c`: the mean is over all judged queries.
    complete: bool,
}

const NOT_CLAIMED: &str = "11pt_avg G Rndcg Rprec_mult binG gm_bpref gm_map infAP iprec_at_recall \
    ndcg_rel num_nonrel_judged_ret rbp rbp_resid relative_P relstring runid set_F set_map \
    set_relative_P unj utility";

#[test]
fn every_claimed_line_of_trec_evals_own_tests_is_printed_alike() {
    let Some(folder) = bench_data().map(|data| data.join("trec-eval")) else { return };
    let call = |output, qrels, run| Call {
        output,
        qrels,
        run,
        relevant_from: 1,
        depth: usize::MAX,
        complete: false,
    };
    let (qrels, run, trunc) = ("qrels.test.gz", "results.test.gz", "results.trunc");
    let calls = [
        call("out.test", qrels, run),
        call("out.test.a", qrels, run),
        call("out.test.aq", qrels, run),
        Call { complete: true, ..call("out.test.aqc", qrels, trunc) },
        Call { complete: true, depth: 100, ..call("out.test.aqcM", qrels, trunc) },
        Call { relevant_from: 2, ..call("out.test.aql", "qrels.rel_level.gz", run) },
    ];
    let mut others = BTreeSet::new();
    let mut equal = 0;
    for call in calls {
        let lines = fs::read_to_string(folder.join(call.output)).unwrap();
        let printed = printed(&folder, &call, &lines);
        for line in lines.lines() {
            let columns: Vec<&str> = line.split_whitespace().collect();
            match printed.get(&(columns[0].to_owned(), columns[1].to_owned())) {
                Some(ours) => {
                    assert_eq!(ours, columns[2], "{}: {line}", call.output);
                    equal += 1;
                }
                None => {
                    others.insert(columns[0].to_owned());
                }
            }
        }
    }
    let base = |name: &String| {
        NOT_CLAIMED.split_whitespace().any(|known| {
            name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    };
    eprintln!("{equal} lines equal; not claimed: {others:?}");
    assert!(equal > 600, "{equal}");
    assert!(others.iter().all(base), "{others:?}");
}

fn printed(folder: &Path, call: &Call, lines: &str) -> BTreeMap<(String, String), String> {
    let qrels = read_qrels(folder.join(call.qrels)).unwrap();
    let run = TrecRun::read(folder.join(call.run)).unwrap();
    let evaluated: Vec<(&String, GradedRanking)> = qrels
        .iter()
        .filter(|(query, _)| call.complete || run.queries().any(|known| known == *query))
        .map(|(query, judged)| {
            let ids = run.ranking(query).take(call.depth);
            (query, GradedRanking::with_level(ids, judged, call.relevant_from))
        })
        .collect();
    let mut printed = BTreeMap::new();
    for line in lines.lines() {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let name = columns[0];
        if name == "num_q" {
            printed.insert((name.into(), "all".into()), evaluated.len().to_string());
        }
        let mut sum = 0.0;
        for (query, ranking) in &evaluated {
            let Some(value) = value(name, ranking) else { continue };
            sum += value;
            let text = if is_count(name) { value.to_string() } else { format!("{value:.4}") };
            printed.insert((name.into(), (*query).clone()), text);
        }
        if value(name, &evaluated[0].1).is_some() {
            let mean = sum / evaluated.len() as f64;
            let text = if is_count(name) { sum.to_string() } else { format!("{mean:.4}") };
            printed.insert((name.into(), "all".into()), text);
        }
    }
    printed
}

#[test]
fn values_per_query_equal_those_of_pytrec_eval() {
    let Some(data) = bench_data() else { return };
    for set in ["scifact", "cranfield", "xquad-tr"] {
        let qrels = read_qrels(data.join(set).join("qrels/test.tsv")).unwrap();
        let run = TrecRun::read(data.join("baselines").join(set).join("run.bm25.top100.txt.gz"));
        let run = run.unwrap();
        let mut text = String::new();
        let file = File::open(data.join("baselines").join(set).join("per_query.json.gz")).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
        let expected: BTreeMap<String, BTreeMap<String, f64>> =
            serde_json::from_str(&text).unwrap();
        let mut compared = 0;
        for (query, values) in expected {
            let ranking = GradedRanking::new(run.ranking(&query), &qrels[&query]);
            for (name, expected) in values {
                let ours = value(&name, &ranking).unwrap();
                assert!((ours - expected).abs() <= 1e-6, "{set} {query} {name}: {ours} {expected}");
                compared += 1;
            }
        }
        eprintln!("{set}: {compared} values equal to 1e-6");
        assert!(compared > 2_000, "{compared}");
    }
}

/// A run of two queries, written as trec_eval reads it, with values worked out by hand.
#[test]
fn a_small_run_has_the_values_worked_out_by_hand() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
        path
    };
    // b and c tie: the greater id comes first, whatever the rank column says.
    let run = write("run.txt", "1 Q0 a 9 0.5 x\n1 Q0 b 1 0.9 x\n1 Q0 c 2 0.9 x\n1 Q0 d 3 0.1 x\n");
    let qrels = write("qrels.txt", "1 0 a 1\n1 0 b 3\n1 0 c 0\n1 0 z 1\n2 0 a 1\n");
    let run = TrecRun::read(run).unwrap();
    let qrels: Qrels = read_qrels(qrels).unwrap();
    assert_eq!(run.ranking("1").collect::<Vec<_>>(), ["c", "b", "a", "d"]);
    let ranking = GradedRanking::new(run.ranking("1"), &qrels["1"]);
    let log3 = 3_f64.log2();
    let dcg = 3.0 / log3 + 0.5;
    let table = [
        ("num_ret", 4.0),
        ("num_rel", 3.0),
        ("num_rel_ret", 2.0),
        ("recip_rank", 0.5),
        ("P_2", 0.5),
        ("P_10", 0.2),
        ("set_P", 0.5),
        ("recall_2", 1.0 / 3.0),
        ("set_recall", 2.0 / 3.0),
        ("map", (1.0 / 2.0 + 2.0 / 3.0) / 3.0),
        ("map_cut_2", 0.5 / 3.0),
        ("Rprec", 2.0 / 3.0),
        // One judged document that is not relevant, and it stands above both.
        ("bpref", 0.0),
        ("success_1", 0.0),
        ("success_2", 1.0),
        ("ndcg", dcg / (3.0 + 1.0 / log3 + 0.5)),
        ("ndcg_cut_2", (3.0 / log3) / (3.0 + 1.0 / log3)),
    ];
    for (name, expected) in table {
        let ours = value(name, &ranking).unwrap();
        assert!((ours - expected).abs() < 1e-12, "{name}: {ours} {expected}");
    }
    let exponential = (7.0 / log3 + 0.5) / (7.0 + 1.0 / log3 + 0.5);
    assert!((ranking.ndcg(Cut::Whole, Gain::Exponential) - exponential).abs() < 1e-12);
    let unanswered = GradedRanking::new(run.ranking("2"), &qrels["2"]);
    assert_eq!(unanswered.average_precision(Cut::Whole), 0.0);
}
