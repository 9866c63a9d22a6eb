//! How far an ingest, a download or a batch is, on terminals.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use kuhaku::extract::BatchProgress;
use kuhaku::{DocumentReport, IngestProgress};

use crate::console::{Console, plain};

/// A bar of documents, or of passages where nothing but vectors is made, on standard error; nothing
/// where that is no terminal.
pub(crate) struct Bar(ProgressBar, bool);

impl Bar {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
        let bar = ProgressBar::new(0);
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)), false)
    }
}

impl IngestProgress for Bar {
    fn found(&mut self, documents: usize) {
        self.0.set_length(documents as u64);
    }

    fn done(&mut self, report: &DocumentReport) {
        self.0.set_message(plain(&report.source).into_owned());
        self.0.inc(1);
    }

    fn embedding(&mut self, done: usize, of: usize) {
        if self.0.length() == Some(0) {
            // Nothing but vectors is made.
            self.1 = true;
        }
        if self.1 {
            self.0.set_length(of as u64);
            self.0.set_position(done as u64);
        } else {
            self.0.set_message(format!("{done} of {of} passages embedded"));
        }
    }
}

/// A bar of bytes on standard error; nothing where that is no terminal. Clones are the same bar.
#[derive(Clone)]
pub(crate) struct Bytes(ProgressBar, Arc<AtomicBool>);

impl Bytes {
    pub(crate) fn new() -> Self {
        let known = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta} {wide_msg}";
        let style = ProgressStyle::with_template(known);
        let bar = ProgressBar::new(0);
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)), Arc::default())
    }

    /// Shows how far a file is, or that another process is waited for. The latter is said once where
    /// there is no terminal: nothing else would tell why nothing happens.
    pub(crate) fn at(&self, file: &str, done: u64, total: Option<u64>, waiting: bool) {
        if waiting {
            let message = "another process downloads it; waiting";
            if self.0.is_hidden() && !self.1.swap(true, Ordering::Relaxed) {
                Console::new(false).note(message);
            }
            self.0.set_message(message);
            return self.0.tick();
        }
        self.0.set_length(total.unwrap_or(done).max(done));
        self.0.set_message(plain(file).into_owned());
        self.0.set_position(done);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A bar of texts on standard error; nothing where that is no terminal. Clones are the same bar.
#[derive(Clone)]
pub(crate) struct Texts(ProgressBar);

impl Texts {
    /// `texts` is how many there are, where that is known.
    pub(crate) fn new(texts: Option<u64>) -> Self {
        let (template, bar) = match texts {
            Some(texts) => ("{bar:30} {pos}/{len} {eta} {wide_msg}", ProgressBar::new(texts)),
            None => ("{spinner} {pos} {wide_msg}", ProgressBar::no_length()),
        };
        let style = ProgressStyle::with_template(template);
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    pub(crate) fn at(&self, progress: &BatchProgress) {
        let done = progress.done.saturating_add(progress.skipped);
        self.0.set_position(u64::try_from(done).unwrap_or(u64::MAX));
        if progress.errors > 0 {
            self.0.set_message(format!("{} in error", progress.errors));
        }
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
