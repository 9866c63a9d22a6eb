//! The searchable form in memory: immutable segments, tombstones, and views of one generation.
//!
//! A batch becomes one segment; small segments are merged into larger ones, so that a document costs
//! its own size times a logarithm. Each segment keeps its chunks by visibility class and its postings
//! in runs of one class, so that a scope touches the runs it sees and nothing else (R4, D12).

#[cfg(any(test, feature = "seeded-faults"))]
mod astray;
mod best;
mod bits;
mod document;
mod draft;
mod drafter;
#[cfg(any(test, feature = "seeded-faults"))]
mod exhaustive;
mod frequencies;
mod generation;
mod graph;
mod matrix;
mod merge;
mod nearest;
mod parallel;
mod postings;
mod products;
mod scoring;
mod scratch;
mod search;
mod segment;
#[cfg(feature = "sqlite")]
mod stored;
mod terms;
mod tombstones;
mod view;
mod window;

pub(crate) use document::{Body, Document};
pub(crate) use drafter::{Drafter, Drafters};
pub(crate) use generation::{Generation, Live};
pub(crate) use parallel::drafted;
pub(crate) use segment::Segment;
pub use view::View;
#[cfg(feature = "sqlite")]
pub(crate) use {
    draft::{ChunkTerms, Draft},
    frequencies::{Frequencies, Lengths},
    view::Found,
};
