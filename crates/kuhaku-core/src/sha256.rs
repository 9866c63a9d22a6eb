//! SHA-256 sums as a type.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Digest as _;

use crate::error::{Error, ErrorKind};

/// How much is read at a time, in bytes.
const PIECE: usize = 1 << 20;

/// A SHA-256 sum (FIPS 180-4), written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sha256([u8; 32]);

impl Sha256 {
    /// The sum of a file, read to its end. Blocks.
    ///
    /// # Errors
    /// What the system says when the file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut hasher = sha2::Sha256::new();
        let mut file = File::open(path)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = file.read(&mut piece)?;
            let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
                return Ok(Self::finish(hasher));
            };
            hasher.update(bytes);
        }
    }

    pub(crate) fn finish(hasher: sha2::Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl FromStr for Sha256 {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::new(ErrorKind::InvalidInput, "read a SHA-256", "it is not 64 hexadecimal digits")
                .next("copy the whole sum")
        };
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect();
        let digits = digits.ok_or_else(wrong)?;
        let pairs = digits.chunks_exact(2);
        let bytes: Vec<u8> =
            pairs.map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit)).collect();
        let odd = digits.len() % 2 == 1;
        bytes.try_into().ok().filter(|_| !odd).map(Self).ok_or_else(wrong)
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Sha256 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sha256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of "abc", from FIPS 180-4's examples.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn sums_are_read_and_written_in_hexadecimal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let sum = Sha256::of_file(&path).unwrap();
        assert_eq!(sum.to_string(), ABC);
        assert_eq!(ABC.to_uppercase().parse::<Sha256>().unwrap(), sum);
        let json = serde_json::to_string(&sum).unwrap();
        assert_eq!(json, format!("\"{ABC}\""));
        assert_eq!(serde_json::from_str::<Sha256>(&json).unwrap(), sum);
    }

    #[test]
    fn what_is_no_sum_is_refused() {
        let long = format!("{ABC}0");
        let longer = format!("{ABC}00");
        for bad in ["", "abc", &ABC[1..], &ABC[2..], &long, &longer, &ABC.replace('b', "g"), "é"] {
            assert!(bad.parse::<Sha256>().is_err(), "{bad}");
        }
    }
}
