//! Looking at stored documents one by one, past damage.

use std::sync::Arc;

use sqlx::SqliteConnection;

use super::codec::{decode_vector, encode_terms, encode_words};
use super::failure::{is_damage, storage};
use super::finding::{Finding, FindingKind, place};
use super::record::record_at;
use super::schema::Meta;
use super::vectors;
use super::writer::aside;
use crate::analysis::Analyzer;
use crate::document::DocumentRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::Fingerprint;
use crate::identity::IdKey;
use crate::inverted::Drafter;

const TRIED: &str = "examine the index";

fn failed(error: sqlx::Error) -> Error {
    storage(TRIED, error)
}

/// What a query gives, or nothing where the file is damaged.
pub(super) fn undamaged<T>(outcome: sqlx::Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_damage(&error) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// What stored documents are compared with, as far as the settings of the index can be read.
#[derive(Debug, Default)]
pub(super) struct Means {
    /// What terms are made by; absent when they are not compared.
    pub(super) analyzer: Option<Arc<Analyzer>>,
    /// The key of hashes, and the numbers of a vector; 0 without an embedder.
    pub(super) vectors: Option<(IdKey, usize)>,
}

impl Means {
    /// Everything that there is.
    pub(super) fn of(meta: &Meta) -> Self {
        let Fingerprint { tokenizer, language, .. } = meta.fingerprint;
        let dimension = meta.fingerprint.space().map_or(0, |space| space.dimension);
        Self {
            analyzer: Some(Arc::new(Analyzer::new(tokenizer, language))),
            vectors: Some((meta.id_key.clone(), dimension)),
        }
    }
}

/// A stored document under examination.
#[derive(Debug)]
pub(super) struct Examined {
    /// Absent when it cannot be read whole.
    pub(super) record: Option<DocumentRecord>,
    /// Per chunk, what its terms should be; empty unless asked for.
    pub(super) terms: Vec<Vec<u8>>,
    pub(super) findings: Vec<Finding>,
}

impl Examined {
    /// Whether the document can be kept: all is there but for what is made anew.
    pub(super) fn is_whole(&self) -> bool {
        let made_anew = |found: &Finding| {
            use FindingKind::{Flag, Terms, Vector};
            matches!(found.kind, Terms | Flag | Vector)
        };
        self.record.is_some() && self.findings.iter().all(made_anew)
    }
}

/// Looks at a document; nothing when there is no such row. A vector that cannot stay is left out of
/// the record.
pub(super) async fn examine(
    connection: &mut SqliteConnection,
    row: i64,
    means: &Means,
) -> Result<Option<Examined>> {
    let mut record = match record_at(connection, row).await {
        // No document is ever given the last number: none could come after it.
        Ok(Some(_)) if row == i64::MAX => {
            let findings = vec![Finding::new(FindingKind::Document, place(None, row))];
            return Ok(Some(Examined { record: None, terms: Vec::new(), findings }));
        }
        Ok(Some(record)) => record,
        Ok(None) => return Ok(None),
        Err(error) if *error.kind() == ErrorKind::Corrupt => {
            let findings = vec![Finding::new(FindingKind::Document, place(None, row))];
            return Ok(Some(Examined { record: None, terms: Vec::new(), findings }));
        }
        Err(error) => return Err(error),
    };
    let mut findings = Vec::new();
    let at = place(Some(&record.id), row);
    let mut find = |kind, place: String| findings.push(Finding::new(kind, place));
    let fields: sqlx::Result<(String, i64, i64)> =
        sqlx::query_as("SELECT tags, pinned_tags, obsolete FROM documents WHERE row = ?")
            .bind(row)
            .fetch_one(&mut *connection)
            .await;
    match undamaged(fields)? {
        Some((tags, pinned, obsolete)) => {
            if tags != encode_words(record.tags.iter()) {
                find(FindingKind::Tags, at.clone());
            }
            for (name, flag) in [("pinned_tags", pinned), ("obsolete", obsolete)] {
                if !matches!(flag, 0 | 1) {
                    find(FindingKind::Flag, format!("{at}, {name}"));
                }
            }
        }
        None => find(FindingKind::Tags, at.clone()),
    }
    let stored: sqlx::Result<Vec<(u32, Vec<u8>)>> =
        sqlx::query_as("SELECT ordinal, terms FROM chunks WHERE document = ? ORDER BY ordinal")
            .bind(row)
            .fetch_all(&mut *connection)
            .await;
    let stored = undamaged(stored)?.unwrap_or_default();
    let in_order = (0_u32..).zip(&stored).all(|(ordinal, (found, _))| ordinal == *found);
    if !in_order || stored.len() != record.chunks.len() {
        find(FindingKind::Chunk, at.clone());
    }
    for (ordinal, chunk) in record.chunks.iter().enumerate() {
        if record.text.as_str().get(chunk.range.clone()).is_none() {
            find(FindingKind::Chunk, format!("{at}, chunk {ordinal}"));
        }
    }
    if let Some((key, dimension)) = &means.vectors {
        match undamaged(vectors::stored(connection, row).await)? {
            Some(stored) => {
                for (ordinal, hash, bytes) in stored {
                    let vector = decode_vector(&bytes, &hash, *dimension);
                    let place = ordinal as usize;
                    let text = record.chunks.get(place).map(|c| record.embedded_text(c, key));
                    match (vector, text.is_some_and(|text| text.as_bytes().as_slice() == hash)) {
                        (Some(vector), true) => {
                            if let Some(chunk) = record.chunks.get_mut(place) {
                                chunk.vector = Some(vector);
                            }
                        }
                        _ => find(FindingKind::Vector, format!("{at}, chunk {ordinal}")),
                    }
                }
            }
            None => find(FindingKind::Vector, at.clone()),
        }
    }
    let Some(analyzer) = &means.analyzer else {
        return Ok(Some(Examined { record: Some(record), terms: Vec::new(), findings }));
    };
    let analyzer = Arc::clone(analyzer);
    let (record, terms) = aside(TRIED, move || {
        let terms = terms(analyzer, &record);
        (record, terms)
    })
    .await?;
    for (ordinal, (made, (_, stored))) in terms.iter().zip(&stored).enumerate() {
        if made != stored {
            findings.push(Finding::new(FindingKind::Terms, format!("{at}, chunk {ordinal}")));
        }
    }
    Ok(Some(Examined { record: Some(record), terms, findings }))
}

fn terms(analyzer: Arc<Analyzer>, record: &DocumentRecord) -> Vec<Vec<u8>> {
    let mut drafter = Drafter::new(analyzer);
    let chunks = record.chunks.iter();
    chunks
        .map(|chunk| {
            let terms = drafter.count(record, chunk);
            encode_terms(&drafter.draft, &terms)
        })
        .collect()
}
