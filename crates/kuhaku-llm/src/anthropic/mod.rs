//! Anthropic's Messages API.

mod body;
mod dialect;
mod fault;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use dialect::Anthropic;
