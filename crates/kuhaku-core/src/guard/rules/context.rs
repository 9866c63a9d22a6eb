//! What stands around a match and makes it harmless.

use std::ops::Range;

/// When a match of a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counts {
    /// Always.
    Always,
    /// When the verb that begins it is a command.
    AsCommand,
    /// As a command that is not a part of a question about software.
    AsBareCommand,
    /// When the name that ends it is not written as a person's.
    UnlessPerson,
    /// Never: it says that the text is harmless.
    Never,
}

impl Counts {
    /// Whether a match in the read text counts, which stands for these bytes of the original.
    pub(super) fn here(self, read: &str, found: &Range<usize>, original: &str) -> bool {
        match self {
            Self::Always => true,
            Self::AsCommand => !is_no_command(read, found),
            Self::AsBareCommand => !is_no_command(read, found) && !is_about_software(read, found),
            Self::UnlessPerson => !is_a_persons_name(original),
            Self::Never => false,
        }
    }
}

/// Words right before a verb after which it is no command: a negation, or somebody else who does it.
const NO_COMMAND: [&str; 52] = [
    "not",
    "never",
    "dont",
    "doesnt",
    "didnt",
    "cannot",
    "cant",
    "couldnt",
    "wont",
    "wouldnt",
    "shouldnt",
    "mustnt",
    "we",
    "they",
    "he",
    "she",
    "who",
    "people",
    "users",
    "students",
    "employees",
    "customers",
    "models",
    "often",
    "sometimes",
    "always",
    "nunca",
    "no",
    "has",
    "have",
    "had",
    "was",
    "were",
    "ben",
    "biz",
    "kimse",
    "nicht",
    "nie",
    "niemals",
    "wer",
    "jamais",
    "ne",
    "non",
    "mai",
    "nao",
    "jamas",
    "не",
    "никогда",
    "لا",
    "لم",
    "الا",
    "لن",
];

/// The same in scripts without spaces, right before the verb.
const NO_COMMAND_JOINED: [&str; 12] =
    ["不要", "别", "勿", "不得", "不能", "不可", "不应", "不會", "不会", "沒有", "没有", "并未"];

/// Words after "system prompt" that make it a thing of a program.
const PARTS_OF_A_PROGRAM: [&str; 24] = [
    "settings",
    "setting",
    "field",
    "fields",
    "editor",
    "template",
    "templates",
    "file",
    "files",
    "page",
    "box",
    "option",
    "options",
    "parameter",
    "parameters",
    "argument",
    "length",
    "limit",
    "library",
    "feature",
    "tab",
    "window",
    "example",
    "examples",
];

/// How far back a clause is read, in bytes.
const CLAUSE: usize = 96;

/// Whether a match begins a word, in scripts whose borders of words an automaton does not see. Chinese
/// has none, and Arabic joins an "and" to the next word.
pub(super) fn begins_a_word(read: &str, start: usize) -> bool {
    let before = read.get(..start).unwrap_or_default();
    let Some(last) = before.chars().next_back() else { return true };
    let joined = before.rsplit([' ', ',', '.']).next().unwrap_or_default();
    !last.is_alphanumeric() || last.is_ascii() || last >= '\u{2e80}' || matches!(joined, "و" | "ف")
}

/// True when the verb that begins at the match is no command to the reader.
fn is_no_command(words: &str, found: &Range<usize>) -> bool {
    let head = words.get(..found.start).unwrap_or_default();
    if NO_COMMAND_JOINED.iter().any(|word| head.ends_with(word)) {
        return true;
    }
    let Some(head) = head.strip_suffix(' ') else {
        return false;
    };
    NO_COMMAND.contains(&head.rsplit([' ', ',', '.']).next().unwrap_or_default())
}

/// True when the match is a part of a question how to do something, or names a part of a program.
fn is_about_software(words: &str, found: &Range<usize>) -> bool {
    let from = (found.start.saturating_sub(CLAUSE)..=found.start)
        .find(|at| words.is_char_boundary(*at))
        .unwrap_or_default();
    let head = words.get(from..found.start).unwrap_or_default();
    let clause = head.rsplit([',', '.']).next().unwrap_or_default();
    let asks_how = clause.split(' ').any(|word| word == "how");
    let tail = words.get(found.end..).unwrap_or_default();
    let next = tail.strip_prefix(' ').and_then(|tail| tail.split([' ', ',', '.']).next());
    asks_how || next.is_some_and(|word| PARTS_OF_A_PROGRAM.contains(&word))
}

/// True when the name at the end of the match is written as a person's: "act as Dan".
fn is_a_persons_name(original: &str) -> bool {
    let mut last = original.chars().rev().filter(|c| c.is_alphabetic());
    let (n, a, d) = (last.next(), last.next(), last.next());
    d.is_some_and(char::is_uppercase)
        && a.is_some_and(char::is_lowercase)
        && n.is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chinese_words_and_joined_ones_begin_inside_another() {
        for (read, start, begins) in [
            ("вы", 0, true),
            ("а вы", 3, true),
            ("звы", 2, false),
            ("请忽略", 3, true),
            ("تتجاهل", 2, false),
            ("وتجاهل", 2, true),
        ] {
            assert_eq!(begins_a_word(read, start), begins, "{read}");
        }
    }

    #[test]
    fn a_negated_verb_and_a_reported_one_are_no_commands() {
        assert!(is_no_command("please do not ignore it", &(14..23)));
        assert!(is_no_command("users ignore it", &(6..15)));
        assert!(!is_no_command("not,ignore it", &(4..13)));
        assert!(!is_no_command("ignore it", &(0..9)));
    }
}
