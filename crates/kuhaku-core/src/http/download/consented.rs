//! The proof that somebody said yes.

use crate::error::{Error, ErrorKind, Result};
use crate::resolution::{Consent, ConsentStep};

/// Somebody agreed to a download (R3). Every download takes one, so none can be forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Consented(());

impl Consented {
    /// Asks for one step.
    ///
    /// # Errors
    /// [`ErrorKind::ConsentRequired`], which names the step's command, when there is nobody to ask
    /// or the answer is not a clear yes.
    pub async fn ask(consent: &dyn Consent, step: &ConsentStep) -> Result<Self> {
        let wrong = if !consent.is_interactive() {
            "that needs a yes, and there is nobody to ask"
        } else if consent.confirm(step).await {
            return Ok(Self(()));
        } else {
            "that needs a yes, and the answer was not one"
        };
        Err(Error::new(ErrorKind::ConsentRequired, step.to_string(), wrong)
            .next(step.command.clone()))
    }

    /// For what somebody has asked for in so many words: a command with `--yes`, a button.
    pub fn given() -> Self {
        Self(())
    }
}
