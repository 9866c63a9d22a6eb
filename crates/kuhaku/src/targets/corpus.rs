//! A corpus of an evaluation set as an index in memory.

use kuhaku_core::{DocumentId, Masker as _, PiiMasker};
use kuhaku_eval::{BeirDocument, BeirFolder};
use kuhaku_index::{
    Batch, ChunkIndex as _, ChunkRecord, DocumentRecord, Fingerprint, IdKey, MemoryIndex,
};
use kuhaku_rag::RagSettings;

use crate::error::Result;

/// Documents per batch. Large, since each batch is a segment of its own that is merged later.
const BATCH: usize = 16_384;

/// Indexes the corpus of a folder in BEIR's layout: each document is one chunk under its own id,
/// its title in the heading field. Text is masked, as everywhere. Tokenizer and language are those
/// of the settings.
///
/// # Errors
/// Those of [`corpus_batches`] and of the index.
pub async fn index_corpus(folder: &BeirFolder, settings: &RagSettings) -> Result<MemoryIndex> {
    let index = empty_index(settings);
    for batch in corpus_batches(folder)? {
        index.apply(batch).await?;
    }
    Ok(index)
}

/// The index that [`index_corpus`] fills.
pub fn empty_index(settings: &RagSettings) -> MemoryIndex {
    let fingerprint = Fingerprint::new(
        settings.tokenizer.unwrap_or_default(),
        settings.language.unwrap_or_default(),
        PiiMasker::new().id(),
        "document-1",
    );
    MemoryIndex::new(fingerprint, key())
}

/// The corpus of a folder, read and masked, in batches of 16,384 documents.
///
/// # Errors
/// `eval.…` for a corpus that cannot be read, naming the line; `core.invalid_input` for ids that
/// are none (see [`DocumentId`]).
pub fn corpus_batches(folder: &BeirFolder) -> Result<Vec<Batch>> {
    let (masker, key) = (PiiMasker::new(), key());
    let mut batches = Vec::new();
    let mut batch = Batch::new();
    for document in folder.corpus()? {
        batch = batch.upsert(record(document?, &masker, &key)?);
        if batch.changes().len() >= BATCH {
            batches.push(std::mem::take(&mut batch));
        }
    }
    batches.push(batch);
    Ok(batches)
}

/// It makes hashes of contents only, and nobody keeps them.
fn key() -> IdKey {
    IdKey::from_bytes([0; 32])
}

fn record(document: BeirDocument, masker: &PiiMasker, key: &IdKey) -> Result<DocumentRecord> {
    let text = masker.mask(&document.text).canonical();
    let content = key.content_hash(&[document.title.as_bytes(), document.text.as_bytes()]);
    let chunk = ChunkRecord::new(0..text.as_str().len());
    let mut record = DocumentRecord::new(DocumentId::new(document.id)?, content, text);
    record.title = masker.mask(&document.title).text().to_string();
    record.chunks = vec![chunk];
    Ok(record)
}
