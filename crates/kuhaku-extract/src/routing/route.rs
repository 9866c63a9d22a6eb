//! Routes of the application, tried before the model is asked.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::component;
use crate::request::ExtractRequest;
use crate::step::StepError;

type Choose = dyn Fn(&ExtractRequest) -> Result<Option<String>, StepError> + Send + Sync;

/// A way to choose a schema without a model.
#[derive(Clone)]
pub struct Route {
    name: Cow<'static, str>,
    choose: Arc<Choose>,
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Route").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Route {
    /// Any function of the request that gives the name of a schema, or none to leave the choice to
    /// what comes after it. `name` is that of the route, for errors.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        choose: impl Fn(&ExtractRequest) -> Result<Option<String>, StepError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), choose: Arc::new(choose) }
    }

    /// Chooses `schema` for texts that hold one of these words or phrases, as whole words in any case.
    ///
    /// # Errors
    /// `extract.configuration` when there is none, or one is empty.
    pub fn keywords<I>(schema: impl Into<String>, keywords: I) -> Result<Self>
    where
        I: IntoIterator,
        I::Item: AsRef<str>,
    {
        let escape = |word: I::Item| regex::escape(word.as_ref().trim());
        let words: Vec<String> = keywords.into_iter().map(escape).collect();
        if words.is_empty() || words.iter().any(String::is_empty) {
            let wrong = "there is no keyword, or one is empty";
            return Err(Error::new(ErrorKind::Configuration, "make a route of keywords", wrong)
                .next("give at least one word, and none that is empty"));
        }
        let pattern = format!(r"\b{{start-half}}(?:{})\b{{end-half}}", words.join("|"));
        Self::regex(schema, &pattern)
    }

    /// Chooses `schema` for texts that match a regular expression, in any case of letters.
    ///
    /// # Errors
    /// `extract.configuration` when it is not one, or too large.
    pub fn regex(schema: impl Into<String>, pattern: &str) -> Result<Self> {
        let schema = schema.into();
        let compiled = RegexBuilder::new(pattern).case_insensitive(true).build();
        let regex: Regex = compiled.map_err(|source| {
            let wrong = "the pattern is no regular expression, or too large";
            Error::new(ErrorKind::Configuration, "make a route of a pattern", wrong)
                .next("see the syntax of the crate `regex`")
                .caused_by(source)
        })?;
        let name = Cow::Owned(schema.clone());
        Ok(Self::new(name, move |request| {
            Ok(regex.is_match(&request.text).then(|| schema.clone()))
        }))
    }

    /// Its name, for errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn choose(&self, request: &ExtractRequest) -> Result<Option<String>> {
        (self.choose)(request)
            .map_err(|cause| component(format!("follow the route `{}`", self.name), cause))
    }
}
