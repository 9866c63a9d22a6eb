//! Rust text split into code and comments, so that the checks never trip over a word in a string.

/// One line of a source file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The code, without comments and with the contents of literals left out.
    pub(crate) code: String,
    /// The comment with its slashes.
    pub(crate) comment: String,
}

impl Line {
    /// The text of a `///` comment.
    pub(crate) fn doc(&self) -> Option<&str> {
        self.comment.strip_prefix("///").filter(|text| !text.starts_with('/'))
    }

    /// Whether `word` stands in the code as a whole word.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        words(&self.code).any(|found| found == word)
    }
}

/// The identifiers and keywords of a piece of code.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The lines up to the unit tests: `#[cfg(test)]` before a module with a body, to the end.
pub(crate) fn without_unit_tests(lines: &[Line]) -> &[Line] {
    let mut after_cfg = None;
    for (at, line) in lines.iter().enumerate() {
        let code = line.code.trim();
        if code.starts_with("#[cfg(test)]") {
            after_cfg = Some(at);
        }
        let Some(start) = after_cfg else { continue };
        if line.has_word("mod") && code.ends_with('{') {
            return lines.get(..start).unwrap_or(lines);
        }
        if !code.is_empty() && !code.starts_with("#[") {
            after_cfg = None;
        }
    }
    lines
}

/// Splits a source text into its lines.
pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut splitter = Splitter { lines: vec![Line::default()], mode: Mode::Code };
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while let Some(rest) = chars.get(at..).filter(|rest| !rest.is_empty()) {
        at += splitter.step(rest);
    }
    splitter.lines
}

#[derive(Clone, Copy)]
enum Mode {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

struct Splitter {
    lines: Vec<Line>,
    mode: Mode,
}

impl Splitter {
    /// Takes what stands at the front of `rest` and says how many characters that was.
    fn step(&mut self, rest: &[char]) -> usize {
        let [first, tail @ ..] = rest else { return 1 };
        if *first == '\n' {
            if matches!(self.mode, Mode::LineComment) {
                self.mode = Mode::Code;
            }
            self.lines.push(Line::default());
            return 1;
        }
        match self.mode {
            Mode::Code => self.code(*first, tail),
            Mode::LineComment => self.comment(&[*first]),
            Mode::BlockComment { depth } => self.block(depth, *first, tail),
            Mode::Text => match first {
                '\\' if tail.first().is_some_and(|next| *next != '\n') => 2,
                '"' => self.end_of_text(1),
                _ => 1,
            },
            Mode::RawText { hashes } => {
                let closing = tail.iter().take_while(|c| **c == '#').take(hashes).count();
                if *first == '"' && closing == hashes { self.end_of_text(1 + hashes) } else { 1 }
            }
        }
    }

    fn code(&mut self, first: char, tail: &[char]) -> usize {
        match (first, tail) {
            ('/', ['/', ..]) => {
                self.mode = Mode::LineComment;
                self.comment(&['/', '/'])
            }
            ('/', ['*', ..]) => {
                self.mode = Mode::BlockComment { depth: 1 };
                self.comment(&['/', '*'])
            }
            ('"', _) => {
                self.mode = Mode::Text;
                1
            }
            ('r', ['"' | '#', ..]) if self.starts_literal() => {
                let hashes = tail.iter().take_while(|c| **c == '#').count();
                if tail.get(hashes) == Some(&'"') {
                    self.mode = Mode::RawText { hashes };
                    return hashes + 2;
                }
                self.push_code(first)
            }
            // A character; a lifetime has no closing quote.
            ('\'', ['\\', _, after @ ..]) => {
                3 + after.iter().take_while(|c| !matches!(c, '\'' | '\n')).count() + 1
            }
            ('\'', [_, '\'', ..]) => 3,
            _ => self.push_code(first),
        }
    }

    fn block(&mut self, depth: usize, first: char, tail: &[char]) -> usize {
        match (first, tail) {
            ('/', ['*', ..]) => {
                self.mode = Mode::BlockComment { depth: depth + 1 };
                self.comment(&['/', '*'])
            }
            ('*', ['/', ..]) => {
                self.mode =
                    if depth == 1 { Mode::Code } else { Mode::BlockComment { depth: depth - 1 } };
                self.comment(&['*', '/'])
            }
            _ => self.comment(&[first]),
        }
    }

    /// Whether an `r` here can begin a raw string: alone or after `b` or `c`, not within a name.
    fn starts_literal(&self) -> bool {
        let code = self.lines.last().map_or("", |line| line.code.as_str());
        let before = code.trim_end_matches(['b', 'c']);
        code.len() - before.len() <= 1
            && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    }

    fn end_of_text(&mut self, taken: usize) -> usize {
        self.mode = Mode::Code;
        // Keeps the words on both sides apart.
        self.push_code('"');
        taken
    }

    fn push_code(&mut self, c: char) -> usize {
        if let Some(line) = self.lines.last_mut() {
            line.code.push(c);
        }
        1
    }

    fn comment(&mut self, chars: &[char]) -> usize {
        if let Some(line) = self.lines.last_mut() {
            line.comment.extend(chars);
        }
        chars.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> (Vec<String>, Vec<String>) {
        lines(text).into_iter().map(|line| (line.code, line.comment)).unzip()
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        let cases = [
            ("let a = \"unsafe\"; // why", "let a = \"; ", "// why"),
            (r#"let a = "a \" // b";"#, "let a = \";", ""),
            (r##"let a = r#"say "unsafe""#;"##, "let a = \";", ""),
            (r#"br"\"; go"#, "b\"; go", ""),
            ("let r#unsafe = 1;", "let r#unsafe = 1;", ""),
            ("f('\"', '\\'', b'\\n', &'a x)", "f(, , b, &'a x)", ""),
            ("a /* b /* c */ d */ e", "a  e", "/* b /* c */ d */"),
            ("/// doc", "", "/// doc"),
        ];
        for (text, code, comment) in cases {
            let (codes, comments) = split(text);
            assert_eq!((codes, comments), (vec![code.into()], vec![comment.into()]), "{text}");
        }
    }

    #[test]
    fn a_string_goes_on_over_lines() {
        let (code, _) = split("a(\"one\n// two\\\n\");\nb");
        assert_eq!(code, ["a(", "", "\");", "b"]);
    }

    #[test]
    fn unit_tests_start_at_the_cfg_before_their_module() {
        let text = "fn a() {}\n#[cfg(test)]\nuse b;\n#[cfg(test)]\n#[allow(x)]\nmod tests {\n}\n";
        assert_eq!(without_unit_tests(&lines(text)).len(), 3);
        assert_eq!(without_unit_tests(&lines("#[cfg(test)]\nmod tests;\nfn a() {}")).len(), 3);
    }
}
