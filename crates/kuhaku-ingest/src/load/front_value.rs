//! The values of front matter.

use super::front_matter::FrontValue;

/// The value that stands behind a key: on its line, and on the lines below that belong to it.
pub(crate) fn parse_value(first: &str, more: &[&str]) -> FrontValue {
    let first = without_comment(first).trim();
    let more = || more.iter().map(|line| without_comment(line).trim()).filter(|l| !l.is_empty());
    if more().next().is_none() {
        return one_line(first);
    }
    if first.is_empty() {
        let item = |line: &'_ str| -> Option<String> {
            let item = line.strip_prefix('-')?;
            let item = if item.is_empty() { item } else { item.strip_prefix([' ', '\t'])? };
            scalar(item.trim())
        };
        return more().map(item).collect::<Option<_>>().map_or(FrontValue::Other, FrontValue::List);
    }
    let folded = |lines: &mut dyn Iterator<Item = &str>| lines.collect::<Vec<_>>().join(" ");
    if first.starts_with(['|', '>']) {
        return FrontValue::Text(folded(&mut more()));
    }
    one_line(&folded(&mut std::iter::once(first).chain(more())))
}

fn one_line(value: &str) -> FrontValue {
    let Some(inner) = value.strip_prefix('[') else {
        if value.starts_with('{') {
            return FrontValue::Other;
        }
        return scalar(value).map_or(FrontValue::Other, FrontValue::Text);
    };
    let Some(inner) = inner.strip_suffix(']').map(str::trim) else { return FrontValue::Other };
    // YAML allows a comma behind the last item.
    let inner = inner.strip_suffix(',').unwrap_or(inner);
    if inner.is_empty() {
        return FrontValue::List(Vec::new());
    }
    let items = split_outside_quotes(inner).into_iter().map(|item| {
        let item = item.trim();
        if item.starts_with(['[', '{']) { None } else { scalar(item) }
    });
    items.collect::<Option<_>>().map_or(FrontValue::Other, FrontValue::List)
}

/// A text with or without quotes; `None` when quotes do not match.
fn scalar(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix('"') {
        let mut text = String::new();
        let mut chars = rest.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => return chars.as_str().is_empty().then_some(text),
                '\\' => text.push(match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                }),
                c => text.push(c),
            }
        }
        None
    } else if let Some(rest) = value.strip_prefix('\'') {
        let inner = rest.strip_suffix('\'')?;
        let text = inner.replace("''", "\0");
        (!text.contains('\'')).then(|| text.replace('\0', "'"))
    } else {
        Some(value.to_owned())
    }
}

/// Cuts a comment off: a `#` at the beginning or behind white space, outside quotes.
fn without_comment(line: &str) -> &str {
    let mut quotes = Quotes::default();
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        if c == '#' && before.is_whitespace() && !quotes.open() {
            return line.get(..at).unwrap_or(line);
        }
        quotes.step(c, before);
        before = c;
    }
    line
}

fn split_outside_quotes(text: &str) -> Vec<&str> {
    let mut quotes = Quotes::default();
    let mut before = ' ';
    text.split(|c| {
        let splits = c == ',' && !quotes.open();
        quotes.step(c, before);
        before = c;
        splits
    })
    .collect()
}

/// Whether a place is inside quotes. Quotes open only where a value may begin, so that an
/// apostrophe inside a word is none.
#[derive(Default)]
struct Quotes(Option<char>);

impl Quotes {
    fn open(&self) -> bool {
        self.0.is_some()
    }

    fn step(&mut self, c: char, before: char) {
        match self.0 {
            Some(quote) if c == quote && !(quote == '"' && before == '\\') => self.0 = None,
            None if matches!(c, '"' | '\'')
                && (before.is_whitespace() || ",[".contains(before)) =>
            {
                self.0 = Some(c);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> FrontValue {
        FrontValue::List(items.iter().map(|item| (*item).to_owned()).collect())
    }

    #[test]
    fn values_on_one_line() {
        let text = |text: &str| FrontValue::Text(text.into());
        let cases = [
            ("", text("")),
            (" plain: with colon", text("plain: with colon")),
            (" don't # a comment", text("don't")),
            (" C#", text("C#")),
            (r##" "a # \"b\"" # c"##, text("a # \"b\"")),
            (" 'it''s'", text("it's")),
            (" \"unclosed", FrontValue::Other),
            (" [hr, 'le, gal', \"x\"]", list(&["hr", "le, gal", "x"])),
            (" [hr, legal,]", list(&["hr", "legal"])),
            (" [hr, , legal]", list(&["hr", "", "legal"])),
            (" []", list(&[])),
            (" [hr", FrontValue::Other),
            (" [[hr]]", FrontValue::Other),
            (" {a: b}", FrontValue::Other),
        ];
        for (value, expected) in cases {
            assert_eq!(parse_value(value, &[]), expected, "{value:?}");
        }
    }

    #[test]
    fn values_on_several_lines() {
        assert_eq!(parse_value("", &["  - hr # who", "", "  - 'le gal'"]), list(&["hr", "le gal"]));
        assert_eq!(parse_value("", &["- hr", "-"]), list(&["hr", ""]));
        assert_eq!(parse_value(" [hr,", &["  legal]"]), list(&["hr", "legal"]));
        assert_eq!(parse_value("", &["  read: hr"]), FrontValue::Other);
        let folded = FrontValue::Text("one two".into());
        assert_eq!(parse_value(" >-", &["  one", "  two"]), folded);
        assert_eq!(parse_value(" one", &["  two"]), folded);
    }
}
