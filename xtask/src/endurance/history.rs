//! A history of batches that a seed determines, and what must be there after each.

use std::collections::BTreeMap;

use kuhaku::index::{
    Batch, Change, ChunkIndex, ChunkRecord, DocumentRecord, Fingerprint, IdKey, Language,
    MemoryIndex, SparseQuery, Tokenizer,
};
use kuhaku::{Roles, Scope};
use kuhaku_core::{AccessTags, ChunkId, DocumentId, Masked};

use super::failed;
use crate::error::Result;

/// Documents that come and go.
const DOCUMENTS: u64 = 60;
const CHUNKS: u64 = 5;
const VOCABULARY: u64 = 300;
const TAGS: [&[&str]; 5] = [&[], &[], &["hr"], &["legal"], &["hr", "sales"]];

/// The callers that are asked for.
pub(super) const CALLERS: [&[&str]; 3] = [&[], &["hr"], &["legal", "sales"]];

/// Numbers that a seed determines: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut draw = Self(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        draw.next();
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// A word; low numbers are common.
    fn word(&mut self) -> String {
        let (a, b) = (self.below(VOCABULARY), self.below(VOCABULARY));
        format!("w{}", a * b / VOCABULARY)
    }

    pub(super) fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// The state after some batches.
#[derive(Clone, Debug)]
pub(super) struct History {
    seed: u64,
    /// Batches taken.
    pub(super) taken: usize,
    /// Changes that these have entered into the log of an index.
    pub(super) changes: i64,
    documents: BTreeMap<DocumentId, DocumentRecord>,
}

impl History {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, taken: 0, changes: 0, documents: BTreeMap::new() }
    }

    /// The state after so many batches.
    pub(super) fn after(seed: u64, taken: usize) -> Result<Self> {
        let mut history = Self::new(seed);
        while history.taken < taken {
            history.advance()?;
        }
        Ok(history)
    }

    /// The next batch: one to six changes of different documents, none of which is without effect.
    pub(super) fn next(&self) -> Result<Batch> {
        let mut draw = Draw::new(self.seed, self.taken as u64);
        let mut batch = Batch::new();
        let mut used = Vec::new();
        for _ in 0..1 + draw.below(6) {
            let id = DocumentId::new(format!("d{:02}", draw.below(DOCUMENTS))).map_err(failed)?;
            if used.contains(&id) {
                continue;
            }
            used.push(id.clone());
            let remove = draw.below(4) == 0 && self.documents.contains_key(&id);
            batch = match remove {
                true => batch.remove(id),
                false => batch.upsert(self.document(id, &mut draw)?),
            };
        }
        Ok(batch)
    }

    fn document(&self, id: DocumentId, draw: &mut Draw) -> Result<DocumentRecord> {
        let texts: Vec<String> = (0..1 + draw.below(CHUNKS))
            .map(|_| {
                let length = 5 + draw.below(120);
                draw.words(length)
            })
            .collect();
        // The number of the batch makes it another version than any before.
        let text = format!("{}\nbatch{}", texts.join("\n"), self.taken);
        let content = IdKey::from_bytes([5; 32]).content_hash(&[text.as_bytes()]);
        let canonical = Masked::replacing(&text, Vec::new()).canonical();
        let mut record = DocumentRecord::new(id, content, canonical);
        let tags = TAGS.get(draw.below(TAGS.len() as u64) as usize).copied().unwrap_or_default();
        record.tags = AccessTags::new(tags).map_err(failed)?;
        record.title = draw.words(2);
        record.metadata.insert("batch".into(), self.taken.to_string());
        let mut start = 0;
        for text in &texts {
            record.chunks.push(ChunkRecord::new(start..start + text.len()));
            start += text.len() + 1;
        }
        if draw.below(8) == 0
            && let Some(chunk) = record.chunks.first_mut()
        {
            chunk.quarantine = Some("special_token".into());
        }
        Ok(record)
    }

    /// Takes the next batch.
    pub(super) fn advance(&mut self) -> Result<()> {
        for change in self.next()?.into_changes() {
            let before = match change {
                Change::Upsert(record) => {
                    self.changes += 1;
                    self.documents.insert(record.id.clone(), *record)
                }
                Change::Remove(id) => self.documents.remove(&id),
            };
            self.changes += i64::from(before.is_some());
        }
        self.taken += 1;
        Ok(())
    }

    /// An index of this state, made at once; of what a caller sees alone when there is one.
    pub(super) fn rebuilt(&self, caller: Option<&Scope>) -> Result<MemoryIndex> {
        let index = MemoryIndex::new(fingerprint(), IdKey::from_bytes([5; 32]));
        let seen = self.documents.values();
        let seen = seen.filter(|record| caller.is_none_or(|scope| scope.sees(&record.tags)));
        let batch = seen.cloned().fold(Batch::new(), Batch::upsert);
        index.write(batch).map_err(failed)?;
        Ok(index)
    }

    /// Every chunk that has been there or may come.
    pub(super) fn chunks() -> Result<Vec<ChunkId>> {
        let mut ids = Vec::new();
        for number in 0..DOCUMENTS {
            let id = DocumentId::new(format!("d{number:02}")).map_err(failed)?;
            ids.extend((0..CHUNKS as u32).map(|ordinal| ChunkId::new(id.clone(), ordinal)));
        }
        Ok(ids)
    }
}

/// The fingerprint of every index here.
pub(super) fn fingerprint() -> Fingerprint {
    Fingerprint::new(Tokenizer::Default, Language::En, "none", "none")
}

pub(super) fn scope(roles: &[&str]) -> Scope {
    Scope::with_roles(Roles::new(roles))
}

pub(super) fn query(draw: &mut Draw) -> SparseQuery {
    let length = 1 + draw.below(4);
    SparseQuery::new(draw.words(length), 1 + draw.below(20) as usize)
}

/// The first way in which an index is not what it should be, to the last bit: for each caller the
/// number of chunks, the hits of some queries, and all texts.
pub(super) async fn difference(
    index: &dyn ChunkIndex,
    history: &History,
) -> Result<Option<String>> {
    let rebuilt = history.rebuilt(None)?;
    let mut draw = Draw::new(history.seed, u64::MAX - history.taken as u64);
    let all = History::chunks()?;
    for roles in CALLERS {
        let scope = scope(roles);
        let here = index.reader(&scope).await.map_err(failed)?;
        let there = ChunkIndex::reader(&rebuilt, &scope).await.map_err(failed)?;
        let (has, should) = (here.visible_chunks(), there.visible_chunks());
        if has != should {
            return Ok(Some(format!("{has} chunks are visible, not {should}")));
        }
        for _ in 0..6 {
            let query = query(&mut draw);
            let has = here.sparse(&query).await.map_err(failed)?;
            let should = there.sparse(&query).await.map_err(failed)?;
            let bits = |hits: &[kuhaku::index::SparseHit]| -> Vec<(ChunkId, u64)> {
                hits.iter().map(|hit| (hit.id.clone(), hit.bm25.to_bits())).collect()
            };
            if bits(&has) != bits(&should) {
                return Ok(Some(format!("hits {has:?}, not {should:?}")));
            }
        }
        let has = here.fetch(&all).await.map_err(failed)?;
        if has != there.fetch(&all).await.map_err(failed)? {
            return Ok(Some("the texts differ".into()));
        }
    }
    let held = index.maintenance().quarantined().await.map_err(failed)?;
    let should = kuhaku::index::Maintenance::quarantined(&rebuilt).await.map_err(failed)?;
    Ok((held != should).then(|| "other chunks are held back".into()))
}
