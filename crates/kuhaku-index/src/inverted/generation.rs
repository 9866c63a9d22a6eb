//! Generations: the segments and tombstones that readers pin, and the one that is current (D11).

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use kuhaku_core::{AccessTags, DocumentId, Scope};

#[cfg(feature = "sqlite")]
use super::document::Body;
use super::document::Document;
use super::drafter::Drafters;
use super::graph::{Graph, Member};
use super::merge::merged;
use super::scratch::ScratchPool;
use super::segment::{Entry, Segment};
use super::tombstones::Tombstones;
use super::view::View;
use crate::analysis::Analyzer;
use crate::ann::Ann;
use crate::contract::IndexStatistics;
use crate::document::{StoredDocument, Validity};
use crate::fault::Seeded;
use crate::fingerprint::VectorSpace;

/// A segment and what of it is dead.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) segment: Arc<Segment>,
    pub(crate) dead: Option<Arc<Tombstones>>,
}

impl Part {
    /// All of it lives.
    fn new(segment: Segment) -> Self {
        Self { segment: Arc::new(segment), dead: None }
    }

    fn is_alive(&self, document: u32) -> bool {
        !self.dead.as_ref().is_some_and(|dead| dead.has_document(document))
    }

    pub(super) fn living(&self) -> impl Iterator<Item = &Entry> {
        let entries = (0..).zip(self.segment.documents());
        entries.filter(|(place, _)| self.is_alive(*place)).map(|(_, entry)| entry)
    }

    fn dead_weight(&self) -> usize {
        self.dead.as_ref().map_or(0, |dead| dead.weight())
    }

    fn living_weight(&self) -> usize {
        self.segment.weight().saturating_sub(self.dead_weight())
    }

    fn is_empty(&self) -> bool {
        let dead = self.dead.as_ref().map_or(0, |dead| dead.documents());
        dead == self.segment.documents().len()
    }

    /// More than a quarter of it is dead.
    fn is_worn(&self) -> bool {
        self.dead_weight() * 4 > self.segment.weight()
    }
}

/// One consistent state of the index. Immutable; a clone shares its parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Generation {
    pub(crate) parts: Vec<Part>,
    pub(crate) number: u64,
    /// Whose vectors it takes.
    pub(crate) space: Option<VectorSpace>,
    /// Of some classes, each of all that lives in it.
    pub(super) graphs: Vec<Arc<Graph>>,
}

/// A segment never grows beyond this, so that its places fit into 32 bits.
const MAX_WEIGHT: usize = u32::MAX as usize / 2;

impl Generation {
    /// A generation without documents.
    pub(crate) fn empty(space: Option<VectorSpace>) -> Self {
        Self { space, ..Self::default() }
    }

    /// A generation of these segments.
    pub(crate) fn of(
        space: Option<VectorSpace>,
        segments: impl IntoIterator<Item = Segment>,
    ) -> Self {
        Self::empty(space).next(&[], segments)
    }

    /// A living document, its segment and its place there.
    pub(crate) fn find(&self, id: &DocumentId) -> Option<(&Part, &Entry)> {
        self.parts.iter().rev().find_map(|part| {
            let place = part.segment.find(id).filter(|place| part.is_alive(*place))?;
            Some((part, part.segment.documents().get(place as usize)?))
        })
    }

    /// Where a living chunk is: the number of its part, and its place there.
    pub(super) fn place(&self, document: &DocumentId, ordinal: u32) -> Option<(u32, u32)> {
        (0_u32..).zip(&self.parts).find_map(|(at, part)| {
            let place = part.segment.find(document).filter(|place| part.is_alive(*place))?;
            let entry = part.segment.documents().get(place as usize)?;
            let range = entry.chunks.start as usize..entry.chunks.end as usize;
            let chunks = part.segment.chunks().get(range)?;
            let chunk = chunks.binary_search_by_key(&ordinal, |chunk| chunk.ordinal).ok()?;
            Some((at, entry.chunks.start + chunk as u32))
        })
    }

    /// A living document and its tags.
    pub(crate) fn document(&self, id: &DocumentId) -> Option<(&Arc<Document>, &AccessTags)> {
        let (part, entry) = self.find(id)?;
        Some((&entry.document, part.segment.tags(entry)?))
    }

    /// What operators ask of a living document.
    pub(crate) fn stored(&self, id: &DocumentId) -> Option<StoredDocument> {
        let (part, entry) = self.find(id)?;
        let Document { content, pinned_tags, chunks, .. } = *entry.document;
        let quarantined = chunks.saturating_sub(entry.chunks.len() as u64);
        let tags = part.segment.tags(entry)?.clone();
        Some(StoredDocument { content, tags, pinned_tags, chunks, quarantined })
    }

    /// All living documents with their tags and how many chunks readers see of them, by id.
    pub(crate) fn documents(&self) -> Vec<(&Arc<Document>, &AccessTags, usize)> {
        let mut all: Vec<_> = self
            .parts
            .iter()
            .flat_map(|part| {
                part.living().filter_map(|entry| {
                    Some((&entry.document, part.segment.tags(entry)?, entry.chunks.len()))
                })
            })
            .collect();
        all.sort_by(|a, b| a.0.id.cmp(&b.0.id));
        all
    }

    /// The ids of the living documents whose texts are at one of these places.
    #[cfg(feature = "sqlite")]
    pub(crate) fn ids(&self, there: impl Fn(&Body) -> bool) -> Vec<DocumentId> {
        let living = self.parts.iter().flat_map(Part::living);
        let found = living.filter(|entry| there(&entry.document.body));
        found.map(|entry| entry.document.id.clone()).collect()
    }

    /// The generation after this one: some documents gone, segments added, and small or worn
    /// segments merged.
    pub(crate) fn next(
        &self,
        removed: &[DocumentId],
        segments: impl IntoIterator<Item = Segment>,
    ) -> Self {
        let mut parts = self.parts.clone();
        let mut touched: Vec<AccessTags> = Vec::new();
        for id in removed {
            touched.extend(self.document(id).map(|(_, tags)| tags.clone()));
            for part in &mut parts {
                let place = part.segment.find(id).filter(|place| part.is_alive(*place));
                if let Some(place) = place {
                    let dead = part.dead.get_or_insert_default();
                    Arc::make_mut(dead).bury(&part.segment, place);
                }
            }
        }
        // One per batch, on however many threads it was drafted.
        let mut drafted: Vec<Part> = segments.into_iter().map(Part::new).collect();
        if drafted.len() > 1 {
            drafted = vec![Part::new(merged(&drafted))];
        }
        let come = drafted.iter().flat_map(|part| part.segment.classes());
        touched.extend(come.map(|class| class.tags.clone()));
        parts.extend(drafted);
        let graphs = self.graphs.iter().filter(|graph| !touched.contains(graph.tags()));
        let graphs = graphs.cloned().collect();
        let (number, space) = (self.number + 1, self.space.clone());
        Self { parts: compacted(parts), number, space, graphs }
    }

    /// The same with the graphs that are wanted and missing; nothing when there is none of these.
    pub(crate) fn with_graphs(&self, ann: Ann) -> Option<Self> {
        if ann == Ann::Exact {
            return None;
        }
        let mut vectors: BTreeMap<&AccessTags, usize> = BTreeMap::new();
        for part in &self.parts {
            let matrix = part.segment.matrix();
            for entry in part.living() {
                let Some(tags) = part.segment.tags(entry) else { continue };
                let rows = entry.chunks.clone().filter_map(|chunk| matrix.row_of(chunk));
                *vectors.entry(tags).or_default() += rows.count();
            }
        }
        let is_missing = |tags: &AccessTags| self.graphs.iter().all(|graph| graph.tags() != tags);
        vectors.retain(|tags, vectors| ann.wants(*vectors) && is_missing(tags));
        let mut members: BTreeMap<&AccessTags, (Validity, Vec<Member>)> = BTreeMap::new();
        for part in &self.parts {
            let matrix = part.segment.matrix();
            for entry in part.living() {
                let tags = part.segment.tags(entry).filter(|tags| vectors.contains_key(tags));
                let Some(tags) = tags else { continue };
                let chunks = entry.chunks.clone().filter_map(|chunk| {
                    let row = matrix.row(matrix.row_of(chunk)?)?.clone();
                    let ordinal = part.segment.chunks().get(chunk as usize)?.ordinal;
                    Some(Member { document: entry.document.id.clone(), ordinal, row })
                });
                let (holding, members) = members.entry(tags).or_default();
                *holding = holding.and(&entry.document.validity);
                members.extend(chunks);
            }
        }
        if members.is_empty() {
            return None;
        }
        let built = members
            .into_iter()
            .map(|(tags, (holding, members))| Graph::build(tags.clone(), members).holding(holding));
        let graphs = self.graphs.iter().cloned().chain(built.map(Arc::new)).collect();
        Some(Self { graphs, ..self.clone() })
    }

    /// How many documents there are, dead ones included.
    #[cfg(feature = "sqlite")]
    pub(crate) fn size(&self) -> usize {
        self.parts.iter().map(|part| part.segment.documents().len()).sum()
    }

    /// The same without a trace of what is dead (D20).
    #[cfg(feature = "sqlite")]
    pub(crate) fn without_dead(&self) -> Self {
        let clean = |part: &Part| match &part.dead {
            Some(_) => Part::new(merged(std::slice::from_ref(part))),
            None => part.clone(),
        };
        let parts = self.parts.iter().map(clean).filter(|part| !part.is_empty()).collect();
        let (space, graphs) = (self.space.clone(), self.graphs.clone());
        Self { parts, number: self.number + 1, space, graphs }
    }

    /// Totals over everything.
    pub(crate) fn statistics(&self) -> IndexStatistics {
        let mut statistics = IndexStatistics::default();
        let mut classes = HashSet::new();
        let mut terms = HashSet::new();
        for part in &self.parts {
            let matrix = part.segment.matrix();
            for entry in part.living() {
                let rows = entry.chunks.clone().filter(|chunk| matrix.row_of(*chunk).is_some());
                statistics.vectors += rows.count() as u64;
                statistics.documents += 1;
                let visible = entry.chunks.len() as u64;
                statistics.chunks += visible;
                statistics.quarantined += entry.document.chunks.saturating_sub(visible);
                classes.extend(part.segment.tags(entry));
            }
            for place in 0..part.segment.terms().len() as u32 {
                let alive = part.segment.runs(place).any(|(class, holding)| {
                    let dead = part.dead.as_ref().map_or(0, |dead| dead.frequency(place, class));
                    u64::from(holding) > dead
                });
                if alive {
                    terms.extend(part.segment.terms().get(place));
                }
            }
        }
        statistics.visibility_classes = classes.len() as u64;
        statistics.terms = terms.len() as u64;
        statistics
    }
}

/// Parts that are not worth a merge: fewer are searched about as fast as one.
const PARTS: usize = 6;

/// Drops empty parts, rewrites worn ones, and when there are many merges the last ones as long as the
/// one before is not at least twice as heavy, so that their number stays logarithmic.
fn compacted(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| !part.is_empty());
    for part in &mut parts {
        if part.is_worn() {
            *part = Part::new(merged(std::slice::from_ref(part)));
        }
    }
    if parts.len() <= PARTS {
        return parts;
    }
    let Some(mut weight) = parts.last().map(Part::living_weight) else { return parts };
    let mut from = parts.len() - 1;
    while let Some(before) = from.checked_sub(1).and_then(|at| parts.get(at)) {
        let more = before.living_weight();
        if more >= weight.saturating_mul(2) || more.saturating_add(weight) > MAX_WEIGHT {
            break;
        }
        weight += more;
        from -= 1;
    }
    if from + 1 < parts.len() {
        let tail = parts.split_off(from);
        parts.push(Part::new(merged(&tail)));
    }
    parts
}

/// The current generation of an index and what its readers share.
#[derive(Debug)]
pub(crate) struct Live {
    /// The generation, the drafters with its analyzer, and the scratches of queries with that.
    current: RwLock<(Arc<Generation>, Arc<Drafters>, Arc<ScratchPool>)>,
    seeded: Seeded,
}

impl Live {
    pub(crate) fn new(generation: Generation, analyzer: Analyzer, seeded: Seeded) -> Self {
        let drafters = Arc::new(Drafters::new(analyzer));
        Self { current: RwLock::new((Arc::new(generation), drafters, Arc::default())), seeded }
    }

    pub(crate) fn seeded(&self) -> Seeded {
        self.seeded
    }

    pub(crate) fn generation(&self) -> Arc<Generation> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    pub(crate) fn drafters(&self) -> Arc<Drafters> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).1)
    }

    /// Makes a generation current. Readers of earlier ones keep theirs.
    pub(crate) fn publish(&self, generation: Generation) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        current.0 = Arc::new(generation);
    }

    /// Makes a generation with another analyzer current.
    pub(crate) fn replace(&self, generation: Generation, drafters: Arc<Drafters>) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let number = current.0.number + 1;
        let generation = Arc::new(Generation { number, ..generation });
        *current = (generation, drafters, Arc::default());
    }

    /// What a scope sees of the current generation.
    pub(crate) fn view(&self, scope: &Scope) -> View {
        let (generation, drafters, scratch) =
            self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        View::new(generation, scope.clone(), Arc::clone(&drafters.analyzer), scratch, self.seeded)
    }
}
