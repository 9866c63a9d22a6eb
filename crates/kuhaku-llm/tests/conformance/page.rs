//! The table of `docs/providers.md`: what the suite found, provider by provider.
//!
//! Each provider's test compares its own column, so nothing is run twice. `cargo xtask providers`
//! writes the table.

use std::path::PathBuf;
use std::{env, fs};

use futures_util::future::join_all;
use kuhaku_testkit::providers::{ProviderCase, Report, capability_table, conformance};

use crate::{anthropic::Anthropic, ollama::Ollama, openai::Case, vertex::Vertex};

/// Set by `cargo xtask providers`.
const WRITE: &str = "KUHAKU_WRITE_PROVIDERS";

const BEGIN: &str = "<!-- begin: written by `cargo xtask providers` -->";
const END: &str = "<!-- end -->";

/// Every provider, in the order of the columns.
fn cases() -> Vec<Box<dyn ProviderCase>> {
    vec![
        Box::new(Ollama::new()),
        Box::new(Case::openai()),
        Box::new(Anthropic::new()),
        Box::new(Vertex::new()),
        Box::new(Case::groq()),
        Box::new(Case::openrouter()),
        Box::new(Case::tgi()),
        Box::new(Case::tgi_chat()),
        Box::new(Case::compatible()),
        Box::new(Case::completions()),
    ]
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md")
}

/// The table, and what is around it.
fn page() -> [String; 3] {
    let page = fs::read_to_string(path()).expect("docs/providers.md can be read");
    let (before, rest) = page.split_once(BEGIN).expect("the table begins with its mark");
    let (table, after) = rest.split_once(END).expect("the table ends with its mark");
    [before, table.trim(), after].map(str::to_owned)
}

/// The first cell of each row, and the one of a column.
fn column(table: &str, provider: &str) -> Vec<(String, String)> {
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let at = rows.first().and_then(|header| header.iter().position(|cell| *cell == provider));
    let Some(at) = at else { return Vec::new() };
    rows.iter().map(|row| (row[0].to_owned(), row[at].to_owned())).collect()
}

/// Runs the suite, which must find nothing wrong, and nothing else than the table says.
pub(crate) async fn conforms(case: &dyn ProviderCase) {
    let report = conformance(case).await;
    report.assert_conforms();
    let [_, table, _] = page();
    let found = column(&capability_table(std::slice::from_ref(&report)), &report.provider);
    let written = column(&table, &report.provider);
    assert_eq!(written, found, "docs/providers.md is stale: run `cargo xtask providers`");
}

#[tokio::test]
async fn the_table_has_a_column_for_every_provider() {
    let cases = cases();
    let [before, table, after] = page();
    if env::var_os(WRITE).is_some() {
        let reports: Vec<Report> = join_all(cases.iter().map(|case| conformance(&**case))).await;
        let table = capability_table(&reports);
        fs::write(path(), format!("{before}{BEGIN}\n\n{table}\n{END}{after}")).unwrap();
        return;
    }
    let names: Vec<_> = cases.iter().map(|case| case.name()).collect();
    let header = table.lines().next().unwrap_or_default();
    assert_eq!(
        header,
        format!("| case | {} |", names.join(" | ")),
        "docs/providers.md is stale: run `cargo xtask providers`"
    );
}
