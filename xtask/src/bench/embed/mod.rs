//! `cargo xtask bench embed SET MODEL`: the vectors of a set, kept for the suites that search with
//! them.
//!
//! They go to the folder that `KUHAKU_BENCH_VECTORS` names, else to `target/vectors`, in the form of
//! the ready-made ones of the data folder: `SET-docs.MODEL` and `SET-queries.MODEL`. Where there are
//! ready-made ones of the same set and model, the suite compares: texts that the model takes whole
//! must agree.

mod cache;
mod half;
#[cfg(feature = "embed")]
mod model;
mod texts;
mod vectors;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

use serde_json::{Value, json};

use super::report::{Report, Section};
use crate::cargo;
use crate::error::{Result, cannot};
use cache::Job;
use texts::Part;
use vectors::cosine;

pub(super) use vectors::Vectors;

/// Names the folder for the vectors.
const FOLDER: &str = "KUHAKU_BENCH_VECTORS";

/// Texts that a kill loses at most.
const BATCH: usize = 128;

/// What texts that a model takes whole must reach beside the ready-made vectors.
const AGREE: f64 = 0.9999;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    set: String,
    model: String,
    /// Only the first documents.
    documents: Option<usize>,
}

/// An open model, or a stand-in.
trait Embed {
    fn fingerprint(&self) -> &str;
    /// Whether it takes a document whole.
    fn fits(&self, text: &str) -> Result<bool>;
    fn documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
    fn queries(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}

/// Runs the suite; runs itself again in release mode and with the feature that brings the models.
pub(super) fn run(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let request = Request::read(arguments)?;
    if cfg!(any(debug_assertions, not(feature = "embed"))) {
        let mut again = Command::new(cargo::program());
        again.args(["run", "--release", "--quiet", "--package", "xtask", "--features", "embed"]);
        again.args(["--", "bench", "embed"]).args(arguments).current_dir(root);
        let status = again.status().map_err(|error| cannot("run the bench in release", error))?;
        return Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let Some(data) = std::env::var_os(super::DATA).map(|data| root.join(data)) else {
        println!("skipped: {} is not set; it names the folder with the sets", super::DATA);
        return Ok(ExitCode::SUCCESS);
    };
    let Some(embedder) = open(root, &request.model)? else { return Ok(ExitCode::SUCCESS) };
    let suite = format!("embed-{}-{}", request.set, short(&request.model));
    let out = root.join("target/bench");
    super::finish(root, &out, &suite, || {
        fill_and_compare(&folder(root), &data, &request, embedder.as_ref())
    })
}

/// Where the vectors are kept.
pub(super) fn folder(root: &Path) -> PathBuf {
    std::env::var_os(FOLDER).map_or_else(|| root.join("target/vectors"), |named| root.join(named))
}

#[cfg(feature = "embed")]
fn open(root: &Path, model: &str) -> Result<Option<Box<dyn Embed>>> {
    model::open(root, model)
}

/// Without the feature the suite runs itself again with it.
#[cfg(not(feature = "embed"))]
fn open(_: &Path, _: &str) -> Result<Option<Box<dyn Embed>>> {
    Ok(None)
}

fn fill_and_compare(
    folder: &Path,
    data: &Path,
    request: &Request,
    embedder: &dyn Embed,
) -> Result<Report> {
    let Request { set, model, documents } = request;
    let mut report = Report { title: format!("Vectors of {set} by {model}"), ..Report::default() };
    let (mut filled, mut compared, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for part in [Part::documents(data, set, *documents)?, Part::queries(data, set)?] {
        let name = format!("{set}-{}.{}", part.name, short(model));
        let job = Job {
            name: name.clone(),
            model: model.clone(),
            input: part.input.clone(),
            fingerprint: embedder.fingerprint().to_owned(),
            texts: part.texts.clone(),
            batch: BATCH,
        };
        let begun = Instant::now();
        let total = part.texts.len();
        let embed = |texts: &[&str]| match part.are_documents {
            true => embedder.documents(texts),
            false => embedder.queries(texts),
        };
        let done =
            cache::fill(folder, &job, embed, |rows| eprintln!("  {name}: {rows} of {total}"))?;
        let seconds = begun.elapsed().as_secs_f64();
        filled.push(vec![
            name.clone(),
            total.to_string(),
            done.made.to_string(),
            format!("{seconds:.1}"),
            format!("{:.1}", done.made as f64 / seconds),
        ]);
        let ours = Vectors::read(folder, &name)?
            .ok_or_else(|| cannot(format!("read {name}"), "it was not written"))?;
        let mut against = Vec::new();
        for ready in &part.ready_made {
            let ready = format!("{set}-{ready}.{}", short(model));
            match Vectors::read(&data.join("vectors"), &ready)? {
                Some(theirs) => {
                    let likeness = compare(&part, &ours, &theirs, embedder)?;
                    // Not a number is not enough either.
                    if !likeness.whole.lowest.ge(&AGREE) {
                        report.missed.push(format!(
                            "{name} beside {ready}: cosine {:.6}, asked {AGREE}",
                            likeness.whole.lowest
                        ));
                    }
                    compared.push(likeness.row(&name, &ready));
                    against.push(likeness.value(&ready));
                }
                None => {
                    report.skipped.push(format!("{ready}: there are no such ready-made vectors"))
                }
            }
        }
        values.push(json!({
            "name": name, "texts": total, "made": done.made, "seconds": seconds,
            "dim": ours.manifest.dim, "beside": against,
        }));
    }
    report.sections.push(Section {
        heading: "Made".into(),
        text: format!("In {}.", folder.file_name().unwrap_or_default().to_string_lossy()),
        columns: ["vectors", "texts", "made now", "s", "texts/s"].map(String::from).into(),
        rows: filled,
    });
    if !compared.is_empty() {
        report.sections.push(Section {
            heading: "Beside the ready-made ones".into(),
            text:
                "Cosines. Texts longer than the model takes were cut there and are read in windows \
                   here, so they differ."
                    .into(),
            columns: ["vectors", "ready-made", "whole", "lowest", "mean", "long", "lowest", "mean"]
                .map(String::from)
                .into(),
            rows: compared,
        });
    }
    report.values = json!({ "fingerprint": embedder.fingerprint(), "parts": values });
    Ok(report)
}

/// Cosines of some texts.
#[derive(Clone, Copy, Debug)]
struct Cosines {
    count: usize,
    lowest: f64,
    sum: f64,
}

/// How alike two files of vectors are, on the texts that both have.
#[derive(Clone, Copy, Debug)]
struct Likeness {
    whole: Cosines,
    long: Cosines,
}

fn compare(
    part: &Part,
    ours: &Vectors,
    theirs: &Vectors,
    embedder: &dyn Embed,
) -> Result<Likeness> {
    let none = Cosines { count: 0, lowest: f64::INFINITY, sum: 0.0 };
    let mut likeness = Likeness { whole: none, long: none };
    for (id, text) in &part.texts {
        let (Some(one), Some(other)) = (ours.get(id), theirs.get(id)) else { continue };
        let fits = !part.are_documents || embedder.fits(text)?;
        let cosines = if fits { &mut likeness.whole } else { &mut likeness.long };
        let cosine = cosine(one, other);
        cosines.count += 1;
        cosines.sum += cosine;
        // What is no number is the lowest of all.
        cosines.lowest = if cosine.is_nan() { cosine } else { cosine.min(cosines.lowest) };
    }
    if likeness.whole.count == 0 {
        return Err(cannot("compare vectors", "the two files have no text in common"));
    }
    Ok(likeness)
}

impl Likeness {
    fn row(&self, name: &str, ready: &str) -> Vec<String> {
        let mut row = vec![name.to_owned(), ready.to_owned()];
        for cosines in [self.whole, self.long] {
            row.push(cosines.count.to_string());
            let shown = |value: f64| match cosines.count {
                0 => "–".to_owned(),
                _ => format!("{value:.6}"),
            };
            row.extend([shown(cosines.lowest), shown(cosines.mean())]);
        }
        row
    }

    fn value(&self, ready: &str) -> Value {
        let of = |cosines: Cosines| {
            let has = cosines.count > 0;
            json!({
                "texts": cosines.count,
                "lowest": has.then_some(cosines.lowest),
                "mean": has.then_some(cosines.mean()),
            })
        };
        json!({ "ready_made": ready, "whole": of(self.whole), "long": of(self.long) })
    }
}

impl Cosines {
    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// A model's name in the names of files; the ready-made vectors have these for their two models.
fn short(model: &str) -> String {
    match model {
        "multilingual-e5-small" => "e5".into(),
        "all-MiniLM-L6-v2/model_fp32.onnx" => "minilm".into(),
        other => other.trim_end_matches(".onnx").replace('/', "-"),
    }
}

impl Request {
    fn read(arguments: &[&str]) -> Result<Self> {
        let (set, model, documents) = match arguments {
            [set, model] => (set, model, None),
            [set, model, "--documents", number] => (set, model, number.parse().ok()),
            _ => {
                let wrong = "they are SET MODEL [--documents N]; MODEL is a folder of the test models, \
                             or one with a file: all-MiniLM-L6-v2/model_fp32.onnx";
                return Err(cannot("read the arguments of `bench embed`", wrong));
            }
        };
        if arguments.len() > 2 && documents.is_none_or(|count| count == 0) {
            return Err(cannot("read the number of documents", "it is no number from 1"));
        }
        Ok(Self { set: (*set).to_owned(), model: (*model).to_owned(), documents })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::half::encode;
    use super::*;

    /// A vector of the letters of a text; long texts are those above 30 bytes.
    struct Letters;

    fn letters(text: &str) -> Vec<f32> {
        let mut counts = [0.001_f32; 26];
        for letter in text.bytes().filter(u8::is_ascii_lowercase) {
            counts[usize::from(letter - b'a')] += 1.0;
        }
        let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
        counts.iter().map(|count| count / length).collect()
    }

    impl Embed for Letters {
        fn fingerprint(&self) -> &str {
            "letters"
        }

        fn fits(&self, text: &str) -> Result<bool> {
            Ok(text.len() <= 30)
        }

        fn documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
            Ok(texts.iter().map(|text| letters(text)).collect())
        }

        fn queries(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
            self.documents(texts)
        }
    }

    fn set() -> tempfile::TempDir {
        let data = tempfile::TempDir::new().unwrap();
        let set = data.path().join("tiny");
        fs::create_dir_all(set.join("qrels")).unwrap();
        let corpus = "{\"_id\":\"a\",\"title\":\"cat\",\"text\":\"dog\"}\n\
                      {\"_id\":\"b\",\"title\":\"\",\"text\":\"fish\"}\n\
                      {\"_id\":\"c\",\"title\":\"long\",\"text\":\"a text of more than thirty bytes\"}\n";
        fs::write(set.join("corpus.jsonl"), corpus).unwrap();
        let queries = "{\"_id\":\"1\",\"text\":\"cats\"}\n{\"_id\":\"2\",\"text\":\"dogs\"}\n\
                       {\"_id\":\"3\",\"text\":\"not judged\"}\n";
        fs::write(set.join("queries.jsonl"), queries).unwrap();
        for (split, query) in [("dev", "1"), ("test", "2")] {
            let qrels = format!("query-id\tcorpus-id\tscore\n1\ta\t1\n{query}\tb\t1\n");
            fs::write(set.join("qrels").join(format!("{split}.tsv")), qrels).unwrap();
        }
        data
    }

    fn ready(data: &Path, name: &str, rows: &[(&str, Vec<f32>)]) {
        let folder = data.join("vectors");
        fs::create_dir_all(&folder).unwrap();
        let bytes: Vec<u8> =
            rows.iter().flat_map(|(_, row)| row.iter().flat_map(|value| encode(*value))).collect();
        fs::write(folder.join(format!("{name}.f16")), bytes).unwrap();
        let ids: Vec<&str> = rows.iter().map(|(id, _)| *id).collect();
        let manifest = json!({
            "model": "letters", "pooling": "sum", "normalized": true, "input": "title text, cut",
            "dim": 26, "count": rows.len(), "ids": ids,
        });
        fs::write(folder.join(format!("{name}.json")), manifest.to_string()).unwrap();
    }

    fn request() -> Request {
        Request { set: "tiny".into(), model: "letters".into(), documents: None }
    }

    #[test]
    fn documents_and_judged_queries_are_embedded_once_and_compared_with_ready_made_ones() {
        let (data, out) = (set(), tempfile::TempDir::new().unwrap());
        let long = ("c", letters("cut somewhere"));
        ready(data.path(), "tiny-docs.letters", &[("b", letters("fish")), long]);
        ready(data.path(), "tiny-test.letters", &[("2", letters("dogs"))]);
        let run = || fill_and_compare(out.path(), data.path(), &request(), &Letters).unwrap();
        let report = run();
        assert!(report.missed.is_empty(), "{:?}", report.missed);
        assert_eq!(report.skipped.len(), 1, "{:?}", report.skipped);
        let docs = Vectors::read(out.path(), "tiny-docs.letters").unwrap().unwrap();
        assert_eq!(docs.manifest.ids, ["a", "b", "c"]);
        assert!(cosine(docs.get("a").unwrap(), &letters("cat dog")) > AGREE);
        let queries = Vectors::read(out.path(), "tiny-queries.letters").unwrap().unwrap();
        assert_eq!(queries.manifest.ids, ["1", "2"]);
        let made = |report: &Report| -> Vec<String> {
            report.sections[0].rows.iter().map(|row| row[2].clone()).collect()
        };
        assert_eq!(made(&report), ["3", "2"]);
        assert_eq!(made(&run()), ["0", "0"]);
        let rows = &report.sections[1].rows;
        assert_eq!((rows[0][2].as_str(), rows[0][5].as_str()), ("1", "1"));
    }

    #[test]
    fn vectors_that_differ_are_not_reached() {
        let (data, out) = (set(), tempfile::TempDir::new().unwrap());
        let right = letters("fish");
        for (row, misses) in [(right.clone(), 0), (letters("fishes"), 1), (vec![f32::NAN; 26], 1)] {
            ready(data.path(), "tiny-docs.letters", &[("b", row), ("a", letters("cat dog"))]);
            let report = fill_and_compare(out.path(), data.path(), &request(), &Letters).unwrap();
            assert_eq!(report.missed.len(), misses, "{:?}", report.missed);
        }
    }

    #[test]
    fn arguments_are_a_set_a_model_and_perhaps_a_number() {
        let read = |arguments: &[&str]| Request::read(arguments);
        assert_eq!(read(&["tiny", "letters"]).unwrap(), request());
        let some = read(&["tiny", "letters", "--documents", "5"]).unwrap();
        assert_eq!(some.documents, Some(5));
        for wrong in [&["tiny"] as &[&str], &["a", "b", "c"], &["a", "b", "--documents", "0"]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(
            short("multilingual-e5-small/model_int8.onnx"),
            "multilingual-e5-small-model_int8"
        );
    }
}
