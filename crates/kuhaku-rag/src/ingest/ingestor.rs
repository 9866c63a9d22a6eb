//! The one path by which documents enter an index.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_core::{
    AccessTags, DocumentId, Embedder, InjectionGuard, Masker, Runtime, Section as _, mask_field,
};
use kuhaku_index::{
    Batch, ChangeOutcome, ChunkIndex, ChunkRecord, ContentHash, DocumentRecord, Fingerprint,
    Language, Tokenizer, Validity,
};
use kuhaku_ingest::{
    ChunkSize, ChunkUnit, Chunker, Format, Found, FoundFile, PreparedDocument, Preparer, Source,
    read_limited, walk,
};

use crate::error::{Adopt as _, Error, ErrorKind, Result};
use crate::ingest::embedding::{Embedding, TEXTS_PER_BATCH, Vectors, without_embedder};
use crate::ingest::options::{IngestOptions, IngestProgress};
use crate::ingest::reading::{Item, Reading};
use crate::ingest::remask::{RemaskReport, remask};
use crate::ingest::report::{DocumentOutcome, DocumentReport, IngestReport, Note};
use crate::ingest::storing::no_vectors;
use crate::ingest::text::TextDocument;
use crate::location::{Location, require_paths, resolve};
use crate::redactions;
use crate::settings::RagSettings;

/// Reads, masks, chunks, screens and embeds documents, and puts them into an index.
///
/// Files are read and chunked on the calling thread; a server calls this on a thread for blocking
/// work. Dropping a call ends it; what it has stored stays.
#[derive(Debug)]
pub struct Ingestor {
    index: Arc<dyn ChunkIndex>,
    masker: Arc<dyn Masker>,
    preparer: Preparer,
    settings: RagSettings,
    base: Option<PathBuf>,
    runtime: Runtime,
    pub(super) embedding: Option<Embedding>,
    pub(super) texts_per_batch: usize,
}

impl Ingestor {
    /// An ingestor into an index.
    ///
    /// `base` is the folder that path ids are relative to: for an index in a folder, the folder
    /// above it (D17). Files outside it, and all files without it, are known by absolute paths.
    ///
    /// # Errors
    /// `core.invalid_settings` listing every setting that is out of range; `ingest.io` when `base`
    /// does not exist.
    pub fn new(
        index: Arc<dyn ChunkIndex>,
        masker: Arc<dyn Masker>,
        settings: RagSettings,
        base: Option<&Path>,
    ) -> Result<Self> {
        settings.validate().adopt()?;
        let base = base.map(resolve).transpose()?;
        let mut preparer =
            Preparer::new(masker.clone(), InjectionGuard::new(), chunker(&settings)?)
                .doc_types(settings.doc_type_prefix_mapping.clone());
        if let Some(limit) = settings.max_upload_bytes {
            preparer = preparer.max_bytes(limit);
        }
        let (runtime, embedding, texts_per_batch) = (Runtime::system(), None, TEXTS_PER_BATCH);
        Ok(Self { index, masker, preparer, settings, base, runtime, embedding, texts_per_batch })
    }

    /// Embeds what is ingested, before it is stored: all of a document and its vectors become visible
    /// together. A text is embedded once, and chunks that are held back are not embedded.
    ///
    /// An index that holds no document and has no embedder takes this one on with the first ingest;
    /// for its dimension one short text is embedded. One that holds documents without an embedder stays
    /// as it is, which the report says: [`Ingestor::reembed`] gives it vectors.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedding = Some(Embedding { embedder, texts: self.texts_per_batch });
        self
    }

    /// How many texts are embedded at a time, 1 at least, and about how many chunks are stored
    /// together then. 128 unless set.
    #[must_use]
    pub fn embedding_batch(mut self, texts: usize) -> Self {
        self.texts_per_batch = texts.max(1);
        if let Some(embedding) = &mut self.embedding {
            embedding.texts = self.texts_per_batch;
        }
        self
    }

    /// Counts what is masked in the metrics of this handle: `masking_redactions_total` by placeholder.
    #[must_use]
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// The fingerprint of an index that is filled under these settings; parts without a setting
    /// have their defaults.
    ///
    /// # Errors
    /// `ingest.invalid_input` for sizes that contradict each other.
    pub fn fingerprint(settings: &RagSettings, masker: &dyn Masker) -> Result<Fingerprint> {
        Ok(Fingerprint::new(
            settings.tokenizer.unwrap_or(Tokenizer::Default),
            settings.language.unwrap_or(Language::En),
            masker.id(),
            chunker(settings)?.fingerprint(),
        ))
    }

    pub(super) fn index(&self) -> &dyn ChunkIndex {
        self.index.as_ref()
    }

    pub(super) fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// Chunks of two sizes are never mixed in one index (D15).
    fn check_chunker(&self) -> Result<()> {
        let (has, wanted) =
            (self.index.fingerprint().chunker, self.preparer.chunker().fingerprint());
        if has == wanted {
            return Ok(());
        }
        let kind = ErrorKind::Index(kuhaku_index::ErrorKind::FingerprintMismatch);
        let wrong = format!("its chunker is `{has}`, and the settings say `{wanted}`");
        Err(Error::new(kind, "add documents to the index", wrong)
            .next("use the settings of the index, or run `kuhaku ingest … --reindex`"))
    }

    /// Ingests a text.
    ///
    /// # Errors
    /// Those of the index, and `index.fingerprint_mismatch` when the index was filled with chunks of
    /// other sizes or has vectors of another embedder; those of the embedder, unless it does not take
    /// this text. A text that cannot be prepared, or that it does not take, is a report with
    /// [`DocumentOutcome::Failed`].
    pub async fn text(&self, document: TextDocument) -> Result<DocumentReport> {
        self.check_chunker()?;
        let vectors = self.vectors().await?;
        let id = match &document.key {
            Some(key) => key.clone(),
            None => self.index.id_key().path_id(&document.name).adopt()?,
        };
        let mut source = Source::from_text(document.name.as_str(), document.text.as_str());
        if let Some(format) = document.format {
            source = source.format(format);
        }
        let fingerprint = self.index.fingerprint();
        let mut reading = Reading::new(&fingerprint, true, vectors);
        let (bytes, metadata) = (document.text.as_bytes(), &document.metadata);
        let hash =
            self.content_hash(&document.name, bytes, document.format, metadata, &fingerprint);
        let (name, tags) = (&document.name, &document.tags);
        let item = Item { id, hash, name, source, tags, folders: Vec::new() };
        let (line, ready) = self.prepare(item, document.metadata.clone(), &reading).await?;
        self.take(&mut reading, line, ready, &mut ()).await?;
        self.apply(&mut reading, &mut ()).await?;
        if let (Vectors::None, Some(_), Some(line)) =
            (vectors, &self.embedding, reading.report.documents.last_mut())
        {
            line.warnings.push(no_vectors());
        }
        let failed = || DocumentReport::new(String::new(), DocumentOutcome::Failed);
        Ok(reading.report.documents.pop().unwrap_or_else(failed))
    }

    /// Ingests files and folders. A file that cannot be read or prepared is reported and does not
    /// stop the rest.
    ///
    /// # Errors
    /// `ingest.not_found` when an argument does not exist, before anything is read;
    /// `index.fingerprint_mismatch` as for [`Ingestor::text`]; those of the index and of the embedder,
    /// the latter naming the document, after which everything applied before is kept. A document that
    /// the embedder does not take is reported and does not stop the rest.
    pub async fn paths(
        &self,
        paths: &[PathBuf],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
    ) -> Result<IngestReport> {
        self.check_chunker()?;
        require_paths(paths)?;
        let vectors = self.vectors().await?;
        let fingerprint = self.index.fingerprint();
        let mut reading = Reading::new(&fingerprint, true, vectors);
        self.read(paths, options, progress, &mut reading).await?;
        self.apply(&mut reading, progress).await?;
        if options.sync {
            self.remove_vanished(paths, &mut reading.report).await?;
        }
        self.note_missing_vectors(&mut reading.report).await?;
        Ok(reading.report)
    }

    /// Makes the index anew from files and folders, under the settings of this ingestor, in one
    /// transaction: until it is done, readers see the index as it was. Documents that are not among
    /// the files go; tags that were set stay. All text is held in memory meanwhile.
    ///
    /// # Errors
    /// `ingest.not_found` when an argument does not exist, `ingest.empty` when no document could be
    /// read, and those of the index and of the embedder; the index is then as it was.
    pub async fn replace(
        &self,
        paths: &[PathBuf],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
    ) -> Result<IngestReport> {
        let stored = self.index.fingerprint();
        let mut fingerprint = Self::fingerprint(&self.settings, &self.masker)?;
        // Parts without a setting are what they were.
        fingerprint.tokenizer = self.settings.tokenizer.unwrap_or(stored.tokenizer);
        fingerprint.language = self.settings.language.unwrap_or(stored.language);
        let vectors = match &self.embedding {
            Some(embedding) => {
                let wanted = embedding.embedder.fingerprint();
                let dimension =
                    stored.dimension.filter(|_| stored.embedder.as_deref() == Some(wanted));
                let dimension = match dimension {
                    Some(dimension) => dimension,
                    None => embedding.dimension().await?,
                };
                fingerprint = fingerprint.embedder(wanted, dimension);
                Vectors::Made(embedding)
            }
            None => {
                (fingerprint.embedder, fingerprint.dimension) =
                    (stored.embedder.clone(), stored.dimension);
                Vectors::None
            }
        };
        let mut reading = Reading::new(&fingerprint, false, vectors);
        self.read(paths, options, progress, &mut reading).await?;
        let take_known = fingerprint.embedder == stored.embedder;
        let (batch, places, ended) = self.embedded(&mut reading, take_known, progress).await?;
        if let Some(error) = ended {
            return Err(error);
        }
        if batch.is_empty() {
            let kind = ErrorKind::Ingest(kuhaku_ingest::ErrorKind::Empty);
            let wrong = "no document could be read from the paths given";
            return Err(Error::new(kind, "make the index anew", wrong)
                .next("check the paths; the index is as it was"));
        }
        let applied = self.index.maintenance().replace(fingerprint.clone(), batch).await.adopt()?;
        reading.note(places, &applied);
        self.note_missing_vectors(&mut reading.report).await?;
        Ok(reading.report)
    }

    /// Masks everything stored again, with the masker of this ingestor, in one transaction. For an
    /// index that an earlier masker has shaped: its documents need not be at hand, and what was
    /// masked stays masked. Chunks keep their places, tags, quarantine and ids. All text is held in
    /// memory meanwhile.
    ///
    /// Documents that are ingested again afterwards count as changed, for their sources may hold
    /// what only the new masker understands.
    ///
    /// # Errors
    /// Those of the index; it is then as it was.
    pub async fn remask(&self) -> Result<RemaskReport> {
        remask(self.index.as_ref(), self.masker.as_ref()).await
    }

    /// Reads files and folders into a report and a batch.
    async fn read(
        &self,
        paths: &[PathBuf],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
        reading: &mut Reading<'_>,
    ) -> Result<()> {
        require_paths(paths)?;
        let walk_options = options.walk.clone().max_bytes(self.max_bytes(options));
        let found = walk(paths, &walk_options).adopt()?;
        let work: Vec<Found> = found
            .into_iter()
            .filter(|found| {
                let skipped = matches!(found, Found::Skipped { .. });
                reading.report.skipped += usize::from(skipped);
                !skipped
            })
            .collect();
        progress.found(work.len());
        let mut seen = HashSet::new();
        for found in work {
            let (line, ready) = match found {
                Found::File(file) => match self.file(&file, options, &mut seen, reading).await? {
                    Some(prepared) => prepared,
                    None => continue,
                },
                Found::Problem { path, error, .. } => {
                    (DocumentReport::failed(self.masked(&path), Note::from(&error)), None)
                }
                _ => continue,
            };
            self.take(reading, line, ready, progress).await?;
        }
        Ok(())
    }

    /// Removes documents.
    ///
    /// # Errors
    /// Those of the index.
    pub async fn remove(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, bool)>> {
        let batch = ids.iter().cloned().fold(Batch::new(), Batch::remove);
        let outcomes = self.index.apply(batch).await.adopt()?.outcomes;
        let removed = |outcome| outcome == ChangeOutcome::Removed;
        Ok(outcomes.into_iter().map(|(id, outcome)| (id, removed(outcome))).collect())
    }

    /// A file, prepared; nothing when it was met before under another argument.
    async fn file(
        &self,
        file: &FoundFile,
        options: &IngestOptions,
        seen: &mut HashSet<DocumentId>,
        reading: &Reading<'_>,
    ) -> Result<Option<(DocumentReport, Option<DocumentRecord>)>> {
        let failed =
            |note: Note| Ok(Some((DocumentReport::failed(self.masked(&file.path), note), None)));
        let depth = file.relative.components().count();
        let root = file.path.ancestors().nth(depth).filter(|root| !root.as_os_str().is_empty());
        let location = Location::of(&file.path, root.unwrap_or(&file.path), self.base.as_deref());
        let location = match location {
            Ok(location) => location,
            Err(error) => return failed(Note::from(&error)),
        };
        let id = self.index.id_key().path_id(&location.identity).adopt()?;
        if !seen.insert(id.clone()) {
            return Ok(None);
        }
        let bytes = match read_limited(&file.path, self.max_bytes(options)) {
            Ok(bytes) => bytes,
            Err(error) => return failed(Note::from(&error)),
        };
        let none = BTreeMap::new();
        let (shown, format) = (location.shown.as_str(), Some(file.format));
        let hash = self.content_hash(shown, &bytes, format, &none, reading.fingerprint);
        let source = Source::from_bytes(shown, bytes).format(file.format);
        let key = self.index.id_key();
        let mut folders: Vec<_> = location.folders.iter().map(|path| key.folder(path)).collect();
        folders.sort_unstable();
        let item = Item { id, hash, name: shown, source, tags: &options.tags, folders };
        self.prepare(item, none, reading).await.map(Some)
    }

    /// Everything up to the index: a line of the report, and what is to be stored.
    async fn prepare(
        &self,
        item: Item<'_>,
        metadata: BTreeMap<String, String>,
        reading: &Reading<'_>,
    ) -> Result<(DocumentReport, Option<DocumentRecord>)> {
        let Item { id, hash, name, source, tags, folders } = item;
        let name = self.masker.mask(name).text().to_string();
        let stored = self.index.maintenance().stored(&id).await.adopt()?;
        let pinned = tags.pinned(stored.as_ref());
        if let Some(stored) = stored.filter(|it| reading.stepwise && it.content == hash) {
            let same = match &pinned {
                Some(tags) => stored.pinned_tags && stored.tags == *tags,
                None => !stored.pinned_tags,
            };
            if same {
                let mut line = DocumentReport::new(name, DocumentOutcome::Unchanged);
                line.id = Some(id);
                line.chunks = usize::try_from(stored.chunks).unwrap_or(usize::MAX);
                line.quarantined = usize::try_from(stored.quarantined).unwrap_or(usize::MAX);
                return Ok((line, None));
            }
        }
        let prepared = match self.preparer.prepare(source) {
            Ok(prepared) => prepared,
            Err(error) => {
                let mut line = DocumentReport::failed(name, Note::from(&error));
                line.id = Some(id);
                return Ok((line, None));
            }
        };
        let mut line = DocumentReport::new(prepared.source_name.clone(), DocumentOutcome::Added);
        line.id = Some(id.clone());
        line.chunks = prepared.chunks.len();
        line.quarantined = prepared.quarantined();
        redactions::count(&self.runtime, &prepared.redactions);
        line.redactions = prepared.redactions.clone();
        let note =
            |warning: &kuhaku_ingest::Warning| Note::new(warning.code(), warning.to_string());
        line.warnings = prepared.warnings.iter().map(note).collect();
        let personal = |tag: &str| self.masker.mask(tag).text() != tag;
        let tags = pinned.iter().chain(&prepared.tags).flat_map(AccessTags::iter);
        if tags.into_iter().any(personal) {
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
            let error = Error::new(kind, "use the access tags", "one holds personal data or a key")
                .next("name tags by group or subject, never by person or secret");
            return Ok((DocumentReport::failed(line.source, Note::from(&error)), None));
        }
        let stated = prepared.tags.as_ref();
        if stated.is_some_and(|stated| pinned.as_ref().is_some_and(|tags| tags != stated)) {
            let message = "the document states other access tags than were set; those set hold";
            line.warnings.push(Note::new("tags_overridden", message));
        }
        let mut record = self.record(id, hash, prepared, pinned, metadata);
        record.folders = folders;
        Ok((line, Some(record)))
    }

    fn record(
        &self,
        id: DocumentId,
        hash: ContentHash,
        prepared: PreparedDocument,
        pinned: Option<AccessTags>,
        metadata: BTreeMap<String, String>,
    ) -> DocumentRecord {
        let mut record = DocumentRecord::new(id, hash, prepared.text);
        record.title = prepared.title;
        record.source = prepared.source_name;
        record.doc_type = prepared.doc_type;
        record.pinned_tags = pinned.is_some();
        record.tags = pinned.or(prepared.tags).unwrap_or_default();
        record.metadata = prepared.metadata;
        let masked = |value: String| self.masker.mask(&value).text().to_string();
        record.metadata.extend(metadata.into_iter().map(|(key, value)| {
            let value = mask_field(&self.masker, &key, &value).0;
            (masked(key), value)
        }));
        let stated = prepared.validity;
        record.validity =
            Validity::between(stated.effective, stated.expires).obsolete(stated.obsolete);
        let chunk = |chunk: kuhaku_ingest::Chunk| {
            let mut record = ChunkRecord::new(chunk.range);
            record.headings = chunk.headings;
            record.page = chunk.page;
            record.quarantine = chunk.quarantine.map(|family| family.as_str().to_string());
            record
        };
        record.chunks = prepared.chunks.into_iter().map(chunk).collect();
        record
    }

    /// Puts a line into the report and its document, if any, into the batch.
    async fn take(
        &self,
        reading: &mut Reading<'_>,
        line: DocumentReport,
        ready: Option<DocumentRecord>,
        progress: &mut dyn IngestProgress,
    ) -> Result<()> {
        progress.done(&line);
        reading.report.documents.push(line);
        if let Some(record) = ready {
            reading.push(record);
        }
        if reading.is_due() {
            self.apply(reading, progress).await?;
        }
        Ok(())
    }

    /// Everything that makes a document what it is stored as (D15), but for tags that are set from
    /// outside; those are compared themselves.
    fn content_hash(
        &self,
        name: &str,
        bytes: &[u8],
        format: Option<Format>,
        metadata: &BTreeMap<String, String>,
        fingerprint: &Fingerprint,
    ) -> ContentHash {
        let shape = serde_json::json!({
            "name": name,
            "format": format.map(|format| format!("{format:?}")),
            "metadata": metadata,
            // Which folders a file is in is known of documents with this mark.
            "folders": true,
            "doc_types": self.settings.doc_type_prefix_mapping,
            "fingerprint": without_embedder(fingerprint),
        });
        self.index.id_key().content_hash(&[bytes, shape.to_string().as_bytes()])
    }

    /// The largest file that is read: the setting, else what the walk says.
    fn max_bytes(&self, options: &IngestOptions) -> u64 {
        self.settings.max_upload_bytes.unwrap_or(options.walk.max_bytes)
    }

    fn masked(&self, path: &Path) -> String {
        self.masker.mask(&path.to_string_lossy()).text().to_string()
    }
}

fn chunker(settings: &RagSettings) -> Result<Chunker> {
    let unit = settings.chunk_unit.parse::<ChunkUnit>().adopt()?;
    let size = ChunkSize::new(settings.chunk_size, settings.chunk_overlap, unit).adopt()?;
    Ok(Chunker::paragraph(size))
}
