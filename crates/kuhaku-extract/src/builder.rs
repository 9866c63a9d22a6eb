//! Putting an extractor together.

use std::sync::Arc;

use kuhaku_core::{AuditLog, LlmProvider, Masker, Problems, Runtime, Section as _};

use crate::audit_file::Audit;
use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::extractor::Extractor;
use crate::parts::{Core, Guarding, Masking};
use crate::pipeline::{Pipeline, Place};
use crate::prompt::FRAMING;
use crate::reply::ReplyLimits;
use crate::rule::Rule;
use crate::schema::{Schema, TypedSchema};
use crate::settings::{ExtractionSettings, SecuritySettings};
use crate::steps::Rules;

impl<T> From<TypedSchema<T>> for Schema {
    fn from(schema: TypedSchema<T>) -> Self {
        schema.untyped().clone()
    }
}

impl<T> From<&TypedSchema<T>> for Schema {
    fn from(schema: &TypedSchema<T>) -> Self {
        schema.untyped().clone()
    }
}

/// Makes an [`Extractor`]; begun by [`Extractor::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ExtractorBuilder {
    schema: Schema,
    models: Vec<Arc<dyn LlmProvider>>,
    settings: ExtractionSettings,
    security: SecuritySettings,
    pipeline: Pipeline,
    rules: Vec<Rule>,
    framing: String,
    runtime: Runtime,
    masking: Masking,
    audit: Option<AuditLog>,
    reply_limits: ReplyLimits,
}

impl ExtractorBuilder {
    pub(crate) fn new(schema: Schema, model: Arc<dyn LlmProvider>) -> Self {
        Self {
            schema,
            models: vec![model],
            settings: ExtractionSettings::default(),
            security: SecuritySettings::default(),
            pipeline: Pipeline::new(),
            rules: Vec::new(),
            framing: FRAMING.to_owned(),
            runtime: Runtime::system(),
            masking: Masking::default(),
            audit: None,
            reply_limits: ReplyLimits::default(),
        }
    }

    /// Adds a model that is asked when those before are down or give nothing usable. Values that are
    /// missing never lead to it.
    pub fn fallback(mut self, model: Arc<dyn LlmProvider>) -> Self {
        self.models.push(model);
        self
    }

    /// Uses other settings.
    pub fn settings(mut self, settings: ExtractionSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Turns masking or the injection guard on.
    pub fn security(mut self, security: SecuritySettings) -> Self {
        self.security = security;
        self
    }

    /// Uses other steps.
    pub fn pipeline(mut self, pipeline: Pipeline) -> Self {
        self.pipeline = pipeline;
        self
    }

    /// Adds a rule for complete values.
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Replaces the first sentences of the instructions: who the model is told to be. The rules stay.
    pub fn framing(mut self, framing: impl Into<String>) -> Self {
        self.framing = framing.into();
        self
    }

    /// Uses another handle for clock, random bytes and metrics.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Masks with another masker. It is used for the audit and, when `security.sanitize` is on, for
    /// all that a model sees.
    pub fn masker(mut self, masker: Arc<dyn Masker>) -> Self {
        self.masking = Masking::with(masker);
        self
    }

    /// Keeps a record of every request; wins over `extraction.audit_log_path`. Without either there
    /// is none (D36).
    pub fn audit(mut self, log: AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// Reads more or less of a reply.
    pub fn reply_limits(mut self, limits: ReplyLimits) -> Self {
        self.reply_limits = limits;
        self
    }

    /// The finished extractor.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every setting that is out of range; `extract.schema` when the
    /// schema does not describe an object; `extract.configuration` when the pipeline has a step of
    /// its own named `rules` and there are rules as well.
    pub fn build(self) -> Result<Extractor> {
        let mut problems = Problems::default();
        self.settings.check(&mut problems);
        self.security.check(&mut problems);
        problems.into_result().adopt()?;
        if !self.schema.describes_an_object() {
            let wrong = "its schema does not describe an object with names";
            return Err(Error::new(ErrorKind::Schema, "build an extractor", wrong)
                .next("put what you want extracted under a name of an object"));
        }
        let mut pipeline = self.pipeline;
        if !self.rules.is_empty() {
            pipeline.add(Rules(self.rules), Place::End)?;
        }
        let audit = match (self.audit, &self.settings.audit_log_path) {
            (Some(log), _) => Audit::Log(log),
            (None, Some(path)) => Audit::file(path.clone()),
            (None, None) => Audit::Off,
        };
        Ok(Extractor {
            core: Arc::new(Core {
                coercion: self.settings.coercion(),
                schema: self.schema,
                models: self.models,
                settings: self.settings,
                security: self.security,
                pipeline,
                framing: self.framing,
                runtime: self.runtime,
                masking: self.masking,
                guard: Guarding::default(),
                audit,
                reply_limits: self.reply_limits,
            }),
        })
    }
}
