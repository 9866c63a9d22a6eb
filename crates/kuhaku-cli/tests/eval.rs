//! `kuhaku eval`: runs, comparisons and conditions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use support::{Place, fixtures};

/// A set in BEIR's layout: four notes, three questions, one of them hard.
fn set() -> Place {
    let place = Place::new();
    let documents = [
        ("wifi", "Guest network", "Visitors use the network called Plover."),
        ("door", "Front door", "The front door opens at seven."),
        ("tea", "Kitchen", "Tea and coffee are free of charge."),
        ("bike", "Parking", "Bikes stand behind the house, never at the front door."),
    ];
    let line = |(id, title, text): (&str, &str, &str)| {
        format!("{{\"_id\":\"{id}\",\"title\":\"{title}\",\"text\":\"{text}\"}}\n")
    };
    place.write("set/corpus.jsonl", documents.map(line).concat());
    place.write(
        "set/queries.jsonl",
        "{\"_id\":\"1\",\"text\":\"guest network\"}\n{\"_id\":\"2\",\"text\":\"front door\"}\n\
         {\"_id\":\"3\",\"text\":\"where may I leave my bicycle\"}\n",
    );
    place.write(
        "set/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n1\twifi\t1\n2\tdoor\t2\n2\tbike\t1\n3\tbike\t1\n",
    );
    place
}

#[test]
fn a_run_is_measured_written_compared_and_held_to_conditions() {
    let place = set();
    let run = place.run(&["eval", "run", "set", "--out", "a.jsonl", "--min", "recall@100=0.6"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("| Recall@100 | 0.667 |"), "{}", run.stdout);
    assert!(run.stderr.contains("met: recall@100"), "{}", run.stderr);
    let unmet = place.run(&["eval", "run", "set", "--min", "recall@100=0.9"]);
    assert_eq!(unmet.code, 6, "{}", unmet.stderr);
    assert!(unmet.stderr.contains("not met: recall@100"), "{}", unmet.stderr);

    let again = place.run(&["eval", "run", "set", "--out", "a.jsonl"]);
    assert_eq!(again.code, 1, "a run is not written over");
    assert!(again.stderr.contains("next:"), "{}", again.stderr);
    let resumed = place.run(&["eval", "run", "set", "--out", "a.jsonl", "--resume"]);
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);

    let (code, value) =
        place.json(&["eval", "run", "set", "--out", "b.jsonl", "--no-worse-than", "a.jsonl"]);
    assert_eq!((code, &value["version"]), (0, &1.into()));
    assert!(value["conditions"].as_array().unwrap().iter().all(|c| c["passed"] == true));
    let (code, value) = place.json(&["eval", "compare", "a.jsonl", "b.jsonl", "--no-worse"]);
    assert_eq!(code, 0);
    assert_eq!(value["comparison"]["measures"][0]["ties"], 3);
}

#[test]
fn questions_in_a_file_are_asked_of_the_index() {
    let place = Place::new();
    place.handbook(None);
    assert_eq!(place.run(&["ingest", "handbook"]).code, 0);
    let readme = std::fs::read_to_string(fixtures().join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [question, page, _] = cells.as_slice() else { return None };
        let page = page.strip_prefix('`')?.split('`').next()?.to_string();
        Some(((*question).to_string(), format!("handbook/{page}")))
    });
    let mut golden = String::new();
    for (number, (question, page)) in rows.enumerate() {
        let line = serde_json::json!({
            "question_id": format!("q{number}"),
            "question": question,
            "expected_sources": [page],
        });
        golden.push_str(&format!("{line}\n"));
    }
    place.write("golden.jsonl", golden);
    let run = place.run(&[
        "eval",
        "run",
        "golden.jsonl",
        "--role",
        "people_ops",
        "--min",
        "success@4=1",
        "--min",
        "citation_precision=0.9",
    ]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let outsider = place.run(&["eval", "run", "golden.jsonl", "--min", "success@4=1"]);
    assert_eq!(outsider.code, 6, "the restricted page is found by nobody without the role");
}

#[test]
fn each_wrong_turn_says_what_to_do_next() {
    let place = set();
    place.write("bad.jsonl", "{\"question_id\":\"1\"}\nnot json\n[]\n");
    place.write("run.jsonl", "not a run\n");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["eval", "run", "gone"], 1, "next:"),
        (&["eval", "run", "set", "--split", "dev"], 1, "test"),
        (&["eval", "run", "set", "--measures", "ndgc@10"], 1, "ndcg"),
        (&["eval", "run", "set", "--min", "ndcg@10"], 2, "ndcg@10=0.68"),
        (&["eval", "run", "set", "--resume"], 2, "--out"),
        (&["eval", "run", "bad.jsonl"], 1, "line 2"),
        (&["eval", "compare", "run.jsonl", "run.jsonl"], 1, "next:"),
    ];
    for (arguments, code, says) in cases {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{arguments:?}: {}", ran.stderr);
    }
}
