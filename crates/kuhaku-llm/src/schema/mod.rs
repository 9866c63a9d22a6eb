//! JSON Schemas: lowered to what services take, and checked on what they give.

#[cfg(feature = "schema")]
mod lift;
mod strict;
#[cfg(feature = "schema")]
mod validator;

#[cfg(feature = "schema")]
pub(crate) use self::lift::lift;
pub(crate) use self::strict::strict;
#[cfg(feature = "schema")]
pub(crate) use self::validator::Validator;
