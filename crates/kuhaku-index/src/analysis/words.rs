//! Words, compounds and bigrams, for the tokenizer `default`.

use std::ops::Range;

use kuhaku_core::Placeholder;

use super::scripts::{Class, class};
use super::{Piece, fold, identifiers, stop_words};
use crate::fingerprint::Language;

/// The words of a compound and whether they need a look for parts: room that is used again.
pub(super) type Words = Vec<(Range<usize>, bool)>;

/// The length of the masking placeholder that begins at `at`, if one does.
pub(super) fn placeholder_length(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    Placeholder::ALL.iter().map(|p| p.as_str()).find(|p| rest.starts_with(p)).map(str::len)
}

/// Finds words. A compound (`PAY-6006`, `app.http.Client`, `snake_case`, `HttpRequest`) is a piece,
/// and so are its parts. Scripts without spaces give pairs of neighbouring characters, and each
/// character is stored too, so that a query of one character finds it.
pub(super) fn scan(text: &str, language: Language, words: &mut Words, emit: &mut dyn FnMut(Piece)) {
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        if let Some(end) = plain_end(text, at) {
            emit(Piece::whole(at..end));
            at = end;
            continue;
        }
        match class(c) {
            Class::Word => at = compound(text, at, language, words, emit),
            Class::Dense => at = dense(text, at, emit),
            Class::Extend | Class::Other => {
                let hidden = if c == '[' { placeholder_length(text, at) } else { None };
                at += hidden.unwrap_or(c.len_utf8());
            }
        }
    }
}

/// The end of a word of small ASCII letters between blanks, as most are: it has no parts.
fn plain_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    let letters = rest.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let alone = matches!(rest.get(letters), None | Some(b' ' | b'\n'));
    (letters > 0 && alone).then_some(at + letters)
}

fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
        _ => text.get(at..)?.chars().next(),
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{ff07}')
}

/// The end of the word that begins at `at`, and whether it needs a look for parts.
fn word_end(text: &str, mut at: usize, language: Language) -> (usize, bool) {
    let mut seen_lower = false;
    let mut uppers = 0_usize;
    let mut parted = false;
    while let Some(c) = char_at(text, at) {
        match class(c) {
            Class::Word => {
                if c == '_' {
                    parted = true;
                } else if c.is_uppercase() {
                    parted |= seen_lower;
                    uppers += 1;
                } else {
                    parted |= uppers >= 2;
                    seen_lower = true;
                }
            }
            Class::Extend => {}
            // English keeps its apostrophes; elsewhere they part words.
            Class::Other if language == Language::En && is_apostrophe(c) => {
                let next = char_at(text, at + c.len_utf8());
                if next.map(class) != Some(Class::Word) {
                    break;
                }
            }
            Class::Dense | Class::Other => break,
        }
        at += c.len_utf8();
    }
    (at, parted)
}

/// The length of a connector at `at` that joins the word before it with one after it.
fn connector(text: &str, at: usize) -> Option<usize> {
    let c = char_at(text, at)?;
    let digit_before =
        at.checked_sub(1).and_then(|i| text.as_bytes().get(i)).is_some_and(u8::is_ascii_digit);
    let next_of = |length: usize| char_at(text, at + length);
    let length = match c {
        '-' | '.' | '\u{2010}' | '\u{2011}' => c.len_utf8(),
        ':' if next_of(1) == Some(':') => 2,
        ',' | ':' if digit_before && next_of(1).is_some_and(|c| c.is_ascii_digit()) => 1,
        c if is_apostrophe(c) => c.len_utf8(),
        _ => return None,
    };
    next_of(length).filter(|c| class(*c) == Class::Word).map(|_| length)
}

/// Whether an apostrophe cuts the word in `word` off from the next one: `l'avion` is a word beside an
/// article.
fn is_elided(text: &str, word: Range<usize>, language: Language) -> bool {
    if !char_at(text, word.end).is_some_and(is_apostrophe) {
        return false;
    }
    let mut folded = String::new();
    fold::before_stemming(text.get(word).unwrap_or_default(), language, &mut folded);
    stop_words::is_elided(language, &folded)
}

fn compound(
    text: &str,
    start: usize,
    language: Language,
    words: &mut Words,
    emit: &mut dyn FnMut(Piece),
) -> usize {
    words.clear();
    let mut at = start;
    loop {
        let (end, parted) = word_end(text, at, language);
        let joint = connector(text, end);
        let elided = joint.is_some() && is_elided(text, at..end, language);
        if elided && words.is_empty() {
            return end;
        }
        words.push((at..end, parted));
        at = end;
        match joint.filter(|_| !elided) {
            Some(length) => at += length,
            None => break,
        }
    }
    emit(Piece::whole(start..at));
    let joined = words.len() > 1;
    for (range, parted) in words.drain(..) {
        if joined {
            emit(Piece::part(range.clone()));
        }
        if parted && let Some(word) = text.get(range.clone()) {
            identifiers::parts(word, range.start, &mut |part| emit(Piece::part(part)));
        }
    }
    at
}

fn dense(text: &str, start: usize, emit: &mut dyn FnMut(Piece)) -> usize {
    let mut previous: Option<Range<usize>> = None;
    let mut pairs = false;
    let mut at = start;
    while let Some(c) = char_at(text, at).filter(|c| class(*c) == Class::Dense) {
        let from = at;
        at += c.len_utf8();
        while let Some(mark) = char_at(text, at).filter(|c| class(*c) == Class::Extend) {
            at += mark.len_utf8();
        }
        if let Some(before) = previous.replace(from..at) {
            emit(Piece::whole(before.start..at));
            emit(Piece { stored_only: true, ..Piece::part(before) });
            pairs = true;
        }
    }
    match previous {
        Some(last) if pairs => emit(Piece { stored_only: true, ..Piece::part(last) }),
        Some(only) => emit(Piece::whole(only)),
        None => {}
    }
    at
}
