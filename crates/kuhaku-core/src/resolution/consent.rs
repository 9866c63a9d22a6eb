//! The port through which a person is asked. The command implements it; libraries never ask.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::candidate::ConsentStep;

/// Asks a person.
#[async_trait]
pub trait Consent: Send + Sync + fmt::Debug {
    /// Whether there is anybody to ask. When not, the other methods are not called.
    fn is_interactive(&self) -> bool;

    /// Lets the person pick one of the options: its position, or `None` for no answer.
    async fn choose(&self, question: &str, options: &[String]) -> Option<usize>;

    /// Asks for one step. Only a clear yes is true. The answer is never remembered.
    async fn confirm(&self, step: &ConsentStep) -> bool;
}

#[async_trait]
impl<C: Consent + ?Sized> Consent for Arc<C> {
    fn is_interactive(&self) -> bool {
        (**self).is_interactive()
    }

    async fn choose(&self, question: &str, options: &[String]) -> Option<usize> {
        (**self).choose(question, options).await
    }

    async fn confirm(&self, step: &ConsentStep) -> bool {
        (**self).confirm(step).await
    }
}

/// For programs that nobody watches: picks nothing and consents to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyToAsk;

#[async_trait]
impl Consent for NobodyToAsk {
    fn is_interactive(&self) -> bool {
        false
    }

    async fn choose(&self, _question: &str, _options: &[String]) -> Option<usize> {
        None
    }

    async fn confirm(&self, _step: &ConsentStep) -> bool {
        false
    }
}

/// Whether a program may ask: input and messages are at a terminal, and neither `CI` nor
/// `KUHAKU_NONINTERACTIVE` has a value. `variable` looks a variable up.
///
/// ```
/// use kuhaku_core::may_ask;
/// let in_ci = |name: &str| (name == "CI").then(|| "true".to_owned());
/// assert!(may_ask(true, |_| None));
/// assert!(!may_ask(true, in_ci));
/// ```
pub fn may_ask(at_terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    let silenced = |name| variable(name).is_some_and(|value| !value.is_empty());
    at_terminal && !["CI", "KUHAKU_NONINTERACTIVE"].into_iter().any(silenced)
}
