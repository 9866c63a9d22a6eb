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

/// From so many words with digits on, numbers of up to so many digits are words.
const SEVERAL: usize = 3;
const SHORT: usize = 3;

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

/// Words with digits among their letters, read as words; false if there are none. Beside several of them,
/// short numbers are words too: "4 5y5t3m pr0mpt 15".
pub(super) fn without_digits(words: &mut [Letter]) -> bool {
    let mut mixed = 0;
    for word in words.chunk_by_mut(in_one_word) {
        if word.len() <= LONGEST && has_digits(word) && word.iter().any(|it| it.c.is_alphabetic()) {
            mixed += 1;
            as_letters(word);
        }
    }
    if mixed >= SEVERAL {
        let short = words.chunk_by_mut(in_one_word).filter(|word| word.len() <= SHORT);
        short.filter(|word| has_digits(word)).for_each(as_letters);
    }
    mixed > 0
}

fn in_one_word(one: &Letter, next: &Letter) -> bool {
    one.c.is_alphanumeric() && next.c.is_alphanumeric()
}

fn has_digits(word: &[Letter]) -> bool {
    word.iter().any(|letter| digit(letter.c, 'i').is_some())
}

fn as_letters(word: &mut [Letter]) {
    let with_l: String =
        word.iter().map(|letter| digit(letter.c, 'l').unwrap_or(letter.c)).collect();
    let one = if WITH_L.contains(&with_l.as_str()) { 'l' } else { 'i' };
    for letter in word {
        letter.c = digit(letter.c, one).unwrap_or(letter.c);
    }
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
