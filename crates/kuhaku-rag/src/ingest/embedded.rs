//! What an embedder reads of a chunk.

/// The title and the headings in a first line where there are any, then the text: a passage is about
/// what stands above it. All of it is masked (R7). The same for every way to a vector; an index takes
/// chunks for equal when the three parts are.
pub(crate) fn embedded_text(title: &str, headings: &[String], text: &str) -> String {
    let mut above: Vec<&str> = Vec::new();
    for part in std::iter::once(title).chain(headings.iter().map(String::as_str)) {
        let part = part.trim();
        // The title of most documents is their first heading.
        if !part.is_empty() && above.last() != Some(&part) {
            above.push(part);
        }
    }
    if above.is_empty() {
        return text.to_owned();
    }
    format!("{}\n{text}", above.join(". "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_above_a_text_comes_first_and_once() {
        let headings = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        for (title, above, read) in [
            ("", &[][..], "text"),
            (" ", &["  "], "text"),
            ("Leave", &["Leave", "Annual leave"], "Leave. Annual leave\ntext"),
            ("Handbook", &["Leave"], "Handbook. Leave\ntext"),
            ("", &["Leave"], "Leave\ntext"),
        ] {
            assert_eq!(embedded_text(title, &headings(above), "text"), read);
        }
    }
}
