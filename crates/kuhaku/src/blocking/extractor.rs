//! Structured extraction without `async`.

use std::sync::Arc;

use kuhaku_extract::{
    Batch, ExtractRequest, Extraction, ExtractionEvent, ExtractionStream, Preview,
};
use tokio::runtime::Runtime;

use super::runtime;
use crate::error::Result;

/// [`crate::Extractor`] for programs without a runtime.
///
/// ```no_run
/// use kuhaku::{ExtractRequest, ExtractorChoice, Fields, Runtime, Schema, Sources, blocking};
///
/// let (sources, runtime) = (Sources::from_process_env(), Runtime::system());
/// let choice = ExtractorChoice::from_sources(&sources, runtime)?;
/// let schema = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
/// let order = blocking::Extractor::choose(&choice, schema)?;
/// let result = order.extract("tea please")?;
/// if let Some(question) = &result.question {
///     println!("{question}");
///     let result = order.extract(ExtractRequest::new("3 boxes").prior(&result))?;
///     println!("{}", result.status);
/// }
/// # Ok::<(), kuhaku::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Extractor {
    extractor: kuhaku_extract::Extractor,
    runtime: Arc<Runtime>,
}

impl Extractor {
    /// Takes over an extractor.
    ///
    /// # Errors
    /// `kuhaku.system` when no runtime can be started.
    pub fn new(extractor: kuhaku_extract::Extractor) -> Result<Self> {
        Ok(Self { extractor, runtime: Arc::new(runtime()?) })
    }

    /// Chooses a model and makes an extractor.
    ///
    /// # Errors
    /// Those of [`crate::ExtractorChoice::builder`] and of building it, and `kuhaku.system` when no
    /// runtime can be started.
    #[cfg(feature = "llm")]
    pub fn choose(
        choice: &crate::ExtractorChoice,
        schema: impl Into<kuhaku_extract::Schema>,
    ) -> Result<Self> {
        let runtime = runtime()?;
        let extractor = runtime.block_on(choice.builder(schema))?.build()?;
        Ok(Self { extractor, runtime: Arc::new(runtime) })
    }

    /// Extracts from one text.
    ///
    /// # Errors
    /// Those of [`crate::Extractor::extract`].
    pub fn extract(&self, request: impl Into<ExtractRequest>) -> Result<Extraction> {
        Ok(self.runtime.block_on(self.extractor.extract(request))?)
    }

    /// The same, with values while the model writes them: see [`crate::Extractor::extract_stream`].
    pub fn extract_stream(&self, request: impl Into<ExtractRequest>) -> ExtractionEvents {
        let stream = self.extractor.extract_stream(request);
        ExtractionEvents { stream, runtime: self.runtime.clone() }
    }

    /// The first prompt of a request, without a call of the model.
    ///
    /// # Errors
    /// Those of [`crate::Extractor::preview`].
    pub fn preview(&self, request: impl Into<ExtractRequest>) -> Result<Preview> {
        Ok(self.runtime.block_on(self.extractor.preview(request))?)
    }

    /// Extracts from many texts, several at once, in their order. `set_up` sets how many, and who
    /// hears the progress.
    ///
    /// # Errors
    /// None of its own; each text has its own.
    pub fn batch<I>(&self, texts: I, set_up: impl FnOnce(Batch) -> Batch) -> Vec<Result<Extraction>>
    where
        I: IntoIterator,
        I::Item: Into<ExtractRequest>,
    {
        let batch = set_up(self.extractor.batch());
        let outcomes = self.runtime.block_on(batch.run(texts));
        outcomes.into_iter().map(|outcome| outcome.map_err(Into::into)).collect()
    }

    /// The extractor below, for what has no blocking form.
    pub fn inner(&self) -> &kuhaku_extract::Extractor {
        &self.extractor
    }
}

/// The events of an extraction, each when it has come. Dropping it ends the call of the model.
#[derive(Debug)]
#[must_use = "nothing is asked before the first event is taken"]
pub struct ExtractionEvents {
    stream: ExtractionStream,
    runtime: Arc<Runtime>,
}

impl Iterator for ExtractionEvents {
    type Item = Result<ExtractionEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.runtime.block_on(self.stream.next())?;
        Some(event.map_err(Into::into))
    }
}
