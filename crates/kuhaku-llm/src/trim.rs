//! Trims a text that comes in pieces, so that the pieces make the text of the whole reply.

/// Holds white space back until text follows it.
#[derive(Debug, Default)]
pub(crate) struct Trimmer {
    begun: bool,
    held: String,
}

impl Trimmer {
    /// What of the text so far can be passed on; `None` for nothing.
    pub(crate) fn push(&mut self, piece: &str) -> Option<String> {
        let piece = if self.begun { piece } else { piece.trim_start() };
        let body = piece.trim_end();
        let tail = piece.get(body.len()..).unwrap_or_default();
        if body.is_empty() {
            self.held.push_str(tail);
            return None;
        }
        self.begun = true;
        let mut text = std::mem::replace(&mut self.held, tail.to_owned());
        text.push_str(body);
        Some(text)
    }

    /// Whether there was any text.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_make_the_trimmed_whole(pieces in prop::collection::vec("[ \n\u{a0}a日]{0,4}", 0..8)) {
            let mut trimmer = Trimmer::default();
            let given: String = pieces.iter().filter_map(|piece| trimmer.push(piece)).collect();
            let whole = pieces.concat();
            prop_assert_eq!(given, whole.trim());
        }
    }
}
