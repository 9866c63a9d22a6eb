//! A text, folded once.

/// The caller's text, made ready for searches.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
}

impl Source {
    /// Folds `text`, in time linear in its length.
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned() }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }
}
