//! Where in the text a value stands.

mod border;
mod date;
mod fold;
mod grouping;
mod number;
mod number_words;
mod source;
mod yes_no;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::decimal::Decimal;

use date::Day;
use fold::folded;

pub use date::DateOrder;
pub use source::Source;

/// A stretch of the caller's text; both ranges name the same characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Span {
    /// In bytes of the UTF-8 text: `text[bytes]` is the evidence.
    pub bytes: Range<usize>,
    /// In characters (Unicode scalar values).
    pub chars: Range<usize>,
}

/// What the text says of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The text states the value, here.
    Grounded(Span),
    /// The quote stands in the text, here, but does not state the value.
    Mismatch(Span),
    /// Neither the quote nor the value stands in the text.
    Ungrounded,
}

/// The check of values against a text.
///
/// Texts are compared as Unicode NFKC, without case, with blanks as one, and whole words only.
/// Numbers and dates are compared by value. It is never enough that a quote is real: it must state the
/// value. What is not recognised is not grounded: relative dates ("tomorrow"), dates without a year,
/// numbers in words of other languages than English and Turkish, a value in other words than the text's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence;

impl Evidence {
    /// Looks for `value`, the leaf at the JSON Pointer `pointer`, in `source`.
    ///
    /// A `quote` that stands in the text decides: it states the value or it does not. Without one, or
    /// when it does not stand there, the value itself is looked for. Null, lists, objects and blank
    /// strings are never grounded.
    ///
    /// ```
    /// use kuhaku_extract::{Evidence, Finding, Source};
    /// let source = Source::new("İki kutu ÇAY, 1.500 TL");
    /// let found = |value, quote| Evidence::find(&source, "/x", &value, quote);
    /// let Finding::Grounded(span) = found("çay".into(), None) else { panic!() };
    /// assert_eq!(&source.text()[span.bytes], "ÇAY");
    /// assert!(matches!(found(1500.into(), Some("1.500 tl")), Finding::Grounded(_)));
    /// assert!(matches!(found(500.into(), Some("1.500 TL")), Finding::Mismatch(_)));
    /// assert_eq!(found("coffee".into(), Some("coffee")), Finding::Ungrounded);
    /// ```
    pub fn find(source: &Source, pointer: &str, value: &Value, quote: Option<&str>) -> Finding {
        let Some(sought) = Sought::of(value) else { return Finding::Ungrounded };
        let quote = quote.map(folded).filter(|quote| !quote.is_empty());
        let mut elsewhere = None;
        for place in quote.iter().flat_map(|quote| source.places(quote, whole(source))) {
            let Some(span) = source.span(&place) else { continue };
            if sought.place(source, pointer, &place, true).is_some() {
                return Finding::Grounded(span);
            }
            elsewhere = elsewhere.or(Some(span));
        }
        if let Some(span) = elsewhere {
            return Finding::Mismatch(span);
        }
        let place = sought.place(source, pointer, &whole(source), false);
        match place.and_then(|place| source.span(&place)) {
            Some(span) => Finding::Grounded(span),
            None => Finding::Ungrounded,
        }
    }
}

fn whole(source: &Source) -> Range<usize> {
    0..source.folded().text().len()
}

/// What is looked for.
enum Sought {
    Flag(bool),
    Number(Decimal),
    Text { words: String, day: Option<Day>, number: Option<Decimal> },
}

impl Sought {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(Self::Flag(*flag)),
            Value::Number(number) => Decimal::of(number).map(Self::Number),
            Value::String(text) => {
                let words = folded(text);
                // Texts that are the plain form of a number or a date may be stated otherwise.
                let plain = !words.starts_with('0') || words.starts_with("0.");
                let number = Decimal::parse(&words).filter(|_| plain && words.len() <= 16);
                let day = Day::parse(&words);
                (!words.is_empty()).then_some(Self::Text { words, day, number })
            }
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Where `range` of the folded text states it.
    fn place(
        &self,
        source: &Source,
        pointer: &str,
        range: &Range<usize>,
        quoted: bool,
    ) -> Option<Range<usize>> {
        match self {
            Self::Flag(flag) => yes_no::place(source, pointer, *flag, quoted.then_some(range)),
            Self::Number(number) => source.numbers().place(number, range),
            Self::Text { words, day, number } => source
                .word(words, range)
                .or_else(|| source.word(&spaced(words)?, range))
                .or_else(|| source.dates().place((*day)?, range))
                .or_else(|| source.numbers().place(number.as_ref()?, range)),
        }
    }
}

/// The name of a choice, `late_delivery`, as it is said.
fn spaced(words: &str) -> Option<String> {
    words.contains('_').then(|| words.replace('_', " "))
}
