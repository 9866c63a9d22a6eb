//! What a text says of a field that is true or false.

use std::ops::Range;

use super::Source;
use super::border::words;
use super::fold::Folded;

/// What a clause says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    Unclear,
}

/// Where the text states that the field at `pointer` is `value`.
///
/// A clause states it that names the field, with all the words of its name, and denies it for false or
/// does not deny it for true. A `quote` that does not name the field states it when it answers: "yes", "no".
/// What stands in the clause around a quote counts, so that "gift wrap" quoted out of "no gift wrap"
/// says no.
pub(super) fn place(
    source: &Source,
    pointer: &str,
    value: bool,
    quote: Option<&Range<usize>>,
) -> Option<Range<usize>> {
    let text = source.folded().text();
    let wanted = if value { Answer::Yes } else { Answer::No };
    let name = name_words(pointer);
    let range = quote.cloned().unwrap_or(0..text.len());
    for clause in source.clauses() {
        let touches = clause.start < range.end && clause.end > range.start;
        let within = clause.start.max(range.start)..clause.end.min(range.end);
        if !touches || within.is_empty() {
            continue;
        }
        let named = |range: &Range<usize>| {
            let part = text.get(range.clone()).unwrap_or_default();
            let has = |name: &String| {
                part.contains(name.as_str()) && words(part).any(|(_, it)| is_of(it, name))
            };
            !name.is_empty() && name.iter().all(has)
        };
        let part = text.get(clause.clone()).unwrap_or_default();
        let answers = quote.is_some() && has_answer(text.get(within.clone()).unwrap_or_default());
        if (named(&within) || answers) && answer(part, &name) == wanted {
            return Some(within);
        }
    }
    None
}

/// The words of a field's name that say what it is about, folded.
fn name_words(pointer: &str) -> Vec<String> {
    const EMPTY: [&str; 18] = [
        "is", "has", "have", "had", "with", "needs", "need", "wants", "want", "should", "the",
        "of", "a", "an", "flag", "was", "are", "to",
    ];
    let is_name = |part: &&str| !part.is_empty() && !part.bytes().all(|byte| byte.is_ascii_digit());
    let last = pointer.rsplit('/').find(is_name).unwrap_or_default();
    let mut spaced = String::new();
    let mut lower = false;
    for c in last.replace("~1", "/").replace("~0", "~").chars() {
        if c.is_uppercase() && lower {
            spaced.push(' '); // giftWrap
        }
        lower = c.is_lowercase();
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
    }
    let folded = super::fold::folded(&spaced);
    folded
        .split(' ')
        .filter(|word| !word.is_empty() && !EMPTY.contains(word))
        .map(str::to_owned)
        .collect()
}

/// Whether `word` is `name`, or a form of it with a short ending.
fn is_of(word: &str, name: &str) -> bool {
    let Some(ending) = word.strip_prefix(name) else { return false };
    ending.is_empty() || (name.chars().count() >= 4 && ending.chars().count() <= 4)
}

/// The stretches between commas, stops, line breaks and words like "but".
pub(super) fn clauses(folded: &Folded) -> Vec<Range<usize>> {
    let text = folded.text();
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let then = chars.peek().map(|(_, c)| *c);
        let ends = match c {
            ';' | '!' | '?' | '。' | '、' | '，' | '؟' | '،' | '।' => true,
            '.' | ',' => then.is_none_or(char::is_whitespace),
            ' ' if folded.is_line(at) => true,
            ' ' => {
                let rest = text.get(at + 1..).unwrap_or_default();
                ["and ", "but ", "or ", "ve ", "ama ", "fakat ", "ancak ", "veya "]
                    .iter()
                    .any(|word| rest.starts_with(word))
            }
            _ => false,
        };
        if ends {
            found.push(start..at);
            start = at + c.len_utf8();
        }
    }
    found.push(start..text.len());
    found
}

/// Words that answer by themselves.
fn has_answer(text: &str) -> bool {
    words(text).any(|(_, word)| is_yes(word) || is_denial(word))
}

fn is_yes(word: &str) -> bool {
    [
        "yes", "yeah", "yep", "true", "sure", "ok", "okay", "correct", "evet", "tamam", "olur",
        "olsun", "doğru", "elbette", "tabii", "var",
    ]
    .contains(&word)
}

fn is_denial(word: &str) -> bool {
    [
        "no",
        "nope",
        "not",
        "never",
        "none",
        "without",
        "false",
        "neither",
        "nor",
        "dont",
        "doesnt",
        "didnt",
        "isnt",
        "wont",
        "cannot",
        "cant",
        "skip",
        "exclude",
        "remove",
        "omit",
        "avoid",
        "cancel",
        "hayir",
        "yok",
        "değil",
        "olmasin",
        "istemiyorum",
        "istemiyoruz",
        "istemem",
        "istemez",
        "gerekmez",
        "gerekmiyor",
        "asla",
        "iptal",
    ]
    .contains(&word)
}

/// What a clause says; one that denies twice is nobody's evidence.
fn answer(clause: &str, name: &[String]) -> Answer {
    let all: Vec<(usize, &str)> = words(clause).collect();
    let mut denials = 0;
    for (place, (at, word)) in all.iter().enumerate() {
        // don't
        let short = word.ends_with('n')
            && clause.get(at + word.len()..).is_some_and(|rest| rest.starts_with("'t"))
            && all.get(place + 1).is_some_and(|(_, next)| *next == "t");
        // şekersiz, sugarless, sugar-free
        let bare = name.iter().any(|name| {
            let ending = word.strip_prefix(name.as_str()).unwrap_or_default();
            let free = all
                .get(place + 1)
                .is_some_and(|(next, it)| *it == "free" && *next == at + word.len() + 1);
            ["siz", "suz", "süz", "less"].contains(&ending) || (*word == name && free)
        });
        denials += usize::from(is_denial(word) || short || bare);
    }
    match denials {
        0 if clause.contains('?') => Answer::Unclear,
        0 => Answer::Yes,
        1 => Answer::No,
        _ => Answer::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str, pointer: &str, value: bool) -> bool {
        place(&Source::new(text), pointer, value, None).is_some()
    }

    #[test]
    fn a_field_is_true_or_false_by_the_clause_that_names_it() {
        for (text, pointer, value) in [
            ("Gift wrap please", "/gift_wrap", true),
            ("no gift wrap", "/giftWrap", false),
            ("with milk and no sugar", "/milk", true),
            ("with milk and no sugar", "/sugar", false),
            ("sugar: no\nmilk: yes", "/milk", true),
            ("I don't want sugar, gift wrap it", "/gift", true),
            ("I don't want sugar, gift wrap it", "/sugar", false),
            ("şekersiz olsun", "/şeker", false),
            ("şekerli olsun", "/şeker", true),
            ("sugar-free tea", "/is_sugar", false),
            ("şeker istemiyorum ama süt olsun", "/süt", true),
            ("hediye paketi yok", "/lines/0/hediye_paketi", false),
        ] {
            assert!(says(text, pointer, value), "{pointer} {value} by {text}");
            assert!(!says(text, pointer, !value), "{pointer} {} by {text}", !value);
        }
        for text in ["five boxes of tea", "not without sugar", "yes", ""] {
            assert!(!says(text, "/sugar", true) && !says(text, "/sugar", false), "{text}");
        }
    }
}
