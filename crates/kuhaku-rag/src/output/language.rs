//! Which language a text is in, as far as its stop words tell.

use std::sync::LazyLock;

use kuhaku_index::{Analyzer, Language, Tokenizer};
use unicode_segmentation::UnicodeSegmentation as _;

/// Words that are read.
const WORDS: usize = 80;

/// The share of them that must be stop words of a language, and how far no other may come near.
const SHARE: f64 = 0.2;
const LEAD: f64 = 0.1;

/// The language; nothing when several are near, or none.
pub(super) fn of(text: &str) -> Option<Language> {
    let words: Vec<&str> =
        text.unicode_words().filter(|it| it.chars().all(char::is_alphabetic)).take(WORDS).collect();
    let mut shares: Vec<(f64, Language)> = ANALYZERS
        .iter()
        .map(|(language, analyzer)| {
            let stops = words.iter().filter(|word| analyzer.tokens(word).is_empty()).count();
            let share = if words.is_empty() { 0.0 } else { stops as f64 / words.len() as f64 };
            (if stops >= 2 { share } else { 0.0 }, *language)
        })
        .collect();
    shares.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    match shares.as_slice() {
        [(best, language), (second, _), ..] if *best >= SHARE && best - second >= LEAD => {
            Some(*language)
        }
        _ => None,
    }
}

static ANALYZERS: LazyLock<Vec<(Language, Analyzer)>> = LazyLock::new(|| {
    let languages = Language::ALL.iter().filter(|language| **language != Language::None);
    languages.map(|it| (*it, Analyzer::new(Tokenizer::Default, *it))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_their_stop_words() {
        for (text, language) in [
            ("You need to cancel your card.", Some(Language::En)),
            ("The timeout occurs when the issuer does not respond in time.", Some(Language::En)),
            (
                "Her çalışanın yılda yirmi beş gün izni var ve bu izin için başvurur.",
                Some(Language::Tr),
            ),
            (
                "Jeder hat im Jahr Anspruch auf Urlaub, und der Rest verfällt im März.",
                Some(Language::De),
            ),
            ("Chaque employé a droit à des congés, et le reste est perdu.", Some(Language::Fr)),
            ("Plover 25.", None),
            ("", None),
        ] {
            assert_eq!(of(text), language, "{text}");
        }
    }
}
