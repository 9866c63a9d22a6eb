//! The steps of an extraction, in order.

use std::sync::Arc;

use crate::context::Context;
use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::observed;
use crate::step::{Step, StepError};
use crate::steps::{Extracting, LookingUp, Security, SlotFilling};

/// Where a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place<'a> {
    /// Behind all others.
    End,
    /// Right before the step of this name.
    Before(&'a str),
    /// Right behind the step of this name.
    After(&'a str),
}

/// The steps of an extraction: `security`, `extract`, `slot_filling`, `evidence`, then those of the
/// application, and `rules` at the end if there are any.
///
/// ```
/// use kuhaku_extract::Pipeline;
/// # fn main() -> kuhaku_extract::Result<()> {
/// let mut pipeline = Pipeline::new();
/// pipeline.disable("slot_filling")?;
/// assert!(pipeline.disable("extract").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pipeline {
    steps: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    step: Arc<dyn Step>,
    enabled: bool,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self::new()
    }
}

impl Pipeline {
    /// The built-in steps.
    pub fn new() -> Self {
        let steps: [Arc<dyn Step>; 4] =
            [Arc::new(Security), Arc::new(Extracting), Arc::new(SlotFilling), Arc::new(LookingUp)];
        let entry = |step| Entry { step, enabled: true };
        Self { steps: steps.into_iter().map(entry).collect() }
    }

    /// Adds a step.
    ///
    /// # Errors
    /// `extract.configuration` when there is one of its name already, or none of the name that it
    /// shall stand beside.
    pub fn add(&mut self, step: impl Step + 'static, place: Place<'_>) -> Result<()> {
        self.add_shared(Arc::new(step), place)
    }

    pub(crate) fn add_shared(&mut self, step: Arc<dyn Step>, place: Place<'_>) -> Result<()> {
        let tried = "add a step to the pipeline";
        if self.contains(step.name()) {
            let wrong = format!("there is a step `{}` already", step.name());
            return Err(wrong_pipeline(tried, wrong).next("replace it, or choose another name"));
        }
        let at = match place {
            Place::End => self.steps.len(),
            Place::Before(name) => self.find(tried, name)?,
            Place::After(name) => self.find(tried, name)? + 1,
        };
        self.steps.insert(at, Entry { step, enabled: true });
        Ok(())
    }

    /// Takes a step out.
    ///
    /// # Errors
    /// `extract.configuration` when there is none of this name, and for `extract`.
    pub fn remove(&mut self, name: &str) -> Result<()> {
        let at = self.find_dispensable("remove a step from the pipeline", name)?;
        self.steps.remove(at);
        Ok(())
    }

    /// Puts another step in the place of the one of its name.
    ///
    /// # Errors
    /// `extract.configuration` when there is none of its name.
    pub fn replace(&mut self, step: impl Step + 'static) -> Result<()> {
        let at = self.find("replace a step of the pipeline", step.name())?;
        if let Some(entry) = self.steps.get_mut(at) {
            entry.step = Arc::new(step);
        }
        Ok(())
    }

    /// Has a step take part again.
    ///
    /// # Errors
    /// `extract.configuration` when there is none of this name.
    pub fn enable(&mut self, name: &str) -> Result<()> {
        self.switch("enable a step of the pipeline", name, true)
    }

    /// Has a step take no part, and keeps its place.
    ///
    /// # Errors
    /// `extract.configuration` when there is none of this name, and for `extract`.
    pub fn disable(&mut self, name: &str) -> Result<()> {
        self.find_dispensable("disable a step of the pipeline", name)?;
        self.switch("disable a step of the pipeline", name, false)
    }

    /// The step of this name.
    pub fn get(&self, name: &str) -> Option<&dyn Step> {
        let entry = self.steps.iter().find(|entry| entry.step.name() == name)?;
        Some(&*entry.step)
    }

    /// Whether there is a step of this name, enabled or not.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Whether there is a step of this name that takes part.
    pub fn is_enabled(&self, name: &str) -> bool {
        self.steps.iter().any(|entry| entry.enabled && entry.step.name() == name)
    }

    /// The names of the steps in their order, disabled ones included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|entry| entry.step.name())
    }

    pub(crate) async fn prepare(&self, context: &mut Context) -> Result<()> {
        for step in self.enabled() {
            named(step, "prepare", step.prepare(context).await)?;
        }
        Ok(())
    }

    pub(crate) async fn run(&self, context: &mut Context) -> Result<()> {
        for step in self.enabled() {
            if context.is_stopped() {
                break;
            }
            let stage = observed::step(&context.core.runtime, step.name());
            let work = async { named(step, "run", step.run(context).await) };
            stage.run(work).await?;
        }
        Ok(())
    }

    fn enabled(&self) -> impl Iterator<Item = &dyn Step> {
        self.steps.iter().filter(|entry| entry.enabled).map(|entry| &*entry.step)
    }

    fn switch(&mut self, tried: &'static str, name: &str, enabled: bool) -> Result<()> {
        let at = self.find(tried, name)?;
        if let Some(entry) = self.steps.get_mut(at) {
            entry.enabled = enabled;
        }
        Ok(())
    }

    fn find(&self, tried: &'static str, name: &str) -> Result<usize> {
        self.steps.iter().position(|entry| entry.step.name() == name).ok_or_else(|| {
            let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            wrong_pipeline(tried, format!("there is no step `{name}`"))
                .next(format!("name one of {}", names.join(", ")))
        })
    }

    fn find_dispensable(&self, tried: &'static str, name: &str) -> Result<usize> {
        if name == Extracting::NAME {
            return Err(wrong_pipeline(
                tried,
                "without `extract` there is nothing to extract with",
            )
            .next("keep it, or replace it by a step of the same name"));
        }
        self.find(tried, name)
    }
}

fn wrong_pipeline(tried: &'static str, wrong: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Configuration, tried, wrong)
}

/// The failure of a step under its name, unless it speaks for itself.
fn named(step: &dyn Step, phase: &'static str, outcome: Result<(), StepError>) -> Result<()> {
    let Err(error) = outcome else { return Ok(()) };
    let error = match error.downcast::<Error>() {
        Ok(own) => return Err(*own),
        Err(error) => error,
    };
    match error.downcast::<kuhaku_core::Error>() {
        Ok(core) => Err(*core).adopt(),
        Err(error) => Err(component(format!("{phase} the step `{}`", step.name()), error)),
    }
}

/// The failure of a part of the application.
pub(crate) fn component(tried: String, cause: StepError) -> Error {
    Error::new(ErrorKind::Component, tried, "it failed")
        .next("see its own error, which is the source of this one")
        .caused_by(cause)
}
