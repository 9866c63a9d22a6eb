//! D2: `docs/parity.md` has a row for every acceptance id, and rows and tests agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::error::Result;
use crate::expected;
use crate::files;
use crate::parity::{self, Claim, IDS, PAGE, Row, Status, TITLES, TestPath};
use crate::tidy::Finding;

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let ids = expected::list(root, IDS)?;
    let page = files::read_if_present(&root.join(PAGE))?.unwrap_or_default();
    let rows = parity::rows(&page);
    let claims = parity::claims(root)?;
    let mut findings = agreement_with_ids(&ids, &rows);
    findings.extend(rows.iter().flat_map(|row| wrong_status(row, &claims)));
    findings.extend(unlisted_claims(&ids, &rows, &claims));
    Ok(findings)
}

fn agreement_with_ids(ids: &BTreeSet<String>, rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut missing: BTreeSet<&String> = ids.iter().collect();
    for row in rows {
        if !ids.contains(&row.id) {
            let message = format!("{} is no acceptance id; remove the row", row.id);
            findings.push(Finding::new(PAGE, row.line, message));
        } else if !missing.remove(&row.id) {
            let message = format!("{} has a second row; keep one", row.id);
            findings.push(Finding::new(PAGE, row.line, message));
        }
    }
    findings.extend(missing.into_iter().map(|id| {
        Finding::new(PAGE, 1, format!("{id} has no row; add `| {id} | what | open: issue |`"))
    }));
    findings
}

fn wrong_status(row: &Row, claims: &[Claim]) -> Vec<Finding> {
    let find = |message: String| Finding::new(PAGE, row.line, message);
    let id = &row.id;
    let unknown_title = |title: &str| {
        (!TITLES.contains(&title))
            .then(|| find(format!("say which issue {id} is open in: {}", TITLES.join(", "))))
    };
    match &row.status {
        Status::Shown { tests, partly_open } => tests
            .iter()
            .filter_map(|test| wrong_test(id, test, claims))
            .map(find)
            .chain(partly_open.as_deref().and_then(unknown_title))
            .collect(),
        Status::Open(title) => unknown_title(title).into_iter().collect(),
        Status::Superseded(reason) if !gives_reason(reason) => {
            let form = "write `superseded by` a rule, decision or issue, `because` and why";
            vec![find(form.into())]
        }
        Status::Unclear => {
            let forms = "tests, `open: issue`, or `superseded by R4 because …`";
            vec![find(format!("the status of {id} is none of {forms}"))]
        }
        Status::Superseded(_) => Vec::new(),
    }
}

fn wrong_test(id: &str, test: &TestPath, claims: &[Claim]) -> Option<String> {
    match claims.iter().find(|claim| claim.test == *test) {
        None => Some(format!("there is no test {test}; run `cargo xtask parity`")),
        Some(claim) if !claim.ids.iter().any(|claimed| claimed == id) => Some(format!(
            "the doc comment of {test} does not name {id}; add it if the test shows the case"
        )),
        Some(_) => None,
    }
}

fn gives_reason(reason: &str) -> bool {
    reason
        .split_once(" because ")
        .is_some_and(|(by, why)| !by.trim().is_empty() && !why.trim().is_empty())
}

fn unlisted_claims(ids: &BTreeSet<String>, rows: &[Row], claims: &[Claim]) -> Vec<Finding> {
    let families: BTreeSet<&str> = ids.iter().map(|id| family(id)).collect();
    let by_id: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    let mut findings = Vec::new();
    for claim in claims {
        for id in claim.ids.iter().filter(|id| families.contains(family(id))) {
            let wrong = match by_id.get(id.as_str()).map(|row| &row.status) {
                _ if !ids.contains(id) => format!("{id} is no acceptance id; correct it"),
                Some(Status::Shown { tests, .. }) if tests.contains(&claim.test) => continue,
                _ => format!("the row of {id} does not name this test; run `cargo xtask parity`"),
            };
            findings.push(Finding::new(claim.file(), claim.line, wrong));
        }
    }
    findings
}

fn family(id: &str) -> &str {
    id.split('-').next().unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::shown;
    use crate::tree::Tree;

    const TEST: &str = "//! A.\n\n/// ZZZ-01\n#[test]\nfn it_holds() {}\n";
    const SHOWN: &str = "| ZZZ-01 | a | `crates/a/tests/b.rs::it_holds` |\n";

    fn findings(page: &str, test: &str) -> Vec<String> {
        let tree = Tree::new(&[
            ("xtask/expected/acceptance_ids.txt", "# Ids.\nZZZ-01\nZZZ-02\n"),
            (PAGE, page),
            ("crates/a/tests/b.rs", test),
        ]);
        shown(&check(tree.root()).unwrap())
    }

    #[test]
    fn rows_that_agree_with_the_tests_pass() {
        for second in ["open: Index", "superseded by R4/D24 because it leaks"] {
            let page = format!("{SHOWN}| ZZZ-02 | b | {second} |\n");
            assert_eq!(findings(&page, TEST), [""; 0]);
        }
    }

    #[test]
    fn every_disagreement_is_found() {
        let open = "| ZZZ-02 | b | open: Index |\n";
        let second = |status: &str| format!("{SHOWN}| ZZZ-02 | b | {status} |\n");
        let unnamed = TEST.replace("ZZZ-01", "It holds.");
        let unknown = TEST.replace("ZZZ-01", "ZZZ-01, ZZZ-09");
        let cases = [
            (SHOWN.to_owned(), TEST, "docs/parity.md:1: ZZZ-02 has no row"),
            (format!("{SHOWN}{open}{open}"), TEST, "docs/parity.md:3: ZZZ-02 has a second row"),
            (format!("{SHOWN}{open}| ZZZ-03 | c | open: Index |"), TEST, "ZZZ-03 is no acceptance"),
            (second("`crates/a/tests/b.rs::gone`"), TEST, "there is no test"),
            (second("`crates/a/tests/b.rs::it_holds`"), TEST, "does not name ZZZ-02"),
            (second("open: Whenever"), TEST, "say which issue"),
            (second("open:"), TEST, "say which issue"),
            (
                format!("{}{open}", SHOWN.replace("` |", "`<br>partly open: B |")),
                TEST,
                "say which issue",
            ),
            (second("superseded by R4"), TEST, "`because`"),
            (second("later"), TEST, "the status of ZZZ-02"),
            (format!("{SHOWN}{open}"), &unnamed, "does not name ZZZ-01"),
            (format!("{SHOWN}{open}"), &unknown, "crates/a/tests/b.rs:5: ZZZ-09 is no acceptance"),
            (
                format!("| ZZZ-01 | a | open: Index |\n{open}"),
                TEST,
                "crates/a/tests/b.rs:5: the row of ZZZ-01 does not name this test",
            ),
        ];
        for (page, test, expected) in cases {
            let found = findings(&page, test);
            assert_eq!(found.len(), 1, "{expected}: {found:?}");
            assert!(found.concat().contains(expected), "{expected}: {found:?}");
        }
    }
}
