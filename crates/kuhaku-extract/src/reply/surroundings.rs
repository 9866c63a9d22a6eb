//! What stands around the value in a reply.

use std::ops::Range;

use super::repair::{RepairKind, Repairs};

/// The tags in which models write their reasoning.
const REASONING: [&str; 6] =
    ["think", "thinking", "thought", "reasoning", "reflection", "scratchpad"];

/// Where the reply begins behind its leading closed blocks of reasoning. Blocks that stand elsewhere
/// or are never closed are part of the reply: they may be what was asked for.
pub(super) fn after_reasoning(text: &str) -> usize {
    let mut body = 0;
    'blocks: loop {
        let rest = text.get(body..).unwrap_or_default();
        let start = rest.trim_start();
        let skipped = rest.len() - start.len();
        for tag in REASONING {
            let Some(opened) = opened(start, tag) else { continue };
            let Some(end) = closed(start, tag, opened) else { return body };
            body += skipped + end;
            continue 'blocks;
        }
        return body;
    }
}

/// The length of an opening `<tag>` at the start of `text`.
pub(super) fn opened(text: &str, tag: &str) -> Option<usize> {
    let rest = text.strip_prefix('<')?;
    let name = rest.get(..tag.len())?;
    let is_tag = name.eq_ignore_ascii_case(tag) && rest.get(tag.len()..)?.starts_with('>');
    is_tag.then_some(tag.len() + 2)
}

/// Where the first `</tag>` at or behind `from` ends.
fn closed(text: &str, tag: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text.get(at..)?.find("</") {
        at += found + 2;
        let end = at + tag.len();
        let is_name = text.get(at..end).is_some_and(|name| name.eq_ignore_ascii_case(tag));
        if is_name && text.get(end..)?.starts_with('>') {
            return Some(end + 1);
        }
    }
    None
}

/// The tags, for readers that see the reply in parts.
pub(super) fn reasoning_tags() -> &'static [&'static str] {
    &REASONING
}

/// The next brace or bracket at or behind `from` that can begin a value.
pub(super) fn next_opener(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(found) = text.get(at..)?.find(['{', '[']) {
        at += found;
        let begins = if text.get(at..)?.starts_with('{') { begins_object } else { begins_list };
        if begins(text.get(at + 1..).unwrap_or_default()) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// No key begins with a bracket.
fn begins_object(inner: &str) -> bool {
    !inner.starts_with(['{', '[', '('])
}

/// Lists of prose, `[see below]`, are none.
fn begins_list(inner: &str) -> bool {
    // Far gaps are not looked over: a reply of brackets and blanks stays linear.
    let first = inner.chars().take(256).find(|c| !c.is_whitespace());
    let starts = |c: char| c.is_ascii_digit() || "{[]\"'-+.(/#“‘tTfFnN".contains(c);
    first.is_none_or(starts)
}

/// Notes the fence and the other text around a value.
pub(super) fn note_surroundings(
    repairs: &mut Repairs,
    text: &str,
    body: usize,
    range: &Range<usize>,
) {
    let before = text.get(body..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    if body > 0 {
        repairs.note(RepairKind::Reasoning, 0);
    }
    let line = before.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let (head, last) = before.split_at_checked(line).unwrap_or((before, ""));
    let opened = last.trim().starts_with("```");
    let shut = after.trim_start().trim_start_matches('`');
    let closed = after.trim_start().starts_with("```");
    if opened || closed {
        repairs.note(RepairKind::Fence, body + line);
    }
    let head = if opened { head } else { before };
    let tail = if closed { shut } else { after };
    if !head.trim().is_empty() {
        repairs.note(RepairKind::Prose, body);
    } else if !tail.trim().is_empty() {
        repairs.note(RepairKind::Prose, range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_closed_block_of_reasoning_is_left_out() {
        for (text, body) in [
            ("<think>{\"a\": 1}</think>{}", "{}"),
            (" \n<THINK>x</Think >y</think> {}", " {}"),
            ("<think>a</think>\n<reasoning>b</reasoning>{}", "{}"),
            ("<think>never closed {}", "<think>never closed {}"),
            ("{} <think>a</think>", "{} <think>a</think>"),
            ("<thinker>a</thinker>", "<thinker>a</thinker>"),
            ("a</think>{}", "a</think>{}"),
            ("", ""),
        ] {
            assert_eq!(&text[after_reasoning(text)..], body, "{text}");
        }
    }

    #[test]
    fn brackets_of_prose_are_no_lists() {
        assert_eq!(next_opener("[see] {", 0), Some(6));
        assert_eq!(next_opener("[ \"a\"]", 0), Some(0));
        assert_eq!(next_opener("none", 0), None);
    }
}
