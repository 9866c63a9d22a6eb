//! JSON Schemas: lowered to what services take, and checked on what they give.

mod strict;
#[cfg(feature = "schema")]
mod validator;

pub(crate) use self::strict::{lift, strict};
#[cfg(feature = "schema")]
pub(crate) use self::validator::Validator;
