//! CSV records, as RFC 4180 has them.

/// One record.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The line on which it starts, from 1.
    pub(super) line: usize,
    pub(super) fields: Vec<String>,
    /// A quote opened in it is not closed before the end of the text.
    pub(super) unclosed: bool,
}

/// Splits a text into records; blank lines are skipped. A quote inside a field that does not start
/// with one stands for itself.
pub(super) fn records(text: &str) -> Vec<Record> {
    let mut records = Vec::new();
    let mut record = Record { line: 1, ..Record::default() };
    let mut field = String::new();
    let (mut line, mut quoted, mut was_quoted) = (1, false, false);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        line += usize::from(char == '\n');
        match char {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if quoted => quoted = false,
            '"' if field.is_empty() && !was_quoted => (quoted, was_quoted) = (true, true),
            char if quoted => field.push(char),
            ',' => {
                record.fields.push(std::mem::take(&mut field));
                was_quoted = false;
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                end(&mut records, &mut record, &mut field, was_quoted);
                record.line = line;
                was_quoted = false;
            }
            char => field.push(char),
        }
    }
    record.unclosed = quoted;
    end(&mut records, &mut record, &mut field, was_quoted);
    records
}

fn end(records: &mut Vec<Record>, record: &mut Record, field: &mut String, was_quoted: bool) {
    let is_blank = record.fields.is_empty() && field.trim().is_empty() && !was_quoted;
    let field = std::mem::take(field);
    if !is_blank {
        record.fields.push(field);
        records.push(std::mem::take(record));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(usize, Vec<String>)> {
        records(text).into_iter().map(|record| (record.line, record.fields)).collect()
    }

    #[test]
    fn quotes_hold_commas_line_ends_and_quotes() {
        let text = "a,b\r\n\"1, \"\"one\"\"\",\"two\nlines\"\n\n x\"y ,\n";
        let expected = vec![
            (1, vec!["a".to_owned(), "b".to_owned()]),
            (2, vec!["1, \"one\"".to_owned(), "two\nlines".to_owned()]),
            (5, vec![" x\"y ".to_owned(), String::new()]),
        ];
        assert_eq!(fields(text), expected);
    }

    #[test]
    fn an_open_quote_is_noticed() {
        assert!(records("a\n\"b").iter().any(|record| record.unclosed && record.line == 2));
        assert_eq!(records(""), []);
    }
}
