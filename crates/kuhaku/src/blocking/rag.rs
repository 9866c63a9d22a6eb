//! Retrieval-augmented answers without `async`.

use std::path::Path;
use std::sync::Arc;

use kuhaku_core::Scope;
use kuhaku_rag::{
    Answer, AnswerEvent, AnswerStream, AskRequest, DocumentReport, IngestOptions, IngestProgress,
    IngestReport, SearchAnswer, TextDocument,
};
use tokio::runtime::Runtime;

use super::runtime;
use crate::error::Result;
use crate::facade::RagBuilder;

/// [`crate::Rag`] for programs without a runtime.
///
/// ```
/// use kuhaku::{Rag, Scope, TextDocument, blocking};
/// let rag = blocking::Rag::open(Rag::builder())?;
/// rag.ingest(TextDocument::new("wifi.txt", "The guest network is called Plover."))?;
/// let answer = rag.ask("What is the guest network called?", Scope::anonymous())?;
/// assert_eq!(answer.text, "The guest network is called Plover. [S1]");
/// # Ok::<(), kuhaku::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rag {
    rag: crate::Rag,
    runtime: Arc<Runtime>,
}

impl Rag {
    /// Opens an index.
    ///
    /// # Errors
    /// Those of [`RagBuilder::open`], and `kuhaku.system` when no runtime can be started.
    pub fn open(builder: RagBuilder) -> Result<Self> {
        let runtime = runtime()?;
        let rag = runtime.block_on(builder.open())?;
        Ok(Self { rag, runtime: Arc::new(runtime) })
    }

    /// Ingests a text.
    ///
    /// # Errors
    /// Those of [`crate::Rag::ingest`].
    pub fn ingest(&self, document: TextDocument) -> Result<DocumentReport> {
        self.runtime.block_on(self.rag.ingest(document))
    }

    /// Ingests files and folders.
    ///
    /// # Errors
    /// Those of [`crate::Rag::ingest_paths`].
    pub fn ingest_paths<P: AsRef<Path>>(
        &self,
        paths: &[P],
        options: &IngestOptions,
        progress: &mut dyn IngestProgress,
    ) -> Result<IngestReport> {
        self.runtime.block_on(self.rag.ingest_paths(paths, options, progress))
    }

    /// Answers a question of somebody.
    ///
    /// # Errors
    /// Those of [`crate::Rag::ask`].
    pub fn ask(&self, question: impl Into<String>, scope: Scope) -> Result<Answer> {
        self.runtime.block_on(self.rag.ask(question, scope))
    }

    /// Answers a question with options of its own.
    ///
    /// # Errors
    /// Those of [`crate::Rag::ask_with`].
    pub fn ask_with(&self, request: &AskRequest) -> Result<Answer> {
        self.runtime.block_on(self.rag.ask_with(request))
    }

    /// Answers a question piece by piece: see [`crate::Rag::ask_stream`].
    pub fn ask_stream(&self, request: &AskRequest) -> AnswerEvents {
        AnswerEvents { stream: self.rag.ask_stream(request), runtime: self.runtime.clone() }
    }

    /// Finds chunks without answering.
    ///
    /// # Errors
    /// Those of [`crate::Rag::search`].
    pub fn search(&self, request: &AskRequest) -> Result<SearchAnswer> {
        self.runtime.block_on(self.rag.search(request))
    }

    /// Ends all use of the index and does what was deferred: see [`crate::Rag::close`].
    pub fn close(&self) {
        self.runtime.block_on(self.rag.close());
    }

    /// The facade below, for what has no blocking form.
    pub fn inner(&self) -> &crate::Rag {
        &self.rag
    }
}

/// The events of an answer, each when it has come. Dropping it ends the call of the model.
///
/// ```
/// use kuhaku::{AnswerEvent, AskRequest, Rag, Scope, TextDocument, blocking};
/// let rag = blocking::Rag::open(Rag::builder())?;
/// rag.ingest(TextDocument::new("wifi.txt", "The guest network is called Plover."))?;
/// let question = AskRequest::new("What is the guest network called?", Scope::anonymous());
/// let mut text = String::new();
/// for event in rag.ask_stream(&question) {
///     match event? {
///         AnswerEvent::Text(piece) => text.push_str(&piece),
///         AnswerEvent::End { answer, .. } => assert_eq!(answer.text, text),
///         _ => {}
///     }
/// }
/// # Ok::<(), kuhaku::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "nothing is asked before the first event is taken"]
pub struct AnswerEvents {
    stream: AnswerStream,
    runtime: Arc<Runtime>,
}

impl Iterator for AnswerEvents {
    type Item = Result<AnswerEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.runtime.block_on(self.stream.next())?;
        Some(event.map_err(Into::into))
    }
}
