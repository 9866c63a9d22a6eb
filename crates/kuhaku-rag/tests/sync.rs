//! Documents whose files are gone.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_core::{Masker, PiiMasker};
use kuhaku_index::{ChunkIndex, IdKey, MemoryIndex};
use kuhaku_rag::{
    DocumentOutcome, IngestOptions, IngestReport, Ingestor, RagSettings, TextDocument,
};

struct Place {
    folder: tempfile::TempDir,
    index: Arc<dyn ChunkIndex>,
    ingestor: Ingestor,
}

impl Place {
    /// Ids are relative to `base`, a folder of the place.
    fn new(base: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(base)).unwrap();
        let settings = RagSettings::default();
        let masker: Arc<dyn Masker> = Arc::new(PiiMasker::new());
        let fingerprint = Ingestor::fingerprint(&settings, masker.as_ref()).unwrap();
        let key = IdKey::from_bytes([7; 32]);
        let index: Arc<dyn ChunkIndex> = Arc::new(MemoryIndex::new(fingerprint, key));
        let base = folder.path().join(base);
        let ingestor = Ingestor::new(index.clone(), masker, settings, Some(&base)).unwrap();
        Self { folder, index, ingestor }
    }

    fn write(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("The text of {name}.")).unwrap();
        path
    }

    async fn ingest(&self, paths: &[&Path], sync: bool) -> IngestReport {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
        let mut options = IngestOptions::default();
        options.sync = sync;
        self.ingestor.paths(&paths, &options, &mut ()).await.unwrap()
    }

    async fn sources(&self) -> Vec<String> {
        let listed = self.index.maintenance().documents().await.unwrap();
        let mut sources: Vec<_> = listed.into_iter().map(|document| document.source).collect();
        sources.sort();
        sources
    }
}

fn removed(report: &IngestReport) -> Vec<&str> {
    let lines = report.documents.iter();
    let removed = lines.filter(|line| line.outcome == DocumentOutcome::Removed);
    removed.map(|line| line.source.as_str()).collect()
}

#[tokio::test]
async fn only_what_vanished_from_the_folders_given_is_removed() {
    let place = Place::new(".");
    let gone = [place.write("a/gone.md"), place.write("a/deep/er/a@b.com.txt")];
    let stays = ["a/stays.md", "a/deep/stays.txt", "b/other.md"].map(|name| place.write(name));
    let elsewhere = place.write("b/gone too.md");
    let text = TextDocument::new("a/text.md", "A text that is no file.");
    place.ingestor.text(text).await.unwrap();
    let (a, b) = (place.folder.path().join("a"), place.folder.path().join("b"));
    assert_eq!(place.ingest(&[&a, &b], true).await.count(DocumentOutcome::Added), 6);
    for path in gone.iter().chain([&elsewhere]) {
        fs::remove_file(path).unwrap();
    }
    assert!(removed(&place.ingest(&[&a], false).await).is_empty());

    let report = place.ingest(&[&a], true).await;
    assert_eq!(removed(&report), ["a/deep/er/[EMAIL]", "a/gone.md"]);
    assert_eq!(report.count(DocumentOutcome::Unchanged), 2);
    let left = ["a/deep/stays.txt", "a/stays.md", "a/text.md", "b/gone too.md", "b/other.md"];
    assert_eq!(place.sources().await, left);
    assert!(stays.iter().all(|path| path.exists()));

    // Named another way, and from above.
    let whole = place.folder.path().join("a/../b/..");
    assert_eq!(removed(&place.ingest(&[&whole], true).await), ["b/gone too.md"]);
}

#[tokio::test]
async fn files_outside_the_base_and_folders_around_it_are_known_too() {
    let place = Place::new("base");
    let (inside, outside) = (place.write("base/in.md"), place.write("out/out.md"));
    let whole = place.folder.path();
    place.ingest(&[whole], true).await;
    fs::remove_file(&inside).unwrap();
    assert_eq!(removed(&place.ingest(&[&whole.join("out")], true).await), [""; 0]);
    assert_eq!(removed(&place.ingest(&[whole], true).await), ["in.md"]);
    let base = whole.join("base");
    fs::remove_file(&outside).unwrap();
    assert_eq!(removed(&place.ingest(&[&base], true).await), [""; 0]);
    // Without any file it may be a disk that is not there.
    let report = place.ingest(&[&whole.join("out")], true).await;
    assert_eq!((removed(&report).len(), report.warnings[0].code), (0, "sync_skipped"));
    place.write("out/new.md");
    assert_eq!(removed(&place.ingest(&[&whole.join("out")], true).await).len(), 1);
}

#[tokio::test]
async fn a_file_that_is_there_and_not_taken_keeps_its_document() {
    let place = Place::new(".");
    let (one, two) = (place.write("a/one.md"), place.write("a/two.md"));
    let a = place.folder.path().join("a");
    place.ingest(&[&a], true).await;
    fs::write(a.join(".kuhakuignore"), "two.md\n").unwrap();
    fs::write(a.join(".gitignore"), "two.md\n").unwrap();
    assert!(removed(&place.ingest(&[&a], true).await).is_empty());
    // No longer readable as text: it failed, it is not gone.
    fs::write(&one, "---\naccess_tags: [\n---\n").unwrap();
    let report = place.ingest(&[&a], true).await;
    assert_eq!((report.count(DocumentOutcome::Failed), removed(&report).len()), (1, 0));
    assert!(two.exists());
    assert_eq!(place.sources().await.len(), 2);
}
