//! The settings of local models.

use std::path::PathBuf;

use kuhaku_core::{SettingValue, Value};

use crate::device::Device;
use crate::embedder::LongText;
use crate::error::Result;
use crate::library::OnnxRuntime;
use crate::model::Options;

kuhaku_core::settings! {
    /// How local models run. Which model does what is set where it is used.
    pub struct OnnxSettings in "onnx" {
        /// The library of ONNX Runtime, or the folder that it is in. Without one, the store's.
        library: Option<PathBuf> = None, alias "ORT_DYLIB_PATH";
        /// What models run on: `auto` (the best that there is), `cpu`, `cuda`, `coreml` (or `mps`)
        /// or `directml`.
        device: Device = Device::Auto, alias "KUHAKU_RAG__EMBEDDING_DEVICE";
        /// Threads per model, 0 for one per core.
        threads: usize = 0, "from 0 to 1024" => |n| *n <= 1024;
        /// How many batches of a model run at a time, each with its share of the threads and with
        /// the model's weights in memory once more.
        sessions: usize = 1, "from 1 to 64" => |n| (1..=64).contains(n);
        /// Whether a model's threads spin while they wait for their next piece of a batch. Without it
        /// a query takes up to twice as long, and other tasks on the same cores wait less.
        spinning: bool = true;
        /// The most tokens in a batch. Less needs less memory.
        batch_tokens: usize = 2048, "from 16 to 1048576" => |n| (16..=1_048_576).contains(n);
        /// What becomes of texts that are longer than an embedder takes: `refuse`, or `windows` that
        /// overlap by 64 tokens.
        long_text: LongText = LongText::Refuse;
    }
}

impl OnnxSettings {
    /// Loads the library that is set, else the first that is in `places`.
    ///
    /// # Errors
    /// As for [`OnnxRuntime::find`].
    pub fn runtime(&self, places: impl IntoIterator<Item = PathBuf>) -> Result<OnnxRuntime> {
        OnnxRuntime::find(self.library.as_deref(), places)
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            device: self.device,
            sessions: self.sessions,
            threads: self.threads,
            spinning: self.spinning,
            batch_tokens: self.batch_tokens,
        }
    }
}

impl SettingValue for Device {
    const KIND: &'static str = "auto, cpu, cuda, coreml (or mps) or directml";

    fn read(value: &Value) -> Result<Self, String> {
        String::read(value)?.parse().map_err(|_| format!("must be {}", Self::KIND))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl SettingValue for LongText {
    const KIND: &'static str = "refuse or windows";

    fn read(value: &Value) -> Result<Self, String> {
        String::read(value)?.parse().map_err(|_| format!("must be {}", Self::KIND))
    }

    fn show(&self) -> String {
        match self {
            Self::Refuse => "refuse".into(),
            Self::Windows { .. } => "windows".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{Section, Sources};

    use super::*;

    #[test]
    fn settings_are_read_from_their_names_and_from_the_published_ones() {
        let sources = Sources::new().env([
            ("ORT_DYLIB_PATH", "/opt/libonnxruntime.so"),
            ("KUHAKU_RAG__EMBEDDING_DEVICE", "MPS"),
            ("KUHAKU_ONNX__LONG_TEXT", "windows"),
            ("KUHAKU_ONNX__BATCH_TOKENS", "512"),
        ]);
        let settings = OnnxSettings::load(&sources).unwrap();
        assert_eq!(settings.library, Some("/opt/libonnxruntime.so".into()));
        assert_eq!(settings.device, Device::CoreMl);
        assert_eq!(settings.long_text, LongText::Windows { overlap: 64 });
        assert_eq!(settings.options().batch_tokens, 512);
        let error = settings.runtime([]).unwrap_err();
        assert!(error.to_string().contains("/opt/libonnxruntime.so"), "{error}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let sources = Sources::new().env([
            ("KUHAKU_ONNX__DEVICE", "tpu"),
            ("KUHAKU_ONNX__SESSIONS", "0"),
            ("KUHAKU_ONNX__LONG_TEXT", "cut"),
        ]);
        let error = OnnxSettings::load(&sources).unwrap_err().to_string();
        for name in ["onnx.device", "onnx.sessions", "onnx.long_text"] {
            assert!(error.contains(name), "{error}");
        }
    }
}
