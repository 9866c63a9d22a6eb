//! Everything of a call that somebody could see.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex};

use kuhaku_core::{Announcement, Announcer, Error, MetricsSink};

/// Keeps what is shown, line by line. Clones keep it together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<Mutex<Vec<String>>>);

impl Watch {
    /// Something that is shown, and where.
    pub(crate) fn see(&self, place: &str, shown: &str) {
        let lines = shown.lines().map(|line| format!("in {place}: {line}"));
        self.0.lock().unwrap().extend(lines);
    }

    /// An error, and whatever is behind it.
    pub(crate) fn see_error(&self, error: &Error) {
        let mut behind: Option<&dyn StdError> = Some(error);
        while let Some(error) = behind {
            self.see("an error", &format!("{error}\n{error:?}\n{error:#?}"));
            behind = error.source();
        }
    }

    /// The lines that hold a mark.
    pub(crate) fn lines_with(&self, mark: &str) -> String {
        let lines = self.0.lock().unwrap();
        lines.iter().filter(|line| line.contains(mark)).cloned().collect::<Vec<_>>().join("\n")
    }
}

impl Announcer for Watch {
    fn announce(&self, announcement: &Announcement) {
        self.see("an announcement", &format!("{announcement:?}"));
    }
}

impl MetricsSink for Watch {
    fn count(&self, name: &'static str, label: &str, _by: u64) {
        self.see(name, label);
    }

    fn record(&self, name: &'static str, labels: &[(&'static str, &str)], _value: f64) {
        self.see(name, &format!("{labels:?}"));
    }
}
