//! Reading sets: what comes in, and what is refused by line.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use kuhaku_eval::{BeirFolder, Case, Dataset, ErrorKind, Expected, Sample, TrecRun, read_qrels};
use serde_json::json;
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut bytes = content.as_ref().to_vec();
        if name.ends_with(".gz") {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(&bytes).unwrap();
            bytes = packed.finish().unwrap();
        }
        fs::write(&path, bytes).unwrap();
        path
    }
}

fn full(id: &str) -> String {
    json!({
        "question_id": id, "question": "where?", "expected_sources": ["a", "b"],
        "golden_chunks": ["a#1"], "golden_answer": "here", "category": "places", "unknown": 1,
    })
    .to_string()
}

/// EVA-07
#[test]
fn a_golden_set_is_read_and_blank_lines_are_skipped() {
    let folder = Folder::new();
    let path = folder.put("set.jsonl", format!("\u{feff}{}\r\n\n  \n{}\n", full("1"), full("2")));
    let loaded = Dataset::golden(&path).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.dataset.name(), "set");
    let case = &loaded.dataset.cases()[1];
    assert_eq!((case.sample.id.as_str(), case.sample.query.as_str()), ("2", "where?"));
    assert_eq!(case.expected.grades, Some([("a".into(), 1), ("b".into(), 1)].into()));
    assert_eq!(case.expected.chunks.as_deref(), Some(&["a#1".to_owned()][..]));
    assert_eq!(case.expected.answer.as_deref(), Some("here"));
    assert_eq!(case.category.as_deref(), Some("places"));
    let packed = folder.put("set.jsonl.gz", fs::read(&path).unwrap());
    assert_eq!(Dataset::golden(packed).unwrap().dataset, loaded.dataset);
}

/// EVA-07
#[test]
fn absent_optional_fields_warn_by_line_and_are_not_judged() {
    let folder = Folder::new();
    let line = json!({"question_id": "q", "question": "why?", "category": null}).to_string();
    let loaded = Dataset::golden(folder.put("set.jsonl", format!("\n{line}"))).unwrap();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["set.jsonl line 2 lacks expected_sources, golden_chunks, golden_answer"]);
    assert_eq!(loaded.dataset.cases()[0].expected, Expected::default());
}

/// EVA-07
#[test]
fn every_bad_line_of_a_golden_set_is_listed_without_its_content() {
    let folder = Folder::new();
    let with = |field: &str, value| {
        let mut line: serde_json::Value = serde_json::from_str(&full("x")).unwrap();
        line[field] = value;
        line.to_string().into_bytes()
    };
    let lines: [(Vec<u8>, &str); 14] = [
        (full("1").into(), ""),
        (b"{secret".to_vec(), "is not JSON"),
        (b"[\"secret\"]".to_vec(), "is not a JSON object"),
        (b"{\"question\": \"secret\"}".to_vec(), "lacks question_id"),
        (b"{\"question_id\": \"secret\"}".to_vec(), "lacks question"),
        (with("question_id", json!(7)), "has a question_id that is no text"),
        (with("expected_sources", json!("secret")), "has a expected_sources that is no list"),
        (with("expected_sources", json!(null)), "has a expected_sources that is no list"),
        (with("golden_chunks", json!([1])), "has a golden_chunks that is no list of texts"),
        (with("golden_answer", json!(null)), "has a golden_answer that is no text"),
        (with("grades", json!({"secret": 0.5})), "has grades that are no whole numbers"),
        (with("answerable", json!("secret")), "has an answerable that is neither"),
        (full("1").into(), "has the question_id of an earlier line"),
        (b"secret \xff".to_vec(), "is not UTF-8"),
    ];
    let text = lines.iter().map(|(line, _)| line.as_slice()).collect::<Vec<_>>().join(&b'\n');
    let error = Dataset::golden(folder.put("set.jsonl", text)).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::InvalidDataset);
    assert!(error.wrong().starts_with("13 lines are wrong: "), "{error}");
    for (at, (_, wrong)) in lines.iter().enumerate().skip(1) {
        let expected = format!("line {} {wrong}", at + 1);
        assert!(error.wrong().contains(&expected), "{expected}: {error}");
    }
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn a_table_is_read_and_its_bad_lines_are_listed() {
    let folder = Folder::new();
    let text = "Question,expected,expected_sources,category\n\
                \"How many,\nthen?\",27,a; b,leave\n\nWhy?,,,\n";
    let set = Dataset::csv(folder.put("t.csv", text)).unwrap();
    let [first, second] = set.cases() else { panic!("{set:?}") };
    assert_eq!((first.sample.id.as_str(), first.sample.query.as_str()), ("1", "How many,\nthen?"));
    assert_eq!(first.expected.answer.as_deref(), Some("27"));
    assert_eq!(first.expected.grades, Some([("a".into(), 1), ("b".into(), 1)].into()));
    assert_eq!(second.expected, Expected::default());

    let text = "id,question\n1,one\n1,two\n,three\n3,\n4\n5,\"six\n";
    let error = Dataset::csv(folder.put("bad.csv", text)).unwrap_err();
    let lines = ["line 3 has the id", "line 4 has no id", "line 5 has no question"];
    for wrong in lines.iter().chain(&["line 6 has 1 fields", "line 7 opens a quote"]) {
        assert!(error.wrong().contains(wrong), "{wrong}: {error}");
    }
    for (text, wrong) in [("a,b\n1,2", "names no column question"), ("question\n\u{1}", "")] {
        let result = Dataset::csv(folder.put("odd.csv", text));
        assert_eq!(result.is_err(), !wrong.is_empty());
    }
    let error = Dataset::csv(folder.put("bytes.csv", b"question\nok\n\xff\n")).unwrap_err();
    assert!(error.wrong().contains("line 3 is not UTF-8"), "{error}");
}

fn beir(folder: &Folder) -> BeirFolder {
    folder.put(
        "corpus.jsonl.gz",
        "{\"_id\":\"a\",\"title\":\"T\",\"text\":\"x\"}\n{\"_id\":\"b\",\"text\":\"y\"}\n",
    );
    folder.put(
        "queries.jsonl",
        "{\"_id\":\"2\",\"text\":\"two\"}\n{\"_id\":\"3\",\"text\":\"three\"}\n{\"_id\":\"1\",\"text\":\"one\"}\n",
    );
    folder.put("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t2\n2\ta\t0\n");
    folder.put("qrels/dev.tsv.gz", "query-id\tcorpus-id\tscore\n3\ta\t1\n");
    BeirFolder::open(folder.0.path()).unwrap()
}

#[test]
fn a_beir_folder_gives_judged_queries_in_file_order_and_streams_its_corpus() {
    let folder = Folder::new();
    let beir = beir(&folder);
    assert_eq!(beir.splits().unwrap(), ["dev", "test"]);
    let set = beir.dataset("test").unwrap();
    let ids: Vec<&str> = set.cases().iter().map(|case| case.sample.id.as_str()).collect();
    assert_eq!(ids, ["2", "1"]);
    assert_eq!(set.cases()[0].expected.grades, Some([("a".into(), 0), ("b".into(), 2)].into()));
    assert_eq!(beir.dataset("dev").unwrap().cases().len(), 1);
    let texts: Vec<String> =
        beir.corpus().unwrap().map(|document| document.unwrap().full_text()).collect();
    assert_eq!(texts, ["T\nx", "y"]);
}

#[test]
fn a_beir_folder_names_what_is_wrong_with_it() {
    let folder = Folder::new();
    let error = BeirFolder::open(folder.0.path()).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unreadable);
    let beir = beir(&folder);
    let error = beir.dataset("train").unwrap_err();
    assert_eq!(error.next_step(), Some("take one of: dev, test"));
    folder.put("qrels/bad.tsv", "query-id\tcorpus-id\tscore\n1\ta\tsecret\n1\n2\ta\t1\n2\ta\t1\n");
    let error = beir.dataset("bad").unwrap_err();
    for wrong in ["line 2 has a grade", "line 3 has too few columns", "line 5 judges a pair"] {
        assert!(error.wrong().contains(wrong), "{error}");
    }
    folder.put("qrels/lost.tsv", "9\ta\t1\n");
    assert!(beir.dataset("lost").unwrap_err().wrong().contains("1 judged queries"));
    folder.put("corpus.jsonl", "{\"_id\":\"a\"}\n{\"text\":\"secret\"}\n7\n{\"_id\":\"c\"}\n");
    let documents: Vec<_> = beir.corpus().unwrap().collect();
    let is_ok: Vec<bool> = documents.iter().map(Result::is_ok).collect();
    assert_eq!(is_ok, [true, false, false, true]);
    let error = documents[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("line 2 lacks _id") && !error.contains("secret"), "{error}");
}

#[test]
fn files_of_trec_eval_name_their_bad_lines() {
    let folder = Folder::new();
    let run = folder.put("run.txt", "1 Q0 a 1 NaN x\n1 Q0 b\n1 Q0 c 2 1.5 x more columns\n");
    let error = TrecRun::read(run).unwrap_err();
    for wrong in ["line 1 has a score", "line 2 has too few columns"] {
        assert!(error.wrong().contains(wrong), "{error}");
    }
    assert_eq!(
        read_qrels(folder.0.path().join("none")).unwrap_err().kind(),
        &ErrorKind::Unreadable
    );
}

#[test]
fn a_gzip_file_that_is_cut_is_unreadable() {
    let folder = Folder::new();
    let path = folder.put("set.jsonl.gz", full("1"));
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(Dataset::golden(&path).unwrap_err().kind(), &ErrorKind::Unreadable);
}

fn numbered(count: usize) -> Dataset {
    let case = |at: usize| Case::new(Sample::new(at.to_string(), "?"), Expected::default());
    Dataset::new("numbers", (0..count).map(case)).unwrap()
}

fn ids(set: &Dataset) -> Vec<&str> {
    set.cases().iter().map(|case| case.sample.id.as_str()).collect()
}

#[test]
fn samples_and_splits_are_drawn_by_seed() {
    let set = numbered(20);
    // Worked out by another implementation of the documented generator.
    assert_eq!(ids(&set.sample(5, 7)), ["3", "9", "10", "11", "19"]);
    assert_eq!(set.sample(5, 7), set.sample(5, 7));
    assert_ne!(ids(&set.sample(5, 7)), ids(&set.sample(5, 8)));
    assert_eq!(ids(&set.sample(99, 7)), ids(&set));
    let (first, second) = set.split(0.25, 3);
    assert_eq!((first.cases().len(), second.cases().len()), (5, 15));
    let both: BTreeSet<&str> = ids(&first).into_iter().chain(ids(&second)).collect();
    assert_eq!(both.len(), 20);
}

#[test]
fn the_content_hash_changes_with_content_and_with_nothing_else() {
    let base = || {
        let mut case = Case::new(Sample::new("1", "q"), Expected::default());
        case.expected.object = Some(json!({"b": 1, "a": [null]}));
        case
    };
    let hash = |case: Case| Dataset::new("x", [case]).unwrap().content_hash();
    let first = hash(base());
    assert!(first.starts_with("sha256:") && first.len() == 71, "{first}");
    assert_eq!(Dataset::new("another name", [base()]).unwrap().content_hash(), first);
    let mut hashes = BTreeSet::from([first]);
    let changes: [fn(&mut Case); 10] = [
        |case| case.sample.id = "2".into(),
        |case| case.sample.query = "qq".into(),
        |case| case.sample.history = vec![String::new()],
        |case| case.category = Some(String::new()),
        |case| case.expected.grades = Some([].into()),
        |case| case.expected.grades = Some([("a".into(), 1)].into()),
        |case| case.expected.chunks = Some(vec![]),
        |case| case.expected.answer = Some(String::new()),
        |case| case.expected.object = None,
        |case| case.expected.answerable = Some(false),
    ];
    for change in changes {
        let mut case = base();
        change(&mut case);
        hashes.insert(hash(case));
    }
    assert_eq!(hashes.len(), changes.len() + 1);
    assert_ne!(numbered(2).content_hash(), numbered(3).content_hash());
}

#[test]
fn the_shared_sets_are_read_as_they_are_described() {
    let Some(data) = std::env::var_os("KUHAKU_BENCH_DATA").map(PathBuf::from) else {
        return eprintln!("skipped: KUHAKU_BENCH_DATA is not set");
    };
    let sets = [
        ("scifact", "test", 300, 5_183),
        ("scifact", "train", 809, 5_183),
        ("cranfield", "test", 225, 1_400),
        ("adi", "test", 35, 82),
        ("cosqa", "dev", 500, 6_267),
        ("xquad-en", "test", 1_190, 240),
        ("xquad-tr", "test", 1_190, 240),
    ];
    for (set, split, queries, documents) in sets {
        let folder = BeirFolder::open(data.join(set)).unwrap();
        assert_eq!(folder.dataset(split).unwrap().cases().len(), queries, "{set}");
        assert_eq!(folder.corpus().unwrap().map(Result::unwrap).count(), documents, "{set}");
    }
}
