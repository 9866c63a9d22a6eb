//! A set in memory with its vectors, and the retrievers of the product over it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use kuhaku::eval::{BeirFolder, Dataset};
use kuhaku::index::{Batch, Change, ChunkIndex as _, ChunkReader, Vector, VectorSpace};
use kuhaku::rag::{
    DenseRetriever, Fuser, Fusion, HybridRetriever, RetrievalRequest, Retriever, SparseRetriever,
};
use kuhaku::{RagSettings, Scope, Section as _, Sources, corpus_batches, empty_index};
use kuhaku_core::{Embedder, Error, ErrorKind};

use super::super::block_on;
use super::super::embed::Vectors;
use super::matrix::Set;
use crate::error::{Result, cannot};

/// How a ranking is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    Words,
    Vectors,
    Both(Weighted),
}

/// Words and vectors fused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Weighted {
    pub(super) fusion: Fusion,
    /// How much vectors count; words count the rest of 1.
    pub(super) dense: f64,
    pub(super) depth: usize,
}

/// Gives questions the vectors that they have in a file.
#[derive(Debug)]
pub(in crate::bench) struct Lookup {
    fingerprint: String,
    vectors: HashMap<String, Vec<f32>>,
}

#[async_trait]
impl Embedder for Lookup {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    async fn embed_documents(&self, texts: &[&str]) -> kuhaku_core::Result<Vec<Vec<f32>>> {
        texts.iter().map(|text| self.of(text)).collect()
    }

    async fn embed_query(&self, text: &str) -> kuhaku_core::Result<Vec<f32>> {
        self.of(text)
    }
}

impl Lookup {
    /// With the vectors of texts, of this model.
    pub(in crate::bench) fn new(model: &str, vectors: HashMap<String, Vec<f32>>) -> Self {
        Self { fingerprint: format!("bench {model}"), vectors }
    }

    fn of(&self, text: &str) -> kuhaku_core::Result<Vec<f32>> {
        self.vectors.get(text).cloned().ok_or_else(|| {
            Error::new(ErrorKind::InvalidInput, "look up a vector", "the text has none")
        })
    }
}

/// A set in memory.
#[derive(Debug)]
pub(super) struct Corpus {
    pub(super) reader: Arc<dyn ChunkReader>,
    pub(super) embedder: Arc<Lookup>,
    pub(super) settings: RagSettings,
}

/// The settings of a language, with others over them.
pub(super) fn settings<'a>(
    language: &str,
    others: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<RagSettings> {
    let mut sources = Sources::new().set("rag.language", language);
    for (path, value) in others {
        sources = sources.set(path, value.as_str());
    }
    RagSettings::load(&sources).map_err(|error| cannot("read settings", error))
}

/// The judged questions of a split.
pub(super) fn dataset(data: &Path, name: &str, split: &str) -> Result<Dataset> {
    let folder = BeirFolder::open(data.join(name)).map_err(|error| cannot("open a set", error))?;
    folder.dataset(split).map_err(|error| cannot("read a set", error))
}

impl Corpus {
    /// Indexes a set as `retrieval` does, with vectors; nothing when there are none of them.
    pub(super) fn open(
        data: &Path,
        set: &Set,
        settings: RagSettings,
        read: &dyn Fn(&str) -> Result<Option<Vectors>>,
    ) -> Result<Option<Self>> {
        let Some(documents) = read(&set.documents)? else { return Ok(None) };
        let mut lookup = Lookup::new(&documents.manifest.model, HashMap::new());
        let asked = data.join(set.asked_in.as_ref().unwrap_or(&set.name));
        let asked = BeirFolder::open(asked).map_err(|error| cannot("open a set", error))?;
        let mut texts = HashMap::new();
        for split in asked.splits().map_err(|error| cannot("list splits", error))? {
            let cases = asked.dataset(&split).map_err(|error| cannot("read a set", error))?;
            let pairs = cases.cases().iter().map(|case| &case.sample);
            texts.extend(pairs.map(|sample| (sample.id.clone(), sample.query.clone())));
        }
        for name in &set.questions {
            let Some(questions) = read(name)? else { return Ok(None) };
            for id in &questions.manifest.ids {
                if let (Some(text), Some(row)) = (texts.get(id), questions.get(id)) {
                    lookup.vectors.insert(text.clone(), row.to_vec());
                }
            }
        }
        let index = empty_index(&settings);
        let space = VectorSpace::new(&lookup.fingerprint, documents.manifest.dim);
        let failed = |error| cannot("index a set", error);
        block_on(index.maintenance().adopt_embedder(Some(space)))?.map_err(failed)?;
        let folder = BeirFolder::open(data.join(&set.name));
        let folder = folder.map_err(|error| cannot("open a set", error))?;
        for batch in corpus_batches(&folder).map_err(|error| cannot("read a set", error))? {
            index.write(with_vectors(batch, &documents)?).map_err(failed)?;
        }
        let reader = block_on(index.reader(&Scope::anonymous()))?.map_err(failed)?;
        Ok(Some(Self { reader, embedder: Arc::new(lookup), settings }))
    }

    /// The defaults of the product.
    pub(super) fn default_way(&self) -> Way {
        let settings = &self.settings;
        let all = settings.dense_weight + settings.sparse_weight;
        Way::Both(Weighted {
            fusion: settings.fusion,
            dense: settings.dense_weight / all,
            depth: settings.fetch_k,
        })
    }

    /// The retriever of the product.
    pub(super) fn retriever(&self, way: Way) -> Box<dyn Retriever> {
        let dense = DenseRetriever::new(Arc::clone(&self.embedder) as Arc<dyn Embedder>);
        let sparse = SparseRetriever::new(self.settings.bm25());
        match way {
            Way::Words => Box::new(sparse),
            Way::Vectors => Box::new(dense),
            Way::Both(Weighted { fusion, dense: weight, depth }) => {
                let fuser = Fuser::new(fusion).rrf_k(self.settings.rrf_k);
                let hybrid = HybridRetriever::new(dense, sparse, fuser);
                Box::new(hybrid.weights(weight, 1.0 - weight).depth(depth))
            }
        }
    }

    /// What a question is to a retriever.
    pub(super) fn request(&self, question: &str, limit: usize) -> RetrievalRequest {
        RetrievalRequest::new(question, Arc::clone(&self.reader), limit)
    }

    /// The documents that each question of a set finds, best first.
    pub(super) fn rankings(
        &self,
        dataset: &Dataset,
        way: Way,
        limit: usize,
    ) -> Result<HashMap<String, Vec<String>>> {
        let retriever = self.retriever(way);
        block_on(async {
            let mut rankings = HashMap::new();
            for case in dataset.cases() {
                let request = self.request(&case.sample.query, limit);
                let found = retriever.retrieve(&request).await;
                let found = found.map_err(|error| cannot("search", error))?;
                let ids = found.hits.iter().map(|hit| hit.chunk.id.document().to_string());
                rankings.insert(case.sample.id.clone(), ids.collect());
            }
            Ok(rankings)
        })?
    }
}

/// Gives the one chunk of each document its vector.
pub(in crate::bench) fn with_vectors(batch: Batch, vectors: &Vectors) -> Result<Batch> {
    let mut whole = Batch::new();
    for change in batch.into_changes() {
        let Change::Upsert(mut record) = change else { continue };
        let row = vectors.get(record.id.as_str()).map(<[f32]>::to_vec);
        let vector = row
            .ok_or("a document has none")
            .and_then(|row| Vector::new(row).map_err(|_| "a document's is no direction"));
        let vector = vector.map_err(|wrong| cannot("take ready-made vectors", wrong))?;
        for chunk in &mut record.chunks {
            chunk.vector = Some(vector.clone());
        }
        whole = whole.upsert(*record);
    }
    Ok(whole)
}
