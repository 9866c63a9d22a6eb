//! Public datasets, fetched with consent: BEIR's archives, checked and unpacked as folders that
//! [`BeirFolder`](crate::BeirFolder) opens.

mod fetcher;
mod set;
mod unpack;

pub use fetcher::{FetchPlan, FetchedSet, SetFetcher};
pub use set::{PublicSet, public_sets};
