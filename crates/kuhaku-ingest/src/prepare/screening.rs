//! Screening a document for attempts to instruct a model.

use std::collections::{BTreeMap, BTreeSet};

use kuhaku_core::{GuardFamily, InjectionGuard};

use super::windows::suspects;
use crate::chunk::Chunk;
use crate::warning::Warning;

/// The family for which a text beside the chunks must not be used. Names and titles are too short to say
/// what they resemble.
pub(crate) fn refused(guard: &InjectionGuard, text: &str) -> Option<GuardFamily> {
    let by_rules = suspects(guard, text).filter(|suspect| suspect.family != GuardFamily::Learned);
    by_rules.filter(|suspect| suspect.holds_back).map(|suspect| suspect.family).next()
}

/// Marks the chunks that must be held back, and reports all that look suspicious.
///
/// The text is screened as a whole, so that an attempt which runs over the border of two chunks
/// holds back both, and chunk by chunk, as it will be read, so that several weak signals in one chunk
/// add up. Headings are read with each of their chunks.
pub(crate) fn screen(
    guard: &InjectionGuard,
    text: &str,
    chunks: &mut [Chunk],
    warnings: &mut Vec<Warning>,
) {
    let mut found = Found::default();
    for suspect in suspects(guard, text) {
        let first = chunks.partition_point(|chunk| chunk.range.end <= suspect.range.start);
        let hit = chunks.iter().enumerate().skip(first);
        for (ordinal, _) in hit.take_while(|(_, chunk)| chunk.range.start < suspect.range.end) {
            found.add(suspect.family, ordinal, suspect.holds_back);
        }
    }
    let mut headings: (&[String], Vec<(GuardFamily, bool)>) = (&[], Vec::new());
    for (ordinal, chunk) in chunks.iter().enumerate() {
        if chunk.headings != headings.0 {
            headings = (&chunk.headings, families(guard, &chunk.headings.join("\n")));
        }
        for (family, holds_back) in &headings.1 {
            found.add(*family, ordinal, *holds_back);
        }
        let screening = guard.screen_document(text.get(chunk.range.clone()).unwrap_or_default());
        for finding in screening.findings() {
            found.add(finding.family, ordinal, finding.suffices);
        }
        if let Some(family) = screening.blocked() {
            found.add(family, ordinal, true);
        }
    }
    found.apply(chunks, warnings);
}

/// Which chunks look suspicious, and which of them are held back and for what.
#[derive(Debug, Default)]
struct Found {
    suspicious: BTreeMap<GuardFamily, BTreeSet<usize>>,
    held_back: BTreeMap<usize, GuardFamily>,
}

impl Found {
    fn add(&mut self, family: GuardFamily, ordinal: usize, holds_back: bool) {
        self.suspicious.entry(family).or_default().insert(ordinal);
        if holds_back {
            let held = self.held_back.entry(ordinal).or_insert(family);
            *held = family.min(*held);
        }
    }

    fn apply(self, chunks: &mut [Chunk], warnings: &mut Vec<Warning>) {
        for (ordinal, family) in self.held_back {
            if let Some(chunk) = chunks.get_mut(ordinal) {
                chunk.quarantine.get_or_insert(family);
            }
        }
        for (family, chunks) in self.suspicious {
            warnings.push(Warning::Suspicious { family, chunks: chunks.into_iter().collect() });
        }
    }
}

/// The families that a text shows, and whether each holds back by itself.
fn families(guard: &InjectionGuard, text: &str) -> Vec<(GuardFamily, bool)> {
    suspects(guard, text).map(|suspect| (suspect.family, suspect.holds_back)).collect()
}
