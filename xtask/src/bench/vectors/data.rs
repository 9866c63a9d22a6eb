//! A hundred thousand vectors that lie as those of real texts do, and the questions to them.

use std::fs;
use std::path::Path;

use kuhaku::eval::SeededRandom;
use serde::{Deserialize, Serialize};

use super::super::embed::Vectors;
use crate::error::{Result, cannot};

/// What the files of a folder hold: `base.f32` and `queries.f32`, little-endian rows of `dimension`
/// numbers of unit length.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) dimension: usize,
    pub(super) rows: usize,
    pub(super) queries: usize,
}

/// Rows one after another.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) dimension: usize,
    pub(super) numbers: Vec<f32>,
}

impl Matrix {
    pub(super) fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.dimension)
    }

    /// Reads a file of a folder.
    pub(super) fn read(folder: &Path, name: &str, dimension: usize) -> Result<Self> {
        let bytes = fs::read(folder.join(name)).map_err(|error| cannot("read vectors", error))?;
        let numbers = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four));
        Ok(Self { dimension, numbers: numbers.collect() })
    }

    fn write(&self, folder: &Path, name: &str) -> Result<()> {
        let bytes: Vec<u8> = self.numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        fs::write(folder.join(name), bytes).map_err(|error| cannot("write vectors", error))
    }
}

impl Shape {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let text = fs::read_to_string(folder.join("shape.json"))
            .map_err(|error| cannot("read the shape of vectors", error))?;
        serde_json::from_str(&text).map_err(|error| cannot("read the shape of vectors", error))
    }
}

/// Writes `rows` vectors and up to `queries` questions into a folder: the documents of a set, then
/// documents moved by half the difference of two others and by a little noise, so that they keep
/// the directions in which documents differ; the questions are those of the set.
pub(super) fn write(
    folder: &Path,
    documents: &Vectors,
    questions: &[Vectors],
    (rows, queries): (usize, usize),
    seed: u64,
) -> Result<Shape> {
    let dimension = documents.manifest.dim;
    let sources: Vec<&[f32]> =
        documents.manifest.ids.iter().filter_map(|id| documents.get(id)).collect();
    if sources.is_empty() {
        return Err(cannot("make vectors", "there are no documents"));
    }
    let mut random = SeededRandom::for_purpose(seed, "vectors");
    let mut base = Matrix { dimension, numbers: Vec::with_capacity(rows * dimension) };
    for source in sources.iter().take(rows) {
        base.numbers.extend(unit(source.iter().copied()));
    }
    for number in sources.len().min(rows)..rows {
        let some = |at: usize| sources.get(at).copied().unwrap_or_default();
        let from = some(number % sources.len());
        let (one, other) = (some(random.below(sources.len())), some(random.below(sources.len())));
        let noise = NOISE / (dimension as f32).sqrt();
        let moved =
            from.iter().zip(one).zip(other).map(|((from, one), other)| {
                from + 0.5 * (one - other) + noise * normal(&mut random)
            });
        base.numbers.extend(unit(moved));
    }
    let mut asked = Matrix { dimension, numbers: Vec::new() };
    let all =
        questions.iter().flat_map(|part| part.manifest.ids.iter().filter_map(|id| part.get(id)));
    for question in all.take(queries) {
        asked.numbers.extend(unit(question.iter().copied()));
    }
    fs::create_dir_all(folder).map_err(|error| cannot("make a folder", error))?;
    base.write(folder, "base.f32")?;
    asked.write(folder, "queries.f32")?;
    let shape = Shape { dimension, rows, queries: asked.rows().len() };
    let text = serde_json::to_string(&shape).map_err(|error| cannot("write a shape", error))?;
    fs::write(folder.join("shape.json"), text).map_err(|error| cannot("write a shape", error))?;
    Ok(shape)
}

/// How long the noise is, beside vectors of length 1.
const NOISE: f32 = 0.1;

fn unit(numbers: impl Iterator<Item = f32>) -> Vec<f32> {
    let numbers: Vec<f32> = numbers.collect();
    let length = numbers.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    numbers.iter().map(|it| (f64::from(*it) / length) as f32).collect()
}

/// A number of the standard normal distribution: Box and Muller 1958.
fn normal(random: &mut SeededRandom) -> f32 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    (radius * (std::f64::consts::TAU * random.unit()).cos()) as f32
}
