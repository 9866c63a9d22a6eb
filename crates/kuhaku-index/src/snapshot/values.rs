//! Numbers and words as bytes.

/// A number of four bytes.
pub(crate) fn put_number(number: u32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// None at the end of the bytes.
#[inline]
pub(crate) fn number(bytes: &mut &[u8]) -> Option<u32> {
    array(bytes).map(u32::from_le_bytes)
}

/// So many bytes.
#[inline]
pub(crate) fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (array, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*array)
}

/// A word: its length in bytes, and they.
pub(crate) fn put_word(word: &str, bytes: &mut Vec<u8>) {
    put_number(word.len() as u32, bytes);
    bytes.extend_from_slice(word.as_bytes());
}

/// None when there is no whole word.
pub(crate) fn word<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let length = number(bytes)? as usize;
    let (word, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    std::str::from_utf8(word).ok()
}
