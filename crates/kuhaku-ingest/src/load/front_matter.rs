//! Front matter: the `key: value` lines between `---` fences at the top of a text.
//!
//! A small part of YAML is read: text, quoted text, lists on one line or by `- `, folded text.
//! A block that is not made of such lines is no front matter, and none of it is lost. But when such
//! a block names access tags, the document is refused: reading past them would open it to everybody.

use crate::error::{Error, ErrorKind, Result};

use super::front_value::parse_value;

/// The front matter of a document; empty when it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter(Vec<(String, FrontValue)>);

/// A value in a [`FrontMatter`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontValue {
    /// Text; empty when nothing stands behind the key.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
    /// Something that is neither, such as a map.
    Other,
}

impl FrontMatter {
    /// The first value of a key. Keys are compared without case, and without `_`, `-` and spaces.
    pub fn get(&self, key: &str) -> Option<&FrontValue> {
        self.all(key).next()
    }

    /// Every value of a key; more than one when the key is repeated.
    pub(crate) fn all(&self, key: &str) -> impl Iterator<Item = &FrontValue> {
        let wanted = canonical_key(key);
        let same = move |entry: &&(String, FrontValue)| canonical_key(&entry.0) == wanted;
        self.0.iter().filter(same).map(|(_, value)| value)
    }

    /// Keys as they are written, with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FrontValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A key without case and without the characters by which spellings differ.
pub(crate) fn canonical_key(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Splits a decoded text into its front matter and the byte at which the rest begins (0 when there
/// is no front matter).
///
/// # Errors
/// [`ErrorKind::AccessTags`] when the text begins like front matter with access tags but cannot be
/// read as such.
pub(crate) fn split(text: &str) -> Result<(FrontMatter, usize)> {
    let mut lines = Lines::new(text);
    let Some(fence) = lines.find(|line| !line.text.trim().is_empty()) else {
        return Ok((FrontMatter::default(), 0));
    };
    let fence = fence.text.trim_end();
    if !matches!(fence, "---" | "+++") {
        return Ok((FrontMatter::default(), 0));
    }
    let mut block = Vec::new();
    let mut body = None;
    for line in lines {
        let trimmed = line.text.trim_end();
        if trimmed == fence || (fence == "---" && trimmed == "...") {
            body = Some(line.next);
            break;
        }
        block.push(line.text);
    }
    if let Some(body) = body
        && fence == "---"
        && let Some(entries) = parse(&block)
    {
        return Ok((FrontMatter(entries), body));
    }
    // Without a closing fence, the block that was meant ends where the first blank line stands.
    let meant = block.iter().take_while(|line| body.is_some() || !line.trim().is_empty());
    if meant.into_iter().any(|line| canonical_key(line).starts_with("accesstag")) {
        return Err(Error::new(
            ErrorKind::AccessTags,
            "read the front matter",
            "it names access tags, but it is not made of `key: value` lines between `---` lines",
        )
        .next("write it like `access_tags: [hr, legal]` between two lines of three hyphens"));
    }
    Ok((FrontMatter::default(), 0))
}

/// The entries, or `None` when a line is not of the form that is read.
fn parse(block: &[&str]) -> Option<Vec<(String, FrontValue)>> {
    let mut entries: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for line in block {
        let continues = line.starts_with([' ', '\t']) || *line == "-" || line.starts_with("- ");
        if continues || line.trim().is_empty() {
            match entries.last_mut() {
                Some((_, _, more)) => more.push(line),
                None if continues => return None,
                None => {}
            }
        } else if !line.starts_with('#') {
            let (key, value) = key_and_value(line)?;
            entries.push((key.to_owned(), value, Vec::new()));
        }
    }
    if entries.is_empty() {
        return None;
    }
    let values = entries.into_iter().map(|(key, first, more)| (key, parse_value(first, &more)));
    Some(values.collect())
}

fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let key = key.trim_end();
    let fits = key.len() <= 64
        && key.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '));
    let apart = value.is_empty() || value.starts_with([' ', '\t']);
    (fits && apart).then_some((key, value))
}

/// Lines that end in LF, CR LF or CR. A byte order mark belongs to no line.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

struct Line<'t> {
    text: &'t str,
    /// Where the next line begins.
    next: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, at }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(len);
        let end = if tail.starts_with("\r\n") { 2 } else { usize::from(!tail.is_empty()) };
        self.at += len + end;
        Some(Line { text, next: self.at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> FrontValue {
        FrontValue::Text(text.into())
    }

    /// RK-04, RK-05
    #[test]
    fn only_key_value_lines_between_fences_are_front_matter() {
        let cases = [
            ("---\ntitle: A\n---\n# Hi\n", Some("A"), "# Hi\n"),
            ("\u{feff}---\r\ntitle: A\r\n---\r\n# Hi", Some("A"), "# Hi"),
            ("---\rtitle: A\r...\r# Hi", Some("A"), "# Hi"),
            ("\n---\ntitle: A --- B\n--- \nC", Some("A --- B"), "C"),
            ("---\nno close", None, "---\nno close"),
            (
                "---\nIntro rule\n---\nBody\n---\nMore",
                None,
                "---\nIntro rule\n---\nBody\n---\nMore",
            ),
            ("------\ntitle: A\n------\n", None, "------\ntitle: A\n------\n"),
            ("---\n---\nB", None, "---\n---\nB"),
            ("text\n---\ntitle: A\n---", None, "text\n---\ntitle: A\n---"),
            ("", None, ""),
        ];
        for (text, title, body) in cases {
            let (front, at) = split(text).unwrap();
            assert_eq!(front.get("title"), title.map(value).as_ref(), "{text:?}");
            assert_eq!(&text[at..], body, "{text:?}");
        }
    }

    #[test]
    fn keys_are_compared_without_case_and_joints() {
        let (front, _) = split("---\nAccess-Tags: hr\nOwner: ann\nowner: bob\n---\n").unwrap();
        assert_eq!(front.get("access_tags"), Some(&value("hr")));
        assert_eq!(front.all("owner").count(), 2);
    }

    #[test]
    fn access_tags_that_cannot_be_read_are_never_passed_over() {
        for text in [
            "---\naccess_tags: [hr]\nno colon here\n---\nBody",
            "---\naccess_tags: [hr]\nnever closed",
            "---\naccess_tags:[hr]\n---\n",
            "---\n\"access_tags\": [hr]\n---\n",
            "+++\naccess_tags = [\"hr\"]\n+++\n",
        ] {
            assert_eq!(split(text).unwrap_err().code(), "ingest.access_tags", "{text:?}");
        }
        let prose = "---\nA rule above.\n\naccess_tags: are explained here\n";
        assert_eq!(split(prose).unwrap().1, 0);
    }
}
