//! All settings of all tools that are compiled in.

use kuhaku_core::{Field, Sources, UnknownName};

/// Every section: its name and its fields.
pub fn settings_sections() -> Vec<(&'static str, Vec<Field>)> {
    vec![
        #[cfg(feature = "rag")]
        section::<kuhaku_rag::ModelSettings>(),
        #[cfg(feature = "rag")]
        section::<kuhaku_rag::RagSettings>(),
    ]
}

#[cfg(feature = "rag")]
fn section<S: kuhaku_core::Section>() -> (&'static str, Vec<Field>) {
    (S::NAME, S::fields())
}

/// The `KUHAKU_` variables, and the names in a settings file, that no setting has (R13).
pub fn unknown_settings(sources: &Sources) -> Vec<UnknownName> {
    sources.unknown_names(&settings_sections(), &[])
}
