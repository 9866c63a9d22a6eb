//! All settings of all tools that are compiled in.

use kuhaku_core::{Field, Sources, UnknownName};

/// Variables that are no settings: they speak of the terminal, not of the work.
const VARIABLES: [&str; 1] = ["KUHAKU_NONINTERACTIVE"];

/// Every section: its name and its fields. Tools may share one.
pub fn settings_sections() -> Vec<(&'static str, Vec<Field>)> {
    let sections: Vec<(&'static str, Vec<Field>)> = vec![
        #[cfg(feature = "llm")]
        section::<kuhaku_llm::LlmSettings>(),
        #[cfg(feature = "llm")]
        section::<crate::ChoiceSettings>(),
        #[cfg(feature = "rag")]
        section::<kuhaku_rag::ModelSettings>(),
        #[cfg(feature = "rag")]
        section::<crate::AuditSettings>(),
        #[cfg(feature = "rag")]
        section::<kuhaku_rag::RagSettings>(),
        #[cfg(feature = "extract")]
        section::<kuhaku_extract::ExtractionSettings>(),
        #[cfg(feature = "extract")]
        section::<kuhaku_extract::SecuritySettings>(),
        #[cfg(feature = "dense")]
        section::<kuhaku_onnx::OnnxSettings>(),
        #[cfg(any(feature = "dense", feature = "models"))]
        section::<kuhaku_onnx::StoreSettings>(),
    ];
    let mut joined: Vec<(&'static str, Vec<Field>)> = Vec::new();
    for (name, fields) in sections {
        match joined.last_mut() {
            Some((last, all)) if *last == name => all.extend(fields),
            _ => joined.push((name, fields)),
        }
    }
    joined
}

#[cfg(any(
    feature = "llm",
    feature = "rag",
    feature = "extract",
    feature = "dense",
    feature = "models"
))]
fn section<S: kuhaku_core::Section>() -> (&'static str, Vec<Field>) {
    (S::NAME, S::fields())
}

/// The `KUHAKU_` variables, and the names in a settings file, that no setting has (R13).
pub fn unknown_settings(sources: &Sources) -> Vec<UnknownName> {
    let known = settings_sections();
    let unknown = sources.unknown_names(&known, &VARIABLES);
    // Dropped names are refused with their reason elsewhere; a guess beside it would mislead.
    #[cfg(feature = "rag")]
    let unknown = {
        let dropped = kuhaku_rag::RagSettings::dropped().iter().map(|(path, _)| *path);
        let names: Vec<String> = dropped
            .flat_map(|path| {
                let variable = path.to_ascii_uppercase().replace('.', "__");
                [path.to_string(), format!("KUHAKU_{variable}")]
            })
            .collect();
        unknown.into_iter().filter(|unknown| !names.contains(&unknown.name)).collect()
    };
    unknown
}
