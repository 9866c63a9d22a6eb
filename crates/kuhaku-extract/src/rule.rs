//! Rules of the application: what no schema can say.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::step::StepError;

type Checking = Pin<Box<dyn Future<Output = Result<Vec<Violation>, StepError>> + Send>>;

/// A check of complete values: those that lack nothing and satisfy the schema.
///
/// ```
/// use kuhaku_extract::{Rule, Violation};
/// #[derive(serde::Deserialize)]
/// struct Order {
///     quantity: u32,
/// }
/// let rule = Rule::new("stock", |order: &Order| {
///     let too_many = Violation::new("stock", "at most 10 boxes are in stock").at("/quantity");
///     (order.quantity > 10).then_some(too_many)
/// });
/// assert_eq!(rule.name(), "stock");
/// ```
#[derive(Clone)]
pub struct Rule {
    name: Cow<'static, str>,
    check: Arc<dyn Fn(&Value) -> Checking + Send + Sync>,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Whether the person is asked, instead of the result being invalid.
    pub asks: bool,
    /// A stable word for it.
    pub code: Cow<'static, str>,
    /// What is wrong, in words.
    pub message: Cow<'static, str>,
    /// Which value it is about: a JSON Pointer into the data.
    pub path: Option<String>,
}

impl Violation {
    /// A violation that makes the result invalid.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self { asks: false, code: code.into(), message: message.into(), path: None }
    }

    /// One after which the person is asked for the value: the result needs clarification.
    pub fn asking(
        code: impl Into<Cow<'static, str>>,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { asks: true, ..Self::new(code, message) }
    }

    /// Says which value it is about: a JSON Pointer into the data.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

impl Rule {
    /// A rule that looks at the value as a type of the program.
    pub fn new<T, F, I>(name: impl Into<Cow<'static, str>>, check: F) -> Self
    where
        T: DeserializeOwned,
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = Violation>,
    {
        Self::fallible(name, move |value: &T| Ok(check(value).into_iter().collect()))
    }

    /// One that may fail itself, with any error: that ends the request with `extract.component`,
    /// whose source is that error.
    pub fn fallible<T, F>(name: impl Into<Cow<'static, str>>, check: F) -> Self
    where
        T: DeserializeOwned,
        F: Fn(&T) -> Result<Vec<Violation>, StepError> + Send + Sync + 'static,
    {
        let check = move |value: &Value| -> Checking {
            let outcome = read::<T>(value).and_then(|value| check(&value));
            Box::pin(std::future::ready(outcome))
        };
        Self { name: name.into(), check: Arc::new(check) }
    }

    /// One that waits for something, such as a look into a database, and may fail like
    /// [`fallible`](Self::fallible) ones.
    pub fn waiting<T, F, W>(name: impl Into<Cow<'static, str>>, check: F) -> Self
    where
        T: DeserializeOwned,
        F: Fn(T) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Vec<Violation>, StepError>> + Send + 'static,
    {
        let check = move |value: &Value| -> Checking {
            match read::<T>(value) {
                Ok(value) => Box::pin(check(value)),
                Err(error) => Box::pin(std::future::ready(Err(error))),
            }
        };
        Self { name: name.into(), check: Arc::new(check) }
    }

    /// Its name, for errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) async fn check(&self, value: &Value) -> Result<Vec<Violation>, StepError> {
        (self.check)(value).await
    }
}

/// The errors of serde quote values, so only their kind is passed on (R7).
fn read<T: DeserializeOwned>(value: &Value) -> Result<T, StepError> {
    T::deserialize(value).map_err(|_| "the value is not of the type that the rule takes".into())
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).finish_non_exhaustive()
    }
}
