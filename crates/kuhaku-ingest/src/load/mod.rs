//! From bytes to a text whose parts are known.

mod block;
mod decode;
mod front_matter;
mod front_value;
pub(crate) mod markdown;
mod plain;
mod plain_heading;
mod rewrite;
mod sniff;
mod stray_tags;
pub(crate) mod title;

use kuhaku_core::SpanMap;

pub use block::{Block, BlockKind};
pub(crate) use front_matter::canonical_key;
pub use front_matter::{FrontMatter, FrontValue};
pub(crate) use stray_tags::is_like_tags_key;

use crate::error::{Error, ErrorKind, Result};
use crate::format::Format;
use crate::warning::Warning;

/// A text whose parts are known. Not masked yet: it must not be stored or shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadedDocument {
    /// The text: without byte order mark and front matter, with LF line ends, without U+0000, without
    /// blank lines before and white space behind.
    pub text: String,
    /// From the decoded text to `text`. For a UTF-8 file the source's offsets are the file's.
    pub map: SpanMap,
    /// The top-level parts of the text, in order.
    pub blocks: Vec<Block>,
    /// The bytes at which pages begin, ascending from 0; empty when there are no pages.
    pub page_starts: Vec<usize>,
    /// The front matter, which is not part of the text.
    pub front_matter: FrontMatter,
    /// What its owner should look at.
    pub warnings: Vec<Warning>,
}

impl LoadedDocument {
    /// What the document is called: the `title` of its front matter; else its first heading of level
    /// 1, or a heading that opens it; else up to 80 characters of its first line; else its file name
    /// without the suffix. In one line.
    pub fn title(&self, name: &str) -> String {
        title::title(self.front_title(), &self.blocks, &self.text, name)
    }

    pub(crate) fn front_title(&self) -> Option<&str> {
        match self.front_matter.get("title")? {
            FrontValue::Text(title) => Some(title),
            _ => None,
        }
    }
}

/// Loads the bytes of a file.
///
/// ```
/// use kuhaku_ingest::{Format, load};
///
/// let document = load(b"---\nowner: ann\n---\n# Plan #\r\n\r\nShip it.", Format::Markdown)?;
/// assert_eq!(document.text, "# Plan #\n\nShip it.");
/// assert_eq!(document.title("plan.md"), "Plan");
/// # Ok::<(), kuhaku_ingest::Error>(())
/// ```
///
/// # Errors
/// - [`ErrorKind::Empty`] when nothing can be read in it.
/// - [`ErrorKind::Mismatch`] when it is recognisably a binary file, or begins with a byte order mark
///   of UTF-16 while more than 5 % of its characters are control characters, unassigned or for
///   private use.
/// - [`ErrorKind::AccessTags`] when its front matter names access tags and cannot be understood, or
///   when its head seems to state access tags in another place, a misspelt key included. The head is
///   the front matter, the first 60 lines that tell something, and what stands before prose.
pub fn load(bytes: &[u8], format: Format) -> Result<LoadedDocument> {
    if bytes.is_empty() {
        return Err(empty("it has no bytes"));
    }
    if let Some(detected) = sniff::sniff(bytes) {
        return Err(mismatch(detected));
    }
    let mut warnings = Vec::new();
    let text = decode::decode(bytes, &mut warnings);
    if sniff::claims_utf16(bytes) && !sniff::is_text(&text) {
        return Err(mismatch("a binary file that begins like UTF-16 text"));
    }
    let document = load_decoded(&text, format, warnings)?;
    if is_blank(&document.text) { Err(empty("it holds no text")) } else { Ok(document) }
}

/// Loads a text in memory. It may be blank.
///
/// # Errors
/// [`ErrorKind::AccessTags`], as [`load`].
pub fn load_text(text: &str, format: Format) -> Result<LoadedDocument> {
    load_decoded(text, format, Vec::new())
}

fn load_decoded(
    decoded: &str,
    format: Format,
    mut warnings: Vec<Warning>,
) -> Result<LoadedDocument> {
    let (front_matter, body) = front_matter::split(decoded)?;
    if !TAGS.iter().any(|key| front_matter.get(key).is_some()) {
        let (front, rest) = decoded.split_at(body);
        if stray_tags::seems_to_state_tags(front, rest) {
            return Err(stray_tags());
        }
    }
    let rewrite::Rewritten { text, map } =
        rewrite::rewrite(decoded, body..decoded.len(), &mut warnings);
    let (blocks, page_starts) = match format {
        Format::Text => (plain::blocks(&text), plain::page_starts(&text)),
        Format::Markdown => match markdown::blocks(&text) {
            Some(blocks) => (blocks, Vec::new()),
            None => {
                warnings.push(Warning::NestedTooDeeply);
                (plain::blocks(&text), Vec::new())
            }
        },
    };
    Ok(LoadedDocument { text, map, blocks, page_starts, front_matter, warnings })
}

/// The key of access tags, and a spelling that is too close to pass over.
pub(crate) const TAGS: [&str; 2] = ["access_tags", "access_tag"];

/// True when a text shows nothing: white space, and characters without a width.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || has_no_width(c))
}

fn has_no_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

fn stray_tags() -> Error {
    Error::new(
        ErrorKind::AccessTags,
        "read the beginning of the document",
        "it seems to state access tags outside readable front matter",
    )
    .next(
        "write `access_tags: [hr, legal]` between two lines of three hyphens at its very top; if it \
         states none, begin that line with another word",
    )
}

fn mismatch(detected: &str) -> Error {
    let wrong = format!("its name says text, but it is {detected}");
    Error::new(ErrorKind::Mismatch, "read the file", wrong)
        .next("save it as UTF-8 text, or leave it out")
}

fn empty(wrong: &'static str) -> Error {
    Error::new(ErrorKind::Empty, "read the file", wrong).next("leave it out, or fill it")
}
