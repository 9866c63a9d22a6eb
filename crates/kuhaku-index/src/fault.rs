//! Faults that can be built into an engine, so that a suite can show that it would find them (D5).

/// A way to break R4. For tests that must be able to fail; none is active unless it is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "seeded-faults"), expect(unreachable_pub, reason = "public for tests"))]
#[non_exhaustive]
pub enum Fault {
    /// Document frequencies and chunk counts over everything stored.
    GlobalDocumentFrequency,
    /// The average length over everything stored.
    GlobalAverageLength,
    /// Both of the above, as an index without visibility classes has it.
    GlobalStatistics,
    /// The filter acts on the hits that are left after the cut.
    FilterAfterCut,
    /// Equal scores are ordered by where the chunk lies in memory.
    TiesByPosition,
    /// An update keeps the access tags of the document it replaces.
    ChangedTagsIgnored,
    /// What is returned names the generation of the index.
    GenerationInOutput,
    /// Vectors are compared by codes of one scale over everything stored.
    #[cfg_attr(
        not(any(test, feature = "seeded-faults")),
        expect(dead_code, reason = "of searches that only tests need")
    )]
    GlobalVectorScale,
    /// The nearest of everything stored are taken, and those that are seen are chosen from these.
    #[cfg_attr(
        not(any(test, feature = "seeded-faults")),
        expect(dead_code, reason = "of searches that only tests need")
    )]
    PoolCutBeforeScope,
    /// A handle reads on without what another handle has committed. Engines of one handle have it
    /// in vain.
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "seeded-faults")),
        expect(dead_code, reason = "of the durable engine")
    )]
    OtherHandlesIgnored,
    /// What is taken over from another handle comes without its access tags.
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "seeded-faults")),
        expect(dead_code, reason = "of the durable engine")
    )]
    DeltaWithoutTags,
    /// A snapshot is taken for the state of the last transaction, whichever it shows.
    #[cfg_attr(
        not(any(feature = "sqlite", feature = "seeded-faults")),
        expect(dead_code, reason = "of the durable engine")
    )]
    StaleSnapshot,
}

#[cfg(feature = "seeded-faults")]
impl Fault {
    /// Every fault of an engine that has one handle.
    pub const ALL: [Self; 9] = [
        Self::GlobalDocumentFrequency,
        Self::GlobalAverageLength,
        Self::GlobalStatistics,
        Self::FilterAfterCut,
        Self::TiesByPosition,
        Self::ChangedTagsIgnored,
        Self::GenerationInOutput,
        Self::GlobalVectorScale,
        Self::PoolCutBeforeScope,
    ];
}

/// The fault of an engine, if it has one. Without the feature `seeded-faults` there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seeded {
    #[cfg(feature = "seeded-faults")]
    fault: Option<Fault>,
}

impl Seeded {
    #[cfg(feature = "seeded-faults")]
    pub(crate) fn with(fault: Fault) -> Self {
        Self { fault: Some(fault) }
    }

    #[cfg(feature = "seeded-faults")]
    pub(crate) fn has(self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    #[cfg(not(feature = "seeded-faults"))]
    pub(crate) fn has(self, _fault: Fault) -> bool {
        false
    }
}
