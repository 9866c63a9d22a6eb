//! How many tokens a text may be, before anything is sent.
//!
//! Services differ in their tokenizers, and most do not publish them. The estimate leans upward: it
//! charges one token for 3 ASCII letters or blanks, one for 2 ASCII digits, one for every other ASCII
//! character, and three for 4 bytes of anything else. The certain bound of a byte-level tokenizer,
//! one token per byte, is three to four times too high for prose and would refuse what fits.

use kuhaku_core::ChatRequest;

/// Tokens that services add around each message (roles, separators).
const PER_MESSAGE: u64 = 8;

/// An upper estimate for a text.
pub(crate) fn of_text(text: &str) -> u64 {
    let (mut letters, mut digits, mut signs, mut others) = (0_u64, 0_u64, 0_u64, 0_u64);
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b' ' | b'\n' => letters += 1,
            b'0'..=b'9' => digits += 1,
            0x80.. => others += 1,
            _ => signs += 1,
        }
    }
    letters.div_ceil(3) + digits.div_ceil(2) + signs + (others * 3).div_ceil(4)
}

/// An upper estimate for the input of a request.
pub(crate) fn of_request(request: &ChatRequest) -> u64 {
    let system = if request.system.is_empty() { 0 } else { PER_MESSAGE };
    let messages = request.messages.iter();
    let messages: u64 = messages.map(|message| PER_MESSAGE + of_text(&message.text)).sum();
    system + of_text(&request.system) + messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_digits_signs_and_other_scripts_are_charged_apart() {
        let table = [
            ("", 0),
            ("The notice period is three months.", 12),
            ("2026-11-30", 6),
            ("日本語", 7),
            ("🦀", 3),
        ];
        for (text, tokens) in table {
            assert_eq!(of_text(text), tokens, "{text}");
        }
    }

    #[test]
    fn a_request_is_its_texts_and_something_per_message() {
        let request = ChatRequest::new("abc", "def");
        assert_eq!(of_request(&request), 2 * (PER_MESSAGE + 1));
        assert_eq!(of_request(&ChatRequest::new("", "def")), PER_MESSAGE + 1);
    }
}
