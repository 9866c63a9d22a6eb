//! Attacks and benign look-alikes of our own, from `fixtures/guard`.
//!
//! A line is a template; `{name}` stands for any of the phrases that a line with this `slot` lists for the same
//! language. Each template is written out a few times.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::random::Random;
use crate::bench::security::attacks::order;
use crate::error::{Result, cannot};
use crate::files;

/// How often a template with slots is written out.
const TIMES: usize = 6;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// An attack, whoever sends it.
    Attack,
    /// A request that is an attack only inside a document.
    Request,
    /// Benign, asked by a user.
    Question,
    /// Benign, in a document.
    Document,
}

/// A text of our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) language: String,
    /// The template.
    pub(super) group: String,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    Slot { language: String, slot: String, phrases: Vec<String> },
    Text { language: String, kind: Kind, text: String },
}

/// Reads and writes out all files.
pub(super) fn read(root: &Path) -> Result<Vec<Written>> {
    let folder = root.join("fixtures/guard");
    let mut texts = String::new();
    for path in files::within(&folder, ".jsonl")? {
        texts.push_str(&files::read(&path)?);
        texts.push('\n');
    }
    write_out(&texts)
}

fn write_out(text: &str) -> Result<Vec<Written>> {
    let mut slots: HashMap<(String, String), Vec<String>> = HashMap::new();
    let mut templates = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match serde_json::from_str(line) {
            Ok(Line::Slot { language, slot, phrases }) => {
                slots.entry((language, slot)).or_default().extend(phrases);
            }
            Ok(Line::Text { language, kind, text }) => templates.push((language, kind, text)),
            Err(error) => return Err(cannot(format!("read the line {line}"), error)),
        }
    }
    let mut written: Vec<Written> = Vec::new();
    for (language, kind, template) in templates {
        let mut random = Random::new(order(0, &template));
        let times = if template.contains('{') { TIMES } else { 1 };
        let first = written.len();
        for _ in 0..times {
            let text = filled(&template, &language, &slots, &mut random)?;
            if !written.iter().skip(first).any(|other| other.text == text) {
                let (language, group) = (language.clone(), template.clone());
                written.push(Written { kind, text, language, group });
            }
        }
    }
    Ok(written)
}

fn filled(
    template: &str,
    language: &str,
    slots: &HashMap<(String, String), Vec<String>>,
    random: &mut Random,
) -> Result<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        let phrases = slots.get(&(language.to_owned(), name.to_owned()));
        let Some(phrase) = phrases.and_then(|phrases| random.pick(phrases)) else {
            return Err(cannot(format!("write out {template}"), format!("{name} is no slot")));
        };
        text.push_str(before);
        text.push_str(phrase);
        rest = tail;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"
{"language": "en", "slot": "animal", "phrases": ["cat", "dog"]}
{"language": "en", "kind": "question", "text": "How old is the {animal}?"}
{"language": "en", "kind": "document", "text": "No slots here."}
"#;

    #[test]
    fn a_template_is_written_out_with_each_phrase_and_never_twice_the_same() {
        let written = write_out(LINES).unwrap();
        let texts: Vec<&str> = written.iter().map(|written| written.text.as_str()).collect();
        assert_eq!(texts.len(), 3);
        assert!(texts.contains(&"How old is the cat?") && texts.contains(&"How old is the dog?"));
        assert!(texts.contains(&"No slots here."));
        assert_eq!(written, write_out(LINES).unwrap());
    }

    #[test]
    fn a_slot_that_nobody_lists_is_an_error() {
        let wrong = r#"{"language": "de", "kind": "attack", "text": "{animal}"}"#;
        assert!(write_out(&format!("{LINES}{wrong}")).is_err());
    }
}
