//! The context window: asked for with every request, and checked afterwards.
//!
//! An input beyond the window loses its front, with status 200 and without a word; of an overflow
//! some versions keep only half a window. So the window is set to what the request needs, a request
//! that needs more than the limit is refused, and the count that comes back is compared with the
//! least that the input can have.

use kuhaku_core::{ChatRequest, ErrorKind};

use crate::fault::Fault;
use crate::tokens;

/// The smallest window that is asked for. The model is loaded anew whenever the window changes, so
/// there are few sizes: this one, and each the double of the one before.
const SMALLEST: u64 = 4_096;

/// Tokens that a template adds, and what the estimate may miss, in 1/16 of the input.
const MARGIN: u64 = 2;

/// Room for a reply of unknown length.
const REPLY: u64 = 1_024;

/// How large a window this request gets.
///
/// # Errors
/// When it needs more than `limit`, with the number of tokens over it.
pub(super) fn needed(request: &ChatRequest, limit: u32) -> Result<u32, Fault> {
    let input = tokens::of_request(request);
    let reply = request.max_output_tokens.map_or(REPLY, u64::from);
    let total = input.saturating_add(input / 16 * MARGIN).saturating_add(reply);
    let limit = u64::from(limit);
    if total > limit {
        let over = total - limit;
        let wrong = format!(
            "the input of about {input} tokens and a reply of {reply} are {over} over the context of {limit}"
        );
        let next = "send fewer or shorter texts, or raise the context in the settings of Ollama";
        return Err(Fault::new(ErrorKind::ContextTooLong, wrong).next(next));
    }
    let window = total.max(SMALLEST).next_power_of_two().min(limit);
    Ok(u32::try_from(window).unwrap_or(u32::MAX))
}

/// Windows are larger than this, so a shorter input is not cut and its count proves nothing.
const CERTAIN: u64 = 256;

/// What is known of a request when its count comes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The window that was asked for.
    window: u64,
    /// The least number of tokens that the input can have.
    least: u64,
}

impl Expected {
    /// What to expect for a request; its window as it was sent.
    pub(super) fn of(request: &ChatRequest, window: u64) -> Self {
        let texts = request.messages.iter().map(|message| message.text.as_str());
        let least = std::iter::once(request.system.as_str()).chain(texts).map(least).sum();
        Self { window, least }
    }

    /// Compares the tokens that the model read with those that were sent.
    ///
    /// # Errors
    /// When some were cut off.
    pub(super) fn check(self, read: u64) -> Result<(), Fault> {
        let Self { window, least } = self;
        let wrong = if read < least && least > CERTAIN {
            let lost = least - read;
            format!(
                "the model read {read} tokens of an input of at least {least}: at least {lost} were cut off its front"
            )
        } else if read >= window {
            format!(
                "the input filled the context of {window} tokens, and what was beyond it was cut off its front"
            )
        } else {
            return Ok(());
        };
        let next = "send fewer or shorter texts, or choose a model with a larger context";
        Err(Fault::new(ErrorKind::ContextTooLong, wrong).next(next))
    }
}

/// The least number of tokens that a text can have: no tokenizer joins words, and none has tokens
/// of more than sixteen letters for text of any length.
fn least(text: &str) -> u64 {
    const LONGEST: usize = 16;
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word.chars().count().div_ceil(LONGEST) as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> ChatRequest {
        ChatRequest::new("", "word ".repeat(count))
    }

    #[test]
    fn windows_have_few_sizes_and_hold_input_and_reply() {
        for (count, reply, window) in [
            (1, None, 4_096),
            (1_000, None, 4_096),
            (2_000, None, 8_192),
            (2_000, Some(8_000), 16_384),
            (9_000, None, 20_000),
        ] {
            let mut request = words(count);
            request.max_output_tokens = reply;
            assert_eq!(needed(&request, 20_000).unwrap(), window, "{count} words, {reply:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_number_of_tokens_over() {
        let fault = needed(&words(3_000), 4_096).unwrap_err();
        assert_eq!(fault.kind, ErrorKind::ContextTooLong);
        let over = 5_008 + 5_008 / 16 * 2 + 1_024 - 4_096;
        assert!(
            fault.wrong.contains(&format!("{over} over the context of 4096")),
            "{}",
            fault.wrong
        );
    }

    #[test]
    fn a_count_below_the_words_of_the_input_or_at_the_window_is_truncation() {
        let expected = Expected::of(&words(1_000), 4_096);
        for (read, cut) in [(400, true), (999, true), (1_000, false), (4_095, false), (4_096, true)]
        {
            assert_eq!(expected.check(read).is_err(), cut, "{read}");
        }
        let short = Expected::of(&words(100), 4_096);
        assert!(short.check(7).is_ok());
        let wrong = expected.check(400).unwrap_err().wrong;
        assert!(wrong.contains("at least 600 were cut off"), "{wrong}");
    }
}
