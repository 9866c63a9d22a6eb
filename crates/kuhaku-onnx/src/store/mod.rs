//! The store: which models there are, where they lie, whether they are what was published.
//!
//! Models lie in the cache that clients of the hub share, so what another program has fetched is
//! found, and what is fetched here is found by others:
//!
//! ```text
//! <cache>/models--OWNER--NAME/snapshots/COMMIT/PATH      the files
//! <cache>/models--OWNER--NAME/refs/main                  the commit that `main` meant
//! <caches>/kuhaku/models/OWNER--NAME/COMMIT.json         the record: sums, and when they were checked
//! <caches>/kuhaku/onnxruntime/VERSION/PLATFORM/          the runtime library and its record
//! ```
//!
//! A file is held against the sum that was published for it, else against the one that was recorded
//! when it first came. Looking costs a read of the whole file the first time; after that, length and
//! time of change tell whether it is still the file that was checked.

mod hub_path;
mod known;
#[cfg(feature = "download")]
mod listing;
mod model_name;
mod model_store;
mod parts;
mod places;
#[cfg(feature = "download")]
mod plan;
#[cfg(feature = "download")]
mod puller;
mod record;
mod release;
mod settings;
mod snapshot;
#[cfg(feature = "download")]
mod unpack;
#[cfg(feature = "download")]
mod wanted;

pub use known::{DEFAULT_EMBEDDER, KnownFile, KnownModel, ModelKind, known_models};
pub use model_store::{FileCheck, ModelStatus, ModelStore, StoredModel, Verdict};
#[cfg(feature = "download")]
pub use plan::{PlannedFile, PullPlan};
#[cfg(feature = "download")]
pub use puller::{PullProgress, Puller};
pub use record::SumSource;
pub use release::{RUNTIME_NAME, RUNTIME_VERSION};
pub use settings::StoreSettings;
