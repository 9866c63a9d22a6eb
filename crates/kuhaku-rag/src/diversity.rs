//! Keeping one document from filling all places, without leaving places empty.

use std::collections::HashMap;

use kuhaku_core::DocumentId;

use crate::retrieve::Hit;

/// Takes `limit` hits: first at most `per_document` of each document in order, then, while places
/// are left, the best of those passed over. The order of the result is that of the taking (D24).
/// A `per_document` of 0 takes the first `limit`.
pub(crate) fn diversify(hits: Vec<Hit>, per_document: usize, limit: usize) -> Vec<Hit> {
    let mut taken: HashMap<DocumentId, usize> = HashMap::new();
    let (mut first, rest): (Vec<Hit>, Vec<Hit>) = hits.into_iter().partition(|hit| {
        let count = taken.entry(hit.chunk.id.document().clone()).or_default();
        *count += 1;
        per_document == 0 || *count <= per_document
    });
    first.extend(rest);
    first.truncate(limit);
    first
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{AccessTags, ChunkId};
    use kuhaku_index::StoredChunk;

    use super::*;

    fn hits(ids: &[&str]) -> Vec<Hit> {
        let chunk = |id: &&str| {
            let id: ChunkId = id.parse().unwrap();
            Hit::new(StoredChunk::new(id, "text", AccessTags::none()))
        };
        ids.iter().map(chunk).collect()
    }

    fn taken(hits: &[Hit]) -> Vec<String> {
        hits.iter().map(|hit| hit.chunk.id.to_string()).collect()
    }

    /// FUS-08
    #[test]
    fn other_documents_come_first_and_the_rest_fills_up() {
        let ranking = ["dom::0", "dom::1", "dom::2", "dom::3", "other::0"];
        let found = taken(&diversify(hits(&ranking), 2, 5));
        assert_eq!(found, ["dom::0", "dom::1", "other::0", "dom::2", "dom::3"]);
        assert_eq!(taken(&diversify(hits(&ranking), 0, 4)), ranking[..4]);
    }

    /// FUS-09
    #[test]
    fn a_single_document_may_fill_every_place() {
        let ranking: Vec<String> = (0..8).map(|n| format!("only::{n}")).collect();
        let ranking: Vec<&str> = ranking.iter().map(String::as_str).collect();
        assert_eq!(taken(&diversify(hits(&ranking), 2, 4)), ranking[..4]);
    }
}
