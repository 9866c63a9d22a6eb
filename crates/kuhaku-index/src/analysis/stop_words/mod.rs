//! Words too common to tell documents apart: articles, pronouns, prepositions, conjunctions,
//! auxiliaries, question words and adverbs of degree.
//!
//! The lists hold the kinds of words that the lists of the Snowball project hold. Words that also
//! name a thing that people search for are left out, unless they are much more often the other.

mod english;
mod germanic;
mod greek;
mod romance;
mod russian;
mod turkish;
mod uralic;

use crate::fingerprint::Language;

/// The sorted and folded stop words of a language; empty where nobody has written them yet.
fn words(language: Language) -> &'static [&'static str] {
    match language {
        Language::Da => germanic::DANISH,
        Language::De => germanic::GERMAN,
        Language::El => greek::GREEK,
        Language::En => english::ENGLISH,
        Language::Es => romance::SPANISH,
        Language::Fi => uralic::FINNISH,
        Language::Fr => romance::FRENCH,
        Language::Hu => uralic::HUNGARIAN,
        Language::It => romance::ITALIAN,
        Language::Nl => germanic::DUTCH,
        Language::No => germanic::NORWEGIAN,
        Language::Pt => romance::PORTUGUESE,
        Language::Ro => romance::ROMANIAN,
        Language::Ru => russian::RUSSIAN,
        Language::Sv => germanic::SWEDISH,
        Language::Tr => turkish::TURKISH,
        Language::None | Language::Ar | Language::Ta => &[],
    }
}

/// Whether a lower-case word is one of Lucene's English stop words.
pub(super) fn is_lucene(word: &str) -> bool {
    english::LUCENE.binary_search(&word).is_ok()
}

/// Whether a folded word is a stop word of the language. So is a compound of nothing else
/// (`est-ce`, `celui-ci`), but for English, whose list names those it means (`can't`).
pub(super) fn contains(language: Language, word: &str) -> bool {
    let list = words(language);
    if language == Language::En {
        return list.binary_search(&word).is_ok();
    }
    !list.is_empty() && word.split(['\'', '-']).all(|part| list.binary_search(&part).is_ok())
}

/// Whether a folded word before an apostrophe is no part of the word behind it: a stop word, or in
/// French and Italian any letter. By itself a letter may mean something (`vitamine C`).
pub(super) fn is_elided(language: Language, word: &str) -> bool {
    let letter = matches!(language, Language::Fr | Language::It) && word.chars().count() == 1;
    letter || (language != Language::En && contains(language, word))
}

#[cfg(test)]
mod tests {
    use super::super::fold;
    use super::*;

    #[test]
    fn each_table_is_sorted_without_repetition_and_folded_as_words_are_compared() {
        assert_eq!(english::LUCENE.len(), 33);
        assert!(english::LUCENE.is_sorted_by(|a, b| a < b));
        for language in Language::ALL {
            let list = words(*language);
            assert!(list.is_sorted_by(|a, b| a < b), "{language}");
            for word in list {
                let mut folded = String::new();
                fold::before_stemming(word, *language, &mut folded);
                assert_eq!(folded, *word, "{language}");
                assert!(fold::is_plain_word(word), "{language} {word}");
                assert!(contains(*language, word), "{language} {word}");
            }
        }
    }

    #[test]
    fn every_language_but_two_has_its_words() {
        let none = [Language::None, Language::Ar, Language::Ta];
        for language in Language::ALL {
            assert_eq!(words(*language).is_empty(), none.contains(language), "{language}");
        }
    }
}
