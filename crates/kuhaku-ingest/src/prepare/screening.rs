//! Screening a document for attempts to instruct a model.

use std::collections::{BTreeMap, BTreeSet};

use kuhaku_core::{GuardFamily, InjectionGuard};

use super::windows::findings;
use crate::chunk::Chunk;
use crate::warning::Warning;

/// Whether chunks with such a finding are held back. The other families also match innocent prose
/// (`You are now connected.`, `user: hi`), and are reported only.
fn holds_back(family: GuardFamily) -> bool {
    matches!(family, GuardFamily::SpecialToken | GuardFamily::InstructionOverride)
}

/// The family for which a text beside the chunks must not be used.
pub(crate) fn refused(guard: &InjectionGuard, text: &str) -> Option<GuardFamily> {
    findings(guard, text).map(|(family, _)| family).find(|family| holds_back(*family))
}

/// Marks the chunks that must be held back, and reports all that look suspicious.
///
/// The text is screened as a whole, so that an attempt which runs over the border of two chunks
/// holds back both, and chunk by chunk with its headings, as it will be read.
pub(crate) fn screen(
    guard: &InjectionGuard,
    text: &str,
    chunks: &mut [Chunk],
    warnings: &mut Vec<Warning>,
) {
    let mut found: BTreeMap<GuardFamily, BTreeSet<usize>> = BTreeMap::new();
    for (family, range) in findings(guard, text) {
        let first = chunks.partition_point(|chunk| chunk.range.end <= range.start);
        let hit = chunks.iter().enumerate().skip(first);
        let hit = hit.take_while(|(_, chunk)| chunk.range.start < range.end);
        found.entry(family).or_default().extend(hit.map(|(ordinal, _)| ordinal));
    }
    let mut headings: (&[String], BTreeSet<GuardFamily>) = (&[], BTreeSet::new());
    for (ordinal, chunk) in chunks.iter().enumerate() {
        if chunk.headings != headings.0 {
            headings = (&chunk.headings, families(guard, &chunk.headings.join("\n")));
        }
        let own = families(guard, text.get(chunk.range.clone()).unwrap_or_default());
        for family in own.iter().chain(&headings.1) {
            found.entry(*family).or_default().insert(ordinal);
        }
    }
    for (family, ordinals) in found {
        for ordinal in &ordinals {
            if let Some(chunk) = chunks.get_mut(*ordinal)
                && holds_back(family)
            {
                chunk.quarantine.get_or_insert(family);
            }
        }
        if !ordinals.is_empty() {
            let chunks = ordinals.into_iter().collect();
            warnings.push(Warning::Suspicious { family, chunks });
        }
    }
}

fn families(guard: &InjectionGuard, text: &str) -> BTreeSet<GuardFamily> {
    findings(guard, text).map(|(family, _)| family).collect()
}
