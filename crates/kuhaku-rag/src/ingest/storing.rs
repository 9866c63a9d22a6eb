//! From documents that are ready to the index, with their vectors.

use kuhaku_index::{Batch, VectorSpace};

use crate::error::{Adopt as _, Error, Result};
use crate::ingest::embedding::{Vectors, ended_at, mismatch, of_document};
use crate::ingest::ingestor::Ingestor;
use crate::ingest::options::IngestProgress;
use crate::ingest::reading::{Pending, Reading};
use crate::ingest::report::{DocumentReport, IngestReport, Note};

/// The code of what is said of passages without vectors.
const WITHOUT: &str = "without_vectors";

/// What is said where vectors could be made and the index takes none.
pub(super) fn no_vectors() -> Note {
    let message = "the index has no vectors, so none were made; `kuhaku index reembed` makes them";
    Note::new(WITHOUT, message)
}

impl Ingestor {
    /// What is done about vectors, by what the index has and what there is to make them.
    pub(super) async fn vectors(&self) -> Result<Vectors<'_>> {
        let has = self.index().fingerprint().embedder;
        match (has, &self.embedding) {
            (_, None) => Ok(Vectors::None),
            (Some(has), Some(embedding)) => match embedding.embedder.fingerprint() {
                wanted if wanted == has => Ok(Vectors::Made(embedding)),
                wanted => Err(mismatch(&has, wanted)),
            },
            (None, Some(embedding)) => {
                let maintenance = self.index().maintenance();
                if maintenance.statistics().await.adopt()?.documents > 0 {
                    return Ok(Vectors::None);
                }
                let dimension = embedding.dimension().await?;
                let space = VectorSpace::new(embedding.embedder.fingerprint(), dimension);
                maintenance.adopt_embedder(Some(space)).await.adopt()?;
                Ok(Vectors::Made(embedding))
            }
        }
    }

    /// Says what was stored without vectors, where a person may expect some.
    pub(super) async fn note_missing_vectors(&self, report: &mut IngestReport) -> Result<()> {
        if self.index().fingerprint().embedder.is_none() {
            report.warnings.extend(self.embedding.is_some().then(no_vectors));
            return Ok(());
        }
        let totals = self.index().maintenance().statistics().await.adopt()?;
        let message = match totals.chunks.saturating_sub(totals.vectors) {
            0 => return Ok(()),
            1 => "1 passage has no vector; `kuhaku index reembed` makes it".to_owned(),
            n => format!("{n} passages have no vectors; `kuhaku index reembed` makes them"),
        };
        report.warnings.push(Note::new(WITHOUT, message));
        Ok(())
    }

    /// Stores what is pending. When the embedder fails, what it has done before is stored.
    pub(super) async fn apply(
        &self,
        reading: &mut Reading<'_>,
        progress: &mut dyn IngestProgress,
    ) -> Result<()> {
        let (batch, places, ended) = self.embedded(reading, true, progress).await?;
        if !batch.is_empty() {
            let applied = self.index().apply(batch).await.adopt()?;
            reading.note(places, &applied);
        }
        ended.map_or(Ok(()), Err)
    }

    /// Takes what is pending with its vectors, and tells how the embedder failed, if it did: what it
    /// had not done then is left out, as are the documents that it does not take.
    pub(super) async fn embedded(
        &self,
        reading: &mut Reading<'_>,
        take_known: bool,
        progress: &mut dyn IngestProgress,
    ) -> Result<(Batch, Vec<usize>, Option<Error>)> {
        let Pending { mut records, places, .. } = std::mem::take(&mut reading.pending);
        let index = self.index();
        let mut unstored = reading.vectors.give(index, &mut records, take_known, progress).await?;
        let ended = unstored.ended.take().map(|(place, error)| {
            let source = records.get(place).map(|record| record.source.clone());
            ended_at(&source.unwrap_or_default(), error)
        });
        let (mut batch, mut stored) = (Batch::new(), Vec::new());
        for (at, (record, place)) in records.into_iter().zip(places).enumerate() {
            if let Some(error) = unstored.refused.remove(&at)
                && let Some(line) = reading.report.documents.get_mut(place)
            {
                let note = Note::from(&of_document(&record.source, error));
                let id = line.id.take();
                *line = DocumentReport::failed(std::mem::take(&mut line.source), note);
                line.id = id;
            } else if !unstored.undone.contains(&at) {
                batch = batch.upsert(record);
                stored.push(place);
            }
        }
        Ok((batch, stored, ended))
    }
}
