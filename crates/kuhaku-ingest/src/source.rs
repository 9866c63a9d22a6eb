//! What is handed in to be prepared.

use crate::format::Format;

/// A document as it comes in: a name, and bytes or text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub(crate) name: String,
    pub(crate) format: Option<Format>,
    pub(crate) body: Body,
}

/// The content of a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// A file's bytes, to be decoded; a file without text is an error.
    Bytes(Vec<u8>),
    /// Text of the caller; may be blank.
    Text(String),
}

impl Source {
    /// The bytes of a file. Its name decides the format unless one is given; it may be a path, whose
    /// last part then counts.
    pub fn from_bytes(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { name: name.into(), format: None, body: Body::Bytes(bytes.into()) }
    }

    /// A text in memory. Read as plain text if neither its name nor the caller says otherwise.
    pub fn from_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), format: None, body: Body::Text(text.into()) }
    }

    /// Reads it in this format, whatever its name.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = Some(format);
        self
    }

    /// Bytes of the content.
    pub fn len(&self) -> usize {
        match &self.body {
            Body::Bytes(bytes) => bytes.len(),
            Body::Text(text) => text.len(),
        }
    }

    /// True when there are no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
