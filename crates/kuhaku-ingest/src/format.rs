//! Which formats are read, and how a file name tells them apart.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// The suffixes that are read, for messages.
pub(crate) const SUFFIXES: &str = ".txt, .md, .markdown";

/// A format that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Plain text: paragraphs between blank lines, pages between form feeds. The first line of a
    /// paragraph is a heading when the next line is made of `===` or `---`, or when it is short, ends
    /// openly and stands above prose that was plainly not wrapped behind it.
    Text,
    /// CommonMark with tables.
    Markdown,
}

impl Format {
    /// The format that the suffix of a file name stands for, in any case; `None` for every other.
    ///
    /// ```
    /// use kuhaku_ingest::Format;
    /// assert_eq!(Format::from_name("notes/Plan.MD"), Some(Format::Markdown));
    /// assert_eq!(Format::from_name("scan.pdf"), None);
    /// ```
    pub fn from_name(name: impl AsRef<Path>) -> Option<Self> {
        let suffix = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        match suffix.as_str() {
            "txt" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }

    /// Like [`Format::from_name`], for a file that somebody asked for.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], naming the suffixes that are read.
    pub fn require(name: impl AsRef<Path>) -> Result<Self> {
        Self::from_name(name).ok_or_else(|| {
            Error::new(
                ErrorKind::Unsupported,
                "read the file",
                format!("its suffix is none of {SUFFIXES}"),
            )
            .next("convert it to one of these, or rename it if it is plain text")
        })
    }
}
