//! Google's application-default credentials: from a key file or the metadata server to a token.

mod assertion;
mod endpoint;
mod exchange;
mod identity;
mod source;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use identity::Identity;
pub(crate) use source::ApplicationDefault;
