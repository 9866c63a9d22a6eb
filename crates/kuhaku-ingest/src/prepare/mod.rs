//! From a source to a document that is ready to be indexed.

mod document;
mod masking;
mod screening;
mod statements;
mod windows;

use std::collections::BTreeMap;
use std::sync::Arc;

use kuhaku_core::{InjectionGuard, Masker};

pub use document::{PreparedDocument, StatedValidity};

use masking::Masking;
use statements::Statements;

use crate::chunk::{Chunk, Chunker, sections};
use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::load::{LoadedDocument, is_blank, load, load_text, title};
use crate::read::{DEFAULT_MAX_BYTES, check_size};
use crate::source::{Body, Source};
use crate::warning::Warning;

/// The type of documents of which nothing else is known.
const DOCUMENT: &str = "document";

/// The most chunks that one document may give: 50 MB of prose in chunks of 500 characters. A small
/// file of nothing but headings would otherwise fill an index.
pub const MAX_CHUNKS: usize = 100_000;

/// What was tried when a document is too large.
const TRIED: &str = "prepare the document";

/// Loads, masks, chunks and screens: the one way from a source to an index.
#[derive(Clone, Debug)]
pub struct Preparer {
    masker: Arc<dyn Masker>,
    guard: InjectionGuard,
    chunker: Chunker,
    doc_types: BTreeMap<String, String>,
    max_bytes: u64,
}

impl Preparer {
    /// A preparer without document types of its own and with the limit of [`DEFAULT_MAX_BYTES`].
    pub fn new(masker: Arc<dyn Masker>, guard: InjectionGuard, chunker: Chunker) -> Self {
        Self { masker, guard, chunker, doc_types: BTreeMap::new(), max_bytes: DEFAULT_MAX_BYTES }
    }

    /// Gives documents a type by how their file name begins. The longest beginning wins; front
    /// matter wins over it.
    #[must_use]
    pub fn doc_types(mut self, by_prefix: BTreeMap<String, String>) -> Self {
        self.doc_types = by_prefix;
        self
    }

    /// The largest source taken, in bytes. Preparing takes memory in proportion to it: for Markdown
    /// made of nothing but tiny paragraphs or headings, about 60 bytes per byte.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// The masker that stored text passes.
    pub fn masker(&self) -> &Arc<dyn Masker> {
        &self.masker
    }

    /// The chunker.
    pub fn chunker(&self) -> &Chunker {
        &self.chunker
    }

    /// Prepares one document. A pure function of the source and of what the preparer is made of.
    ///
    /// # Errors
    /// [`ErrorKind`](crate::ErrorKind): `TooLarge` (over the size limit, or more than [`MAX_CHUNKS`]
    /// chunks), `Unsupported`, `Mismatch`, `Empty` (files only;
    /// a blank text has no chunks), or `AccessTags` when its front matter states tags that cannot be
    /// understood.
    pub fn prepare(&self, source: Source) -> Result<PreparedDocument> {
        check_size(TRIED, source.len() as u64, self.max_bytes)?;
        let document = load_source(&source)?;
        // Each section gives a chunk or more; looked at before the headings are masked one by one.
        if sections(&document.text, &document.blocks).nth(MAX_CHUNKS).is_some() {
            return Err(too_many_chunks());
        }
        let mut warnings = document.warnings.clone();
        let statements = Statements::read(&document, &mut warnings)?;

        let mut masking = Masking::new(&*self.masker);
        let text = masking.mask(&document.text);
        let source_name = masking.mask(&source.name).text().to_owned();
        let front_title = document.front_title().map(|title| masking.mask(title).text().to_owned());
        let blocks = masking.blocks(&document, &text);
        let title = title::title(front_title.as_deref(), &blocks, text.text(), &source_name);
        let title = self.usable_title(masking.again(&title), &source_name, &mut warnings);
        let stated_type = statements.doc_type.map(|name| masking.mask(&name).text().to_owned());
        let (doc_type, metadata) =
            self.usable_metadata(stated_type, statements.metadata, &mut masking, &mut warnings);
        let doc_type = doc_type.unwrap_or_else(|| self.type_by_name(&source.name).to_owned());

        let page_starts = document.page_starts.iter();
        let page_starts: Vec<usize> =
            page_starts.map(|start| text.map().to_output(*start..*start).start).collect();
        let mut chunks = if is_blank(text.text()) {
            Vec::new()
        } else {
            self.chunker.chunk_parts(text.text(), &blocks, &page_starts, MAX_CHUNKS + 1)
        };
        if chunks.len() > MAX_CHUNKS {
            return Err(too_many_chunks());
        }
        self.screen(text.text(), &source_name, &mut chunks, &mut warnings);

        Ok(PreparedDocument {
            title,
            source_name,
            doc_type,
            text: text.canonical(),
            chunks,
            metadata,
            tags: statements.tags,
            validity: statements.validity,
            redactions: masking.redactions,
            warnings,
        })
    }

    /// The title, unless it would instruct a model: it is shown beside every chunk.
    fn usable_title(&self, title: String, name: &str, warnings: &mut Vec<Warning>) -> String {
        if screening::refused(&self.guard, &title).is_none() {
            return title;
        }
        warnings.push(Warning::TitleReplaced);
        title::stem(name)
    }

    /// The stated type and the metadata, masked, without what would instruct a model.
    fn usable_metadata(
        &self,
        doc_type: Option<String>,
        stated: Vec<(String, String)>,
        masking: &mut Masking<'_>,
        warnings: &mut Vec<Warning>,
    ) -> (Option<String>, BTreeMap<String, String>) {
        let refused = |text: &str| screening::refused(&self.guard, text).is_some();
        let mut dropped = 0;
        let mut metadata = BTreeMap::new();
        for (key, value) in stated {
            let value = masking.field(&key, &value);
            let key = masking.mask(&key).text().to_owned();
            if refused(&key) || refused(&value) {
                dropped += 1;
            } else {
                metadata.entry(key).or_insert(value);
            }
        }
        let usable = doc_type.filter(|name| {
            let bad = refused(name);
            dropped += usize::from(bad);
            !bad
        });
        if dropped > 0 {
            warnings.push(Warning::MetadataDropped { count: dropped });
        }
        (usable, metadata)
    }

    fn type_by_name(&self, name: &str) -> &str {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let fitting = self.doc_types.iter().filter(|(prefix, _)| name.starts_with(prefix.as_str()));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map_or(DOCUMENT, |(_, doc_type)| doc_type)
    }

    fn screen(&self, text: &str, name: &str, chunks: &mut [Chunk], warnings: &mut Vec<Warning>) {
        screening::screen(&self.guard, text, chunks, warnings);
        // The name is shown beside every chunk, and there is nothing to put in its place.
        if let Some(family) = screening::refused(&self.guard, name) {
            chunks.iter_mut().for_each(|chunk| chunk.quarantine = Some(family));
            warnings.push(Warning::Suspicious { family, chunks: (0..chunks.len()).collect() });
        }
    }
}

fn too_many_chunks() -> Error {
    let wrong = format!("it gives more than {MAX_CHUNKS} chunks");
    Error::new(ErrorKind::TooLarge, TRIED, wrong)
        .next("split it into several documents, or choose larger chunks")
}

fn load_source(source: &Source) -> Result<LoadedDocument> {
    let named = source.format.or_else(|| Format::from_name(&source.name));
    match &source.body {
        Body::Bytes(bytes) => load(bytes, named.map_or_else(|| Format::require(&source.name), Ok)?),
        Body::Text(text) => load_text(text, named.unwrap_or(Format::Text)),
    }
}
