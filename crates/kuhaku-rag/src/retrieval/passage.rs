//! What models read of a chunk.

use kuhaku_index::StoredChunk;

/// The chunk's title and headings on a first line, then its text.
pub(crate) fn passage(chunk: &StoredChunk) -> String {
    let above = std::iter::once(&chunk.title).chain(&chunk.headings);
    let above: Vec<&str> = above.map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    if above.is_empty() {
        chunk.text.clone()
    } else {
        format!("{}\n{}", above.join(" "), chunk.text)
    }
}
