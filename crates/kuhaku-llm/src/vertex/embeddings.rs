//! The dialect of `predict` for text embeddings.

use kuhaku_core::{ErrorKind, Result};
use serde_json::{Map, Value, json};

use super::dialect::charged;
use super::fault;
use super::place::{self, Place};
use crate::dialect::Wire;
use crate::embeddings::{EmbeddingDialect, Purpose, vector};
use crate::fault::Fault;
use crate::words::Words;

/// An embedding model on Vertex AI.
#[derive(Clone, Debug)]
pub(crate) struct VertexEmbeddings {
    place: Place,
    model: String,
    dimension: Option<u32>,
    quota_project: Option<String>,
}

impl VertexEmbeddings {
    /// A model by its name.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidSettings`] when the name is blank or cannot be part of an address.
    pub(crate) fn new(place: Place, model: &str) -> Result<Self> {
        let model = place::model(model)?;
        Ok(Self { place, model, dimension: None, quota_project: None })
    }

    /// Asks for shorter vectors, of this many numbers.
    pub(crate) fn dimension(mut self, numbers: u32) -> Self {
        self.dimension = Some(numbers);
        self
    }

    /// Sets which project a person's calls are charged to.
    pub(crate) fn quota_project(mut self, project: Option<String>) -> Self {
        self.quota_project = project;
        self
    }
}

impl EmbeddingDialect for VertexEmbeddings {
    fn fingerprint(&self) -> String {
        let dimension = self.dimension.map_or_else(|| "whole".to_owned(), |n| n.to_string());
        format!("vertex:{};dimension={dimension};tasks=retrieval;l2", self.model)
    }

    /// Gemini's embedding models take one text; the older ones 250, and 20,000 tokens in all, which
    /// this number of chunks stays below.
    fn most_texts(&self) -> usize {
        if self.model.contains("gemini") { 1 } else { 16 }
    }

    fn wire(&self, texts: &[&str], purpose: Purpose) -> Wire {
        let task = match purpose {
            Purpose::Document => "RETRIEVAL_DOCUMENT",
            Purpose::Query => "RETRIEVAL_QUERY",
        };
        let instances = texts.iter().map(|text| json!({"content": text, "task_type": task}));
        let mut parameters = Map::new();
        parameters.insert("autoTruncate".into(), false.into());
        if let Some(numbers) = self.dimension {
            parameters.insert("outputDimensionality".into(), numbers.into());
        }
        let body = json!({"instances": instances.collect::<Vec<_>>(), "parameters": parameters});
        let wire = Wire::new(self.place.path(&self.model, "predict"), body);
        charged(wire, self.quota_project.as_deref())
    }

    fn vectors(&self, body: &Value) -> Result<Vec<Vec<f32>>, Fault> {
        if let Some(words) = Words::reported(body) {
            return Err(fault::of_event(body, words));
        }
        let predictions = body.get("predictions").and_then(Value::as_array);
        let Some(predictions) = predictions else {
            return Err(Fault::malformed("the reply has no predictions"));
        };
        let cut = |prediction: &Value| {
            prediction.pointer("/embeddings/statistics/truncated") == Some(&Value::Bool(true))
        };
        if predictions.iter().any(cut) {
            let wrong = "a text was longer than the model takes, and was cut";
            return Err(Fault::new(ErrorKind::ContextTooLong, wrong).next("use smaller chunks"));
        }
        let values = predictions.iter().map(|one| vector(one.pointer("/embeddings/values")?));
        let vectors = values.collect::<Option<Vec<_>>>();
        vectors.ok_or_else(|| Fault::malformed("a prediction has no vector"))
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        fault::of_status(status, body)
    }
}
