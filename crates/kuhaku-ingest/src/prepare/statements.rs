//! What a document says about itself: type, access tags, dates, free metadata.

use kuhaku_core::{AccessTags, Date, one_line};

use super::document::StatedValidity;
use crate::error::{Error, ErrorKind, Result};
use crate::load::title::METADATA_LABEL;
use crate::load::{FrontMatter, FrontValue, LoadedDocument, TAGS, canonical_key, is_like_tags_key};
use crate::warning::Warning;

const TITLE: &str = "title";
const DOC_TYPE: &str = "doc_type";
const EFFECTIVE: &str = "effective_date";
const EXPIRY: &str = "expiry_date";
const OBSOLETE: &str = "obsolete";
/// Keys that people take for access tags. They stay metadata.
const NOT_TAGS: [&str; 6] = ["tags", "roles", "access", "acl", "permissions", "visibility"];

/// What a document says about itself, not masked yet.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    pub(crate) doc_type: Option<String>,
    pub(crate) tags: Option<AccessTags>,
    pub(crate) validity: StatedValidity,
    /// Keys and values without a meaning of their own, in order.
    pub(crate) metadata: Vec<(String, String)>,
}

impl Statements {
    /// Reads the front matter, and the line of the text that begins with a bold `Metadata` label.
    /// The front matter wins where both speak.
    pub(crate) fn read(document: &LoadedDocument, warnings: &mut Vec<Warning>) -> Result<Self> {
        let front = &document.front_matter;
        let line = MetadataLine::find(&document.text);
        if line.0.iter().any(|(key, _)| is_like_tags_key(key)) {
            return Err(tags_error("they stand in the metadata line, which is not read for them"));
        }
        let tags = tags(front)?;
        if tags.is_none() {
            let taken = NOT_TAGS.iter().filter(|key| front.get(key).is_some());
            warnings.extend(taken.map(|key| Warning::NotAccessTags { key }));
        }
        let mut skipped = 0;
        let doc_type = text(front, DOC_TYPE, &mut skipped).map(|name| one_line(name, usize::MAX));
        text(front, TITLE, &mut skipped);
        let mut stated =
            |key: &str| text(front, key, &mut skipped).or_else(|| line.get(key)).map(str::trim);
        let effective = date(EFFECTIVE, stated(EFFECTIVE), warnings);
        let expires = date(EXPIRY, stated(EXPIRY), warnings);
        let obsolete = flag(OBSOLETE, stated(OBSOLETE), warnings);
        if let (Some(first), Some(last)) = (effective, expires)
            && last < first
        {
            warnings.push(Warning::NeverValid);
        }
        let metadata = metadata(front, &mut skipped);
        if skipped > 0 {
            warnings.push(Warning::ValuesSkipped { count: skipped });
        }
        let validity = StatedValidity { effective, expires, obsolete };
        Ok(Self { doc_type: doc_type.filter(|name| !name.is_empty()), tags, validity, metadata })
    }
}

/// A value that has to be a text; counts it as skipped when it is something else.
fn text<'f>(front: &'f FrontMatter, key: &str, skipped: &mut usize) -> Option<&'f str> {
    match front.get(key)? {
        FrontValue::Text(text) => Some(text.as_str()).filter(|text| !text.trim().is_empty()),
        _ => {
            *skipped += 1;
            None
        }
    }
}

fn metadata(front: &FrontMatter, skipped: &mut usize) -> Vec<(String, String)> {
    let own = [TITLE, DOC_TYPE, EFFECTIVE, EXPIRY, OBSOLETE, TAGS[0], TAGS[1]].map(canonical_key);
    let mut metadata = Vec::new();
    for (key, value) in front.iter() {
        if own.contains(&canonical_key(key)) {
            continue;
        }
        let value = match value {
            FrontValue::Text(text) => one_line(text, usize::MAX),
            FrontValue::List(items) => one_line(&items.join(", "), usize::MAX),
            FrontValue::Other => {
                *skipped += 1;
                continue;
            }
        };
        if !value.is_empty() {
            metadata.push((key.to_owned(), value));
        }
    }
    metadata
}

/// The stated access tags. Whatever is doubtful is an error, for guessing could open the document.
fn tags(front: &FrontMatter) -> Result<Option<AccessTags>> {
    let mut values = TAGS.iter().flat_map(|key| front.all(key));
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(tags_error("they are stated twice"));
    }
    let names = match value {
        FrontValue::Text(name) if name.contains(',') => {
            return Err(tags_error("several stand on a line without brackets"));
        }
        FrontValue::Text(name) => std::slice::from_ref(name),
        FrontValue::List(names) => names.as_slice(),
        FrontValue::Other => return Err(tags_error("they are neither a name nor a list of names")),
    };
    for name in names {
        if matches!(name.trim().to_ascii_lowercase().as_str(), "" | "~" | "null") {
            return Err(tags_error("a tag is blank"));
        }
        if name.contains(": ") || name.chars().any(char::is_control) {
            return Err(tags_error("a tag is not a plain name"));
        }
    }
    AccessTags::new(names).map(Some).map_err(|error| error.map_kind(|_| ErrorKind::AccessTags))
}

fn tags_error(wrong: &'static str) -> Error {
    Error::new(ErrorKind::AccessTags, "use the access tags of the document", wrong)
        .next("write `access_tags: [hr, legal]` in its front matter")
}

/// A date in the form `YYYY-MM-DD`. Other forms are not guessed at.
fn date(key: &'static str, value: Option<&str>, warnings: &mut Vec<Warning>) -> Option<Date> {
    let value = value?;
    let shape = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let iso = value.len() == 10 && value.bytes().enumerate().all(shape);
    let date = if iso { value.parse().ok() } else { None };
    if date.is_none() {
        warnings.push(Warning::BadDate { key });
    }
    date
}

fn flag(key: &'static str, value: Option<&str>, warnings: &mut Vec<Warning>) -> bool {
    match value {
        Some(value) if value.eq_ignore_ascii_case("true") => true,
        None => false,
        Some(value) => {
            if !value.eq_ignore_ascii_case("false") {
                warnings.push(Warning::BadFlag { key });
            }
            false
        }
    }
}

/// The `key: value` pairs, parted by middle dots, of a line labelled `**Metadata:**`.
struct MetadataLine<'t>(Vec<(String, &'t str)>);

impl<'t> MetadataLine<'t> {
    fn find(text: &'t str) -> Self {
        let pairs = text.lines().find_map(|line| {
            let rest = line.strip_prefix(METADATA_LABEL)?;
            let labels = [":**", "**:", "**"];
            labels.iter().find_map(|label| rest.strip_prefix(label))
        });
        let pair = |pair: &'t str| {
            let (key, value) = pair.split_once(':')?;
            Some((canonical_key(key), value.trim()))
        };
        Self(pairs.unwrap_or_default().split('·').filter_map(pair).collect())
    }

    fn get(&self, key: &str) -> Option<&'t str> {
        let wanted = canonical_key(key);
        self.0.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value)
    }
}
