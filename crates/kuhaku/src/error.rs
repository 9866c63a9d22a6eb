//! One error for all tools.

use std::error::Error as StdError;
use std::fmt;

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure, by the crate they come from. Each keeps its own stable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// From the contracts: settings, models, random bytes.
    Core(kuhaku_core::ErrorKind),
    /// From reading and chunking documents.
    #[cfg(feature = "rag")]
    Ingest(kuhaku_ingest::ErrorKind),
    /// From the index.
    #[cfg(feature = "rag")]
    Index(kuhaku_index::ErrorKind),
    /// From retrieval and answers.
    #[cfg(feature = "rag")]
    Rag(kuhaku_rag::ErrorKind),
    /// From the audit.
    #[cfg(feature = "rag")]
    Audit(kuhaku_core::AuditErrorKind),
    /// From extraction.
    #[cfg(feature = "extract")]
    Extract(kuhaku_extract::ErrorKind),
    /// From an evaluation.
    #[cfg(feature = "eval")]
    Eval(kuhaku_eval::ErrorKind),
    /// From local models and their store.
    #[cfg(any(feature = "dense", feature = "models"))]
    Onnx(kuhaku_onnx::ErrorKind),
    /// What was asked for is not compiled in.
    FeatureMissing,
    /// The operating system refused.
    System,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::Core(kind) => kind.code(),
            #[cfg(feature = "rag")]
            Self::Ingest(kind) => kind.code(),
            #[cfg(feature = "rag")]
            Self::Index(kind) => kind.code(),
            #[cfg(feature = "rag")]
            Self::Rag(kind) => kind.code(),
            #[cfg(feature = "rag")]
            Self::Audit(kind) => kind.code(),
            #[cfg(feature = "extract")]
            Self::Extract(kind) => kind.code(),
            #[cfg(feature = "eval")]
            Self::Eval(kind) => kind.code(),
            #[cfg(any(feature = "dense", feature = "models"))]
            Self::Onnx(kind) => kind.code(),
            Self::FeatureMissing => "kuhaku.feature_missing",
            Self::System => "kuhaku.system",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Core(kind) => kind.status(),
            #[cfg(feature = "rag")]
            Self::Ingest(kind) => kind.status(),
            #[cfg(feature = "rag")]
            Self::Index(kind) => kind.status(),
            #[cfg(feature = "rag")]
            Self::Rag(kind) => kind.status(),
            #[cfg(feature = "rag")]
            Self::Audit(kind) => kind.status(),
            #[cfg(feature = "extract")]
            Self::Extract(kind) => kind.status(),
            #[cfg(feature = "eval")]
            Self::Eval(kind) => kind.status(),
            #[cfg(any(feature = "dense", feature = "models"))]
            Self::Onnx(kind) => kind.status(),
            Self::FeatureMissing | Self::System => Status::Permanent,
        }
    }
}

/// The error that every tool's error converts to.
#[derive(Debug)]
pub struct Error(Failure<ErrorKind>);

/// A result with the umbrella's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The kind, to match on.
    pub fn kind(&self) -> &ErrorKind {
        self.0.kind()
    }

    /// The stable code of the kind: `index.locked`.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// Whether doing the same again may help.
    pub fn status(&self) -> Status {
        self.0.status()
    }

    /// What was tried; completes "cannot …".
    pub fn tried(&self) -> &str {
        self.0.tried()
    }

    /// What is wrong.
    pub fn wrong(&self) -> &str {
        self.0.wrong()
    }

    /// The one next step, if there is one.
    pub fn next_step(&self) -> Option<&str> {
        self.0.next_step()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl From<Failure<ErrorKind>> for Error {
    fn from(failure: Failure<ErrorKind>) -> Self {
        Self(failure)
    }
}

impl From<kuhaku_core::Error> for Error {
    fn from(error: kuhaku_core::Error) -> Self {
        Self(error.map_kind(ErrorKind::Core))
    }
}

#[cfg(any(
    feature = "rag",
    feature = "extract",
    feature = "eval",
    feature = "dense",
    feature = "models"
))]
macro_rules! from_tool {
    ($($krate:ident => $kind:ident),+) => {$(
        impl From<$krate::Error> for Error {
            fn from(error: $krate::Error) -> Self {
                Self(error.map_kind(ErrorKind::$kind))
            }
        }
    )+};
}
#[cfg(feature = "rag")]
from_tool!(kuhaku_ingest => Ingest, kuhaku_index => Index, kuhaku_rag => Rag);
#[cfg(feature = "extract")]
from_tool!(kuhaku_extract => Extract);
#[cfg(feature = "eval")]
from_tool!(kuhaku_eval => Eval);
#[cfg(any(feature = "dense", feature = "models"))]
from_tool!(kuhaku_onnx => Onnx);

#[cfg(feature = "rag")]
impl From<kuhaku_core::AuditError> for Error {
    fn from(error: kuhaku_core::AuditError) -> Self {
        Self(error.map_kind(ErrorKind::Audit))
    }
}

/// The error for what is not compiled in (D30).
#[cfg(all(
    feature = "rag",
    any(not(feature = "sqlite"), not(feature = "dense"), not(feature = "llm"))
))]
pub(crate) fn feature_missing(tried: &'static str, feature: &'static str) -> Error {
    let wrong = format!("the feature `{feature}` is not compiled in");
    let next = format!("build kuhaku with the feature `{feature}`");
    Failure::new(ErrorKind::FeatureMissing, tried, wrong).next(next).into()
}

/// The error for what the operating system refuses.
#[cfg(feature = "rag")]
pub(crate) fn system(tried: &'static str, source: std::io::Error) -> Error {
    Failure::new(ErrorKind::System, tried, "the operating system refused")
        .next("check free space and access rights")
        .caused_by(source)
        .into()
}
