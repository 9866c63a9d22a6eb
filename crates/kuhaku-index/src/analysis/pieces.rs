//! Numbers by the letters of a piece. Most pieces are short, and looking one up touches one place in
//! memory instead of two.

use std::collections::HashMap;

/// The longest piece that is its own key, in bytes; the last byte of the key is its length.
const SHORT: usize = 15;

/// See the module.
#[derive(Debug)]
pub(super) struct Pieces<V> {
    short: HashMap<(u64, u64), V>,
    long: HashMap<Box<str>, V>,
}

impl<V> Default for Pieces<V> {
    fn default() -> Self {
        Self { short: HashMap::new(), long: HashMap::new() }
    }
}

fn short(piece: &str) -> Option<(u64, u64)> {
    let mut key = [0; SHORT + 1];
    key.get_mut(..piece.len()).filter(|_| piece.len() <= SHORT)?.copy_from_slice(piece.as_bytes());
    let key = u128::from_le_bytes(key) | (piece.len() as u128) << (8 * SHORT);
    Some((key as u64, (key >> 64) as u64))
}

impl<V: Copy> Pieces<V> {
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    pub(super) fn clear(&mut self) {
        self.short.clear();
        self.long.clear();
    }

    /// The value of a piece, made when it is not there.
    pub(super) fn get_or(&mut self, piece: &str, make: impl FnOnce() -> V) -> V {
        match short(piece) {
            Some(key) => *self.short.entry(key).or_insert_with(make),
            None => match self.long.get(piece) {
                Some(value) => *value,
                None => {
                    let value = make();
                    self.long.insert(piece.into(), value);
                    value
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_length_have_their_own_values() {
        let texts = ["", "\0", "\0\0", "a", "a\0", "ödeme", "fifteen letters", "fifteen letters\0"];
        let mut pieces = Pieces::default();
        for round in 0..2 {
            for (number, text) in texts.iter().enumerate() {
                assert_eq!(pieces.get_or(text, || number + 10 * round), number, "{text:?}");
            }
        }
        assert_eq!(pieces.len(), texts.len());
        pieces.clear();
        assert_eq!(pieces.get_or("a", || 99), 99);
    }
}
