//! How vectors are searched: all of them, or by a graph.

/// How the nearest vectors are found (D8). A graph is of one set of access tags; an index that never held
/// what a caller may not see would have the same graph of the rest, so R4 holds with each of these.
///
/// Graphs are held in memory and built when an index is opened or compacted, and when it is asked for:
/// see `SqliteIndex::build_graphs` and [`crate::MemoryIndex::build_graphs`]. A change to documents of a
/// set makes its graph out of date: until the next one is built, its vectors are compared one by one, and
/// nothing new is missed. Queries with a filter, or for more than a sixteenth of a set, compare one by
/// one too; that documents must hold on a day is no such filter for a set of which all do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ann {
    /// All vectors are compared: none that is near is ever missed. Fast up to about a million.
    #[default]
    Exact,
    /// A graph for each set of access tags with 1,000 vectors or more: some that are near can be missed.
    Hnsw,
    /// A graph for each set of access tags with more vectors than this.
    Auto {
        /// Vectors that are compared one by one, at most.
        above: usize,
    },
}

impl Ann {
    /// A graph for each set of access tags with more than a million vectors.
    pub const AUTO: Self = Self::Auto { above: 1_000_000 };

    /// Whether so many vectors of one set get a graph.
    pub(crate) fn wants(self, vectors: usize) -> bool {
        match self {
            Self::Exact => false,
            Self::Hnsw => vectors >= 1_000,
            Self::Auto { above } => vectors > above,
        }
    }
}
