//! Settings: declared once per crate, layered from files and the environment, checked together
//! (R13).

mod field;
mod problem;
mod sources;
mod value;

pub use field::{Field, Section};
pub use problem::Problems;
pub use sources::{Sources, UnknownName};
pub use value::{SettingValue, Value};
