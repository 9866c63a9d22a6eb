//! Thinking that some models put in front of their reply, between tags.

const OPENED: &str = "<think>";
const CLOSED: &str = "</think>";

/// Takes the thinking off a reply that comes in pieces. Tags count only at its beginning: a reply
/// may be about tags.
#[derive(Debug, Default)]
pub(super) struct Thinking {
    state: State,
    /// What may still become a tag.
    held: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Beginning,
    Within,
    Over,
}

impl Thinking {
    /// The part of this piece and of what was held back that belongs to the reply.
    pub(super) fn reply_of(&mut self, piece: &str) -> String {
        if self.state == State::Over {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.state == State::Beginning {
            let text = self.held.trim_start();
            if let Some(rest) = text.strip_prefix(OPENED) {
                self.held = rest.to_owned();
                self.state = State::Within;
            } else if OPENED.starts_with(text) {
                return String::new();
            } else {
                return self.rest();
            }
        }
        if let Some((_, reply)) = self.held.split_once(CLOSED) {
            self.state = State::Over;
            let reply = reply.to_owned();
            self.held.clear();
            return reply;
        }
        // Only the end of what is held can become the tag.
        let from = self.held.len().saturating_sub(CLOSED.len());
        let from = self.held.ceil_char_boundary(from);
        self.held.drain(..from);
        String::new()
    }

    /// What was held back and belongs to the reply, at its end.
    pub(super) fn rest(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        let within = self.state == State::Within;
        self.state = State::Over;
        if within { String::new() } else { held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_taken_off_however_the_text_is_cut() {
        for (text, reply) in [
            ("Plain é.", "Plain é."),
            ("<think>hm é <b></think>\n\nYes.", "\n\nYes."),
            (" \n<think></think>Yes.", "Yes."),
            ("<thin ice>", "<thin ice>"),
            ("About <think> tags</think>.", "About <think> tags</think>."),
            ("<think>cut within", ""),
            ("<thi", "<thi"),
            ("", ""),
        ] {
            for size in 1..=text.chars().count().max(1) {
                let letters: Vec<char> = text.chars().collect();
                let mut thinking = Thinking::default();
                let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
                let mut seen: String = pieces.map(|piece| thinking.reply_of(&piece)).collect();
                seen.push_str(&thinking.rest());
                assert_eq!(seen, reply, "{text} in pieces of {size}");
            }
        }
    }
}
