//! Which crate of the workspace may depend on which: the table of the architecture, section 2.

/// The tools whose contracts and parts meet in the umbrella only (R2), and the core below them.
const TOOLS: &[&str] = &[
    "kuhaku-core",
    "kuhaku-eval",
    "kuhaku-extract",
    "kuhaku-hydrag",
    "kuhaku-index",
    "kuhaku-ingest",
    "kuhaku-llm",
    "kuhaku-onnx",
    "kuhaku-rag",
];

/// Fakes and conformance suites: the one crate that others use in their tests.
pub(crate) const TESTKIT: &str = "kuhaku-testkit";

/// The crate of the gates, which may use any other.
pub(crate) const XTASK: &str = "xtask";

const TABLE: &[(&str, &[&str])] = &[
    ("kuhaku", TOOLS),
    ("kuhaku-cli", &["kuhaku"]),
    ("kuhaku-core", &[]),
    ("kuhaku-eval", &["kuhaku-core"]),
    ("kuhaku-extract", &["kuhaku-core"]),
    ("kuhaku-hydrag", &["kuhaku-core"]),
    ("kuhaku-index", &["kuhaku-core"]),
    ("kuhaku-ingest", &["kuhaku-core"]),
    ("kuhaku-llm", &["kuhaku-core"]),
    ("kuhaku-onnx", &["kuhaku-core"]),
    ("kuhaku-rag", &["kuhaku-core", "kuhaku-index", "kuhaku-ingest"]),
    // Core, and by feature the crates whose traits it has suites for (D39).
    (TESTKIT, &["kuhaku-core", "kuhaku-eval", "kuhaku-hydrag", "kuhaku-index", "kuhaku-rag"]),
];

/// What `name` may depend on outside its tests; `None` for a crate that the table does not have.
pub(crate) fn allowed(name: &str) -> Option<Vec<&'static str>> {
    if name == XTASK {
        return Some(TABLE.iter().map(|(name, _)| *name).collect());
    }
    TABLE.iter().find(|(from, _)| *from == name).map(|(_, to)| to.to_vec())
}

/// Whether a package is a crate of the workspace.
pub(crate) fn is_member(package: &str) -> bool {
    package == XTASK || names().any(|name| name == package)
}

/// The crates of the table, sorted.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(name, _)| *name)
}

/// Who may depend on `name`, tests included: what cargo-deny calls its wrappers. Sorted.
pub(crate) fn parents(name: &str) -> Vec<&'static str> {
    let tested = |from: &str| name == TESTKIT && from != TESTKIT;
    let mut parents: Vec<_> = TABLE
        .iter()
        .filter(|(from, to)| to.contains(&name) || tested(from))
        .map(|(from, _)| *from)
        .collect();
    parents.push(XTASK);
    parents
}
