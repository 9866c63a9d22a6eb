//! Text without the differences that do not matter, and the way back to the text as it was given.
//!
//! Folded away are: compatibility forms (Unicode NFKC), case (with all four forms of the Turkish i as
//! one letter), runs of white space, marks that nobody sees, the shapes of quotes and dashes, and the
//! script of decimal digits. Numerals that are no decimal digits (², ½, ①, Ⅳ) stay as they are: NFKC
//! would make 52 of 5².

use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};
use unicode_segmentation::UnicodeSegmentation;

/// A stretch of the folded text and where it comes from.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// In the folded text, in bytes.
    start: usize,
    end: usize,
    /// In the original, in bytes.
    from: usize,
    to: usize,
    /// Byte for byte; else one cluster that is only found whole.
    plain: bool,
}

/// A folded text.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded {
    text: String,
    runs: Vec<Run>,
    /// The places, in the folded text, of blanks that held a line break.
    lines: Vec<usize>,
    blank: Option<Blank>,
}

#[derive(Clone, Copy, Debug)]
struct Blank {
    from: usize,
    to: usize,
    line: bool,
}

/// The folded form of a quote or a value, without blanks at its ends.
pub(super) fn folded(text: &str) -> String {
    let whole = Folded::new(text).text;
    match whole.trim() {
        trimmed if trimmed.len() == whole.len() => whole,
        trimmed => trimmed.to_owned(),
    }
}

impl Folded {
    pub(super) fn new(original: &str) -> Self {
        let mut folded =
            Self { text: String::with_capacity(original.len() + 8), ..Self::default() };
        let bytes = original.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let rest = bytes.get(at..).unwrap_or_default();
            let ascii = rest.iter().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            // A mark may follow the last one.
            let next = original.get(at + ascii..).and_then(|it| it.chars().next());
            let sure = if next.is_none_or(is_simple) { ascii } else { ascii.saturating_sub(1) };
            folded.plain(rest.get(..sure).unwrap_or_default(), at);
            at += sure;
            at += folded.clusters(original.get(at..).unwrap_or_default(), at);
        }
        folded.end_blank();
        folded
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether the blank at this place of the folded text holds a line break.
    pub(super) fn is_line(&self, at: usize) -> bool {
        self.lines.binary_search(&at).is_ok()
    }

    /// Where a stretch of the folded text stands in the original; none when it cuts a cluster.
    pub(super) fn original(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let first = self.runs.get(self.runs.partition_point(|run| run.end <= range.start))?;
        let last = self.runs.get(self.runs.partition_point(|run| run.end < range.end))?;
        let from = match first.plain {
            true => first.from + range.start.checked_sub(first.start)?,
            false => (first.start == range.start).then_some(first.from)?,
        };
        let to = match last.plain {
            true => last.from + range.end.checked_sub(last.start)?,
            false => (last.end == range.end).then_some(last.to)?,
        };
        (from < to).then_some(from..to)
    }

    fn plain(&mut self, bytes: &[u8], at: usize) {
        for (offset, byte) in bytes.iter().enumerate() {
            let from = at + offset;
            if byte.is_ascii_whitespace() || *byte == 0x0b {
                self.blank(from, from + 1, matches!(byte, b'\n' | b'\r'));
                continue;
            }
            self.end_blank();
            let end = self.text.len();
            self.text.push(char::from(byte.to_ascii_lowercase()));
            match self.runs.last_mut() {
                Some(run) if run.plain && run.to == from => {
                    run.end += 1;
                    run.to += 1;
                }
                _ => {
                    let run = Run { start: end, end: end + 1, from, to: from + 1, plain: true };
                    self.runs.push(run);
                }
            }
        }
    }

    /// Takes clusters until plain text follows; the length of what was taken.
    fn clusters(&mut self, text: &str, at: usize) -> usize {
        let mut taken = 0;
        loop {
            let rest = text.get(taken..).unwrap_or_default();
            let mut chars = rest.chars();
            let Some(first) = chars.next() else { return taken };
            let second = chars.next();
            let alone = second.is_none_or(|c| is_simple(c) || c.is_ascii());
            if taken > 0 && first.is_ascii() && alone {
                return taken;
            }
            if alone && is_simple(first) {
                self.letter(first, at + taken);
                taken += first.len_utf8();
                continue;
            }
            let cluster = rest.graphemes(true).next().unwrap_or(rest);
            self.cluster(cluster, at + taken);
            taken += cluster.len();
        }
    }

    fn letter(&mut self, letter: char, from: usize) {
        self.end_blank();
        let start = self.text.len();
        if is_caseless(letter) {
            self.text.push(letter);
        } else {
            let mut bytes = [0; 4];
            fold_cluster(letter.encode_utf8(&mut bytes), &mut self.text);
        }
        let (end, to) = (self.text.len(), from + letter.len_utf8());
        self.runs.push(Run { start, end, from, to, plain: false });
    }

    fn cluster(&mut self, cluster: &str, from: usize) {
        let to = from + cluster.len();
        if cluster.chars().all(char::is_whitespace) {
            return self.blank(from, to, cluster.contains(['\n', '\r', '\u{2028}', '\u{2029}']));
        }
        let start = self.text.len() + usize::from(self.blank.is_some());
        if cluster.chars().all(is_unseen) {
            return;
        }
        self.end_blank();
        fold_cluster(cluster, &mut self.text);
        let end = self.text.len();
        if end > start {
            self.runs.push(Run { start, end, from, to, plain: false });
        }
    }

    fn blank(&mut self, from: usize, to: usize, line: bool) {
        match &mut self.blank {
            Some(blank) => (blank.to, blank.line) = (to, blank.line || line),
            None => self.blank = Some(Blank { from, to, line }),
        }
    }

    fn end_blank(&mut self) {
        let Some(blank) = self.blank.take() else { return };
        let start = self.text.len();
        self.text.push(' ');
        if blank.line {
            self.lines.push(start);
        }
        match self.runs.last_mut() {
            Some(run) if run.plain && run.to == blank.from && blank.to == blank.from + 1 => {
                run.end += 1;
                run.to += 1;
            }
            _ => {
                let Blank { from, to, .. } = blank;
                self.runs.push(Run { start, end: start + 1, from, to, plain: false });
            }
        }
    }
}

/// Letters that stand alone before any letter like them: no cluster needs to be looked for.
fn is_simple(c: char) -> bool {
    matches!(c, 'À'..='\u{2AF}' | 'Ͱ'..='\u{482}' | '\u{48A}'..='\u{588}') || is_caseless(c)
}

/// Those of them that have one form: no case, and no other in NFKC.
fn is_caseless(c: char) -> bool {
    matches!(c,
        'א'..='ת'
        | '\u{620}'..='\u{64A}'
        | '\u{904}'..='\u{939}'
        | '\u{E01}'..='\u{E30}'
        | '\u{E40}'..='\u{E45}'
        | 'ぁ'..='ゖ'
        | 'ァ'..='ヺ'
        | '一'..='\u{9FFF}'
        | '가'..='힣')
}

/// Marks that change nothing that is read: soft hyphens, marks of direction, the choice between the
/// text and the picture of a symbol.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}' | '\u{200E}' | '\u{200F}' | '\u{61C}'
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FE0E}' | '\u{FE0F}')
}

fn fold_cluster(cluster: &str, out: &mut String) {
    let mut chars = cluster.chars();
    if let (Some(c), None) = (chars.next(), chars.next())
        && let Some(plain) = lower_turkish(c)
    {
        return out.push(plain);
    }
    let numeral = |c: char| c.is_numeric() && decimal_digit(c).is_none();
    if cluster.chars().any(numeral) {
        return out.push_str(cluster);
    }
    let mut previous = None;
    let mut push = |c: char| {
        // From Hebrew to Burmese there is no case.
        if ('\u{590}'..='\u{109F}').contains(&c) {
            previous = None;
            return out.extend(Some(plain_shape(c)).filter(|c| !is_unseen(*c)));
        }
        for upper in c.to_uppercase() {
            for lower in upper.to_lowercase() {
                // The dot above an i is part of every i.
                if is_unseen(lower) || (lower == '\u{307}' && previous == Some('i')) {
                    continue;
                }
                let lower = plain_shape(lower);
                previous = Some(lower);
                out.push(lower);
            }
        }
    };
    if is_nfkc_quick(cluster.chars()) == IsNormalized::Yes {
        cluster.chars().for_each(&mut push);
    } else {
        cluster.nfkc().for_each(&mut push);
    }
}

/// The letters of Turkish, short of the tables of Unicode.
fn lower_turkish(c: char) -> Option<char> {
    Some(match c {
        'ç' | 'Ç' => 'ç',
        'ğ' | 'Ğ' => 'ğ',
        'ı' | 'İ' => 'i',
        'ö' | 'Ö' => 'ö',
        'ş' | 'Ş' => 'ş',
        'ü' | 'Ü' => 'ü',
        _ => return None,
    })
}

/// Quotes and dashes of one shape, digits of one script.
fn plain_shape(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | 'ʼ' | '′' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        _ => match decimal_digit(c) {
            Some(digit) => char::from(b'0' + digit),
            None => c,
        },
    }
}

/// The zeros of the decimal digits in use (Unicode general category Nd); nine follow each.
const ZEROS: [u32; 38] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0,
];

fn decimal_digit(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).map(|digit| digit as u8);
    }
    let code = u32::from(c);
    let zero = ZEROS.get(ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?)?;
    (code - zero < 10).then_some((code - zero) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_a_letter_fold_to_one() {
        for (one, other) in [
            ("ÇAY", "çay"),
            ("ISPANAK", "ıspanak"),
            ("İSTANBUL", "istanbul"),
            ("I\u{307}stanbul", "ıstanbul"),
            ("Straße", "STRASSE"),
            ("ΟΔΟΣ", "οδος"),
            ("e\u{301}", "É"),
            ("ﬁne", "FINE"),
            ("ｔｅａ　１２", "tea 12"),
            (" a\u{a0}\n b\t", "A B"),
            ("٣ ३ ๓", "3 3 3"),
            ("co\u{ad}operate", "cooperate"),
            ("❤\u{fe0f}", "❤"),
            ("don’t — “x”", "don't - \"x\""),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("cay"), folded("çay"));
        for numeral in ["5²", "2½", "①", "Ⅳ"] {
            assert_eq!(folded(numeral), numeral);
        }
    }

    /// The short ways give what the long way gives.
    #[test]
    fn letters_that_are_taken_alone_fold_like_all_others() {
        for c in ('\u{80}'..='\u{FFFF}').filter(|c| is_simple(*c)) {
            let text = c.to_string();
            assert_eq!(text.graphemes(true).count(), 1);
            let long: String = text
                .nfkc()
                .flat_map(char::to_uppercase)
                .flat_map(char::to_lowercase)
                .collect::<String>()
                .replace("i\u{307}", "i");
            let long: String = long.trim().chars().map(plain_shape).collect();
            assert_eq!(folded(&text), long, "{c}");
            for next in ["a", "ş", "б", "茶", "न", "ع", "ש", "ช", "か", "차"] {
                assert_eq!(format!("{c}{next}").graphemes(true).count(), 2, "{c}{next}");
            }
        }
    }

    #[test]
    fn every_cluster_leads_back_to_where_it_stood() {
        let text = "ﬁne  Ç\u{307}a\u{301} 👩‍👩‍👧x\u{200e}\r\ny";
        let folded = Folded::new(text);
        let found = |part: &str| {
            let at = folded.text().find(part).unwrap();
            folded.original(&(at..at + part.len())).map(|range| &text[range])
        };
        assert_eq!(found("fi"), Some("ﬁ"));
        assert_eq!(found("f"), None);
        assert_eq!(found("ne "), Some("ne  "));
        assert_eq!(found("á"), Some("a\u{301}"));
        assert_eq!(found("👩‍👩‍👧"), Some("👩‍👩‍👧"));
        assert_eq!(found("👧"), None);
        assert_eq!(found("x y"), Some("x\u{200e}\r\ny"));
        assert!(folded.is_line(folded.text().rfind(' ').unwrap()));
    }
}
