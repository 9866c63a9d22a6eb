//! Access tags that stand where they are not read.
//!
//! Front matter is read strictly, so a slip in it (a mark before the fence, a misspelt key, a key
//! inside a map) would make it text, and open the document to everybody. This looks at the head of a
//! document as loosely as a person does, and only asks whether access tags seem to be stated.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::has_no_width;

/// The key, without the characters by which spellings differ.
const KEY: &str = "accesstags";

/// How many telling lines the head of a document has at least. Blank lines, rules and comments tell
/// nothing, so padding with them pushes nothing out of the head.
const TELLING_LINES: usize = 60;

/// How many bytes of telling lines the head has at most when no prose ends it before, and how far
/// into a line is looked.
const REACH: usize = 8 * 1024;

/// Whether the front matter, or the head of what follows it, seems to state access tags.
pub(crate) fn seems_to_state_tags(front_matter: &str, body: &str) -> bool {
    lines(front_matter).chain(head(body)).any(states_tags)
}

/// Whether a key is the one of access tags but for joints, disguise and one slip.
pub(crate) fn is_like_tags_key(key: &str) -> bool {
    let key: String = as_seen(key).filter(|c| c.is_alphanumeric()).collect();
    is_one_slip_from(&key, KEY)
}

/// Lines by everything that any reader ends a line at.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// The head of a text: its first [`TELLING_LINES`], and on to the first heading or prose behind a
/// blank line, or to [`REACH`].
fn head(text: &str) -> impl Iterator<Item = &str> {
    let (mut telling, mut bytes) = (0, 0);
    let (mut prose, mut behind_blank, mut comment) = (false, true, false);
    lines(text).take_while(move |line| {
        if telling >= TELLING_LINES && (prose || bytes > REACH) {
            return false;
        }
        let words = visible(line);
        let opens = comment || words.starts_with("<!--");
        comment = opens && !words.contains("-->");
        let remark = opens || words.starts_with(['#', ';', '%']) || words.starts_with("//");
        if !remark && words.contains(char::is_alphanumeric) {
            telling += 1;
            bytes += words.len();
        }
        prose |= behind_blank && !opens && (words.starts_with("# ") || is_prose(line));
        behind_blank = words.is_empty();
        true
    })
}

/// A line of words that is neither indented nor a statement.
fn is_prose(line: &str) -> bool {
    let statement = line.split_once([':', '=']).is_some_and(|(key, _)| key.len() <= 64);
    line.starts_with(char::is_alphanumeric) && !statement
}

/// A line without what draws nothing before its first character.
fn visible(line: &str) -> &str {
    line.trim_start_matches(|c: char| c.is_whitespace() || has_no_width(c))
}

/// Whether a line begins with a key of access tags, behind marks of any kind: at its beginning, in
/// the braces of a map, or behind the middle dot of a metadata line.
fn states_tags(line: &str) -> bool {
    let line = visible(line);
    let line = line.get(..line.floor_char_boundary(REACH)).unwrap_or(line);
    let mut key = Some(String::new());
    let mut in_map = false;
    for c in as_seen(line) {
        match c {
            // One before any letter is a mark, as in `:access_tags: hr`.
            ':' | '=' if key.as_ref().is_some_and(String::is_empty) => {}
            ':' | '=' => {
                let stated = key.take().is_some_and(|key| is_one_slip_from(&key, KEY));
                if stated {
                    return true;
                }
            }
            '{' | '·' => {
                in_map |= c == '{';
                key = Some(String::new());
            }
            ',' if in_map => key = Some(String::new()),
            // A number before the key is that of a list item.
            c if c.is_alphabetic() || c.is_numeric() => {
                key = key.filter(|key| key.len() <= KEY.len());
                if let Some(key) = &mut key
                    && (c.is_alphabetic() || !key.is_empty())
                {
                    key.push(c);
                }
            }
            _ => {}
        }
    }
    false
}

/// The characters of a text as an eye takes them: compatibility forms, accents and look-alikes as
/// plain small letters, and nothing that draws nothing.
fn as_seen(text: &str) -> impl Iterator<Item = char> {
    let drawn = text.chars().filter(|c| !has_no_width(*c)).nfkd();
    drawn.filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).map(twin)
}

/// The letter of the key, or the mark behind it, that another character looks like.
fn twin(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' | 'ᴀ' => 'a',
        'с' | 'ς' | 'ϲ' | 'ᴄ' => 'c',
        'е' | 'ε' | 'ҽ' | 'ᴇ' => 'e',
        'ԍ' | 'ɡ' | 'ց' | 'ɢ' => 'g',
        'ѕ' | 'ꜱ' => 's',
        'т' | 'τ' | 'ᴛ' => 't',
        '∶' | '꞉' | 'ː' | '։' => ':',
        c => c,
    }
}

/// Whether two words are the same but for one letter too many, missing or wrong, or for two
/// neighbours changed about.
fn is_one_slip_from(word: &str, other: &str) -> bool {
    let (mut word, mut other): (Vec<char>, Vec<char>) =
        (word.chars().collect(), other.chars().collect());
    while word.last().is_some() && word.last() == other.last() {
        word.pop();
        other.pop();
    }
    let same = word.iter().zip(&other).take_while(|(a, b)| a == b).count();
    match (word.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default()) {
        ([a, b], [c, d]) => (a, b) == (d, c),
        (word, other) => word.len() <= 1 && other.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_recognised_behind_every_disguise_and_one_slip() {
        for key in [
            "access_tags",
            "Access-Tags",
            "accessTags",
            "access tags",
            "ACCESS TAG",
            "acces_tags",
            "acccess_tags",
            "access_tgas",
            "accsss_tags",
            "ａｃｃｅｓｓ＿ｔａｇｓ",
            "аccеss_tаgs",
            "αccess_tαgs",
            "АССЕЅЅ_ТАGЅ",
            "acc\u{200b}ess\u{ad}_tags",
            "áccess_tags",
            "\"access_tags\"",
            "𝐚𝐜𝐜𝐞𝐬𝐬_tags",
            "ϲϲess",
        ] {
            assert_eq!(is_like_tags_key(key), key != "ϲϲess", "{key}");
        }
        for key in
            ["tags", "access", "access_flags", "success tags", "excess bags", "", "accessibility"]
        {
            assert!(!is_like_tags_key(key), "{key}");
        }
    }

    #[test]
    fn a_line_states_tags_behind_marks_and_in_maps() {
        for line in [
            "access_tags: [hr]",
            "access_tags = [\"hr\"]",
            "  - access_tags: hr",
            "> access_tags：hr",
            "# access_tags: [hr]",
            "<!-- access_tags: hr -->",
            "12. **Access tags:** hr",
            "kuhaku: {access_tags: [hr]}",
            "{\"title\": \"A\", \"access_tags\": [\"hr\"]}",
            "**Metadata:** obsolete: false · acces tags: hr",
            "[access_tags]: hr",
            "`access_tags`: hr",
            "\u{feff}\u{200b}\u{2060} access_tags: hr",
            "// access_tags: hr",
            "| access_tags: hr |",
            ":access_tags: hr",
            "== access_tags = hr",
        ] {
            assert!(states_tags(line), "{line}");
        }
        for line in [
            "The access tags: see the manual",
            "`load(dir, access_tags=[…])`",
            "access_tags",
            "access tags decide who sees a chunk: see below",
            "url: https://x/access_tags:1",
            "",
            "title: On access tags: a guide",
            "tags: [access_tags]",
            "let tags = AccessTags::new([])",
        ] {
            assert!(!states_tags(line), "{line}");
        }
    }

    #[test]
    fn the_head_is_not_filled_by_padding_and_ends_in_prose() {
        let tags = "access_tags: [hr]";
        for padding in [
            "\n".repeat(9000),
            "# a comment\n".repeat(900),
            "<!-- one -->\n\n".repeat(900),
            format!("<!--\n{}-->\n", "many words\n".repeat(900)),
            "---\n\u{200b}\n".repeat(900),
            "key: value\n".repeat(300),
            "// a: b\n; c\n% d\n".repeat(300),
            "word\n".repeat(59),
        ] {
            assert!(seems_to_state_tags("", &format!("{padding}{tags}")), "{:?}", padding.get(..9));
        }
        for prose in ["# Title\n\n", "Some words.\n\n", "One line of it\n"] {
            let long =
                format!("{prose}{}```text\n---\n{tags}\n---\n```\n", "more words\n".repeat(60));
            assert!(!seems_to_state_tags("", &long), "{prose:?}");
        }
        assert!(!seems_to_state_tags("", &format!("{}{tags}", "10:00 it ran\n".repeat(900))));
    }

    #[test]
    fn every_line_of_front_matter_is_looked_at() {
        let front = format!("---\n{}map:\n  acces_tags: [hr]\n---\n", "a: b\n".repeat(9000));
        assert!(seems_to_state_tags(&front, "Body"));
        assert!(!seems_to_state_tags("---\ntitle: A\n---\n", "Body"));
    }
}
