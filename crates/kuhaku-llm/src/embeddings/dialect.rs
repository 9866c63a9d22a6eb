//! What differs between services that embed, without any I/O.

use std::fmt;

use serde_json::Value;

use crate::dialect::Wire;
use crate::fault::Fault;

/// The language of one service for one embedding model.
pub(crate) trait EmbeddingDialect: Send + Sync + fmt::Debug {
    /// Names everything that shapes a vector.
    fn fingerprint(&self) -> String;

    /// The most texts that one request may carry; at least 1.
    fn most_texts(&self) -> usize;

    /// What to send. Nothing in it lets the service cut a text.
    fn wire(&self, texts: &[&str], purpose: Purpose) -> Wire;

    /// The vectors of a reply with a status of 2xx, in the order of the texts.
    ///
    /// # Errors
    /// When it reports a failure, says that a text was cut, or has no vectors.
    fn vectors(&self, body: &Value) -> Result<Vec<Vec<f32>>, Fault>;

    /// What an HTTP status outside of 2xx means. `body` is null when it was not JSON.
    fn failure(&self, status: u16, body: &Value) -> Fault;
}

/// What a vector is for: models embed questions and passages differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It is looked for.
    Document,
    /// It looks.
    Query,
}
