//! E-mail addresses, internationalised ones too.

use unicode_normalization::char::is_combining_mark;

use crate::masking::Placeholder;

use super::scan::Span;

/// File names such as `icon@2x.png` are no addresses.
const IMAGE_EXTENSIONS: [&str; 6] = ["gif", "jpeg", "jpg", "png", "svg", "webp"];

/// Looks around each `@`. The parts of two addresses never overlap, so the work is linear.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut floor = 0;
    for (at, _) in text.match_indices('@') {
        let local = local_part(text.get(floor..at).unwrap_or_default());
        let domain = domain(text.get(at + 1..).unwrap_or_default());
        floor = at + 1;
        if local > 0 && domain > 0 {
            found.push((at - local..at + 1 + domain, Placeholder::Email));
            floor = at + 1 + domain;
        }
    }
    found
}

/// Bytes at the end of `head` that are the part before the `@`.
fn local_part(head: &str) -> usize {
    let nearest = head.chars().next_back();
    let start = head
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_local(*c) && nearest.is_some_and(|n| same_kind(n, *c)))
        .last()
        .map_or(head.len(), |(start, _)| start);
    let run = head.get(start..).unwrap_or_default();
    run.trim_start_matches(['.', '-', '+', '%', '\'']).len()
}

/// Bytes at the start of `tail` that are a domain: labels, the last of which begins with two
/// letters. Word characters glued to the last label belong to it.
fn domain(tail: &str) -> usize {
    let run = tail.find(|c| !(is_word(c) || matches!(c, '.' | '-' | '_'))).unwrap_or(tail.len());
    let mut end = 0;
    let mut start = 0;
    let mut before = "";
    for label in tail.get(..run).unwrap_or_default().split('.') {
        // "write to a@b.com.Then …": the next sentence, not a longer domain.
        let sentence =
            label.starts_with(char::is_uppercase) && before.ends_with(char::is_lowercase);
        if !label.starts_with(is_word) || sentence {
            break;
        }
        if start > 0 && is_top_level(label) {
            end = start + top_level(label);
        }
        before = label;
        start += label.len() + 1;
    }
    let domain = tail.get(..end).unwrap_or_default();
    let extension = domain.rsplit('.').next().unwrap_or_default();
    if IMAGE_EXTENSIONS.iter().any(|image| extension.eq_ignore_ascii_case(image)) { 0 } else { end }
}

fn is_top_level(label: &str) -> bool {
    label.starts_with("xn--")
        || label
            .chars()
            .filter(|c| !is_combining_mark(*c))
            .take(2)
            .filter(|c| c.is_alphabetic())
            .count()
            == 2
}

/// Bytes of the label that are the top level and what is glued to it.
fn top_level(label: &str) -> usize {
    let first = label.chars().next();
    let end = label
        .char_indices()
        .find(|(_, c)| !first.is_some_and(|f| same_kind(f, *c)))
        .map_or(label.len(), |(end, _)| end);
    label.get(..end).unwrap_or_default().trim_end_matches(['-', '_']).len()
}

fn is_local(c: char) -> bool {
    is_word(c) || matches!(c, '.' | '_' | '%' | '+' | '-' | '\'')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// False where a script without spaces meets another one: "写信给a@b.com吧" holds one address.
fn same_kind(a: char, b: char) -> bool {
    is_unspaced(a) == is_unspaced(b)
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_where_it_ends() {
        let cases = [
            ("write to a@b.com.Then wait", "a@b.com"),
            ("<ADA@EXAMPLE.COM>", "ADA@EXAMPLE.COM"),
            ("写信给a@b.com吧", "a@b.com"),
            ("x-y_z+tag%1@sub.example.co.uk.", "x-y_z+tag%1@sub.example.co.uk"),
            ("'o'brien@example.ie'", "o'brien@example.ie"),
            ("mailto:a@xn--rnek-5qa.xn--p1ai?x=1", "a@xn--rnek-5qa.xn--p1ai"),
            ("ö@o\u{308}rnek.com-", "ö@o\u{308}rnek.com"),
            ("почта@пример.рф", "почта@пример.рф"),
        ];
        for (text, address) in cases {
            let found: Vec<&str> = find(text).into_iter().map(|(range, _)| &text[range]).collect();
            assert_eq!(found, [address], "{text}");
        }
    }

    #[test]
    fn not_every_at_sign_makes_an_address() {
        for text in
            ["@ada", "a@b", "icon@2x.png", "lodash@4.17.21", "a@.com", "a @b.com", "a@b.c", "@@@"]
        {
            assert_eq!(find(text), [], "{text}");
        }
    }
}
