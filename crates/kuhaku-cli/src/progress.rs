//! How far an ingest is, on terminals.

use indicatif::{ProgressBar, ProgressStyle};
use kuhaku::{DocumentReport, IngestProgress};

use crate::console::plain;

/// A bar on standard error; nothing where that is no terminal.
pub(crate) struct Bar(ProgressBar);

impl Bar {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}");
        let bar = ProgressBar::new(0);
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
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
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
