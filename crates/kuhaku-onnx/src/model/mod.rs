//! A model that is open: its tokenizer, and sessions on threads of their own.
//!
//! Embedders, rerankers and classifiers are built on [`Model`]: they make rows of tokens with its
//! tokenizer, let it [`run`](Model::run) them, and read the numbers that come back.

mod folder;
mod invariance;
mod options;
mod pooling;
mod session;
mod tokenizer;

use std::fmt;
use std::sync::Arc;

use tokio::sync::OnceCell;

pub use folder::ModelFolder;
pub(crate) use folder::{ModelConfig, unusable};
pub(crate) use options::{Options, option_setters};
pub(crate) use pooling::Head;
pub(crate) use session::Session;
pub(crate) use tokenizer::{Row, TextTokenizer};

use crate::device::Device;
use crate::error::Result;
use crate::library::OnnxRuntime;
use crate::schedule::{Grouping, Pool, Urgency};

/// An open model. What it gives for a row depends on the row alone (D7): how rows may share a batch
/// is measured with the model itself before the first batch of several.
pub(crate) struct Model {
    pool: Pool,
    tokenizer: Arc<TextTokenizer>,
    config: ModelConfig,
    device: Device,
    threads: usize,
    width: usize,
    grouping: OnceCell<Grouping>,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model")
            .field("pool", &self.pool)
            .field("device", &self.device)
            .field("threads_per_session", &self.threads)
            .field("width", &self.width)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// Opens a model and runs one row through it: the highest number of the tokenizer must be in
    /// the model's table, and the output must have the shape that the model declares. Blocks for the
    /// time that takes.
    ///
    /// # Errors
    /// [`UnusableModel`](crate::ErrorKind::UnusableModel) when a file is missing or broken or does
    /// not fit the others; [`DeviceUnavailable`](crate::ErrorKind::DeviceUnavailable);
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory).
    pub(crate) fn open(
        runtime: &OnnxRuntime,
        folder: &ModelFolder,
        head: Head,
        options: &Options,
    ) -> Result<Self> {
        let device = options.device.resolve(runtime)?;
        let mut config = folder.config()?;
        let file = folder.tokenizer_file();
        let tokenizer = TextTokenizer::open(&file, &config)?;
        config.pad = config.pad.or_else(|| tokenizer.pad());
        let threads = options.threads_per_session();
        let mut sessions = Vec::new();
        for _ in 0..options.sessions.max(1) {
            sessions.push(Session::open(runtime, folder, &config, head, device, options)?);
        }
        let mut width = 0;
        for session in &mut sessions {
            let probe = tokenizer.surround([&[], &[tokenizer.highest()]]);
            session.run(&[&probe]).map_err(|error| {
                let wrong = "the model cannot read its tokens: it belongs to another model, or the \
                             model is damaged";
                match error.kind() {
                    crate::ErrorKind::Inference => unusable(&file, wrong).caused_by(error),
                    _ => error,
                }
            })?;
            width = session.width();
        }
        let pool = Pool::new(sessions, options.batch_tokens)?;
        let tokenizer = Arc::new(tokenizer);
        Ok(Self { pool, tokenizer, config, device, threads, width, grouping: OnceCell::new() })
    }

    /// What its files say.
    pub(crate) fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// What it runs on.
    pub(crate) fn device(&self) -> Device {
        self.device
    }

    /// How many numbers it gives per row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Its tokenizer, for lengths; long work with it belongs into [`prepare`](Self::prepare).
    pub(crate) fn tokenizer(&self) -> &Arc<TextTokenizer> {
        &self.tokenizer
    }

    /// Does something with the tokenizer on a thread of the model: the way from texts to rows.
    ///
    /// # Errors
    /// What `work` fails with.
    pub(crate) async fn prepare<T: Send + 'static>(
        &self,
        urgency: Urgency,
        work: impl FnOnce(&TextTokenizer) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tokenizer = Arc::clone(&self.tokenizer);
        self.pool.short(urgency, move |_| work(&tokenizer)).await
    }

    /// [`prepare`](Self::prepare) and [`run`](Self::run) in one: a single row takes one turn in the
    /// queue instead of two.
    ///
    /// # Errors
    /// What `work` fails with, and as for [`run`](Self::run).
    pub(crate) async fn prepare_and_run<T: Send + 'static>(
        &self,
        urgency: Urgency,
        work: impl FnOnce(&TextTokenizer) -> Result<(Vec<Row>, T)> + Send + 'static,
    ) -> Result<(Vec<Vec<f32>>, T)> {
        let tokenizer = Arc::clone(&self.tokenizer);
        let prepared = self.pool.short(urgency, move |session| {
            let (rows, made) = work(&tokenizer)?;
            Ok(match &rows[..] {
                [only] => (session.run(&[only])?, Vec::new(), made),
                _ => (Vec::new(), rows, made),
            })
        });
        let (numbers, rows, made) = prepared.await?;
        match rows.is_empty() {
            true => Ok((numbers, made)),
            false => Ok((self.run(urgency, rows).await?, made)),
        }
    }

    /// The numbers of each row, in the order of the rows; none may be longer than
    /// [`ModelConfig::longest`]. Batches are made of rows of like length. When the caller drops the
    /// future, no further batch begins.
    ///
    /// # Errors
    /// [`OutOfMemory`](crate::ErrorKind::OutOfMemory) and
    /// [`Inference`](crate::ErrorKind::Inference).
    pub(crate) async fn run(&self, urgency: Urgency, rows: Vec<Row>) -> Result<Vec<Vec<f32>>> {
        let grouping = match rows.len() {
            0 | 1 => Grouping::Alone,
            _ => self.grouping().await?,
        };
        self.pool.infer(urgency, rows, grouping).await
    }

    /// How rows may share a batch, measured once.
    pub(crate) async fn grouping(&self) -> Result<Grouping> {
        let measured = || invariance::measure(&self.pool, &self.tokenizer, self.config.longest);
        self.grouping.get_or_try_init(measured).await.copied()
    }
}
