//! What the validator found, in words that say what to do about it.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use super::Kind;
use super::coercion::Wanted;
use super::message::{message, not_of_kind};
use super::walk::below;

/// Findings of one value beyond these say nothing new.
const MOST_FINDINGS: usize = 1_000;

/// One place where a value and its schema part.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// Nothing is there.
    Absent,
    /// A null is there.
    Null,
    /// A value is there that might be read as what is wanted.
    Other(Wanted, String),
    /// A rule is broken.
    Rule(String),
}

/// The findings of a validation of a value, each one once.
pub(super) fn findings<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    value: &Value,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for error in errors.take(MOST_FINDINGS) {
        for finding in of(&error) {
            // A name that is forbidden and required is there, and said to be both.
            let is_there = finding.what == What::Absent && value.pointer(&finding.path).is_some();
            if !is_there && !found.contains(&finding) {
                found.push(finding);
            }
        }
    }
    found
}

fn of(error: &ValidationError<'_>) -> Vec<Finding> {
    let path = error.instance_path().as_str();
    let one = |what| vec![Finding { path: path.to_owned(), what }];
    if error.instance().is_null() {
        return one(What::Null);
    }
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            let path = below(path, property.as_str().unwrap_or_default());
            vec![Finding { path, what: What::Absent }]
        }
        ValidationErrorKind::Type { kind } => {
            let kinds = kinds(kind);
            let text = not_of_kind(&kinds, error.instance());
            one(What::Other(Wanted { kinds, ..Wanted::default() }, text))
        }
        ValidationErrorKind::Enum { options } => {
            let options = options.as_array().cloned().unwrap_or_default();
            one(What::Other(Wanted { options, ..Wanted::default() }, message(error)))
        }
        ValidationErrorKind::Constant { expected_value } => {
            let options = vec![Value::clone(expected_value)];
            one(What::Other(Wanted { options, ..Wanted::default() }, message(error)))
        }
        ValidationErrorKind::Format { format } if format == "date" => {
            one(What::Other(Wanted { date: true, ..Wanted::default() }, message(error)))
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let branches = context.iter().map(|errors| errors.iter().flat_map(of).collect());
            alternatives(path, error.instance(), branches.collect())
        }
        _ => one(What::Rule(message(error))),
    }
}

/// What is wrong where none of several alternatives fits: said of the value itself, never of a
/// branch, so that a path is one that the value has.
fn alternatives(path: &str, value: &Value, branches: Vec<Vec<Finding>>) -> Vec<Finding> {
    if value.is_object() || value.is_array() {
        let nearest = branches.into_iter().min_by_key(|branch| distance(path, branch));
        return nearest.unwrap_or_default();
    }
    let mut wanted = Wanted::default();
    let mut text = None;
    for finding in branches.into_iter().flatten().filter(|finding| finding.path == path) {
        match finding.what {
            What::Other(more, message) => {
                // A branch of the right kind says more than one of another kind.
                if more.kinds.is_empty() {
                    text = text.or(Some(message));
                }
                wanted.kinds.extend(more.kinds);
                wanted.options.extend(more.options);
                wanted.date |= more.date;
            }
            What::Rule(message) => text = text.or(Some(message)),
            What::Absent | What::Null => {}
        }
    }
    wanted.kinds.sort_unstable();
    wanted.kinds.dedup();
    wanted.kinds.retain(|kind| *kind != Kind::Null);
    let text = text.unwrap_or_else(|| not_of_kind(&wanted.kinds, value));
    vec![Finding { path: path.to_owned(), what: What::Other(wanted, text) }]
}

/// How far a branch is from being the one that was meant: first whether it is of another kind,
/// then whether a value that tells branches apart says otherwise, then what is wrong in it, then
/// what it lacks.
fn distance(path: &str, branch: &[Finding]) -> (bool, usize, usize, usize) {
    let count = |is: &dyn Fn(&Finding) -> bool| branch.iter().filter(|found| is(found)).count();
    let wrong_kind =
        branch.iter().any(|found| found.path == path && matches!(&found.what, What::Other(..)));
    let told_apart =
        count(&|found| matches!(&found.what, What::Other(wanted, _) if !wanted.options.is_empty()));
    let wrong = count(&|found| matches!(found.what, What::Other(..) | What::Rule(_)));
    let lacking = count(&|found| matches!(found.what, What::Absent | What::Null));
    (wrong_kind, told_apart, wrong, lacking)
}

fn kinds(kind: &TypeKind) -> Vec<Kind> {
    let set = match kind {
        TypeKind::Single(one) => JsonTypeSet::empty().insert(*one),
        TypeKind::Multiple(set) => *set,
    };
    let kinds = set.iter().map(|one| match one {
        JsonType::Array => Kind::List,
        JsonType::Boolean => Kind::Boolean,
        JsonType::Integer => Kind::Integer,
        JsonType::Null => Kind::Null,
        JsonType::Number => Kind::Number,
        JsonType::Object => Kind::Object,
        JsonType::String => Kind::Text,
    });
    kinds.filter(|kind| *kind != Kind::Null).collect()
}
