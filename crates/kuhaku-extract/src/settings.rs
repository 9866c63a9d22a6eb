//! The settings of extraction.

use std::path::PathBuf;

use kuhaku_core::{SettingValue, Value};

use crate::schema::{Coercion, NumberFormat};

/// What becomes of a value that the text does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EvidenceMode {
    /// Values are not looked up in the text.
    #[default]
    Off,
    /// Each value is looked up; the result says what was found.
    Report,
    /// A value that was not found makes the result invalid.
    Invalid,
    /// A value that was not found is taken out; a required one then is missing and asked for.
    Drop,
}

impl EvidenceMode {
    const ALL: [Self; 4] = [Self::Off, Self::Report, Self::Invalid, Self::Drop];

    /// The name, as settings write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Report => "report",
            Self::Invalid => "invalid",
            Self::Drop => "drop",
        }
    }
}

impl SettingValue for EvidenceMode {
    const KIND: &'static str = "`off`, `report`, `invalid` or `drop`";

    fn read(value: &Value) -> Result<Self, String> {
        let text = String::read(value)?.trim().to_ascii_lowercase();
        let known = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        known.ok_or_else(|| format!("must be {}", Self::KIND))
    }

    fn show(&self) -> String {
        self.as_str().into()
    }
}

kuhaku_core::settings! {
    /// Settings of extraction: section `extraction`, variables `KUHAKU_EXTRACTION__…`.
    pub struct ExtractionSettings in "extraction" {
        /// How often each model is asked again after a reply that cannot be used.
        max_retries: u32 = 1, "at most 10" => |n| *n <= 10;
        /// The file of the audit, as JSON lines; its key stands beside it under the same name and
        /// `.key`. No audit without it.
        audit_log_path: Option<PathBuf> = None;
        /// What asks for missing values; `{fields}` is replaced by what they are. Empty for no
        /// question.
        clarification_question: String = "Could you also tell me: {fields}?".into();
        /// Whether each value is looked up in the text, and what becomes of one that is not found:
        /// `off`, `report` it, `invalid` for an invalid result, `drop` to ask for it as missing.
        evidence: EvidenceMode = EvidenceMode::Off;
        /// How numbers in text are written: `plain` as in JSON, `point` as in 1,234.5, `comma` as in
        /// 1.234,5.
        number_format: String = "plain".into(), "`plain`, `point` or `comma`"
            => |name| number_format(name).is_some();
        /// How random the replies of the model are.
        temperature: f64 = 0.0, "from 0 to 2" => |t| (0.0..=2.0).contains(t);
        /// The longest reply of the model, in tokens.
        max_tokens: u32 = 1024, "from 1 to 1000000" => |n| (1..=1_000_000).contains(n);
        /// How many tokens one request may use in all its calls, as far as services say; once they
        /// are used, the model is not asked again. No limit without it.
        token_budget: Option<u64> = None, "at least 1" => |n| n.is_none_or(|n| n > 0);
        /// How long one request may take in all, in seconds, all calls of models included.
        request_timeout_seconds: f64 = 300.0, "above 0, at most 86400"
            => |s| *s > 0.0 && *s <= 86_400.0;
        /// The longest text that is read, in bytes, its history and reference included. What is known
        /// from earlier turns may be as long by itself.
        max_text_bytes: usize = 1024 * 1024, "from 1 to 67108864"
            => |n| (1..=67_108_864).contains(n);
        /// How many texts of a batch are worked on at once.
        batch_concurrency: usize = 4, "from 1 to 1024" => |n| (1..=1024).contains(n);
    }
}

kuhaku_core::settings! {
    /// Settings of what guards extraction: variables `KUHAKU_EXTRACTION__SECURITY__…`. Off unless
    /// set, as each gets in the way of ordinary use: an order cannot be sent to a masked address.
    pub struct SecuritySettings in "extraction.security" {
        /// Whether personal data and secrets are masked before a model sees them.
        sanitize: bool = false;
        /// Whether a text that looks like an attack on the instructions is refused.
        input_guard: bool = false;
    }
}

impl ExtractionSettings {
    /// How values are read.
    pub(crate) fn coercion(&self) -> Coercion {
        Coercion::lenient().numbers(number_format(&self.number_format).unwrap_or_default())
    }
}

fn number_format(name: &str) -> Option<NumberFormat> {
    match name.trim() {
        "plain" => Some(NumberFormat::Plain),
        "point" => Some(NumberFormat::Point),
        "comma" => Some(NumberFormat::Comma),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::{Section, Sources};

    use super::*;

    /// CFG-04
    #[test]
    fn nested_names_are_read_from_every_source_and_the_program_wins() {
        let env = Sources::new().env([
            ("KUHAKU_EXTRACTION__MAX_RETRIES", "3"),
            ("KUHAKU_EXTRACTION__EVIDENCE", "Drop"),
            ("KUHAKU_EXTRACTION__SECURITY__SANITIZE", "yes"),
        ]);
        let settings = ExtractionSettings::load(&env).unwrap();
        assert_eq!((settings.max_retries, settings.evidence), (3, EvidenceMode::Drop));
        let security = SecuritySettings::load(&env).unwrap();
        assert!(security.sanitize && !security.input_guard);
        let over = env.set("extraction.security.sanitize", false);
        assert!(!SecuritySettings::load(&over).unwrap().sanitize);
        let sections = [
            ("extraction", ExtractionSettings::fields()),
            ("extraction.security", SecuritySettings::fields()),
        ];
        assert!(over.unknown_names(&sections, &[]).is_empty());
    }

    /// CFG-04
    #[test]
    fn one_error_names_every_bad_field() {
        let sources = Sources::new().env([
            ("KUHAKU_EXTRACTION__MAX_RETRIES", "-1"),
            ("KUHAKU_EXTRACTION__EVIDENCE", "perhaps"),
            ("KUHAKU_EXTRACTION__NUMBER_FORMAT", "roman"),
            ("KUHAKU_EXTRACTION__REQUEST_TIMEOUT_SECONDS", "0"),
        ]);
        let error = ExtractionSettings::load(&sources).unwrap_err();
        for name in ["max_retries", "evidence", "number_format", "request_timeout_seconds"] {
            assert!(error.wrong().contains(&format!("extraction.{name}")), "{error}");
        }
        assert!(!error.to_string().contains("roman"), "values are not quoted");
    }
}
