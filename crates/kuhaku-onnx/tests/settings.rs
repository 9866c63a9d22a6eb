//! No dead setting (R13): each one of `onnx`, when changed, changes something that can be seen.
#![cfg(feature = "runtime")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use kuhaku_core::{Section as _, Sources};
use kuhaku_onnx::{ModelFolder, OnnxEmbedder, OnnxSettings};

/// For every setting, a value that is not its default. A setting without a row fails the test.
const OTHER_VALUES: [(&str, &str); 7] = [
    ("library", "/opt/libonnxruntime.so"),
    ("device", "cpu"),
    ("threads", "3"),
    ("sessions", "2"),
    ("spinning", "false"),
    ("batch_tokens", "512"),
    ("long_text", "windows"),
];

/// Where the library is looked for, and how a model would be opened; what a model then does with each
/// is tested beside it.
fn observe(sources: &Sources) -> String {
    let settings = OnnxSettings::load(sources).unwrap();
    let library = settings.runtime([]).unwrap_err();
    let opened = OnnxEmbedder::builder(ModelFolder::new("model")).settings(&settings);
    format!("{library}\n{opened:?}")
}

/// CFG-09: the part about local models.
#[test]
fn each_setting_of_local_models_changes_something_that_can_be_seen() {
    let default = observe(&Sources::new());
    for field in OnnxSettings::fields() {
        let row = OTHER_VALUES.iter().find(|(name, _)| *name == field.name);
        let (name, value) = row.unwrap_or_else(|| panic!("{} has no row", field.name));
        let name = format!("KUHAKU_ONNX__{}", name.to_uppercase());
        let changed = observe(&Sources::new().env([(name.as_str(), *value)]));
        assert_ne!(changed, default, "{name} has no effect");
    }
}
