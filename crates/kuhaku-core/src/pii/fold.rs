//! The text as the recognisers read it.

use std::borrow::Cow;
use std::ops::Range;

use crate::span_map::SpanMap;

/// A text with full-width forms and foreign digits as ASCII, typographic spaces and hyphens as
/// plain ones, and invisible characters left out.
pub(super) struct Folded<'t> {
    text: Cow<'t, str>,
    map: Option<SpanMap>,
}

impl<'t> Folded<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let Some(first) = foreign(text).find(|(_, c)| fold(*c) != Fold::Keep) else {
            return Self { text: Cow::Borrowed(text), map: None };
        };
        let mut folded = String::with_capacity(text.len());
        let mut map = SpanMap::builder();
        let mut kept = 0;
        let rest = text.get(first.0..).unwrap_or_default();
        for (at, c) in foreign(rest).map(|(at, c)| (first.0 + at, c)) {
            let fold = fold(c);
            if fold == Fold::Keep {
                continue;
            }
            folded.push_str(text.get(kept..at).unwrap_or_default());
            map.keep(at - kept);
            kept = at + c.len_utf8();
            match fold {
                Fold::As(ascii) => {
                    folded.push(ascii);
                    map.replace(c.len_utf8(), 1);
                }
                _ => map.replace(c.len_utf8(), 0),
            }
        }
        folded.push_str(text.get(kept..).unwrap_or_default());
        map.keep(text.len() - kept);
        Self { text: Cow::Owned(folded), map: Some(map.build()) }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where a range of the folded text stands in the given one.
    pub(super) fn to_source(&self, range: Range<usize>) -> Range<usize> {
        match &self.map {
            Some(map) => map.to_source(range),
            None => range,
        }
    }
}

/// The characters beyond ASCII and where they stand.
pub(super) fn foreign(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let tail = text.as_bytes().get(at..)?;
        // Sixteen bytes at a time: most texts have few such characters.
        let blocks = tail.chunks_exact(16).take_while(|block| block.is_ascii()).count();
        let block = tail.get(blocks * 16..)?;
        let place = at + blocks * 16 + block.iter().position(|byte| !byte.is_ascii())?;
        let c = text.get(place..)?.chars().next()?;
        at = place + c.len_utf8();
        Some((place, c))
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fold {
    Keep,
    As(char),
    Drop,
}

/// The zeros of decimal digits that people type numbers with: Arabic-Indic, Persian, Devanagari,
/// Bengali, Thai.
const ZEROS: [char; 5] = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{e50}'];

fn fold(c: char) -> Fold {
    match c {
        '\0'..='\u{9f}' => Fold::Keep,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => Fold::As(' '),
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => Fold::Drop,
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' => Fold::As('-'),
        '\u{2028}' | '\u{2029}' => Fold::As('\n'),
        '\u{ff01}'..='\u{ff5e}' => shift(c, '\u{ff01}', '!'),
        _ => ZEROS
            .iter()
            .find(|zero| (u32::from(**zero)..u32::from(**zero) + 10).contains(&u32::from(c)))
            .map_or(Fold::Keep, |zero| shift(c, *zero, '0')),
    }
}

/// The character that stands as far from `to` as `c` stands from `from`.
fn shift(c: char, from: char, to: char) -> Fold {
    char::from_u32(u32::from(c) - u32::from(from) + u32::from(to)).map_or(Fold::Keep, Fold::As)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folded_range_leads_back_to_its_characters() {
        let text = "é ４１\u{200b}１１ ٣\u{a0}x";
        let folded = Folded::new(text);
        assert_eq!(folded.text(), "é 4111 3 x");
        assert_eq!(&text[folded.to_source(3..7)], "４１\u{200b}１１");
        assert_eq!(&text[folded.to_source(8..9)], "٣");
    }
}
