//! Questions to an index and their answers.

use std::collections::{BTreeMap, BTreeSet};

use kuhaku_core::{ChunkId, Date};

use crate::vector::Vector;

/// Which chunks are eligible. Acts before the ranking; statistics stay those of the scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Filter {
    /// Only documents that hold on this day.
    pub valid_on: Option<Date>,
    /// Only documents of one of these types; all types when empty.
    pub doc_types: BTreeSet<String>,
    /// Only documents whose metadata has, under each of these keys, one of the values.
    pub metadata: BTreeMap<String, BTreeSet<String>>,
}

impl Filter {
    /// Everything is eligible.
    pub fn none() -> Self {
        Self::default()
    }

    /// Only documents that hold on `day`.
    #[must_use]
    pub fn valid_on(mut self, day: Date) -> Self {
        self.valid_on = Some(day);
        self
    }

    /// Only documents of this type, or of one added before.
    #[must_use]
    pub fn doc_type(mut self, doc_type: impl Into<String>) -> Self {
        self.doc_types.insert(doc_type.into());
        self
    }

    /// Only documents with this metadata value, or one added before under the same key.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.entry(key.into()).or_default().insert(value.into());
        self
    }

    /// True when everything is eligible.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How much each field counts: its term frequencies and its length are multiplied by the weight.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldWeights {
    /// Title and headings; 0, or from 0.000001 to 100.
    pub heading: f64,
    /// The text itself; 0, or from 0.000001 to 100.
    pub body: f64,
    /// Further words; 0, or from 0.000001 to 100.
    pub extra: f64,
}

impl Default for FieldWeights {
    fn default() -> Self {
        Self { heading: 1.0, body: 1.0, extra: 1.0 }
    }
}

/// The parameters of BM25 (Robertson and Zaragoza 2009, section 3; fields as in BM25F with one
/// common b).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bm25 {
    /// How slowly repetition saturates; from 0 to 100.
    pub k1: f64,
    /// How much length counts; from 0 to 1.
    pub b: f64,
    /// How much each field counts.
    pub weights: FieldWeights,
}

impl Bm25 {
    /// The usual field weights with these parameters.
    pub fn new(k1: f64, b: f64) -> Self {
        Self { k1, b, weights: FieldWeights::default() }
    }
}

impl Default for Bm25 {
    fn default() -> Self {
        Self::new(1.5, 0.75)
    }
}

/// A search by words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SparseQuery {
    /// The words, as a person writes them.
    pub text: String,
    /// How many hits at most; 0 gives none.
    pub limit: usize,
    /// Which chunks are eligible.
    pub filter: Filter,
    /// How they are scored.
    pub bm25: Bm25,
}

impl SparseQuery {
    /// A search for the best `limit` chunks, unfiltered, with default parameters.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self { text: text.into(), limit, filter: Filter::none(), bm25: Bm25::default() }
    }

    /// Restricts what is eligible.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Changes how chunks are scored.
    #[must_use]
    pub fn bm25(mut self, bm25: Bm25) -> Self {
        self.bm25 = bm25;
        self
    }
}

/// A chunk found by words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SparseHit {
    /// The chunk.
    pub id: ChunkId,
    /// Its BM25 score; above 0, without upper bound, comparable within one query only.
    pub bm25: f64,
}

impl SparseHit {
    /// A hit of a custom engine.
    pub fn new(id: ChunkId, bm25: f64) -> Self {
        Self { id, bm25 }
    }
}

/// A search by meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DenseQuery {
    /// What the index's embedder makes of the question.
    pub vector: Vector,
    /// How many hits at most; 0 gives none.
    pub limit: usize,
    /// Which chunks are eligible.
    pub filter: Filter,
}

impl DenseQuery {
    /// A search for the nearest `limit` chunks, unfiltered.
    pub fn new(vector: Vector, limit: usize) -> Self {
        Self { vector, limit, filter: Filter::none() }
    }

    /// Restricts what is eligible.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }
}

/// A chunk found by its vector.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DenseHit {
    /// The chunk.
    pub id: ChunkId,
    /// The cosine of the angle between its vector and the query's: from -1 to 1, but for rounding in
    /// single precision. A function of the two vectors alone.
    pub cosine: f64,
}

impl DenseHit {
    /// A hit of a custom engine.
    pub fn new(id: ChunkId, cosine: f64) -> Self {
        Self { id, cosine }
    }
}

/// How common a term is among the chunks that a scope sees.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermStatistic {
    /// The term as the analyzer writes it.
    pub term: String,
    /// How many visible chunks hold it.
    pub chunks: u64,
}

impl TermStatistic {
    /// A term that `chunks` visible chunks hold.
    pub fn new(term: impl Into<String>, chunks: u64) -> Self {
        Self { term: term.into(), chunks }
    }
}

/// How common the terms of a text are among the chunks that a scope sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermStatistics {
    /// How many chunks the scope sees.
    pub visible_chunks: u64,
    /// The distinct terms, in the order of the text.
    pub terms: Vec<TermStatistic>,
}

impl TermStatistics {
    /// Statistics of a custom engine.
    pub fn new(visible_chunks: u64, terms: Vec<TermStatistic>) -> Self {
        Self { visible_chunks, terms }
    }

    /// The inverse document frequency of a term of these statistics.
    pub fn idf(&self, term: &TermStatistic) -> f64 {
        inverse_document_frequency(self.visible_chunks, term.chunks)
    }
}

/// `ln(1 + (N - df + 0.5) / (df + 0.5))`, always above 0 (Robertson and Zaragoza 2009, with Lucene's
/// 1 inside the logarithm).
pub fn inverse_document_frequency(chunks: u64, holding: u64) -> f64 {
    let (n, df) = (chunks as f64, holding.min(chunks) as f64);
    (1.0 + (n - df + 0.5) / (df + 0.5)).ln()
}
