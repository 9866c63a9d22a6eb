//! Retrieval-augmented answers over one index.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{DocumentId, Embedder, Scope};
use kuhaku_index::{ChunkIndex, Maintenance};
use kuhaku_rag::{
    Answer, AnswerStream, AskRequest, DocumentReport, IngestOptions, IngestProgress, IngestReport,
    Ingestor, RagEngine, ReembedReport, RemaskReport, SearchAnswer, TextDocument,
};
use tempfile::TempDir;

use crate::error::Result;
use crate::facade::audit::AuditTrail;
use crate::facade::rag_builder::RagBuilder;

/// How long closing waits for the last audit records.
const LAST_RECORDS: Duration = Duration::from_secs(5);

/// Documents in, answers out, within the rights of the asker.
///
/// Cheap to clone; clones share the index.
///
/// ```
/// use kuhaku::{AccessTags, AuthContext, Rag, Roles, TextDocument};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> kuhaku::Result<()> {
/// let rag = Rag::builder().open().await?; // a temporary index; `.index("./kuhaku-data")` keeps it
/// let tags = AccessTags::new(["people_ops"])?;
/// rag.ingest(TextDocument::new("salaries.md", "Engineers earn 90 falcons a year.").tags(tags))
///     .await?;
/// rag.ingest(TextDocument::new("leave.md", "Everybody has 25 days of annual leave.")).await?;
///
/// let ada = AuthContext::new("ada", Roles::new(["engineering"]));
/// let answer = rag.ask("How much do engineers earn?", ada.scope()).await?;
/// assert!(answer.abstained);
/// let answer = rag.ask("How many days of annual leave?", ada.scope()).await?;
/// assert_eq!(answer.text, "Everybody has 25 days of annual leave. [S1]");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Rag(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) index: Arc<dyn ChunkIndex>,
    pub(crate) ingestor: Ingestor,
    pub(crate) engine: RagEngine,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) audit: Option<AuditTrail>,
    pub(crate) folder: Option<PathBuf>,
    /// Removes the folder of a temporary index when the last handle goes.
    pub(crate) temporary: Option<TempDir>,
}

impl Rag {
    /// Starts with the defaults: a temporary index, no model.
    pub fn builder() -> RagBuilder {
        RagBuilder::default()
    }

    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Ingests a text. One that is stored already is left alone; one that has changed replaces its
    /// earlier version.
    ///
    /// # Errors
    /// Those of the index. A text that cannot be prepared is a report with outcome `failed`.
    pub async fn ingest(&self, document: TextDocument) -> Result<DocumentReport> {
        Ok(self.0.ingestor.text(document).await?)
    }

    /// Ingests files and folders. What cannot be read is reported and does not stop the rest.
    ///
    /// # Errors
    /// `ingest.not_found` for a path that does not exist, and those of the index.
    pub async fn ingest_paths<P: AsRef<Path>>(
        &self,
        paths: &[P],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
    ) -> Result<IngestReport> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        Ok(self.0.ingestor.paths(&paths, options, progress).await?)
    }

    /// Makes the index anew from files and folders under today's settings, in one step: until it is
    /// done, askers see it as it was. Documents that are not among the files go; tags that were set
    /// stay. See [`RagBuilder::any_settings`].
    ///
    /// # Errors
    /// `ingest.not_found` for a path that does not exist, `ingest.empty` when nothing could be read,
    /// and those of the index; it is then as it was.
    pub async fn reindex<P: AsRef<Path>>(
        &self,
        paths: &[P],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
    ) -> Result<IngestReport> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        Ok(self.0.ingestor.replace(&paths, options, progress).await?)
    }

    /// Masks everything stored again with the masker of this version, in one step. For an index that
    /// an earlier version has made; its sources need not be at hand. See
    /// [`RagBuilder::any_settings`].
    ///
    /// # Errors
    /// Those of the index; it is then as it was.
    pub async fn remask(&self) -> Result<RemaskReport> {
        Ok(self.0.ingestor.remask().await?)
    }

    /// Gives the index another embedder, or none, and every chunk a vector of it; with the embedder that
    /// the index has, the chunks that have no vector get one. What is stored is embedded: sources need
    /// not be at hand. It goes on where an earlier call ended. Open the index again afterwards, with
    /// that embedder. See [`RagBuilder::without_embedder`] and [`Ingestor::reembed`].
    ///
    /// # Errors
    /// Those of the embedder and of the index; vectors that were stored stay.
    pub async fn reembed(
        &self,
        embedder: Option<Arc<dyn Embedder>>,
        progress: &mut dyn IngestProgress,
    ) -> Result<ReembedReport> {
        Ok(self.0.ingestor.reembed(embedder, progress).await?)
    }

    /// Removes documents; false for those that were not there.
    ///
    /// # Errors
    /// Those of the index.
    pub async fn remove(&self, ids: &[DocumentId]) -> Result<Vec<(DocumentId, bool)>> {
        Ok(self.0.ingestor.remove(ids).await?)
    }

    /// Answers a question of somebody.
    ///
    /// # Errors
    /// Those of the index and of the model. Having no answer is no error: see [`Answer::mode`].
    pub async fn ask(&self, question: impl Into<String>, scope: Scope) -> Result<Answer> {
        self.ask_with(&AskRequest::new(question, scope)).await
    }

    /// Answers a question with options of its own.
    ///
    /// # Errors
    /// Those of the index and of the model.
    pub async fn ask_with(&self, request: &AskRequest) -> Result<Answer> {
        Ok(self.0.engine.ask(request).await?)
    }

    /// Answers a question piece by piece: see [`RagEngine::ask_stream`].
    pub fn ask_stream(&self, request: &AskRequest) -> AnswerStream {
        self.0.engine.ask_stream(request)
    }

    /// Finds chunks without answering.
    ///
    /// # Errors
    /// Those of the index.
    pub async fn search(&self, request: &AskRequest) -> Result<SearchAnswer> {
        Ok(self.0.engine.search(request).await?)
    }

    /// Ends all use of the index and does what was deferred: writing the last audit records, deleting
    /// removed text from the file. What was acknowledged is safe without it.
    pub async fn close(&self) {
        // What is not written by then is written when the last handle goes, or counted as lost.
        let _ = self.0.engine.flush(LAST_RECORDS).await;
        self.0.index.close().await;
    }

    /// The pipeline from question to answer.
    pub fn engine(&self) -> &RagEngine {
        &self.0.engine
    }

    /// What makes vectors, if anything does.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.0.embedder.as_ref()
    }

    /// The index, for reading within a scope.
    pub fn index(&self) -> &Arc<dyn ChunkIndex> {
        &self.0.index
    }

    /// Unscoped access for operators: listings, quarantine, totals. Never for answers.
    pub fn maintenance(&self) -> &dyn Maintenance {
        self.0.index.maintenance()
    }

    /// The audit of this index, for operators; absent for a temporary index, which has none.
    pub fn audit_trail(&self) -> Option<&AuditTrail> {
        self.0.audit.as_ref()
    }

    /// The folder of the index; absent for one in memory.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Whether the index is removed when the last handle goes.
    pub fn is_temporary(&self) -> bool {
        self.0.temporary.is_some() || self.0.folder.is_none()
    }
}
