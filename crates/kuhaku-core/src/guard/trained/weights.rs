//! The file of weights: what it holds, and how it is read and checked.

use std::borrow::Cow;

use super::features::BITS;
use crate::error::{Error, ErrorKind, Result};

/// Begins each file of weights.
const NAME: [u8; 8] = *b"kuhakuGW";

/// The version of the format and of what is looked at: files of another one are refused.
const VERSION: u32 = 1;

/// Which question a weight answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// Is this an attack when a user writes it?
    Question,
    /// Is this an attack when it stands in a document? There, any request to the reader's model is.
    Document,
}

/// The heads in the order of the file.
pub(super) const HEADS: [Head; 2] = [Head::Question, Head::Document];

/// Bytes of the header: name, version, bits, the checksum of what follows; then scale and bias of each head.
const HEADER: usize = 8 + 4 + 4 + 8;
const PER_HEAD: usize = 8;

/// One signed byte for each bucket and head.
const BODY: usize = HEADS.len() << BITS;

/// The bytes of a file.
const SIZE: usize = HEADER + HEADS.len() * PER_HEAD + BODY;

/// Checked weights.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    bytes: Cow<'static, [u8]>,
    scales: [f32; 2],
    biases: [f32; 2],
}

impl Weights {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`] when it is no file of weights, of another version, or of another size;
    /// [`ErrorKind::ChecksumMismatch`] when it was changed.
    pub(super) fn read(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self> {
        let bytes = bytes.into();
        let tried = "read the weights of the injection guard";
        let wrong = |wrong: &'static str| {
            Error::new(ErrorKind::InvalidInput, tried, wrong).next("train them with this version")
        };
        let named = bytes.get(..NAME.len()) == Some(&NAME[..]);
        let header = named.then(|| Some((word(&bytes, 8)?, word(&bytes, 12)?))).flatten();
        let Some((version, bits)) = header else {
            return Err(wrong("it is no file of weights"));
        };
        if (version, bits) != (VERSION, BITS) {
            return Err(wrong("it was made by another version"));
        }
        if bytes.len() != SIZE {
            return Err(wrong("it is shorter or longer than it says"));
        }
        let stored = bytes.get(16..HEADER).and_then(|sum| sum.try_into().ok());
        if stored.map(u64::from_le_bytes) != bytes.get(HEADER..).map(checksum) {
            let mismatch = "its checksum does not agree with what it holds";
            let error = Error::new(ErrorKind::ChecksumMismatch, tried, mismatch);
            return Err(error.next("copy the file again"));
        }
        let number = |head: usize, at: usize| {
            word(&bytes, HEADER + head * PER_HEAD + at).map(f32::from_bits).unwrap_or_default()
        };
        let (scales, biases) = ([number(0, 0), number(1, 0)], [number(0, 4), number(1, 4)]);
        if !scales.iter().chain(&biases).all(|number| number.is_finite()) {
            return Err(wrong("it holds a scale or a bias that is no number"));
        }
        Ok(Self { bytes, scales, biases })
    }

    /// The weights of a bucket, in steps of the scale.
    pub(super) fn of(&self, bucket: usize) -> [i32; 2] {
        let at = HEADER + HEADS.len() * PER_HEAD + bucket * HEADS.len();
        match self.bytes.get(at..at + HEADS.len()) {
            Some([question, document]) => {
                [i32::from(question.cast_signed()), i32::from(document.cast_signed())]
            }
            _ => [0; 2],
        }
    }

    pub(super) fn scale(&self, head: Head) -> f32 {
        let [question, document] = self.scales;
        match head {
            Head::Question => question,
            Head::Document => document,
        }
    }

    pub(super) fn bias(&self, head: Head) -> f32 {
        let [question, document] = self.biases;
        match head {
            Head::Question => question,
            Head::Document => document,
        }
    }

    /// Writes a file of one scale, one bias and one weight per bucket for each head.
    #[cfg(any(test, feature = "guard-training"))]
    pub(super) fn file(scales: [f32; 2], biases: [f32; 2], weights: [&[i8]; 2]) -> Vec<u8> {
        let mut body = Vec::with_capacity(SIZE - HEADER);
        for (scale, bias) in scales.iter().zip(biases) {
            body.extend(scale.to_le_bytes());
            body.extend(bias.to_le_bytes());
        }
        let [question, document] = weights;
        for (question, document) in question.iter().zip(document) {
            body.extend([question.cast_unsigned(), document.cast_unsigned()]);
        }
        let mut file = NAME.to_vec();
        file.extend(VERSION.to_le_bytes());
        file.extend(BITS.to_le_bytes());
        file.extend(checksum(&body).to_le_bytes());
        file.extend(body);
        file
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// FNV-1a over words of eight bytes, which sees any change of one of them. It guards against damage, not
/// against forgery: who can exchange the file can exchange the program.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|byte| u64::from(*byte)))
        .fold(0xcbf2_9ce4_8422_2325, |sum, word| {
            (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind as _;

    fn file() -> Vec<u8> {
        let weights: Vec<i8> = (0..1 << BITS).map(|n| (n % 127) as i8).collect();
        let other: Vec<i8> = weights.iter().map(|weight| -weight).collect();
        Weights::file([0.5, 0.25], [-1.0, -2.0], [&weights, &other])
    }

    #[test]
    fn what_was_written_is_read_and_is_smaller_than_a_megabyte() {
        let weights = Weights::read(file()).unwrap();
        assert_eq!(weights.of(130), [3, -3]);
        assert_eq!((weights.scale(Head::Question), weights.bias(Head::Document)), (0.5, -2.0));
        assert!(file().len() < 1_000_000);
    }

    #[test]
    fn a_wrong_file_is_refused_with_the_reason() {
        let changed = |at: usize| {
            let mut file = file();
            file[at] ^= 1;
            Weights::read(file).map(|_| ()).unwrap_err()
        };
        assert_eq!(changed(0).code(), ErrorKind::InvalidInput.code());
        assert!(changed(8).to_string().contains("another version"));
        assert_eq!(changed(70_000).code(), ErrorKind::ChecksumMismatch.code());
        assert_eq!(changed(SIZE - 1).code(), ErrorKind::ChecksumMismatch.code());
        let cut = Weights::read(file()[..SIZE - 1].to_vec()).unwrap_err();
        assert!(cut.to_string().contains("shorter or longer"), "{cut}");
        assert!(Weights::read(Vec::new()).is_err());
        let none = Weights::file([f32::NAN, 1.0], [0.0; 2], [&[0; 1 << BITS], &[0; 1 << BITS]]);
        assert!(Weights::read(none).is_err());
    }
}
