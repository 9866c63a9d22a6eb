//! What may stand between two groups of a number that is written in groups.

/// Bytes of the longest gap that is looked at.
pub(super) const LONGEST: usize = 24;

/// Blanks in a row, and characters of a line's prefix (indentation and quote marks).
const BLANKS: usize = 8;

/// Line breaks within one number.
const LINES: usize = 2;

/// One gap. Emphasis marks (`*`, `_`, backticks) may stand anywhere in it: a reader never sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Emphasis marks only: what stands on both sides is one group.
    Marks,
    /// Blanks.
    Blank,
    /// A hyphen, blanks around it or not.
    Hyphen,
    /// A point.
    Point,
    /// A single underscore.
    Underscore,
    /// A line break, after a hyphen or not, and the prefix of the next line.
    Line,
}

impl Gap {
    /// Reads all that stands between two groups; `None` where they belong to two numbers.
    pub(super) fn between(text: &str) -> Option<Self> {
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        if text == "_" {
            return Some(Self::Underscore);
        }
        let (mut blanks, mut hyphens, mut points, mut lines) = (0, 0, 0, 0);
        let mut previous = 0;
        for byte in text.bytes() {
            match byte {
                b'*' | b'_' | b'`' => {}
                b' ' | b'\t' => blanks += 1,
                b'>' if lines > 0 => blanks += 1,
                b'\n' if previous == b'\r' => {}
                b'\n' | b'\r' | b'\x0b' | b'\x0c' => (lines, blanks) = (lines + 1, 0),
                b'-' if lines == 0 => hyphens += 1,
                b'.' => points += 1,
                _ => return None,
            }
            if blanks > BLANKS {
                return None;
            }
            previous = byte;
        }
        match (lines, hyphens, points, blanks) {
            (0, 0, 0, 0) => Some(Self::Marks),
            (0, 0, 0, _) => Some(Self::Blank),
            (0, 1, 0, _) => Some(Self::Hyphen),
            (0, 0, 1, 0) => Some(Self::Point),
            (1, 0 | 1, 0, _) => Some(Self::Line),
            _ => None,
        }
    }

    /// A single space or hyphen: the gaps of numbers as their issuers print them.
    pub(super) fn printed(text: &str) -> Option<Self> {
        match text {
            " " => Some(Self::Blank),
            "-" => Some(Self::Hyphen),
            _ => None,
        }
    }
}

/// Whether the gaps of one number go together, told from left to right.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    lines: usize,
    points: usize,
}

impl Gaps {
    /// Takes the next gap between two groups; false when it cannot follow the earlier ones.
    pub(super) fn follow(&mut self, gap: Gap) -> bool {
        self.lines += usize::from(gap == Gap::Line);
        match gap {
            Gap::Point => self.points += 1,
            Gap::Marks => {}
            _ if self.points == 1 => return false,
            _ => self.points = 0,
        }
        self.lines <= LINES
    }

    /// False behind a point that stands alone: that is a decimal point.
    pub(super) fn may_end(&self) -> bool {
        self.points != 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees_as_one_separator_is_one_gap() {
        let cases = [
            ("**", Some(Gap::Marks)),
            ("`", Some(Gap::Marks)),
            ("__", Some(Gap::Marks)),
            ("_", Some(Gap::Underscore)),
            (" *", Some(Gap::Blank)),
            ("\t", Some(Gap::Blank)),
            ("   ", Some(Gap::Blank)),
            (" - ", Some(Gap::Hyphen)),
            (".", Some(Gap::Point)),
            ("\n", Some(Gap::Line)),
            ("\r\n", Some(Gap::Line)),
            ("  \r    ", Some(Gap::Line)),
            ("-\n> > ", Some(Gap::Line)),
            ("", None),
            ("\n\n", None),
            ("\r\r", None),
            ("--", None),
            (". ", None),
            (">", None),
            (",", None),
            ("\n         ", None),
            (" | ", None),
        ];
        for (text, gap) in cases {
            assert_eq!(Gap::between(text), gap, "{text:?}");
        }
    }

    #[test]
    fn a_point_alone_is_a_decimal_point_and_three_lines_are_too_many() {
        let goes = |gaps: &[Gap]| {
            let mut all = Gaps::default();
            gaps.iter().all(|gap| all.follow(*gap)) && all.may_end()
        };
        assert!(goes(&[Gap::Point, Gap::Point, Gap::Point]));
        assert!(goes(&[Gap::Blank, Gap::Point, Gap::Marks, Gap::Point]));
        assert!(!goes(&[Gap::Point, Gap::Blank, Gap::Point]));
        assert!(!goes(&[Gap::Blank, Gap::Point]));
        assert!(goes(&[Gap::Line, Gap::Blank, Gap::Line]));
        assert!(!goes(&[Gap::Line, Gap::Line, Gap::Line]));
    }
}
