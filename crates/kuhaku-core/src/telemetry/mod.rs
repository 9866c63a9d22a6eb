//! What requests tell about themselves while they run: their trace id, and their stages.
//!
//! Both are context that a caller opens around a future, not global state. Nothing of a request's
//! content enters either (R7).

mod bound;
mod stage;

pub use bound::BoundToTrace;
pub use stage::Stage;
