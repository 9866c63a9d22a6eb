//! A part of the pipeline.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;

/// How a step of the application fails: with any error. Those of this crate and of core are passed on
/// as they are; others become `extract.component`, which names the step.
pub type StepError = Box<dyn StdError + Send + Sync>;

/// A part of the [`Pipeline`](crate::Pipeline).
///
/// All steps prepare before any runs: they may add blocks and rules to the prompt then. The built-in
/// step `extract` asks the model when it runs; steps after it see what came of that.
///
/// ```
/// use async_trait::async_trait;
/// use kuhaku_extract::{Context, Step, StepError};
///
/// /// Tells the model the opening hours.
/// #[derive(Debug)]
/// struct OpeningHours;
///
/// #[async_trait]
/// impl Step for OpeningHours {
///     fn name(&self) -> &str {
///         "opening_hours"
///     }
///
///     async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
///         context.add_block("opening_hours", "When the shop is open", "Mo-Fr 9-18");
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Step: Send + Sync + fmt::Debug {
    /// Its name within a pipeline.
    fn name(&self) -> &str;

    /// Before the model is asked.
    ///
    /// # Errors
    /// Any; it ends the request.
    async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
        let _ = context;
        Ok(())
    }

    /// Its turn, in the order of the pipeline.
    ///
    /// # Errors
    /// Any; it ends the request.
    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        let _ = context;
        Ok(())
    }
}

#[async_trait]
impl<S: Step + ?Sized> Step for Arc<S> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn prepare(&self, context: &mut Context) -> Result<(), StepError> {
        (**self).prepare(context).await
    }

    async fn run(&self, context: &mut Context) -> Result<(), StepError> {
        (**self).run(context).await
    }
}
