//! Which files a walk finds.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::fs;
use std::path::{Path, PathBuf};

use kuhaku_ingest::{Format, Found, SkipReason, WalkOptions, load, read_limited, walk};
use tempfile::TempDir;

/// A folder with these files; a name that ends in `/` is an empty folder.
fn folder(names: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
    }
    folder
}

fn files(root: &Path, options: &WalkOptions) -> Vec<String> {
    let found = walk([root], options).unwrap();
    let file = |found: &Found| match found {
        Found::File(file) => Some(file.relative.to_str().unwrap().to_owned()),
        _ => None,
    };
    found.iter().filter_map(file).collect()
}

fn problems(found: &[Found]) -> Vec<(&Path, &'static str)> {
    let problem = |found: &'_ Found| match found {
        Found::Problem { error, .. } => Some(error.code()),
        _ => None,
    };
    found.iter().filter_map(|found| Some((found.path(), problem(found)?))).collect()
}

/// RK-08
#[test]
fn a_folder_is_listed_sorted_with_what_cannot_be_read_passed_over() {
    let folder = folder(&["a.TXT", "sub/b.md", "c.rst", ".hid.txt", "dir.txt/"]);
    fs::write(folder.path().join("bad.txt"), b"caf\xe9").unwrap();
    let all = WalkOptions::default().hidden(true).glob("**/*");
    assert_eq!(files(folder.path(), &all), [".hid.txt", "a.TXT", "bad.txt", "sub/b.md"]);
    assert_eq!(files(folder.path(), &all.recursive(false)), [".hid.txt", "a.TXT", "bad.txt"]);
    let bad = read_limited(folder.path().join("bad.txt"), 99).unwrap();
    assert_eq!(load(&bad, Format::Text).unwrap().warnings[0].code(), "encoding_assumed");
    let text = WalkOptions::default().glob("*.txt");
    assert_eq!(files(folder.path(), &text), ["a.TXT", "bad.txt"]);
}

/// ING-09
#[test]
fn other_formats_are_passed_over_and_a_missing_root_is_a_problem() {
    let folder = folder(&["a.txt", "c.txt", "photo.png", "empty/"]);
    let found = walk([folder.path()], &WalkOptions::default()).unwrap();
    assert_eq!(found.iter().filter(|found| matches!(found, Found::File(_))).count(), 2);
    let skipped: Vec<_> = found
        .iter()
        .filter_map(|found| match found {
            Found::Skipped { path, reason } => Some((path.file_name()?.to_str()?, *reason)),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [("photo.png", SkipReason::UnsupportedFormat)]);

    let missing = folder.path().join("missing");
    let found = walk([missing.as_path(), folder.path()], &WalkOptions::default()).unwrap();
    assert_eq!(problems(&found), [(missing.as_path(), "ingest.not_found")]);
    assert_eq!(found.len(), 4);

    assert!(walk([folder.path().join("empty")], &WalkOptions::default()).unwrap().is_empty());
}

#[test]
fn a_file_that_is_named_itself_must_be_readable() {
    let folder = folder(&["photo.png", ".hidden.md", "deep/a.md"]);
    let options = WalkOptions::default().glob("nothing");
    let found = walk([folder.path().join("photo.png")], &options).unwrap();
    assert_eq!(problems(&found).len(), 1);
    assert_eq!(problems(&found)[0].1, "ingest.unsupported");
    assert_eq!(files(&folder.path().join(".hidden.md"), &options), [".hidden.md"]);
    assert_eq!(files(&folder.path().join("deep/a.md"), &options), ["a.md"]);
}

#[test]
fn a_file_reached_twice_is_listed_once() {
    let folder = folder(&["sub/a.md"]);
    let roots = [folder.path().to_path_buf(), folder.path().join("sub/../sub/a.md")];
    assert_eq!(walk(&roots, &WalkOptions::default()).unwrap().len(), 1);
}

#[test]
fn hidden_and_ignored_files_are_left_out_unless_asked_for() {
    let folder = folder(&["a.md", ".b.md", ".c/d.md", "drafts/e.md", "f.md", "g.md", "sub/h.md"]);
    fs::write(folder.path().join(".gitignore"), "drafts/\n").unwrap();
    fs::write(folder.path().join(".kuhakuignore"), "f.md\n").unwrap();
    fs::write(folder.path().join(".ignore"), "g.md\n").unwrap();
    fs::write(folder.path().join("sub/.kuhakuignore"), "*\n").unwrap();
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md"]);
    let everything = WalkOptions::default().hidden(true).ignore_files(false);
    assert_eq!(files(folder.path(), &everything).len(), 7);
    // What an ignore file above the root says does not count.
    assert_eq!(files(&folder.path().join("drafts"), &WalkOptions::default()), ["e.md"]);
}

#[test]
fn a_deeper_ignore_file_takes_back_what_one_above_says() {
    let folder =
        folder(&["a.md", "keep.md", "sub/b.md", "sub/keep.md", "sub/deep/b.md", "out/k.md"]);
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put(".gitignore", "\u{feff}*.md\r\n!/keep.md\nout/\n[broken\n");
    put("sub/.gitignore", "!b.md\n");
    put("sub/deep/.gitignore", "/b.md\n");
    put("out/.gitignore", "!k.md\n");
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["keep.md", "sub/b.md"]);
    // What shall be kept but not indexed is named in a file whose word comes first.
    put(".kuhakuignore", "sub/b.md\n");
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["keep.md"]);
    let one_folder = WalkOptions::default().recursive(false);
    assert_eq!(files(&folder.path().join("sub"), &one_folder), ["b.md", "keep.md"]);
}

#[test]
fn an_ignore_file_beyond_reason_is_a_problem_and_its_folder_is_listed() {
    let folder = folder(&["a.md", "sub/b.md", ".ignore/"]);
    let huge = folder.path().join("sub/.gitignore");
    fs::write(&huge, "b.md\n".repeat(1024 * 1024 / 5 + 1)).unwrap();
    let odd = folder.path().join(".ignore");
    let found = walk([folder.path()], &WalkOptions::default()).unwrap();
    let expected = [(odd.as_path(), "ingest.not_regular"), (huge.as_path(), "ingest.too_large")];
    assert_eq!(problems(&found), expected);
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md", "sub/b.md"]);
    let without = walk([folder.path()], &WalkOptions::default().ignore_files(false)).unwrap();
    assert!(problems(&without).is_empty());
}

#[test]
fn patterns_that_would_fill_the_memory_are_a_problem_and_others_are_obeyed() {
    let folder = folder(&["a.md", "b.md"]);
    let path = folder.path().join(".gitignore");
    let mega = |part: &str| part.repeat(1_000_000 / part.len()) + "\na.md\n";
    for part in ["a*b?c\n", "[a-z]", "*a", "**/", "?\n", "[!\u{e9}]\n", "name.md\n"] {
        fs::write(&path, mega(part)).unwrap();
        let found = walk([folder.path()], &WalkOptions::default()).unwrap();
        assert_eq!(problems(&found), [(path.as_path(), "ingest.too_large")], "{part:?}");
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md", "b.md"]);
    }
    for part in ["{a,", "\\", "!", "# comment\n", "\n"] {
        fs::write(&path, mega(part)).unwrap();
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["b.md"], "{part:?}");
    }
}

#[test]
fn the_patterns_that_hold_in_a_folder_are_counted_with_those_above_it() {
    let folder = folder(&["a.md", "b.md", "sub/c.md", "sub/d.md"]);
    let below = folder.path().join("sub/.gitignore");
    let put = |above: usize| {
        let many = |count: usize, last: &str| format!("{}{last}\n", "*x?y\n".repeat(count));
        fs::write(folder.path().join(".gitignore"), many(above, "a.md")).unwrap();
        fs::write(&below, many(4_000, "c.md")).unwrap();
    };
    put(4_000);
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["b.md", "sub/d.md"]);
    put(8_000);
    assert_eq!(files(folder.path(), &WalkOptions::default()), ["b.md", "sub/c.md", "sub/d.md"]);
    let found = walk([folder.path()], &WalkOptions::default()).unwrap();
    assert_eq!(problems(&found), [(below.as_path(), "ingest.too_large")]);
}

#[test]
fn patterns_take_and_leave_in_any_case() {
    let folder = folder(&["a.md", "B.MD", "sub/c.md", "sub/old/d.md"]);
    let listed = |globs: &[&str]| {
        let options = globs.iter().fold(WalkOptions::default(), |all, glob| all.glob(*glob));
        files(folder.path(), &options)
    };
    assert_eq!(listed(&["*.MD"]), ["B.MD", "a.md", "sub/c.md", "sub/old/d.md"]);
    assert_eq!(listed(&["d.md", "b.*"]), ["B.MD", "sub/old/d.md"]);
    assert_eq!(listed(&["/*.md"]), ["B.MD", "a.md"]);
    assert_eq!(listed(&["sub/*.md"]), ["sub/c.md"]);
    assert_eq!(listed(&["*/*.md"]), ["sub/c.md"]);
    assert_eq!(listed(&["/d.md", "sub/d.md", "old/d.md"]), [""; 0]);
    assert_eq!(listed(&["!d.*", "!/a.md", "!/c.md"]), ["B.MD", "sub/c.md"]);
    assert_eq!(listed(&["!/sub/**"]), ["B.MD", "a.md"]);
    assert_eq!(listed(&["SUB/**"]), ["sub/c.md", "sub/old/d.md"]);
    assert_eq!(listed(&["!**/old/**"]), ["B.MD", "a.md", "sub/c.md"]);
    let error = walk([folder.path()], &WalkOptions::default().glob("a[")).unwrap_err();
    assert_eq!(error.code(), "ingest.invalid_input");
}

#[test]
fn a_file_over_the_limit_is_a_problem_before_it_is_read() {
    let folder = folder(&["a.md"]);
    let path = folder.path().join("a.md");
    let found = walk([folder.path()], &WalkOptions::default().max_bytes(3)).unwrap();
    assert_eq!(problems(&found), [(path.as_path(), "ingest.too_large")]);
    assert_eq!(read_limited(&path, 3).unwrap_err().code(), "ingest.too_large");
    assert_eq!(read_limited(&path, 4).unwrap(), b"text");
    assert_eq!(read_limited(folder.path(), 9).unwrap_err().code(), "ingest.not_regular");
    let missing = read_limited(folder.path().join("b.md"), 9).unwrap_err();
    assert_eq!(missing.code(), "ingest.not_found");
    assert!(!missing.to_string().contains("b.md"));
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn links_are_not_followed_unless_they_are_named_themselves() {
        let folder = folder(&["real/a.md", "b.md"]);
        let path = |name: &str| folder.path().join(name);
        symlink(path("real"), path("link")).unwrap();
        symlink(folder.path(), path("real/loop")).unwrap();
        symlink(path("b.md"), path("c.md")).unwrap();
        symlink(path("nowhere"), path("d.md")).unwrap();
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["b.md", "real/a.md"]);
        assert_eq!(files(&path("link"), &WalkOptions::default()), ["a.md"]);
        assert_eq!(files(&path("c.md"), &WalkOptions::default()), ["c.md"]);
        let broken = walk([path("d.md")], &WalkOptions::default()).unwrap();
        assert_eq!(problems(&broken)[0].1, "ingest.not_found");
    }

    #[test]
    fn pipes_sockets_and_folders_with_file_names_are_never_opened() {
        let folder = folder(&["a.md/inner.md"]);
        let pipe = folder.path().join("pipe.md");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let _socket = UnixListener::bind(folder.path().join("socket.md")).unwrap();
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md/inner.md"]);
        let found = walk([folder.path()], &WalkOptions::default()).unwrap();
        let odd = found
            .iter()
            .filter(|found| matches!(found, Found::Skipped { reason: SkipReason::NotRegular, .. }));
        assert_eq!(odd.count(), 2);
        let named = walk([&pipe], &WalkOptions::default()).unwrap();
        assert_eq!(problems(&named)[0].1, "ingest.not_regular");
        assert_eq!(read_limited(&pipe, 9).unwrap_err().code(), "ingest.not_regular");
    }

    #[test]
    fn ignore_files_that_never_end_are_not_opened() {
        let folder = folder(&["a.md", "sub/b.md"]);
        let pipe = folder.path().join(".gitignore");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let link = folder.path().join("sub/.kuhakuignore");
        symlink("/dev/zero", &link).unwrap();
        let _socket = UnixListener::bind(folder.path().join("sub/.ignore")).unwrap();
        let found = walk([folder.path()], &WalkOptions::default()).unwrap();
        let paths: Vec<_> = problems(&found).into_iter().map(|problem| problem.0).collect();
        assert_eq!(paths, [pipe.as_path(), &folder.path().join("sub/.ignore"), &link]);
        assert!(problems(&found).iter().all(|problem| problem.1 == "ingest.not_regular"));
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md", "sub/b.md"]);
    }

    #[test]
    fn a_link_to_an_ignore_file_is_not_followed() {
        let folder = folder(&["a.md", "rules"]);
        fs::write(folder.path().join("rules"), "a.md").unwrap();
        symlink("rules", folder.path().join(".gitignore")).unwrap();
        let found = walk([folder.path()], &WalkOptions::default().glob("*.md")).unwrap();
        assert_eq!(problems(&found)[0].1, "ingest.not_regular");
        assert_eq!(files(folder.path(), &WalkOptions::default()), ["a.md"]);
    }

    #[test]
    fn a_name_that_is_not_unicode_is_listed_like_any_other() {
        let folder = folder(&[]);
        let name = PathBuf::from(OsStr::from_bytes(b"caf\xe9.md"));
        if fs::write(folder.path().join(&name), "text").is_err() {
            return; // Some file systems take no such names.
        }
        let found = walk([folder.path()], &WalkOptions::default().glob("**/*.md")).unwrap();
        assert!(matches!(&found[0], Found::File(file) if file.relative == name));
    }
}
