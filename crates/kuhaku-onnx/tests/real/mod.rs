//! The real models that `KUHAKU_TEST_MODELS` names, and Python's packages beside them.

#![allow(dead_code, reason = "each suite takes its part")]

pub(crate) mod scripts;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kuhaku_core::Runtime;
use kuhaku_onnx::{ModelFolder, OnnxEmbedder, OnnxEmbedderBuilder, OnnxRuntime};
use serde_json::{Value, json};

pub(crate) const E5: &str = "multilingual-e5-small";
pub(crate) const MINILM: &str = "all-MiniLM-L6-v2";

/// Files with 32-bit arithmetic, and those in dynamic int8.
pub(crate) const EXACT: [(&str, &str); 3] =
    [(E5, "model.onnx"), (MINILM, "model.onnx"), (MINILM, "model_fp32.onnx")];
pub(crate) const INT8: [(&str, &str); 2] = [(E5, "model_int8.onnx"), (MINILM, "model_int8.onnx")];

/// The folder of the models.
pub(crate) fn models() -> Option<PathBuf> {
    let Some(named) = std::env::var_os("KUHAKU_TEST_MODELS") else {
        eprintln!("skipped: KUHAKU_TEST_MODELS does not name a folder with real models");
        return None;
    };
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(named))
}

pub(crate) fn onnx() -> Option<OnnxRuntime> {
    let folder = models()?.join("onnxruntime");
    Some(OnnxRuntime::find(Some(&folder), []).unwrap())
}

pub(crate) fn builder(model: &str, file: &str) -> Option<OnnxEmbedderBuilder> {
    // Summing the file up takes a minute without optimisation, and is shown elsewhere.
    let folder = ModelFolder::new(models()?.join(model)).model(file);
    Some(OnnxEmbedder::builder(folder).checksum("0".repeat(64)))
}

pub(crate) fn open(builder: OnnxEmbedderBuilder) -> Option<OnnxEmbedder> {
    Some(builder.open(&onnx()?, &Runtime::system()).unwrap())
}

/// Python with a model open.
pub(crate) struct Python {
    child: Child,
    asked: ChildStdin,
    answered: BufReader<ChildStdout>,
}

impl Python {
    pub(crate) fn open(model: &str, file: &str, threads: usize) -> Option<Self> {
        let models = models()?;
        let python = models.join(".venv/bin/python");
        if !python.is_file() {
            eprintln!("skipped: there is no {} to compare with", python.display());
            return None;
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/embeddings.py");
        let mut child = Command::new(python)
            .arg(script)
            .arg(models.join(model))
            .args([file, &threads.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let asked = child.stdin.take().unwrap();
        let answered = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, asked, answered })
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.asked, "{question}").unwrap();
        let mut line = String::new();
        self.answered.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Token numbers and vectors, each text alone.
    pub(crate) fn embed(&mut self, texts: &[String]) -> (Vec<Vec<u32>>, Vec<Vec<f32>>) {
        let mut answer = self.ask(&json!({"do": "embed", "texts": texts}));
        let mut take = |name: &str| answer[name].take();
        (
            serde_json::from_value(take("ids")).unwrap(),
            serde_json::from_value(take("vectors")).unwrap(),
        )
    }

    /// Seconds for texts in the order they come, padded in batches of 32.
    pub(crate) fn seconds(&mut self, texts: &[String]) -> f64 {
        self.ask(&json!({"do": "time", "texts": texts, "batch": 32}))["seconds"].as_f64().unwrap()
    }

    /// Resident bytes now and at most, above what they were before the model was opened.
    pub(crate) fn memory(&mut self) -> (u64, u64) {
        let answer = self.ask(&json!({"do": "memory"}));
        (answer["VmRSS"].as_u64().unwrap(), answer["VmHWM"].as_u64().unwrap())
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    };
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// A number of this process's `/proc/self/status`, in bytes.
pub(crate) fn memory(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Processor time that this process has used.
pub(crate) fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    ticks / 100.0
}

/// Whether what is measured means anything.
pub(crate) fn measures() -> bool {
    if cfg!(debug_assertions) {
        eprintln!("skipped: times of a build without optimisation say nothing");
    }
    !cfg!(debug_assertions)
}
