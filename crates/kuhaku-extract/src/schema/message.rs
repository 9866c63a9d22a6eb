//! What to say about a broken rule: what the schema asks for, never what the value holds (R7).

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use kuhaku_core::one_line;
use serde_json::Value;

use super::Kind;

/// Options of a choice that are named.
const MOST_OPTIONS: usize = 20;
const LONGEST_OPTION: usize = 60;
const LONGEST_RULE: usize = 120;

/// The sentence for a value of the wrong kind.
pub(super) fn not_of_kind(kinds: &[Kind], value: &Value) -> String {
    let names: Vec<&str> = kinds.iter().map(|kind| article(*kind)).collect();
    let wanted = match names.split_last() {
        None => return "fits none of the alternatives".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    };
    format!("must be {wanted}, not {}", article(Kind::of(value)))
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Number => "a number",
        Kind::Integer => "a whole number",
        Kind::Boolean => "true or false",
        Kind::Date => "a date",
        Kind::Choice => "one of the given values",
        Kind::Object => "an object",
        Kind::List => "a list",
        Kind::Null => "null",
        Kind::Any => "a value",
    }
}

/// The sentence for a broken rule.
pub(super) fn message(error: &ValidationError<'_>) -> String {
    use ValidationErrorKind as Rule;
    match error.kind() {
        Rule::AdditionalItems { limit } => format!("holds more than {limit} items"),
        Rule::AdditionalProperties { unexpected } | Rule::UnevaluatedProperties { unexpected } => {
            format!("holds {} names that the schema does not know", unexpected.len())
        }
        Rule::UnevaluatedItems { unexpected } => {
            format!("holds {} items that the schema does not know", unexpected.len())
        }
        Rule::AnyOf { .. } | Rule::OneOfNotValid { .. } => "fits none of the alternatives".into(),
        Rule::OneOfMultipleValid { .. } => "fits more than one of the alternatives".into(),
        Rule::BacktrackLimitExceeded { .. } | Rule::RegexEngineFailure { .. } => {
            "cannot be compared with the pattern in the steps allowed".into()
        }
        Rule::Constant { expected_value } => format!("must be {}", shown(expected_value)),
        Rule::Contains => "holds too few or too many items of the kind asked for".into(),
        Rule::ContentEncoding { content_encoding } => {
            format!("must be encoded as {}", one_line(content_encoding, LONGEST_RULE))
        }
        Rule::ContentMediaType { content_media_type } => {
            format!("must be of the type {}", one_line(content_media_type, LONGEST_RULE))
        }
        Rule::FromUtf8 { .. } => "must be encoded text".into(),
        Rule::Enum { options } => one_of(options),
        Rule::ExclusiveMaximum { limit } => format!("must be less than {}", shown(limit)),
        Rule::ExclusiveMinimum { limit } => format!("must be more than {}", shown(limit)),
        Rule::Maximum { limit } => format!("must be {} at most", shown(limit)),
        Rule::Minimum { limit } => format!("must be {} at least", shown(limit)),
        Rule::Format { format } => format!("must be written as {}", written_as(format)),
        Rule::MaxItems { limit } => format!("must have {limit} items at most"),
        Rule::MinItems { limit } => format!("must have {limit} items at least"),
        Rule::MaxLength { limit } => format!("must have {limit} characters at most"),
        Rule::MinLength { limit } => format!("must have {limit} characters at least"),
        Rule::MaxProperties { limit } => format!("must have {limit} names at most"),
        Rule::MinProperties { limit } => format!("must have {limit} names at least"),
        Rule::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Rule::Pattern { pattern } => {
            format!("must match the pattern {}", one_line(pattern, LONGEST_RULE))
        }
        Rule::PropertyNames { .. } => "holds a name that the schema does not allow".into(),
        Rule::UniqueItems => "must not hold an item twice".into(),
        Rule::FalseSchema => "is not allowed here".into(),
        Rule::Required { .. } => "lacks a required value".into(),
        _ => "breaks a rule of the schema".into(),
    }
}

fn one_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let named: Vec<String> = options.iter().take(MOST_OPTIONS).map(shown).collect();
    let more = options.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" or {more} others") } else { String::new() };
    format!("must be one of {}{more}", named.join(", "))
}

fn written_as(format: &str) -> String {
    match format {
        "date" => "YYYY-MM-DD".into(),
        "time" => "hh:mm:ss with an offset".into(),
        "date-time" => "YYYY-MM-DDThh:mm:ss with an offset".into(),
        other => one_line(other, LONGEST_RULE),
    }
}

/// A value of the schema.
fn shown(value: &Value) -> String {
    one_line(&value.to_string(), LONGEST_OPTION)
}
