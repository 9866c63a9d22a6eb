//! What is wrong with a file, in codes and places.

use std::fmt;

use kuhaku_core::DocumentId;

/// Kinds of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FindingKind {
    /// A page of the database is not what was written.
    Page,
    /// A row belongs to one that is not there.
    Reference,
    /// The settings of the index are missing or unreadable.
    Settings,
    /// The log of changes is unreadable.
    Changes,
    /// A document cannot be read.
    Document,
    /// Access tags are not in the one form that they are written in.
    Tags,
    /// Two documents have one id.
    Duplicate,
    /// A chunk is missing, or does not lie in its document's text.
    Chunk,
    /// The terms by which a chunk is found are not those of its text.
    Terms,
    /// The vector of a chunk is none, or not that of its text and of the index's embedder.
    Vector,
    /// A mark of a document that is set or not is neither. It counts as set.
    Flag,
    /// A table of the index is missing, or is not as it was made.
    Table,
    /// Something in the database is none of the index: a table, a trigger, a view or an index of
    /// somebody else's.
    Foreign,
}

impl FindingKind {
    /// A stable identifier.
    pub fn code(self) -> &'static str {
        match self {
            Self::Page => "verify.page",
            Self::Reference => "verify.reference",
            Self::Settings => "verify.settings",
            Self::Changes => "verify.changes",
            Self::Document => "verify.document",
            Self::Tags => "verify.tags",
            Self::Duplicate => "verify.duplicate",
            Self::Chunk => "verify.chunk",
            Self::Terms => "verify.terms",
            Self::Vector => "verify.vector",
            Self::Flag => "verify.flag",
            Self::Table => "verify.table",
            Self::Foreign => "verify.foreign",
        }
    }

    /// What [`crate::SqliteIndex::repair`] does about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Page => "repair takes over what can be read of other pages",
            Self::Reference => "repair leaves out what belongs to nothing",
            Self::Settings => "repair stops when settings cannot be read: restore a backup then",
            Self::Changes => "repair begins the log of changes anew",
            Self::Document | Self::Tags | Self::Chunk => {
                "repair leaves the document out: ingest it again"
            }
            Self::Duplicate => "repair keeps the later one",
            Self::Terms => "repair makes the terms anew from the text",
            Self::Vector => "repair leaves the vector out: run `kuhaku index reembed` after it",
            Self::Flag => "repair stores it as set, as searches take it",
            Self::Table => "repair makes the table anew and takes over what the index knows of it",
            Self::Foreign => "repair drops it; the damaged files that it keeps still have it",
        }
    }
}

impl serde::Serialize for FindingKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

/// One thing that is wrong. Holds ids and numbers of rows, nothing that is stored.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// Where: a document by its id, or by its row when the id is unreadable; else a table or page.
    pub place: String,
}

impl Finding {
    pub(super) fn new(kind: FindingKind, place: impl Into<String>) -> Self {
        Self { kind, place: place.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.code(), self.place)
    }
}

/// Names a document.
pub(super) fn place(id: Option<&DocumentId>, row: i64) -> String {
    id.map_or_else(|| format!("document in row {row}"), |id| format!("document {id}"))
}
