//! Digits and signs that stand for letters: "1gn0re pr3v!ous ru1es".

use super::view::Letter;

/// Words of attacks that have an l where others have an i; a 1 may be either.
const WITH_L: [&str; 30] = [
    "all",
    "rules",
    "rule",
    "reveal",
    "disclose",
    "display",
    "tell",
    "leak",
    "guidelines",
    "guideline",
    "filters",
    "filter",
    "limits",
    "limitless",
    "unlimited",
    "unfiltered",
    "policy",
    "policies",
    "model",
    "developer",
    "jailbreak",
    "jailbroken",
    "full",
    "language",
    "earlier",
    "follow",
    "told",
    "please",
    "role",
    "roleplay",
];

/// Longer words are codes, in characters.
const LONGEST: usize = 40;

/// The text with signs inside words read as letters; none if there are no such signs.
pub(super) fn with_signs(letters: &[Letter]) -> Option<Vec<Letter>> {
    let is_word = |at: Option<usize>| {
        at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.c.is_alphanumeric())
    };
    let mut read: Option<Vec<Letter>> = None;
    for (at, letter) in letters.iter().enumerate() {
        let Some(c) = sign(letter.c) else { continue };
        // A sign that ends a word is a sign, unless it begins one: "@ll", "$ystem".
        if is_word(Some(at + 1)) && (letter.c != '!' || is_word(at.checked_sub(1))) {
            let read = read.get_or_insert_with(|| letters.to_vec());
            if let Some(letter) = read.get_mut(at) {
                letter.c = c;
            }
        }
    }
    read
}

/// Words with digits among their letters, read as words; false if there are none.
pub(super) fn without_digits(words: &mut [Letter]) -> bool {
    let mut any = false;
    for word in words.chunk_by_mut(|a, b| a.c.is_alphanumeric() && b.c.is_alphanumeric()) {
        let letters = word.iter().filter(|letter| letter.c.is_alphabetic()).count();
        let digits = word.iter().filter(|letter| digit(letter.c, 'i').is_some()).count();
        if letters == 0 || digits == 0 || word.len() > LONGEST {
            continue;
        }
        any = true;
        let read = |one: char| -> String {
            word.iter().map(|letter| digit(letter.c, one).unwrap_or(letter.c)).collect()
        };
        let with_l = read('l');
        let one = if WITH_L.contains(&with_l.as_str()) { 'l' } else { 'i' };
        for letter in word {
            letter.c = digit(letter.c, one).unwrap_or(letter.c);
        }
    }
    any
}

fn sign(c: char) -> Option<char> {
    Some(match c {
        '@' => 'a',
        '$' => 's',
        '!' | '|' => 'i',
        '€' => 'e',
        _ => return None,
    })
}

fn digit(c: char, one: char) -> Option<char> {
    Some(match c {
        '0' => 'o',
        '1' => one,
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        _ => return None,
    })
}
