//! A file of checked blocks: nothing of a block is handed out before its checksum has been compared.
//!
//! A block is its length in bytes (4 bytes), a checksum over its place in the file and its bytes (8
//! bytes), and the bytes; all numbers little-endian. The last block is empty: a file that is cut off
//! has none.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};

use super::Pace;

/// Bytes of a block, at most; elements of lists are not parted.
pub(crate) const BLOCK: usize = 1 << 18;

/// Four lanes, so that the multiplications of neighbours overlap. Each step can be undone, so that a
/// change of eight bytes always shows; other changes stay hidden once in 2^64 times. Not against
/// forgery: who may write here may write the database.
pub(crate) fn checksum(place: u64, bytes: &[u8]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |lane: u64, word: u64| (lane ^ word).wrapping_mul(ODD).rotate_left(29);
    let mut lanes = [place, !place, place.wrapping_mul(3), bytes.len() as u64];
    let (whole, rest) = bytes.as_chunks::<32>();
    for words in whole {
        let (words, _) = words.as_chunks::<8>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane = step(*lane, u64::from_le_bytes(*word));
        }
    }
    let mut sum = lanes.iter().fold(0, |sum, lane| step(sum, *lane));
    for byte in rest {
        sum = step(sum, u64::from(*byte));
    }
    sum ^ (sum >> 32)
}

/// Writes blocks.
#[derive(Debug)]
pub(crate) struct Writer {
    file: File,
    place: u64,
    bytes: Vec<u8>,
    pace: Pace,
}

impl Writer {
    /// Begins at the place of the file.
    pub(crate) fn paced(file: File, pace: Pace) -> Self {
        Self { file, place: 0, bytes: Vec::with_capacity(BLOCK), pace }
    }

    /// Writes a block.
    pub(crate) fn block(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pace.step()?;
        let length = u32::try_from(bytes.len()).map_err(io::Error::other)?;
        self.file.write_all(&length.to_le_bytes())?;
        self.file.write_all(&checksum(self.place, bytes).to_le_bytes())?;
        self.file.write_all(bytes)?;
        self.place += 1;
        Ok(())
    }

    /// Writes how many elements there are, and their bytes in as many blocks as needed.
    pub(crate) fn list<T>(
        &mut self,
        elements: impl ExactSizeIterator<Item = T>,
        put: impl Fn(T, &mut Vec<u8>),
    ) -> io::Result<()> {
        self.block(&(elements.len() as u64).to_le_bytes())?;
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        for element in elements {
            put(element, &mut bytes);
            // What is larger than a block by itself gets one of its own.
            if bytes.len() >= BLOCK {
                self.block(&bytes)?;
                bytes.clear();
            }
        }
        if !bytes.is_empty() {
            self.block(&bytes)?;
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Ends the file.
    pub(crate) fn finish(mut self) -> io::Result<File> {
        self.block(&[])?;
        Ok(self.file)
    }
}

/// Reads blocks. Every method gives none when the file does not hold what was asked for, whole.
#[derive(Debug)]
pub(crate) struct Reader {
    file: File,
    place: u64,
    /// Bytes that the file can still hold.
    left: u64,
    bytes: Vec<u8>,
}

impl Reader {
    /// Begins at the place of the file.
    pub(crate) fn new(mut file: File) -> Option<Self> {
        let left = file.metadata().ok()?.len().checked_sub(file.stream_position().ok()?)?;
        Some(Self { file, place: 0, left, bytes: Vec::new() })
    }

    /// The next block.
    pub(crate) fn block(&mut self) -> Option<&[u8]> {
        let mut head = [0; 12];
        self.file.read_exact(&mut head).ok()?;
        let (length, sum) = head.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length) as usize;
        self.left = self.left.checked_sub(12)?.checked_sub(length as u64)?;
        if self.bytes.len() < length {
            self.bytes.resize(length, 0);
        }
        let bytes = self.bytes.get_mut(..length)?;
        self.file.read_exact(bytes).ok()?;
        if checksum(self.place, bytes).to_le_bytes().as_slice() != sum {
            return None;
        }
        self.place += 1;
        Some(bytes)
    }

    /// A list as [`Writer::list`] writes it. `take` reads one element from the front of the bytes, of
    /// which each has `size` or more.
    pub(crate) fn list<T>(
        &mut self,
        size: usize,
        mut take: impl FnMut(&mut &[u8]) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = self.count(size)?;
        let mut elements = Vec::with_capacity(count);
        while elements.len() < count {
            let mut bytes = self.block().filter(|bytes| !bytes.is_empty())?;
            while !bytes.is_empty() {
                elements.push(take(&mut bytes)?);
            }
        }
        (elements.len() == count).then_some(elements)
    }

    /// A list of elements of `N` bytes each, as [`Writer::list`] writes it.
    pub(crate) fn fixed<const N: usize, T>(
        &mut self,
        take: impl Fn([u8; N]) -> T,
    ) -> Option<Vec<T>> {
        let count = self.count(N)?;
        let mut elements = Vec::with_capacity(count);
        while elements.len() < count {
            let (whole, rest) = self.block()?.as_chunks::<N>();
            if whole.is_empty() || !rest.is_empty() {
                return None;
            }
            elements.extend(whole.iter().map(|bytes| take(*bytes)));
        }
        (elements.len() == count).then_some(elements)
    }

    /// How many elements a list has, unless so many of `size` bytes or more cannot be there.
    fn count(&mut self, size: usize) -> Option<usize> {
        let count = u64::from_le_bytes(self.block()?.try_into().ok()?);
        if count.checked_mul(size.max(1) as u64)? > self.left {
            return None;
        }
        usize::try_from(count).ok()
    }

    /// Ends reading; none when the file goes on.
    pub(crate) fn finished(mut self) -> Option<()> {
        (self.block()?.is_empty() && self.left == 0).then_some(())
    }
}
