//! E-mail addresses, internationalised ones too.

use unicode_normalization::char::is_combining_mark;

use crate::masking::Placeholder;

use super::reading::Reading;
use super::scan::Span;

/// File names such as `icon@2x.png` are no addresses.
const IMAGE_EXTENSIONS: [&str; 6] = ["gif", "jpeg", "jpg", "png", "svg", "webp"];

/// The at sign where it is escaped: in addresses of the web and in HTML.
const ESCAPED_AT: [&str; 3] = ["%40", "&commat;", "&#64;"];

/// Bytes of a numeric reference with some zeros in front.
const LONGEST_REFERENCE: usize = 12;

/// Looks around each at sign. The parts of two addresses never overlap, so the work is linear.
pub(super) fn find(reading: &Reading<'_>) -> Vec<Span> {
    let text = reading.text();
    let mut found = Vec::new();
    let mut floor = 0;
    for at in reading.signs().iter().copied() {
        if at < floor {
            continue;
        }
        let sign = at_sign(text.get(at..).unwrap_or_default());
        if sign == 0 {
            continue;
        }
        // The domain first: a text full of signs without one is never read backwards.
        let domain = domain_over_lines(text.get(at + sign..).unwrap_or_default());
        if domain == 0 {
            continue;
        }
        let local = local_part(text.get(floor..at).unwrap_or_default());
        if local > 0 {
            floor = at + sign + domain;
            found.push((at - local..floor, Placeholder::Email));
        }
    }
    found
}

/// Bytes of the at sign, plain or escaped, that `tail` begins with.
fn at_sign(tail: &str) -> usize {
    if tail.starts_with('@') {
        return 1;
    }
    if let Some(escaped) = ESCAPED_AT.iter().find(|escaped| tail.starts_with(**escaped)) {
        return escaped.len();
    }
    let end = tail.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';').unwrap_or(0);
    let Some(number) = tail.get(..end).and_then(|reference| reference.strip_prefix("&#")) else {
        return 0;
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    if code == Ok(u32::from('@')) { end + 1 } else { 0 }
}

/// Bytes at the end of `head` that are the part before the at sign.
fn local_part(head: &str) -> usize {
    let nearest = head.trim_end_matches(is_mark).chars().next_back();
    let start = head
        .char_indices()
        .rev()
        .take_while(|(_, c)| {
            is_mark(*c) || (is_local(*c) && nearest.is_some_and(|n| same_kind(n, *c)))
        })
        .last()
        .map_or(head.len(), |(start, _)| start);
    let run = head.get(start..).unwrap_or_default();
    run.trim_start_matches(|c| is_mark(c) || matches!(c, '.' | '-' | '+' | '%' | '\'')).len()
}

/// The same as [`domain`], broken once behind the at sign or a hyphen. A break at a point would be the
/// end of a sentence.
fn domain_over_lines(tail: &str) -> usize {
    match domain(tail) {
        0 => {
            let first = tail.find(|c: char| !is_word(c) && c != '-').unwrap_or(tail.len());
            let head = tail.get(..first).unwrap_or_default();
            let rest = tail.get(first..).unwrap_or_default();
            let broken = head.is_empty() || head.ends_with('-');
            let line = if broken { line_break(rest) } else { 0 };
            match domain(rest.get(line..).unwrap_or_default()) {
                more if line > 0 && more > 0 => first + line + more,
                _ => 0,
            }
        }
        whole => whole,
    }
}

/// Bytes of a line break and the prefix of the next line; 0 when there is none.
fn line_break(text: &str) -> usize {
    let Some(next) = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')) else {
        return 0;
    };
    let prefix =
        next.bytes().take(8).take_while(|byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    text.len() - next.len() + prefix
}

/// Bytes at the start of `tail` that are a domain: labels, the last of which begins with two
/// letters. Word characters glued to the last label belong to it.
fn domain(tail: &str) -> usize {
    let is_part = |c: char| is_word(c) || is_mark(c) || matches!(c, '.' | '-' | '_');
    let run = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
    let mut end = 0;
    let mut start = 0;
    let mut before = "";
    for label in tail.get(..run).unwrap_or_default().split('.') {
        let marks = label.len() - label.trim_start_matches(is_emphasis).len();
        let name = label.trim_matches(is_emphasis);
        // "write to a@b.com.Then …": the next sentence, not a longer domain.
        let sentence = name.starts_with(char::is_uppercase) && before.ends_with(char::is_lowercase);
        if !name.starts_with(is_word) || sentence {
            break;
        }
        if start > 0
            && let Some(top) = top_level(name)
        {
            end = start + marks + top;
        }
        before = name;
        start += label.len() + 1;
    }
    let domain = tail.get(..end).unwrap_or_default();
    let extension = domain.rsplit('.').next().unwrap_or_default().trim_matches(is_emphasis);
    if IMAGE_EXTENSIONS.iter().any(|image| extension.eq_ignore_ascii_case(image)) { 0 } else { end }
}

/// Marks of Markdown that no address has.
fn is_mark(c: char) -> bool {
    matches!(c, '*' | '`')
}

/// Marks of Markdown around a label.
fn is_emphasis(c: char) -> bool {
    is_mark(c) || c == '_'
}

/// Bytes of the label that are the top level and what is glued to it; `None` when it is none.
fn top_level(label: &str) -> Option<usize> {
    let first = label.chars().next()?;
    let mut letters = 0;
    let mut end = label.len();
    for (at, c) in label.char_indices() {
        // What is emphasised behind a whole top level is another word.
        if !(is_mark(c) || same_kind(first, c)) || (is_mark(c) && letters >= 2) {
            end = at;
            break;
        }
        match c {
            _ if is_combining_mark(c) || is_mark(c) => {}
            _ if c.is_alphabetic() => letters += 1,
            _ if letters < 2 => return None,
            _ => {}
        }
    }
    (letters >= 2).then(|| label.get(..end).unwrap_or_default().trim_end_matches(['-', '_']).len())
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
    use super::super::reading::read;
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
            ("to=ayse%40example.com&x", "ayse%40example.com"),
            ("a%40b@example.com", "a%40b@example.com"),
            ("ayse&#64;example.com", "ayse&#64;example.com"),
            ("ayse&#0064;example.com", "ayse&#0064;example.com"),
            ("ayse&#x40;example.com", "ayse&#x40;example.com"),
            ("ayse&commat;example.com;", "ayse&commat;example.com"),
            ("ayse.head**x**@example.com", "ayse.head**x**@example.com"),
            ("`ayse`@__example__.**com**.", "ayse`@__example__.**com"),
            ("**a*d*a@example.c*om*** x", "a*d*a@example.c*om"),
            ("**ada@example.com**Note", "ada@example.com"),
            ("to ada@\n  example.com, x", "ada@\n  example.com"),
            ("> ada@exam-\r\n> ple.com. x", "ada@exam-\r\n> ple.com"),
        ];
        for (text, address) in cases {
            let found: Vec<&str> =
                find(&read(text)).into_iter().map(|(range, _)| &text[range]).collect();
            assert_eq!(found, [address], "{text}");
        }
    }

    #[test]
    fn not_every_at_sign_makes_an_address() {
        for text in [
            "@ada",
            "a%40b",
            "**@b.com",
            "a&#65;b.com",
            "a@b",
            "icon@2x.png",
            "lodash@4.17.21",
            "a@.com",
            "a @b.com",
            "a @\nb.com",
            "a@\n\nb.com",
            "ada@example.\nThen",
            "ada@exam\nple.com",
            "a@b.c",
            "@@@",
        ] {
            assert_eq!(find(&read(text)), [], "{text}");
        }
    }
}
