//! The original Porter stemmer: M. F. Porter, "An algorithm for suffix stripping", Program 14(3),
//! 1980, in the form of its author's reference (with `logi` and `bli`, without stemming words of one
//! or two letters).
//!
//! Works on bytes; bytes outside ASCII count as consonants and are never cut.

/// Replaces a lower-case word by its stem.
pub(super) fn stem(word: &mut String) {
    if word.len() <= 2 {
        return;
    }
    plurals(word);
    past_and_progressive(word);
    y_to_i(word);
    replace_first(word, DOUBLE_SUFFIXES, 0);
    replace_first(word, SHORT_SUFFIXES, 0);
    single_suffixes(word);
    final_e_and_l(word);
}

const DOUBLE_SUFFIXES: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

const SHORT_SUFFIXES: &[(&str, &str)] = &[
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

const SINGLE_SUFFIXES: &[&str] = &[
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

fn byte(word: &str, at: usize) -> Option<u8> {
    word.as_bytes().get(at).copied()
}

/// `y` is a vowel after a consonant, a consonant otherwise.
fn is_vowel(word: &str, at: usize) -> bool {
    match byte(word, at) {
        Some(b'a' | b'e' | b'i' | b'o' | b'u') => true,
        Some(b'y') => {
            // A chain of ys alternates, so count back instead of recursing.
            let ys = word.as_bytes().iter().take(at).rev().take_while(|b| **b == b'y').count();
            let first = at - ys;
            let base = first
                .checked_sub(1)
                .and_then(|before| byte(word, before))
                .is_some_and(|before| !matches!(before, b'a' | b'e' | b'i' | b'o' | b'u'));
            base == ys.is_multiple_of(2)
        }
        _ => false,
    }
}

/// How often a vowel is followed by a consonant: the measure m of the paper.
fn measure(stem: &str) -> usize {
    let vowels = (0..stem.len()).map(|at| is_vowel(stem, at));
    let mut before = false;
    vowels.filter(|vowel| std::mem::replace(&mut before, *vowel) && !vowel).count()
}

fn has_vowel(stem: &str) -> bool {
    (0..stem.len()).any(|at| is_vowel(stem, at))
}

fn ends_with_double_consonant(stem: &str) -> bool {
    let Some(last) = stem.len().checked_sub(1) else { return false };
    byte(stem, last).is_some_and(|b| b.is_ascii_alphabetic())
        && last.checked_sub(1).and_then(|at| byte(stem, at)) == byte(stem, last)
        && !is_vowel(stem, last)
}

/// Ends consonant, vowel, consonant, and the last is not w, x or y: the condition *o.
fn ends_short(stem: &str) -> bool {
    let Some(first) = stem.len().checked_sub(3) else { return false };
    !is_vowel(stem, first)
        && is_vowel(stem, first + 1)
        && !is_vowel(stem, first + 2)
        && !matches!(byte(stem, first + 2), Some(b'w' | b'x' | b'y'))
}

fn cut(word: &mut String, suffix: &str) {
    word.truncate(word.len() - suffix.len());
}

fn plurals(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        cut(word, "es");
    } else if word.ends_with('s') && !word.ends_with("ss") {
        cut(word, "s");
    }
}

fn past_and_progressive(word: &mut String) {
    if let Some(stem) = word.strip_suffix("eed") {
        if measure(stem) > 0 {
            cut(word, "d");
        }
        return;
    }
    let Some(suffix) =
        ["ed", "ing"].into_iter().find(|suffix| word.strip_suffix(suffix).is_some_and(has_vowel))
    else {
        return;
    };
    cut(word, suffix);
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_with_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn y_to_i(word: &mut String) {
    if word.strip_suffix('y').is_some_and(has_vowel) {
        word.pop();
        word.push('i');
    }
}

/// Replaces the longest suffix of the table that fits, when the measure before it exceeds `above`.
fn replace_first(word: &mut String, table: &[(&str, &str)], above: usize) {
    let fitting = table.iter().filter(|(suffix, _)| word.ends_with(suffix));
    if let Some((suffix, by)) = fitting.max_by_key(|(suffix, _)| suffix.len())
        && word.strip_suffix(suffix).is_some_and(|stem| measure(stem) > above)
    {
        cut(word, suffix);
        word.push_str(by);
    }
}

fn single_suffixes(word: &mut String) {
    let fitting = SINGLE_SUFFIXES.iter().filter(|suffix| word.ends_with(**suffix));
    let Some(suffix) = fitting.max_by_key(|suffix| suffix.len()) else { return };
    let fits = word
        .strip_suffix(suffix)
        .is_some_and(|stem| measure(stem) > 1 && (*suffix != "ion" || stem.ends_with(['s', 't'])));
    if fits {
        cut(word, suffix);
    }
}

fn final_e_and_l(word: &mut String) {
    if let Some(stem) = word.strip_suffix('e') {
        let m = measure(stem);
        if m > 1 || (m == 1 && !ends_short(stem)) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Examples of the paper, section 2, and words that other implementations get wrong.
    #[test]
    fn the_examples_of_the_paper_hold() {
        for (word, expected) in [
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("filing", "file"),
            ("sky", "sky"),
            ("conditional", "condit"),
            ("digitizer", "digit"),
            ("vietnamization", "vietnam"),
            ("hopefulness", "hope"),
            ("triplicate", "triplic"),
            ("formalize", "formal"),
            ("adoption", "adopt"),
            ("replacement", "replac"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controlling", "control"),
            ("roll", "roll"),
            ("oscillators", "oscil"),
            ("generalizations", "gener"),
            ("is", "is"),
            ("éing", "éing"),
        ] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expected, "{word}");
        }
    }
}
