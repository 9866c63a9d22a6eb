//! The crates of the workspace as their manifests declare them.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::error::{Result, cannot};
use crate::files;

/// What a dependency is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DependencyKind {
    Normal,
    Dev,
    Build,
}

/// One direct dependency.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    /// The package's name, whatever name the crate gives it.
    pub(crate) package: String,
    pub(crate) kind: DependencyKind,
    pub(crate) optional: bool,
    /// Its line in the manifest.
    pub(crate) line: usize,
}

/// One member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Its folder, relative to the root.
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Table,
    pub(crate) dependencies: Vec<Dependency>,
    /// The names of its features.
    pub(crate) features: Vec<String>,
    pub(crate) has_library: bool,
}

impl Member {
    /// Its manifest, relative to the root.
    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.folder.join("Cargo.toml")
    }
}

/// The members, sorted by folder: `crates/*`, then `xtask`.
pub(crate) fn members(root: &Path) -> Result<Vec<Member>> {
    let workspace = parse(&root.join("Cargo.toml"))?.1;
    let shared = table_at(&workspace, &["workspace", "dependencies"]);
    let tried = "list the crates";
    let entries = std::fs::read_dir(root.join("crates")).map_err(|error| cannot(tried, error))?;
    let mut folders = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| cannot(tried, error))?;
        folders.push(Path::new("crates").join(entry.file_name()));
    }
    folders.push("xtask".into());
    folders.sort();
    folders.retain(|folder| root.join(folder).join("Cargo.toml").is_file());
    folders.into_iter().map(|folder| member(root, folder, shared)).collect()
}

fn member(root: &Path, folder: PathBuf, shared: Option<&Table>) -> Result<Member> {
    let path = root.join(&folder).join("Cargo.toml");
    let (text, manifest) = parse(&path)?;
    let name = table_at(&manifest, &["package"])
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .ok_or_else(|| cannot(format!("read {}", path.display()), "package.name is missing"))?
        .to_owned();
    let features = table_at(&manifest, &["features"])
        .map(|features| features.keys().cloned().collect())
        .unwrap_or_default();
    let has_library = root.join(&folder).join("src/lib.rs").is_file();
    let dependencies = dependencies(&text, &manifest, shared);
    Ok(Member { name, folder, manifest, dependencies, features, has_library })
}

fn dependencies(text: &str, manifest: &Table, shared: Option<&Table>) -> Vec<Dependency> {
    let targets = table_at(manifest, &["target"]);
    let of_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let mut found = Vec::new();
    for owner in std::iter::once(manifest).chain(of_targets) {
        for (table, kind) in [
            ("dependencies", DependencyKind::Normal),
            ("dev-dependencies", DependencyKind::Dev),
            ("build-dependencies", DependencyKind::Build),
        ] {
            for (key, entry) in table_at(owner, &[table]).into_iter().flatten() {
                found.push(Dependency {
                    package: package(key, entry, shared),
                    kind,
                    optional: entry.get("optional").and_then(Value::as_bool) == Some(true),
                    line: line_of(text, table, key),
                });
            }
        }
    }
    found
}

/// A dependency may be renamed where it is used or in the workspace's table.
fn package(key: &str, entry: &Value, shared: Option<&Table>) -> String {
    let renamed = |entry: &Value| entry.get("package").and_then(Value::as_str).map(str::to_owned);
    renamed(entry)
        .or_else(|| shared.and_then(|shared| shared.get(key)).and_then(renamed))
        .unwrap_or_else(|| key.to_owned())
}

/// The line on which `key` of the table named `table` is declared; 1 when it cannot be told.
fn line_of(text: &str, table: &str, key: &str) -> usize {
    let mut inside = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.trim_end_matches(']');
            if header.ends_with(&format!("{table}.{key}")) {
                return number;
            }
            inside = header == table || header.ends_with(&format!(".{table}"));
        } else if inside
            && line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', '.']))
        {
            return number;
        }
    }
    1
}

fn parse(path: &Path) -> Result<(String, Table)> {
    let text = files::read(path)?;
    let table = text
        .parse()
        .map_err(|error: toml::de::Error| cannot(format!("read {}", path.display()), error))?;
    Ok((text, table))
}

fn table_at<'a>(table: &'a Table, path: &[&str]) -> Option<&'a Table> {
    path.iter().try_fold(table, |table, key| table.get(*key)?.as_table())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn dependencies_are_found_under_every_name_and_in_every_table() {
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                "[workspace.dependencies]\nstore = { package = \"kuhaku-index\", path = \"x\" }\n",
            ),
            (
                "crates/a/Cargo.toml",
                "[package]\nname = \"a\"\n[dependencies]\nstore.workspace = true\n\
                 [build-dependencies]\ncc = { version = \"1\", optional = true }\n\
                 [target.'cfg(unix)'.dev-dependencies]\nlibc = \"1\"\n",
            ),
            ("crates/a/src/lib.rs", ""),
        ]);
        let members = members(tree.root()).unwrap();
        let [member] = members.as_slice() else { panic!("one member") };
        let found: Vec<_> = member
            .dependencies
            .iter()
            .map(|found| (found.package.as_str(), found.kind, found.optional, found.line))
            .collect();
        assert_eq!(
            found,
            [
                ("kuhaku-index", DependencyKind::Normal, false, 4),
                ("cc", DependencyKind::Build, true, 6),
                ("libc", DependencyKind::Dev, false, 8),
            ]
        );
        assert!(member.has_library);
    }
}
