//! From decoded characters to the form in which text is kept: no byte order mark, LF line ends, no
//! NUL, no blank lines at the beginning and no white space at the end.

use std::ops::Range;

use kuhaku_core::SpanMap;

use crate::warning::Warning;

/// Changes closer than this become one entry of the span map, which keeps the map of a hostile text
/// (nothing but CR LF) smaller than a few times the text.
const COALESCE: usize = 16;

/// A text in the form in which it is kept, and where each part of it came from.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub(crate) text: String,
    pub(crate) map: SpanMap,
}

/// Rewrites the part of `decoded` that is in `body`. The map's source is all of `decoded`.
pub(crate) fn rewrite(decoded: &str, body: Range<usize>, warnings: &mut Vec<Warning>) -> Rewritten {
    let body = trim(decoded, body);
    let source = decoded.get(body.clone()).unwrap_or_default();
    let mut writer = Writer::new(source.len());
    writer.map.replace(body.start, 0);
    let mut nuls = 0;
    let mut rest = source;
    while let Some(at) = rest.find(['\r', '\0']) {
        let (kept, tail) = rest.split_at(at);
        writer.keep(kept);
        rest = if let Some(after) = tail.strip_prefix("\r\n") {
            writer.replace(2, "\n");
            after
        } else if let Some(after) = tail.strip_prefix('\r') {
            writer.replace(1, "\n");
            after
        } else {
            nuls += 1;
            writer.replace(1, "\u{fffd}");
            tail.get(1..).unwrap_or_default()
        };
    }
    writer.keep(rest);
    writer.flush();
    writer.map.replace(decoded.len() - body.end, 0);
    if nuls > 0 {
        warnings.push(Warning::NulReplaced { count: nuls });
    }
    Rewritten { text: writer.text, map: writer.map.build() }
}

/// Leaves out the byte order mark, blank lines at the beginning and white space at the end.
fn trim(decoded: &str, body: Range<usize>) -> Range<usize> {
    let text = decoded.get(body.clone()).unwrap_or_default();
    let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = unmarked.trim_start();
    let before = unmarked.get(..unmarked.len() - first.len()).unwrap_or_default();
    // The indentation of the first line that has words stays: it means code in Markdown.
    let indent =
        before.rfind(['\n', '\r', '\u{c}']).map_or(before.len(), |at| before.len() - at - 1);
    let start = body.end - first.len() - if first.is_empty() { 0 } else { indent };
    let end = start + decoded.get(start..body.end).unwrap_or_default().trim_end().len();
    start..end
}

/// Writes the text and its map, joining changes that stand close together.
struct Writer {
    text: String,
    map: kuhaku_core::SpanMapBuilder,
    /// Bytes of source and text of the last change, not yet in the map.
    changed: (usize, usize),
    /// Bytes that were kept since.
    kept: usize,
}

impl Writer {
    fn new(capacity: usize) -> Self {
        let text = String::with_capacity(capacity);
        Self { text, map: SpanMap::builder(), changed: (0, 0), kept: 0 }
    }

    fn keep(&mut self, part: &str) {
        self.text.push_str(part);
        self.kept += part.len();
    }

    fn replace(&mut self, source_len: usize, output: &str) {
        self.text.push_str(output);
        if self.changed.0 > 0 && self.kept < COALESCE {
            self.changed.0 += self.kept;
            self.changed.1 += self.kept;
        } else {
            self.flush();
        }
        self.kept = 0;
        self.changed.0 += source_len;
        self.changed.1 += output.len();
    }

    fn flush(&mut self) {
        self.map.replace(self.changed.0, self.changed.1);
        self.map.keep(self.kept);
        self.changed = (0, 0);
        self.kept = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewritten(decoded: &str) -> Rewritten {
        rewrite(decoded, 0..decoded.len(), &mut Vec::new())
    }

    #[test]
    fn line_ends_marks_and_blank_edges_go() {
        let cases = [
            ("\u{feff}a\r\nb\rc\n", "a\nb\nc"),
            ("\r\n  \n  indented\n\n", "  indented"),
            ("  first line", "  first line"),
            ("nul\0nul", "nul\u{fffd}nul"),
            (" \n\t ", ""),
            ("\u{feff}", ""),
        ];
        for (decoded, expected) in cases {
            assert_eq!(rewritten(decoded).text, expected, "{decoded:?}");
        }
    }

    #[test]
    fn the_map_leads_back_to_the_decoded_text() {
        let decoded = "\u{feff}one line that is long\r\ntwo lines that are longer\r\nthree";
        let Rewritten { text, map } = rewritten(decoded);
        let at = text.find("two").unwrap();
        assert_eq!(decoded.get(map.to_source(at..at + 3)), Some("two"));
    }

    proptest! {
        #[test]
        fn the_map_covers_both_sides(decoded in "[\u{feff}a \r\n\0é]{0,60}") {
            let Rewritten { text, map } = rewritten(&decoded);
            prop_assert_eq!(map.source_len(), decoded.len());
            prop_assert_eq!(map.output_len(), text.len());
            prop_assert!(!text.contains(['\r', '\0']));
            prop_assert_eq!(text.trim_end(), &text);
        }
    }
}
