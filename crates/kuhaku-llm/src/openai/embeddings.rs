//! The dialect of `/embeddings`.

use serde_json::{Value, json};

use crate::dialect::Wire;
use crate::embeddings::{EmbeddingDialect, Purpose, vector};
use crate::fault::Fault;
use crate::service::Service;
use crate::words::Words;

/// An embedding model behind an endpoint of OpenAI's kind.
#[derive(Clone, Debug)]
pub(crate) struct OpenAiEmbeddings {
    pub(crate) service: Service,
    pub(crate) model: String,
    /// The length of the vectors that is asked for.
    pub(crate) dimension: Option<u32>,
    /// What stands before a document and before a query.
    pub(crate) prefixes: (String, String),
}

impl EmbeddingDialect for OpenAiEmbeddings {
    fn fingerprint(&self) -> String {
        let Self { service, model, dimension, prefixes: (document, query) } = self;
        let dimension = dimension.map_or_else(|| "whole".to_owned(), |numbers| numbers.to_string());
        format!("{service}:{model};dimension={dimension};document={document:?};query={query:?};l2")
    }

    /// OpenAI takes 300,000 tokens at a time, of which a chunk is a small part; compatible servers
    /// take 32 texts unless they are told otherwise.
    fn most_texts(&self) -> usize {
        if self.service == Service::OpenAi { 128 } else { 32 }
    }

    fn wire(&self, texts: &[&str], purpose: Purpose) -> Wire {
        let prefix = match purpose {
            Purpose::Document => &self.prefixes.0,
            Purpose::Query => &self.prefixes.1,
        };
        let input: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let mut body = json!({"model": self.model, "input": input, "encoding_format": "float"});
        if let (Some(numbers), Some(body)) = (self.dimension, body.as_object_mut()) {
            body.insert("dimensions".into(), numbers.into());
        }
        Wire::new("/embeddings", body)
    }

    fn vectors(&self, body: &Value) -> Result<Vec<Vec<f32>>, Fault> {
        if let Some(words) = Words::reported(body) {
            return Err(words.into_fault());
        }
        let rows = body.get("data").and_then(Value::as_array);
        let rows = rows.ok_or_else(|| Fault::malformed("the reply has no embeddings"))?;
        let read = |(place, row): (usize, &Value)| {
            let index = match row.get("index") {
                Some(index) => index.as_u64().and_then(|index| usize::try_from(index).ok())?,
                None => place,
            };
            Some((index, vector(row.get("embedding")?)?))
        };
        let read: Option<Vec<_>> = rows.iter().enumerate().map(read).collect();
        let mut rows = read.ok_or_else(|| Fault::malformed("an embedding is not a vector"))?;
        // Servers that work on texts at the same time answer in any order.
        rows.sort_by_key(|(index, _)| *index);
        if rows.iter().enumerate().any(|(place, (index, _))| place != *index) {
            return Err(Fault::malformed("the embeddings are not one per text"));
        }
        Ok(rows.into_iter().map(|(_, vector)| vector).collect())
    }

    fn failure(&self, status: u16, body: &Value) -> Fault {
        let fault = Fault::of_status(status);
        match Words::of(body) {
            Some(words) => words.refine(fault),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::ErrorKind;

    use super::*;

    fn model() -> OpenAiEmbeddings {
        OpenAiEmbeddings {
            service: Service::OpenAiCompat,
            model: "e5".into(),
            dimension: Some(2),
            prefixes: ("passage: ".into(), "query: ".into()),
        }
    }

    #[test]
    fn texts_go_with_their_prefix_and_the_dimension() {
        let body = |purpose| model().wire(&["a", "b"], purpose).body;
        assert_eq!(
            body(Purpose::Document),
            json!({
                "model": "e5", "input": ["passage: a", "passage: b"],
                "encoding_format": "float", "dimensions": 2,
            })
        );
        assert_eq!(body(Purpose::Query)["input"], json!(["query: a", "query: b"]));
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let reply = json!({"data": [
            {"index": 1, "embedding": [0.0, 1.0]},
            {"index": 0, "embedding": [1.0, 0.0]},
        ]});
        assert_eq!(model().vectors(&reply).unwrap(), [[1.0, 0.0], [0.0, 1.0]]);
        let unnumbered = json!({"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]});
        assert_eq!(model().vectors(&unnumbered).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn what_is_not_one_vector_per_text_is_refused() {
        for reply in [
            json!({}),
            json!({"data": [{"index": 0, "embedding": null}]}),
            json!({"data": [{"index": 0, "embedding": ["x"]}]}),
            json!({"data": [{"index": -1, "embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
        ] {
            let fault = model().vectors(&reply).unwrap_err();
            assert_eq!(fault.kind, ErrorKind::MalformedResponse, "{reply}");
        }
        let failed = json!({"error": {"message": "m", "code": 429}});
        assert_eq!(model().vectors(&failed).unwrap_err().kind, ErrorKind::RateLimited);
    }
}
