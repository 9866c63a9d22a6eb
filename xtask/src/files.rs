//! The files of the repository, and reading and writing them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Result, cannot};

/// Every file below `root` that is committed or would be, as sorted paths relative to it.
///
/// Git knows them; a tree without git (an unpacked archive, a test) is walked instead.
pub(crate) fn committed(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = if root.join(".git").exists() { listed(root)? } else { walked(root)? };
    files.retain(|file| root.join(file).is_file());
    files.sort();
    files.dedup();
    Ok(files)
}

/// The Rust files of the crates and of xtask.
pub(crate) fn rust(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = committed(root)?;
    files.retain(|file| {
        let ours = file.starts_with("crates") || file.starts_with("xtask");
        ours && file.extension().is_some_and(|extension| extension == "rs")
    });
    Ok(files)
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| cannot(format!("read {}", path.display()), error))
}

/// The text of a file, or nothing when there is no such file.
pub(crate) fn read_if_present(path: &Path) -> Result<Option<String>> {
    if path.exists() { read(path).map(Some) } else { Ok(None) }
}

/// Writes a file and the folders above it, unless it holds that text already.
pub(crate) fn write(path: &Path, text: &str) -> Result<bool> {
    if read_if_present(path)?.as_deref() == Some(text) {
        return Ok(false);
    }
    let written =
        path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(path, text));
    written.map_err(|error| cannot(format!("write {}", path.display()), error))?;
    Ok(true)
}

/// The files of a folder whose names end so, sorted; none when there is no such folder.
pub(crate) fn within(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let mut files = entries(folder)?;
    files.retain(|path| path.is_file() && path.to_string_lossy().ends_with(ending));
    Ok(files)
}

/// The folders in a folder, sorted; none when there is no such folder.
pub(crate) fn folders(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = entries(folder)?;
    folders.retain(|path| path.is_dir());
    Ok(folders)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(folder).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()
    });
    let mut paths = entries.map_err(|error| cannot(format!("list {}", folder.display()), error))?;
    paths.sort();
    Ok(paths)
}

fn listed(root: &Path) -> Result<Vec<PathBuf>> {
    let tried = "list the files of the repository";
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .map_err(|error| cannot(tried, error))?;
    if !output.status.success() {
        return Err(cannot(tried, String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

fn walked(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let tried = || format!("read the folder {}", folder.display());
        let entries = fs::read_dir(root.join(&folder)).map_err(|error| cannot(tried(), error))?;
        for entry in entries {
            let entry = entry.map_err(|error| cannot(tried(), error))?;
            let path = folder.join(entry.file_name());
            let kind = entry.file_type().map_err(|error| cannot(tried(), error))?;
            if kind.is_file() {
                files.push(path);
            } else if kind.is_dir() && path != Path::new("target") {
                folders.push(path);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn what_git_ignores_is_not_listed_and_without_git_only_the_build_folder_is_left_out() {
        let tree = Tree::new(&[
            (".gitignore", "/target\n/data\n"),
            ("a.rs", ""),
            ("crates/b/src/lib.rs", ""),
            ("data/c.rs", ""),
            ("target/d.rs", ""),
        ]);
        let shown = || -> Vec<String> {
            let files = committed(tree.root()).unwrap();
            files.iter().map(|file| file.display().to_string()).collect()
        };
        assert_eq!(shown(), [".gitignore", "a.rs", "crates/b/src/lib.rs", "data/c.rs"]);
        assert_eq!(rust(tree.root()).unwrap(), [Path::new("crates/b/src/lib.rs")]);
        let made = Command::new("git").arg("-C").arg(tree.root()).args(["init", "-q"]).status();
        assert!(made.unwrap().success());
        assert_eq!(shown(), [".gitignore", "a.rs", "crates/b/src/lib.rs"]);
    }
}
