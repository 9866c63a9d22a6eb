//! What a model runs on.

use std::fmt;
use std::str::FromStr;

use ort::ep::{CPU, ExecutionProviderDispatch};

use crate::error::{Error, ErrorKind, Result};
use crate::library::OnnxRuntime;

/// What a model runs on. [`Device::Auto`] takes the best that is part of this build and of the
/// runtime library; the others are an error when they are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Device {
    /// The best that there is.
    #[default]
    Auto,
    /// The processor. Always there.
    Cpu,
    /// A graphics card of NVIDIA (feature `cuda`).
    Cuda,
    /// Apple's accelerators (feature `coreml`); `mps` is another name for it.
    CoreMl,
    /// Any graphics card on Windows (feature `directml`).
    DirectMl,
}

impl Device {
    /// Every device but [`Device::Auto`], the best first.
    const BEST_FIRST: [Self; 4] = [Self::Cuda, Self::CoreMl, Self::DirectMl, Self::Cpu];

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::CoreMl => "coreml",
            Self::DirectMl => "directml",
        }
    }

    /// Whether this build has it.
    fn is_compiled_in(self) -> bool {
        matches!(self, Self::Auto | Self::Cpu) || self.accelerator().is_some()
    }

    /// Whether the loaded runtime library has it.
    fn is_in_library(self) -> bool {
        self.accelerator().is_none_or(|accelerator| accelerator.in_library)
    }

    fn accelerator(self) -> Option<Accelerator> {
        match self {
            #[cfg(feature = "cuda")]
            Self::Cuda => Some(Accelerator::of(ort::ep::CUDA::default())),
            #[cfg(feature = "coreml")]
            Self::CoreMl => Some(Accelerator::of(ort::ep::CoreML::default())),
            #[cfg(feature = "directml")]
            Self::DirectMl => Some(Accelerator::of(ort::ep::DirectML::default())),
            _ => None,
        }
    }

    /// The devices of this build and of the loaded library, the best first.
    pub(crate) fn present(_: &OnnxRuntime) -> impl Iterator<Item = Self> + use<> {
        Self::BEST_FIRST
            .into_iter()
            .filter(|device| device.is_compiled_in())
            .filter(|device| device.is_in_library())
    }

    /// The device that a model is opened on; only a loaded library can tell.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceUnavailable`] when it is not part of the build or of the library.
    pub(crate) fn resolve(self, loaded: &OnnxRuntime) -> Result<Self> {
        if self == Self::Auto {
            return Ok(Self::present(loaded).next().unwrap_or(Self::Cpu));
        }
        let fail = |wrong: String, next: String| {
            let tried = format!("run a model on `{self}`");
            Err(Error::new(ErrorKind::DeviceUnavailable, tried, wrong).next(next))
        };
        if !self.is_compiled_in() {
            let next = format!("build with the feature `{self}`, or use `auto`");
            return fail("it is not part of this build".into(), next);
        }
        if !self.is_in_library() {
            let next = format!("use a runtime library that is made for `{self}`, or use `auto`");
            return fail("the runtime library does not have it".into(), next);
        }
        Ok(self)
    }

    /// What the runtime calls it, for a session. A device that cannot be used fails the session.
    pub(crate) fn provider(self) -> ExecutionProviderDispatch {
        match self.accelerator() {
            Some(accelerator) => accelerator.provider.error_on_failure(),
            None => CPU::default().with_arena_allocator(true).build(),
        }
    }
}

/// A device beside the processor.
#[allow(dead_code, reason = "made where one is compiled in")]
struct Accelerator {
    in_library: bool,
    provider: ExecutionProviderDispatch,
}

#[cfg(any(feature = "cuda", feature = "coreml", feature = "directml"))]
impl Accelerator {
    fn of<P: ort::ep::ExecutionProvider + Into<ExecutionProviderDispatch>>(provider: P) -> Self {
        Self { in_library: P::is_available().unwrap_or(false), provider: provider.into() }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Device {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "auto" | "" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda),
            "coreml" | "mps" => Ok(Self::CoreMl),
            "directml" => Ok(Self::DirectMl),
            _ => {
                let kind = ErrorKind::Core(kuhaku_core::ErrorKind::InvalidInput);
                let tried = "choose a device";
                Err(Error::new(kind, tried, "there is no device of that name")
                    .next("choose auto, cpu, cuda, coreml (or mps) or directml"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        for device in Device::BEST_FIRST.into_iter().chain([Device::Auto]) {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
        }
        assert_eq!("MPS".parse::<Device>().unwrap(), Device::CoreMl);
        assert_eq!("tpu".parse::<Device>().unwrap_err().code(), "core.invalid_input");
    }
}
