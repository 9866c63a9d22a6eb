//! What numbers say, and what is noise.

mod bootstrap;
mod correction;
mod distributions;
mod paired;
mod percentile;

pub use bootstrap::{Bootstrap, Interval};
pub use correction::{benjamini_hochberg, holm};
pub use paired::{PairedT, randomisation_test};
pub use percentile::{mean, percentile};
