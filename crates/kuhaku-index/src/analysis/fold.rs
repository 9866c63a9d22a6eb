//! Case, compatibility forms and accents.

use rust_stemmers::Algorithm;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::scripts::is_invisible;
use crate::fingerprint::Language;

/// The Snowball algorithm of a language.
pub(super) fn algorithm(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::None => return None,
        Language::Ar => Algorithm::Arabic,
        Language::Da => Algorithm::Danish,
        Language::De => Algorithm::German,
        Language::El => Algorithm::Greek,
        Language::En => Algorithm::English,
        Language::Es => Algorithm::Spanish,
        Language::Fi => Algorithm::Finnish,
        Language::Fr => Algorithm::French,
        Language::Hu => Algorithm::Hungarian,
        Language::It => Algorithm::Italian,
        Language::Nl => Algorithm::Dutch,
        Language::No => Algorithm::Norwegian,
        Language::Pt => Algorithm::Portuguese,
        Language::Ro => Algorithm::Romanian,
        Language::Ru => Algorithm::Russian,
        Language::Sv => Algorithm::Swedish,
        Language::Ta => Algorithm::Tamil,
        Language::Tr => Algorithm::Turkish,
    })
}

/// Appends the lower-case form.
pub(super) fn lower_case(raw: &str, out: &mut String) {
    if raw.is_ascii() {
        out.push_str(raw);
        out.make_ascii_lowercase();
    } else {
        out.extend(raw.chars().flat_map(char::to_lowercase));
    }
}

/// Appends what the stemmer shall see: lower case, compatibility forms unified, accents kept where
/// the language's stemmer reads them. English and texts without a language have theirs removed now,
/// so that `résumés` and `resumes` share a stem.
pub(super) fn before_stemming(raw: &str, language: Language, out: &mut String) {
    let turkish = language == Language::Tr;
    if raw.is_ascii() && !(turkish && raw.contains('I')) {
        lower_case(raw, out);
        return;
    }
    for c in raw.nfkc().filter(|c| !is_invisible(*c)) {
        match c {
            'I' if turkish => out.push('ı'),
            'İ' if turkish => out.push('i'),
            '\u{2019}' => out.push('\''),
            '\u{2010}' | '\u{2011}' => out.push('-'),
            'ς' => out.push('σ'),
            _ => out.extend(c.to_lowercase()),
        }
    }
    if matches!(language, Language::En | Language::None) {
        after_stemming(out);
    }
}

/// Removes the accents of European scripts and unifies dotted and dotless i (D18). Marks of other
/// scripts carry meaning and stay.
pub(super) fn after_stemming(term: &mut String) {
    if term.is_ascii() {
        return;
    }
    let mut plain = String::with_capacity(term.len());
    for c in term.nfkd() {
        match c {
            '\u{300}'..='\u{36f}' => {}
            'ı' => plain.push('i'),
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'ø' => plain.push('o'),
            'đ' | 'ð' => plain.push('d'),
            'ł' => plain.push('l'),
            'þ' => plain.push_str("th"),
            _ => plain.push(c),
        }
    }
    *term = plain.nfc().collect();
}

/// Letters, marks and apostrophes only: a word that a stemmer knows how to read.
pub(super) fn is_plain_word(term: &str) -> bool {
    term.chars().all(|c| c.is_alphabetic() || c == '\'' || is_combining_mark(c))
}
