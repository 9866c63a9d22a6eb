//! The dialect of `/api/embed`.

use kuhaku_core::ErrorKind;
use serde_json::{Value, json};

use super::{body, fault};
use crate::dialect::Wire;
use crate::embeddings::{EmbeddingDialect, Purpose, vector};
use crate::fault::Fault;
use crate::words::Words;

/// What common models were trained to see before a document and before a query.
const PREFIXES: [(&str, &str, &str); 2] = [
    ("nomic-embed-text", "search_document: ", "search_query: "),
    ("mxbai-embed-large", "", "Represent this sentence for searching relevant passages: "),
];

/// An embedding model that an Ollama server has.
#[derive(Clone, Debug)]
pub(crate) struct OllamaEmbeddings {
    model: String,
    document: String,
    query: String,
    dimension: Option<u32>,
    keep_alive: Option<String>,
}

impl OllamaEmbeddings {
    /// A model by its name, with the prefixes that it is known to want.
    pub(crate) fn new(model: impl Into<String>) -> Self {
        let model = model.into();
        let name = model.rsplit('/').next().unwrap_or_default();
        let known = PREFIXES.iter().find(|(prefix, ..)| name.starts_with(prefix));
        let (document, query) = known.map_or(("", ""), |(_, document, query)| (document, query));
        let (document, query) = (document.to_owned(), query.to_owned());
        Self { model, document, query, dimension: None, keep_alive: None }
    }

    /// Sets what stands before a document and before a query.
    pub(crate) fn prefixes(mut self, document: &str, query: &str) -> Self {
        self.document = document.into();
        self.query = query.into();
        self
    }

    /// Asks for shorter vectors, of this many numbers.
    pub(crate) fn dimension(mut self, numbers: u32) -> Self {
        self.dimension = Some(numbers);
        self
    }

    /// Sets how long the server keeps the model loaded: seconds, or a text such as `5m`.
    pub(crate) fn keep_alive(mut self, time: impl Into<String>) -> Self {
        self.keep_alive = Some(time.into());
        self
    }
}

impl EmbeddingDialect for OllamaEmbeddings {
    fn fingerprint(&self) -> String {
        let Self { model, document, query, dimension, .. } = self;
        let dimension = dimension.map_or_else(|| "whole".to_owned(), |numbers| numbers.to_string());
        format!("ollama:{model};dimension={dimension};document={document:?};query={query:?};l2")
    }

    fn most_texts(&self) -> usize {
        64
    }

    fn wire(&self, texts: &[&str], purpose: Purpose) -> Wire {
        let prefix = match purpose {
            Purpose::Document => &self.document,
            Purpose::Query => &self.query,
        };
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut wire = Wire::new(
            "/api/embed",
            json!({"model": self.model, "input": input, "truncate": false}),
        );
        let options = [
            ("dimensions", self.dimension.map(Value::from)),
            ("keep_alive", self.keep_alive.as_deref().map(body::time_span)),
        ];
        if let Some(body) = wire.body.as_object_mut() {
            let set = options.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
            body.extend(set);
        }
        wire
    }

    fn vectors(&self, body: &Value) -> Result<Vec<Vec<f32>>, Fault> {
        if let Some(words) = Words::reported(body) {
            return Err(words.into_fault());
        }
        let list = body.get("embeddings").and_then(Value::as_array);
        let vectors = list.and_then(|list| list.iter().map(vector).collect());
        vectors.ok_or_else(|| Fault::malformed("the reply has no embeddings"))
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        let fault = fault::of_status(&self.model, status, body);
        if fault.kind == ErrorKind::ContextTooLong {
            return fault.next("use smaller chunks, or an embedding model with a larger context");
        }
        fault
    }
}
