//! What can go wrong with local models and the store they come from.

use kuhaku_core::{Failure, Kind, Status};

/// The kinds of failure of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// From the contracts and from downloads.
    Core(kuhaku_core::ErrorKind),
    /// No model of that name is known.
    UnknownModel,
    /// The model, or the runtime library, is not on this machine.
    NotPulled,
    /// A file of the store is not what was pulled or published.
    Damaged,
    /// The store is offline, and the network would be needed.
    Offline,
    /// The disk refused to read or write.
    Storage,
    /// There is no runtime library for this kind of machine.
    UnsupportedPlatform,
    /// The file is not a runtime library that this program can load.
    UnusableRuntime,
    /// The runtime library is older than what this crate needs.
    OutdatedRuntime,
    /// This process has loaded another runtime library, and can load only one.
    RuntimeInUse,
    /// The device is not part of this build or of the runtime library.
    DeviceUnavailable,
    /// A file of the model is missing or broken, or does not fit the others.
    UnusableModel,
    /// There was not enough memory.
    OutOfMemory,
    /// The runtime could not calculate.
    Inference,
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        match self {
            Self::Core(kind) => kind.code(),
            Self::UnknownModel => "onnx.unknown_model",
            Self::NotPulled => "onnx.not_pulled",
            Self::Damaged => "onnx.damaged",
            Self::Offline => "onnx.offline",
            Self::Storage => "onnx.storage",
            Self::UnsupportedPlatform => "onnx.unsupported_platform",
            Self::UnusableRuntime => "onnx.unusable_runtime",
            Self::OutdatedRuntime => "onnx.outdated_runtime",
            Self::RuntimeInUse => "onnx.runtime_in_use",
            Self::DeviceUnavailable => "onnx.device_unavailable",
            Self::UnusableModel => "onnx.unusable_model",
            Self::OutOfMemory => "onnx.out_of_memory",
            Self::Inference => "onnx.inference",
        }
    }

    fn status(&self) -> Status {
        match self {
            Self::Core(kind) => kind.status(),
            _ => Status::Permanent,
        }
    }

    fn is_outage(&self) -> bool {
        matches!(self, Self::Core(kind) if kind.is_outage())
    }
}

impl From<kuhaku_core::ErrorKind> for ErrorKind {
    fn from(kind: kuhaku_core::ErrorKind) -> Self {
        Self::Core(kind)
    }
}

/// The kind that the contracts of core have for a failure while a model runs.
#[cfg(feature = "runtime")]
impl From<ErrorKind> for kuhaku_core::ErrorKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Core(kind) => kind,
            _ => Self::Unavailable,
        }
    }
}

/// The error of this crate.
pub type Error = Failure<ErrorKind>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
