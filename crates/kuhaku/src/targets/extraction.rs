//! Extraction as a target.

use async_trait::async_trait;
use kuhaku_core::Message;
use kuhaku_eval::{Outcome, Sample, Target};
use kuhaku_extract::{ExtractRequest, Extraction, ExtractionStatus, Extractor, Router};
use serde_json::{Value, json};

/// Extracts from the sample's text, with the turns before it as history, by one extractor or by a router.
///
/// The object of an outcome is the data of an extractor, as they come from
/// [`Extractor::evaluate_sample`]; of a router an object with `schema` and `data`, as from
/// [`Router::evaluate_sample`]. A text that is asked about, or that fits no schema, counts as declined
/// beside that. An extraction that ends `failed` or `blocked` is a failure of that name.
#[derive(Clone, Debug)]
pub struct ExtractionTarget {
    name: String,
    tool: Tool,
}

#[derive(Clone, Debug)]
enum Tool {
    Extractor(Extractor),
    Router(Router),
}

impl ExtractionTarget {
    /// One schema.
    pub fn extractor(extractor: Extractor) -> Self {
        let name = format!("extract {}", extractor.schema().name());
        Self { name, tool: Tool::Extractor(extractor) }
    }

    /// Several schemas.
    pub fn router(router: Router) -> Self {
        Self { name: "extract by router".into(), tool: Tool::Router(router) }
    }

    fn object(&self, result: &Extraction) -> Value {
        match self.tool {
            Tool::Extractor(_) => result.data.clone().unwrap_or(Value::Null),
            Tool::Router(_) => json!({"schema": result.schema, "data": result.data}),
        }
    }
}

#[async_trait]
impl Target for ExtractionTarget {
    fn name(&self) -> &str {
        &self.name
    }

    async fn run(&self, sample: &Sample) -> Outcome {
        let turns = sample.history.iter().map(Message::user);
        let request = ExtractRequest::new(sample.query.as_str()).history(turns);
        let result = match &self.tool {
            Tool::Extractor(extractor) => extractor.extract(request).await,
            Tool::Router(router) => router.extract(request).await,
        };
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                let mut outcome = Outcome::failed(error.code());
                outcome.usage = error.usage();
                return outcome;
            }
        };
        use ExtractionStatus::{Blocked, Failed, NeedsClarification, NoMatch};
        let mut outcome = match result.status {
            Failed | Blocked => Outcome::failed(result.status.as_str()),
            _ => Outcome::extracted(self.object(&result)),
        };
        if outcome.failed.is_none() {
            outcome.abstained = Some(matches!(result.status, NeedsClarification | NoMatch));
        }
        outcome.usage = result.usage;
        outcome
    }
}
