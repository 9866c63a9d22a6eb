//! A text as prose, for what learned from prose.

use super::view::Letter;

/// What separates the parts of a prompt, and says nothing in prose.
const DELIMITERS: [&str; 12] = [
    "<|im_start|>",
    "<|im_end|>",
    "</system>",
    "</user>",
    "</assistant>",
    "[system]",
    "[user]",
    "[assistant]",
    "<system>",
    "<|endoftext|>",
    "---",
    "###",
];

/// Marks of which three or more say no more than one.
const REPEATED: [char; 6] = ['!', '?', ',', '.', ';', ':'];

/// The letters without delimiters and without repeated marks.
pub(super) fn readable(letters: &[Letter]) -> String {
    let text: String = letters.iter().map(|letter| letter.c).collect();
    let mut read = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        if matches!(c, '<' | '[' | '-' | '#')
            && let Some(after) = DELIMITERS.iter().find_map(|it| rest.strip_prefix(it))
        {
            rest = after;
            continue;
        }
        let mut run = c.len_utf8();
        if REPEATED.contains(&c) {
            let all = rest.len() - rest.trim_start_matches(c).len();
            run = if all > 2 { all } else { run };
        }
        read.push(c);
        rest = rest.get(run..).unwrap_or_default();
    }
    read.trim().to_owned()
}
