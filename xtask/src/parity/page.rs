//! The rows of `docs/parity.md`: `| id | what | status |`.

use std::collections::BTreeMap;

use super::claims::{Claim, TestPath};
use super::is_id;

/// The page, relative to the root.
pub(crate) const PAGE: &str = "docs/parity.md";

/// What a row says about its case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// These tests show it; what they leave out belongs to the issue `partly open: title` names.
    Shown { tests: Vec<TestPath>, partly_open: Option<String> },
    /// `open: title` of the issue that it belongs to.
    Open(String),
    /// `superseded by …`: the rest of the sentence.
    Superseded(String),
    /// None of these.
    Unclear,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) status: Status,
    /// From 1.
    pub(crate) line: usize,
}

/// The rows of a page, in their order.
pub(crate) fn rows(page: &str) -> Vec<Row> {
    let numbered = (1..).zip(page.lines());
    numbered
        .filter_map(|(line, text)| {
            let [id, _, status] = cells(text)?;
            Some(Row { id: id.to_owned(), status: parse(status), line })
        })
        .collect()
}

/// The page with the tests of `claims` in the rows of their ids. They take the place of `open` and
/// `superseded`; `partly open` stays beside them. A row whose tests are all gone is left open for
/// somebody to say where.
pub(crate) fn with_tests(page: &str, claims: &[Claim]) -> String {
    let mut tests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for claim in claims {
        for id in &claim.ids {
            let tests = tests.entry(id).or_default();
            let shown = format!("`{}`", claim.test);
            if !tests.contains(&shown) {
                tests.push(shown);
            }
        }
    }
    let mut text = String::with_capacity(page.len());
    for line in page.lines() {
        match cells(line) {
            Some([id, what, status]) => {
                let status = match (tests.get(id), parse(status)) {
                    (Some(tests), Status::Shown { partly_open: Some(title), .. }) => {
                        format!("{}<br>{PARTLY_OPEN} {title}", tests.join("<br>"))
                    }
                    (Some(tests), _) => tests.join("<br>"),
                    (None, Status::Shown { partly_open, .. }) => {
                        format!("{OPEN} {}", partly_open.unwrap_or_default()).trim().to_owned()
                    }
                    (None, _) => status.to_owned(),
                };
                text.push_str(&format!("| {id} | {what} | {status} |"));
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

const OPEN: &str = "open:";
const PARTLY_OPEN: &str = "partly open:";
const SUPERSEDED: &str = "superseded by ";

/// The cells of a row; `None` for any other line.
fn cells(line: &str) -> Option<[&str; 3]> {
    let line = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = line.splitn(3, '|').map(str::trim);
    let cells @ [id, ..] = [cells.next()?, cells.next()?, cells.next()?];
    is_id(id).then_some(cells)
}

fn parse(status: &str) -> Status {
    if let Some(title) = status.strip_prefix(OPEN) {
        return Status::Open(title.trim().to_owned());
    }
    if let Some(reason) = status.strip_prefix(SUPERSEDED) {
        return Status::Superseded(reason.to_owned());
    }
    let mut tests = Vec::new();
    let mut partly_open = None;
    for part in status.split("<br>").map(str::trim) {
        if let Some(title) = part.strip_prefix(PARTLY_OPEN) {
            partly_open = Some(title.trim().to_owned());
            continue;
        }
        tests.extend(part.split_whitespace().map(|test| TestPath(test.trim_matches('`').into())));
    }
    if tests.is_empty() || !tests.iter().all(|test| test.0.contains("::")) {
        return Status::Unclear;
    }
    Status::Shown { tests, partly_open }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# Parity\n\n| id | what | status |\n|---|---|---|\n";

    fn claim(test: &str, ids: &[&str]) -> Claim {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        Claim { test: TestPath(test.into()), ids, line: 1 }
    }

    #[test]
    fn each_form_of_status_is_read() {
        let tests = |tests: &[&str]| tests.iter().map(|test| TestPath((*test).into())).collect();
        let page = format!(
            "{HEAD}| ZZZ-01 | a | `a.rs::b`<br>`a.rs::c` d.rs::e |\n| ZZZ-02 | b | open: Index |\n\
             | ZZZ-03 | c | superseded by R4 because d |\n| ZZZ-04 | e | soon |\n\
             | ZZZ-05 | f | `a.rs::b`<br>partly open: Guard |\n\
             | ZZZ-06 | g | partly open: Guard |\n"
        );
        let guard = Some("Guard".to_owned());
        let expected = [
            Status::Shown { tests: tests(&["a.rs::b", "a.rs::c", "d.rs::e"]), partly_open: None },
            Status::Open("Index".into()),
            Status::Superseded("R4 because d".into()),
            Status::Unclear,
            Status::Shown { tests: tests(&["a.rs::b"]), partly_open: guard },
            Status::Unclear,
        ];
        let rows = rows(&page);
        assert_eq!(rows.len(), expected.len());
        for ((number, row), status) in (1..).zip(rows).zip(expected) {
            assert_eq!(row, Row { id: format!("ZZZ-0{number}"), status, line: 4 + number });
        }
    }

    #[test]
    fn tests_fill_their_rows_and_leave_the_others() {
        let page = format!(
            "{HEAD}| ZZZ-01 | a | open: Index |\n| ZZZ-02 | b | `gone.rs::b` |\n\
             | ZZZ-03 | c | open: Index |\n| ZZZ-04 | d | `gone.rs::b`<br>partly open: Guard |\n\
             | ZZZ-05 | e | `gone.rs::b`<br>partly open: Guard |\n"
        );
        let claims =
            [claim("a.rs::b", &["ZZZ-01", "ZZZ-04"]), claim("a.rs::c", &["ZZZ-01", "ZZZ-01"])];
        let expected = format!(
            "{HEAD}| ZZZ-01 | a | `a.rs::b`<br>`a.rs::c` |\n| ZZZ-02 | b | open: |\n\
             | ZZZ-03 | c | open: Index |\n| ZZZ-04 | d | `a.rs::b`<br>partly open: Guard |\n\
             | ZZZ-05 | e | open: Guard |\n"
        );
        let filled = with_tests(&page, &claims);
        assert_eq!(filled, expected);
        assert_eq!(with_tests(&filled, &claims), expected);
    }
}
