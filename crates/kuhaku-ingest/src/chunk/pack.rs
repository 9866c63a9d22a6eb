//! Packing the pieces of one section into chunks.

use std::collections::VecDeque;
use std::ops::Range;

use super::pieces::{Border, Piece, Pieces};
use super::size::ChunkSize;

/// Packs pieces into at most `limit` byte ranges, in order.
///
/// Greedy: a chunk takes as many paragraphs as fit. One that fits into no chunk is cut, behind a
/// sentence if that fills most of the chunk, else behind a word. The next chunk repeats the last
/// words. Time and memory are those of the ranges' text and of two chunks.
pub(crate) fn pack(mut pieces: Pieces<'_>, size: ChunkSize, limit: usize) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut window = Window { pieces: VecDeque::new(), size };
    // How many pieces at the front were in the chunk before.
    let mut repeated = 0;
    loop {
        while !window.looks_far_enough()
            && let Some(piece) = pieces.next()
        {
            window.pieces.push_back(piece);
        }
        if window.pieces.len() <= repeated || chunks.len() >= limit {
            return chunks;
        }
        let fit = window.fit();
        let cut = window.cut(repeated, fit);
        let (Some(first), Some(last)) = (window.get(0), window.get(cut.wrapping_sub(1))) else {
            return chunks;
        };
        chunks.push(first.start..last.end);
        let keep = window.keep_from(cut);
        window.pieces.drain(..keep);
        repeated = cut - keep;
    }
}

/// The pieces from the beginning of the next chunk to at least one chunk behind its end.
struct Window {
    pieces: VecDeque<Piece>,
    size: ChunkSize,
}

impl Window {
    fn get(&self, index: usize) -> Option<&Piece> {
        self.pieces.get(index)
    }

    fn units(&self, pieces: Range<usize>) -> usize {
        match (self.get(pieces.start), self.get(pieces.end.wrapping_sub(1))) {
            (Some(first), Some(last)) => last.to.saturating_sub(first.from),
            _ => 0,
        }
    }

    fn looks_far_enough(&self) -> bool {
        self.units(0..self.pieces.len()) > self.size.size().saturating_mul(2)
    }

    /// How many pieces fit into a chunk.
    fn fit(&self) -> usize {
        let from = self.get(0).map_or(0, |first| first.from);
        self.pieces.partition_point(|piece| piece.to - from <= self.size.size())
    }

    /// The piece behind the paragraph that begins at piece `index`.
    fn paragraph_end(&self, index: usize) -> usize {
        let mut behind = self.pieces.iter().enumerate().skip(index + 1);
        let end = behind.find(|(_, piece)| piece.border == Border::Paragraph);
        end.map_or(self.pieces.len(), |(end, _)| end)
    }

    /// The units that the paragraph at piece `index` adds to what stands before it.
    fn paragraph_units(&self, index: usize) -> usize {
        let before = self.get(index.wrapping_sub(1)).map_or(0, |piece| piece.to);
        let last = self.get(self.paragraph_end(index).wrapping_sub(1));
        last.map_or(0, |last| last.to.saturating_sub(before))
    }

    /// Whether the paragraph at piece `index` fits into a chunk behind at least half an overlap.
    fn fits_whole(&self, index: usize) -> bool {
        self.paragraph_units(index) <= self.size.size() - self.size.overlap() / 2
    }

    /// Where to end the chunk: more than `repeated` pieces, at most `fit`.
    fn cut(&self, repeated: usize, fit: usize) -> usize {
        if fit >= self.pieces.len() {
            return self.pieces.len();
        }
        let size = self.size.size();
        let last = |border: Border| {
            let mut borders = self.pieces.iter().enumerate().take(fit + 1).skip(repeated + 1).rev();
            borders.find(|(_, piece)| piece.border >= border).map(|(index, _)| index)
        };
        if let Some(cut) = last(Border::Paragraph)
            && (self.units(0..cut) >= size / 2 || self.fits_whole(cut))
        {
            return cut;
        }
        let filled = [
            (Border::Sentence, size - size / 4),
            (Border::Word, size / 2),
            (Border::Inner, size / 2),
        ];
        let best = filled
            .into_iter()
            .find_map(|(border, least)| last(border).filter(|cut| self.units(0..*cut) >= least));
        best.unwrap_or(fit)
    }

    /// Which piece the next chunk begins with, after a chunk of the first `cut` pieces. Never the
    /// first one: no chunk shall lie inside the next.
    fn keep_from(&self, cut: usize) -> usize {
        let (Some(last), Some(next)) = (self.get(cut.wrapping_sub(1)), self.get(cut)) else {
            return cut;
        };
        let (size, mut overlap) = (self.size.size(), self.size.overlap());
        if next.border == Border::Paragraph && self.fits_whole(cut) {
            overlap = overlap.min(size - self.paragraph_units(cut));
        }
        let too_much = |piece: &Piece| {
            last.to.saturating_sub(piece.from) > overlap
                || next.to.saturating_sub(piece.from) > size
        };
        let earliest = self.pieces.partition_point(too_much).clamp(1, cut);
        let from = |border: Border| {
            let mut kept = self.pieces.iter().enumerate().take(cut).skip(earliest);
            kept.find(|(_, piece)| piece.border >= border)
        };
        for border in [Border::Word, Border::Inner] {
            if let Some((index, piece)) = from(border)
                && last.to - piece.from >= overlap / 2
            {
                return index;
            }
        }
        match self.get(earliest) {
            Some(piece) if earliest < cut && piece.border < Border::Word => earliest,
            _ => from(Border::Word).map_or(cut, |(index, _)| index),
        }
    }
}
