//! Settings and the index, from the command line and the environment.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use kuhaku::core::{Error, ErrorKind};
use kuhaku::{
    AskRequest, Filter, IngestOptions, ModelChoice, Rag, RagBuilder, RagSettings, Result, Roles,
    Runtime, Scope, Section as _, Sources, Strategy, TagRule, WalkOptions, one_line,
};

use crate::args::{CallerArgs, Common, ModelArgs, WalkArgs};
use crate::console::Console;
use crate::terminal::Terminal;

/// The index of the command unless another is named.
pub(crate) const DEFAULT_INDEX: &str = "./kuhaku-data";

/// What commands need to open an index.
pub(crate) struct Context<'a> {
    pub(crate) console: &'a Console,
    pub(crate) sources: Sources,
    common: &'a Common,
    runtime: Runtime,
    opened: RefCell<Vec<Rag>>,
}

impl<'a> Context<'a> {
    /// Reads the sources of settings and says which names nobody knows.
    pub(crate) fn new(common: &'a Common, console: &'a Console, runtime: Runtime) -> Result<Self> {
        let mut sources = Sources::from_process_env();
        if let Some(path) = &common.config {
            sources = sources.toml(path)?;
        }
        if let Some(path) = &common.env_file {
            sources = sources.dotenv(path)?;
        }
        for unknown in kuhaku::unknown_settings(&sources) {
            let nearest = unknown.nearest.map(|name| format!("; did you mean {name}?"));
            let nearest = nearest.unwrap_or_default();
            let name = one_line(&unknown.name, 80);
            console.note(&format!("warning: there is no setting {name}{nearest}"));
        }
        Ok(Self { console, sources, common, runtime, opened: RefCell::default() })
    }

    /// The builder with all settings read.
    pub(crate) fn builder(&self) -> Result<RagBuilder> {
        self.builder_of(&self.sources)
    }

    fn builder_of(&self, sources: &Sources) -> Result<RagBuilder> {
        let mut builder = Rag::builder().sources(sources)?.runtime(self.runtime.clone());
        if let Some(key) = &self.common.id_key {
            builder = builder.id_key(key.clone());
        }
        Ok(builder)
    }

    /// The builder for questions and searches, found as an argument or the settings say. No embedder is
    /// opened where words alone decide, unless documents are `kept`.
    pub(crate) fn builder_to_find(
        &self,
        strategy: Option<Strategy>,
        kept: bool,
    ) -> Result<RagBuilder> {
        let mut sources = self.sources.clone();
        if let Some(strategy) = strategy {
            sources = sources.set("rag.retrieval", strategy.as_str());
        }
        let builder = self.builder_of(&sources)?;
        let by_words = RagSettings::load(&sources)?.retrieval == Strategy::Sparse;
        Ok(if by_words && !kept { builder.without_embedder() } else { builder })
    }

    /// The choice of the model, by the settings and these arguments. What an argument names holds for
    /// this run and is not remembered.
    pub(crate) fn choice(&self, args: &ModelArgs) -> Result<ModelChoice> {
        let for_this_run = args.provider.is_some() || args.model.is_some();
        let mut sources = self.sources.clone();
        if let Some(provider) = &args.provider {
            sources = sources.set("llm_provider", provider.as_str());
        }
        let read = |sources: &Sources| -> Result<ModelChoice> {
            let choice = ModelChoice::from_sources(sources, self.runtime.clone())?;
            Ok(choice.consent(Terminal::new()).for_this_run(for_this_run))
        };
        let choice = read(&sources)?;
        let Some(model) = &args.model else { return Ok(choice) };
        let Some(service) = choice.named()? else {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "take that model",
                "no provider is named",
            )
            .next("name its provider with --provider")
            .into());
        };
        read(&sources.set(&format!("{service}_model"), model.as_str()))
    }

    /// What all parts of this run share.
    pub(crate) fn runtime(&self) -> Runtime {
        self.runtime.clone()
    }

    /// The folder of the index, and whether somebody named it.
    pub(crate) fn folder(&self) -> Result<(PathBuf, bool)> {
        let setting = RagSettings::load(&self.sources)?.index;
        let named = self.common.index.clone().or(setting);
        Ok(named.map_or_else(|| (DEFAULT_INDEX.into(), false), |folder| (folder, true)))
    }

    /// Whether an index was named on the command line.
    pub(crate) fn names_index(&self) -> bool {
        self.common.index.is_some()
    }

    /// Opens the index, and says which one when nobody named it.
    pub(crate) async fn open(&self, builder: RagBuilder) -> Result<Rag> {
        let (folder, named) = self.folder()?;
        let rag = self.keep(builder.index(&folder).open().await?);
        if !named {
            self.console.note(&format!("index: {}", folder.display()));
        }
        Ok(rag)
    }

    /// Remembers an open index until the command ends.
    pub(crate) fn keep(&self, rag: Rag) -> Rag {
        self.opened.borrow_mut().push(rag.clone());
        rag
    }

    /// Ends the use of all indexes.
    pub(crate) async fn close(&self) {
        let opened = self.opened.take();
        for rag in opened {
            rag.close().await;
        }
    }

    /// Opens an index that must be there already, for what needs no vectors.
    pub(crate) async fn open_existing(&self) -> Result<Rag> {
        self.open(self.builder()?.create(false).without_embedder()).await
    }
}

impl CallerArgs {
    /// The request that these arguments describe.
    pub(crate) fn request(&self, question: &str) -> AskRequest {
        let mut filter = Filter::none();
        for doc_type in &self.doc_types {
            filter = filter.doc_type(doc_type);
        }
        for (key, value) in &self.metadata {
            filter = filter.metadata(key, value);
        }
        let scope = Scope::with_roles(Roles::new(&self.roles));
        let mut request = AskRequest::new(question, scope).filter(filter);
        if let Some(top_k) = self.top_k {
            request = request.top_k(top_k as usize);
        }
        if let Some(id) = &self.trace_id {
            request = request.trace_id(id.clone());
        }
        if let Some(identity) = &self.identity {
            request = request.identity(identity);
        }
        if self.any_validity { request.any_validity() } else { request }
    }
}

impl WalkArgs {
    /// The options that these arguments describe.
    pub(crate) fn options(&self) -> WalkOptions {
        let options = WalkOptions::default()
            .hidden(self.hidden)
            .ignore_files(!self.no_ignore)
            .recursive(!self.no_recursive);
        self.globs.iter().fold(options, |options, glob| options.glob(glob))
    }
}

/// The options of an ingest.
pub(crate) fn ingest_options(tags: TagRule, walk: WalkOptions) -> IngestOptions {
    let mut options = IngestOptions::default();
    options.tags = tags;
    options.walk = walk;
    options
}

/// The folder above a path, for ids in an index that is thrown away.
pub(crate) fn above(path: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(path).ok()?;
    real.parent().map(Path::to_path_buf)
}
