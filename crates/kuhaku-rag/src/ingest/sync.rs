//! Removing documents whose files are gone.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use kuhaku_core::DocumentId;
use kuhaku_ingest::{Found, WalkOptions, walk};

use crate::error::{Adopt as _, Result};
use crate::ingest::ingestor::Ingestor;
use crate::ingest::report::{DocumentOutcome, DocumentReport, IngestReport, Note};
use crate::location::{BASE, Location, folder, resolve};

impl Ingestor {
    /// Removes the documents of files that lay in one of the folders and are gone.
    ///
    /// Nothing is removed when a part of the folders cannot be listed: what is there is not known then.
    /// Nor is it from a folder without any file: it may be a disk that is not there at the moment.
    pub(super) async fn remove_vanished(
        &self,
        paths: &[PathBuf],
        report: &mut IngestReport,
    ) -> Result<()> {
        let folders: Vec<&PathBuf> = paths.iter().filter(|path| path.is_dir()).collect();
        let skipped =
            |wrong| Note::new("sync_skipped", format!("{wrong}, so no document of it was removed"));
        let Some(there) = self.there(&folders)? else {
            report.warnings.push(skipped("a part of the folders could not be listed"));
            return Ok(());
        };
        let key = self.index().id_key();
        let mut vanished: Vec<DocumentId> = Vec::new();
        for path in folders {
            let mut named: Vec<String> = folder(path, self.base())?.into_iter().collect();
            let real = resolve(path)?;
            if self.base().is_some_and(|base| base != real && base.starts_with(&real)) {
                named.push(BASE.into());
            }
            let mut within = Vec::new();
            for name in named {
                let folder = key.folder(&name);
                within.extend(self.index().maintenance().within(&folder).await.adopt()?);
            }
            if !within.is_empty() && self.there(&[path])?.is_none_or(|files| files.is_empty()) {
                report.warnings.push(skipped("a folder that had documents holds no file at all"));
                continue;
            }
            vanished.extend(within.into_iter().filter(|id| !there.contains(id)));
        }
        vanished.sort_unstable();
        vanished.dedup();
        if vanished.is_empty() {
            return Ok(());
        }
        let listed = self.index().maintenance().documents().await.adopt()?;
        let sources: HashMap<_, _> =
            listed.into_iter().map(|document| (document.id, document.source)).collect();
        for (id, removed) in self.remove(&vanished).await? {
            if removed {
                let source = sources.get(&id).cloned().unwrap_or_default();
                let mut line = DocumentReport::new(source, DocumentOutcome::Removed);
                line.id = Some(id);
                report.documents.push(line);
            }
        }
        Ok(())
    }

    /// The ids of all files in these folders, whatever their names and formats; nothing when not all
    /// of them can be listed.
    fn there(&self, folders: &[&PathBuf]) -> Result<Option<HashSet<DocumentId>>> {
        let everything =
            WalkOptions::default().hidden(true).ignore_files(false).max_bytes(u64::MAX);
        let mut there = HashSet::new();
        for found in walk(folders, &everything).adopt()? {
            if matches!(found, Found::Problem { .. }) {
                return Ok(None);
            }
            let path = found.path();
            let Ok(location) = Location::of(path, path, self.base()) else { continue };
            there.insert(self.index().id_key().path_id(&location.identity).adopt()?);
        }
        Ok(Some(there))
    }
}
