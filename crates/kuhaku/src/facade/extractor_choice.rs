//! Extractors by the settings, the choice of the model included.

use kuhaku_core::{Problems, Runtime, Section as _, Sources};
use kuhaku_extract::{ExtractionSettings, Extractor, ExtractorBuilder, Schema, SecuritySettings};

use crate::ModelChoice;
use crate::error::Result;

/// What a model is sent.
const SENDS: &str = "texts to extract from";

/// Makes extractors by the settings: with the model that they name, or that is chosen as
/// [`ModelChoice`] says.
///
/// ```no_run
/// use kuhaku::{ExtractRequest, ExtractorChoice, Fields, Runtime, Schema, Sources};
///
/// # async fn order() -> kuhaku::Result<()> {
/// let (sources, runtime) = (Sources::from_process_env(), Runtime::system());
/// let choice = ExtractorChoice::from_sources(&sources, runtime)?;
/// let schema = Schema::from_fields(Fields::new().text("product").number("quantity"))?;
/// let order = choice.builder(schema).await?.build()?;
/// let result = order.extract("tea please").await?;
/// println!("{}", result.question.unwrap_or_default());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct ExtractorChoice {
    model: ModelChoice,
    settings: ExtractionSettings,
    security: SecuritySettings,
    runtime: Runtime,
}

impl ExtractorChoice {
    /// Reads all settings from these sources.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every value that is wrong.
    pub fn from_sources(sources: &Sources, runtime: Runtime) -> Result<Self> {
        let mut problems = Problems::default();
        let (llm, choosing) = ModelChoice::read(sources, &mut problems);
        let settings = ExtractionSettings::read(sources, &mut problems);
        settings.check(&mut problems);
        let security = SecuritySettings::read(sources, &mut problems);
        security.check(&mut problems);
        problems.into_result()?;
        let model = ModelChoice::new(llm, choosing, runtime.clone());
        Ok(Self { model, settings, security, runtime })
    }

    /// Chooses the model in this way, for example with a person to ask.
    pub fn model(mut self, choice: ModelChoice) -> Self {
        self.model = choice;
        self
    }

    /// The settings of extraction.
    pub fn settings(&self) -> &ExtractionSettings {
        &self.settings
    }

    /// Chooses the model, announces and remembers the choice, and begins an extractor with it.
    ///
    /// # Errors
    /// Those of [`ModelChoice::require`].
    pub async fn builder(&self, schema: impl Into<Schema>) -> Result<ExtractorBuilder> {
        let schema = schema.into();
        let model = self.model.clone().sends(SENDS).require().await?;
        Ok(Extractor::builder(schema, model)
            .settings(self.settings.clone())
            .security(self.security.clone())
            .runtime(self.runtime.clone()))
    }
}
