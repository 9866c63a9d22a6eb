//! Where each part of a rewritten text came from.

use std::ops::Range;

/// One stretch of a rewritten text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    source: usize,
    source_len: usize,
    output: usize,
    output_len: usize,
    kept: bool,
}

impl Piece {
    fn source_end(&self) -> usize {
        self.source + self.source_len
    }

    fn output_end(&self) -> usize {
        self.output + self.output_len
    }
}

/// Maps byte ranges of a rewritten text (the output) to the text it was made from (the source), and
/// back. Pieces are either kept byte for byte or replaced as a whole.
///
/// A range that touches a replaced piece is widened to the whole piece: half a replacement has no
/// place of its own on the other side.
///
/// ```
/// use kuhaku_core::SpanMap;
/// let mut map = SpanMap::builder();
/// map.keep(5); //          "mail "
/// map.replace(7, 7); //    "a@b.com" -> "[EMAIL]"
/// map.replace(2, 1); //    "\r\n" -> "\n"
/// map.keep(3); //          "end"
/// let map = map.build();
/// assert_eq!(map.to_source(13..16), 14..17);
/// assert_eq!(map.to_output(6..7), 5..12);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpanMap {
    pieces: Vec<Piece>,
    source_len: usize,
    output_len: usize,
}

/// Makes a [`SpanMap`] from left to right.
#[derive(Clone, Debug, Default)]
pub struct SpanMapBuilder(SpanMap);

impl SpanMapBuilder {
    /// The next `len` bytes are the same on both sides.
    pub fn keep(&mut self, len: usize) {
        self.push(len, len, true);
    }

    /// The next `source_len` bytes of the source became `output_len` bytes; either may be 0.
    pub fn replace(&mut self, source_len: usize, output_len: usize) {
        self.push(source_len, output_len, false);
    }

    fn push(&mut self, source_len: usize, output_len: usize, kept: bool) {
        if source_len == 0 && output_len == 0 {
            return;
        }
        let map = &mut self.0;
        let (source, output) = (map.source_len, map.output_len);
        map.source_len += source_len;
        map.output_len += output_len;
        if let Some(last) = map.pieces.last_mut()
            && kept
            && last.kept
        {
            last.source_len += source_len;
            last.output_len += output_len;
            return;
        }
        map.pieces.push(Piece { source, source_len, output, output_len, kept });
    }

    /// The finished map.
    pub fn build(self) -> SpanMap {
        self.0
    }
}

impl SpanMap {
    /// Starts an empty map.
    pub fn builder() -> SpanMapBuilder {
        SpanMapBuilder::default()
    }

    /// The map of a text of `len` bytes that was not changed.
    pub fn identity(len: usize) -> Self {
        let mut map = Self::builder();
        map.keep(len);
        map.build()
    }

    /// Bytes of the source.
    pub fn source_len(&self) -> usize {
        self.source_len
    }

    /// Bytes of the output.
    pub fn output_len(&self) -> usize {
        self.output_len
    }

    /// Where a byte range of the output came from. Ranges past the end are cut to it.
    pub fn to_source(&self, output: Range<usize>) -> Range<usize> {
        let ends = |piece: &Piece| (piece.output, piece.output_end());
        let other = |piece: &Piece| (piece.source, piece.source_end());
        self.translate(output, ends, other, self.output_len, self.source_len)
    }

    /// Where a byte range of the source went. Ranges past the end are cut to it.
    pub fn to_output(&self, source: Range<usize>) -> Range<usize> {
        let ends = |piece: &Piece| (piece.source, piece.source_end());
        let other = |piece: &Piece| (piece.output, piece.output_end());
        self.translate(source, ends, other, self.source_len, self.output_len)
    }

    fn translate(
        &self,
        range: Range<usize>,
        near: impl Fn(&Piece) -> (usize, usize),
        far: impl Fn(&Piece) -> (usize, usize),
        near_len: usize,
        far_len: usize,
    ) -> Range<usize> {
        let start = range.start.min(near_len);
        let end = range.end.clamp(start, near_len);
        // The first piece that ends after `start` holds it; none does at the very end.
        let first = self.pieces.partition_point(|piece| near(piece).1 <= start);
        let begin = self.pieces.get(first).map_or(far_len, |piece| {
            let offset = if piece.kept { start - near(piece).0 } else { 0 };
            far(piece).0 + offset
        });
        if end == start {
            return begin..begin;
        }
        // The last piece that begins before `end` holds the last byte.
        let last = self.pieces.partition_point(|piece| near(piece).0 < end).saturating_sub(1);
        let finish = self.pieces.get(last).map_or(far_len, |piece| {
            let cut = if piece.kept { near(piece).1.saturating_sub(end) } else { 0 };
            far(piece).1 - cut
        });
        begin..finish.max(begin)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(pieces: &[(usize, usize)]) -> SpanMap {
        let mut map = SpanMap::builder();
        for &(source, output) in pieces {
            if source == output { map.keep(source) } else { map.replace(source, output) }
        }
        map.build()
    }

    #[test]
    fn a_range_inside_a_replacement_widens_to_all_of_it() {
        let map = map(&[(4, 4), (9, 7), (3, 3)]);
        assert_eq!(map.to_source(5..6), 4..13);
        assert_eq!(map.to_source(0..2), 0..2);
        assert_eq!(map.to_source(11..14), 13..16);
        assert_eq!(map.to_output(13..16), 11..14);
        assert_eq!(map.to_source(99..120), 16..16);
    }

    proptest! {
        #[test]
        fn kept_bytes_lead_to_themselves_and_a_range_holds_what_its_bytes_lead_to(
            pieces in prop::collection::vec((0usize..6, 0usize..6), 0..8),
            from in 0usize..40,
            len in 1usize..10,
        ) {
            let map = map(&pieces);
            let from = from.min(map.output_len());
            let end = (from + len).min(map.output_len());
            let range = map.to_source(from..end);
            prop_assert!(range.start <= range.end && range.end <= map.source_len());
            let (mut source, mut output) = (0, 0);
            for (source_len, output_len) in pieces {
                for at in output..output + output_len {
                    let one = map.to_source(at..at + 1);
                    if (from..end).contains(&at) {
                        prop_assert!(range.start <= one.start && one.end <= range.end);
                    }
                    if source_len == output_len {
                        let here = source + (at - output);
                        prop_assert_eq!(&one, &(here..here + 1));
                        prop_assert_eq!(map.to_output(one), at..at + 1);
                    }
                }
                source += source_len;
                output += output_len;
            }
        }
    }
}
