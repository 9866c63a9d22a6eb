//! The ONNX Runtime library: found, checked and loaded, once per process.

mod binary;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::LoadDynamicError;
use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};

/// The name of the library's file on this system.
pub const RUNTIME_LIBRARY: &str = if cfg!(windows) {
    "onnxruntime.dll"
} else if cfg!(target_os = "macos") {
    "libonnxruntime.dylib"
} else {
    "libonnxruntime.so"
};

/// The library that this process has loaded. ONNX Runtime keeps one library and one environment
/// for the life of a process and cannot load a second; this remembers which, so that opening it
/// again gives the same handle and opening another says why it cannot.
static LOADED: Mutex<Option<OnnxRuntime>> = Mutex::new(None);

/// A loaded ONNX Runtime. Clones are the same handle.
///
/// ```no_run
/// use kuhaku_onnx::OnnxRuntime;
///
/// let runtime = OnnxRuntime::open("/opt/onnxruntime/lib/libonnxruntime.so")?;
/// println!("{} on {:?}", runtime.library().display(), runtime.devices());
/// # Ok::<(), kuhaku_onnx::Error>(())
/// ```
#[derive(Clone)]
pub struct OnnxRuntime {
    environment: Environment,
    library: Arc<Path>,
}

impl fmt::Debug for OnnxRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnnxRuntime").field("library", &self.library).finish_non_exhaustive()
    }
}

impl OnnxRuntime {
    /// Loads a library, after looking at the file: a library for another processor, or a cut one,
    /// is an error and is not handed to the system's loader.
    ///
    /// # Errors
    /// [`ErrorKind::NotPulled`] without the file, [`ErrorKind::UnusableRuntime`] when it is not ONNX
    /// Runtime for this machine, [`ErrorKind::OutdatedRuntime`] below version 1.24,
    /// [`ErrorKind::RuntimeInUse`] when this process has loaded another.
    pub fn open(library: impl AsRef<Path>) -> Result<Self> {
        let named = library.as_ref();
        let library = named.canonicalize().map_err(|source| absent(named).caused_by(source))?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*loaded {
            return match *runtime.library == *library {
                true => Ok(runtime.clone()),
                false => Err(in_use(&library, &runtime.library.display().to_string())),
            };
        }
        binary::check(&library)?;
        let builder = ort::init_from(&library).map_err(|error| refused(&library, error))?;
        let environment = builder
            .with_name("kuhaku")
            .with_telemetry(false)
            .with_logger(Arc::new(forward))
            .build()
            .map_err(|error| in_use(&library, "another part of the program").caused_by(error))?;
        environment.set_log_level(LogLevel::Warning);
        let runtime = Self { environment, library: library.into() };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    /// Loads the library that is named; else the first of `places` that is there: files, or folders
    /// with a file of the library's usual name.
    ///
    /// # Errors
    /// As for [`open`](Self::open); [`ErrorKind::NotPulled`] when nothing is named and no place has
    /// it, which lists the places.
    pub fn find(named: Option<&Path>, places: impl IntoIterator<Item = PathBuf>) -> Result<Self> {
        if let Some(named) = named {
            return Self::open(library_in(named));
        }
        let places: Vec<_> = places.into_iter().map(|place| library_in(&place)).collect();
        match places.iter().find(|place| place.is_file()) {
            Some(found) => Self::open(found),
            None => Err(nowhere(&places)),
        }
    }

    /// The file that was loaded.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The devices that models can run on, the best first; the processor is always the last.
    pub fn devices(&self) -> Vec<Device> {
        Device::present(self).collect()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }
}

/// What the runtime has to say goes where the program's own events go, never to the terminal (R11).
fn forward(level: LogLevel, category: &str, _: &str, place: &str, message: &str) {
    match level {
        LogLevel::Error | LogLevel::Fatal => {
            tracing::warn!(target: "kuhaku_onnx::runtime", category, place, "{message}");
        }
        _ => tracing::debug!(target: "kuhaku_onnx::runtime", category, place, "{message}"),
    }
}

/// A folder stands for the library in it.
fn library_in(place: &Path) -> PathBuf {
    if place.is_dir() { place.join(RUNTIME_LIBRARY) } else { place.to_owned() }
}

const PULL: &str = "run `kuhaku models pull onnxruntime`, or name a library of ONNX Runtime 1.24 or \
                    later with ORT_DYLIB_PATH";

fn tried(library: &Path) -> String {
    format!("load the ONNX Runtime library `{}`", library.display())
}

fn absent(library: &Path) -> Error {
    Error::new(ErrorKind::NotPulled, tried(library), "there is no such file").next(PULL)
}

fn nowhere(places: &[PathBuf]) -> Error {
    let places: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    let wrong = match places.is_empty() {
        true => "no library is named".into(),
        false => format!("there is none at {}", places.join(", ")),
    };
    Error::new(ErrorKind::NotPulled, "load the ONNX Runtime library", wrong).next(PULL)
}

fn in_use(library: &Path, other: &str) -> Error {
    let wrong = format!("this process has loaded one before, by {other}, and can load only one");
    Error::new(ErrorKind::RuntimeInUse, tried(library), wrong)
        .next("use the library that is loaded, or use this one in a process of its own")
}

fn refused(library: &Path, error: LoadDynamicError) -> Error {
    let (kind, wrong) = match &error {
        LoadDynamicError::BadVersion { version_str, .. } => {
            let wrong = format!("it is version {version_str}, and 1.24 or later is needed");
            (ErrorKind::OutdatedRuntime, wrong)
        }
        LoadDynamicError::MissingApi { .. } => {
            (ErrorKind::UnusableRuntime, "it is another library".into())
        }
        LoadDynamicError::InvalidVersionString => {
            (ErrorKind::UnusableRuntime, "it does not say which version it is".into())
        }
        LoadDynamicError::Dlopen { .. } => {
            (ErrorKind::UnusableRuntime, "the system's loader refused it".into())
        }
    };
    Error::new(kind, tried(library), wrong).next(PULL).caused_by(error)
}

#[cfg(test)]
mod tests {
    use kuhaku_core::Kind;

    use super::*;

    #[test]
    fn a_missing_library_is_an_error_that_says_how_to_get_one() {
        let error = OnnxRuntime::open("/nowhere/libonnxruntime.so").unwrap_err();
        assert_eq!(error.code(), "onnx.not_pulled");
        assert!(error.next_step().unwrap().contains("kuhaku models pull"), "{error}");
        let error = OnnxRuntime::find(None, ["/nowhere".into(), "/neither".into()]).unwrap_err();
        assert!(error.to_string().contains("/nowhere, /neither"), "{error}");
    }

    #[test]
    fn what_is_no_library_is_an_error_and_no_panic() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [
            ("empty", Vec::new()),
            ("text", b"#!/bin/sh\nexit 0\n".to_vec()),
            ("cut", b"\x7fELF\x02\x01\x01".to_vec()),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let error = OnnxRuntime::open(&path).unwrap_err();
            assert_eq!(error.code(), ErrorKind::UnusableRuntime.code(), "{name}: {error}");
        }
    }
}
