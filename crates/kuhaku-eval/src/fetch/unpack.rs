//! A dataset out of its archive, and nothing else.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write as _};
use std::path::Path;

use zip::ZipArchive;

/// How many times longer than the archive its files may be together. Text packs four to ten times.
const RATIO: u64 = 64;

/// What is allowed however short the archive is, in bytes.
const LEAST: u64 = 64 << 20;

/// How many entries are looked at.
const ENTRIES: usize = 1_000;

/// Unpacks what [`BeirFolder`](crate::BeirFolder) reads into a new folder, and says how many bytes
/// that are.
///
/// # Errors
/// [`io::ErrorKind::InvalidData`] when the archive is broken, too large or leads elsewhere, with what
/// is wrong; else what the system says.
pub(super) fn unpack(archive: &Path, into: &Path) -> io::Result<u64> {
    let packed = File::open(archive)?;
    let mut left = packed.metadata()?.len().saturating_mul(RATIO).max(LEAST);
    let most = left;
    let mut archive = ZipArchive::new(BufReader::new(packed)).map_err(invalid)?;
    if archive.len() > ENTRIES {
        return Err(invalid("the archive has too many entries"));
    }
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(invalid)?;
        // A name that leads elsewhere is no slip; the rest is not trusted either.
        let name = entry.name().map_err(invalid)?.into_owned();
        if !leads_downwards(&name) || entry.is_symlink() {
            return Err(invalid("an entry leads out of its folder"));
        }
        let Some(name) = wanted(&name) else { continue };
        if entry.is_dir() {
            continue;
        }
        let to = into.join(&name);
        if to.exists() {
            return Err(invalid("two entries have one name"));
        }
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(&to)?;
        // What an entry says of its length is not believed.
        let copied =
            io::copy(&mut entry.take(left + 1), &mut file).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput => invalid(error),
                _ => error,
            })?;
        if copied > left {
            return Err(invalid("the files are too large for their archive"));
        }
        left -= copied;
        file.flush()?;
        file.sync_all()?;
    }
    Ok(most - left)
}

/// Whether a name leads into the folder on every system. One at the end of which stands a slash is
/// of a folder.
fn leads_downwards(name: &str) -> bool {
    let inside = name.strip_suffix('/').unwrap_or(name);
    let part = |part: &str| !part.is_empty() && part != ".." && part != ".";
    !name.contains(['\\', ':', '\0']) && inside.split('/').all(part)
}

/// The path in the dataset of an entry that belongs to it. Archives have all in one folder.
fn wanted(entry: &str) -> Option<String> {
    let inside = match entry.split_once('/') {
        Some(("qrels", _)) | None => entry,
        Some((_, inside)) => inside,
    };
    let judgements = inside.strip_prefix("qrels/").is_some_and(|name| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        name.ends_with(".tsv") && name.chars().all(plain) && !name.starts_with('.')
    });
    let known = judgements || ["corpus.jsonl", "queries.jsonl"].contains(&inside);
    known.then(|| inside.to_owned())
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use zip::write::SimpleFileOptions;

    use super::*;

    fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, content) in entries {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// The outcome, and the files that there are then beside the archive.
    fn unpacked(archive: &[u8]) -> (io::Result<u64>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.zip");
        fs::write(&path, archive).unwrap();
        let outcome = unpack(&path, &folder.path().join("set"));
        let mut files = Vec::new();
        let mut folders = vec![folder.path().to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let found = entry.unwrap().path();
                if found.is_dir() {
                    folders.push(found);
                } else if found != path {
                    let inside = found.strip_prefix(folder.path()).unwrap();
                    files.push(inside.to_string_lossy().into_owned());
                }
            }
        }
        files.sort();
        (outcome, files)
    }

    #[test]
    fn what_belongs_to_a_dataset_is_unpacked() {
        let (bytes, files) = unpacked(&zip(&[
            ("scifact/", b""),
            ("scifact/corpus.jsonl", b"12"),
            ("scifact/queries.jsonl", b"3"),
            ("scifact/qrels/test.tsv", b"4"),
            ("scifact/qrels/evil.sh", b"no"),
            ("scifact/README.md", b"no"),
        ]));
        assert_eq!(bytes.unwrap(), 4);
        assert_eq!(files, ["set/corpus.jsonl", "set/qrels/test.tsv", "set/queries.jsonl"]);
    }

    #[test]
    fn archives_that_lead_elsewhere_are_refused_whole() {
        for name in [
            "../corpus.jsonl",
            "a/../../corpus.jsonl",
            "/corpus.jsonl",
            "a//corpus.jsonl",
            "./corpus.jsonl",
            "a\\..\\b",
            "c:x",
            "..",
        ] {
            // Written under another name of that length, since writers mend names.
            let other = "x".repeat(name.len());
            let mut packed = zip(&[(&other, b"evil")]);
            while let Some(at) =
                packed.windows(name.len()).position(|bytes| bytes == other.as_bytes())
            {
                packed[at..at + name.len()].copy_from_slice(name.as_bytes());
            }
            let (outcome, files) = unpacked(&packed);
            assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::InvalidData, "{name}");
            assert!(files.is_empty(), "{name}: {files:?}");
        }
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let bomb = vec![0; 80 << 20];
        let packed = zip(&[("s/corpus.jsonl", &bomb)]);
        assert!(packed.len() < 1 << 20);
        let (outcome, _) = unpacked(&packed);
        assert!(outcome.unwrap_err().to_string().contains("too large"));
    }

    #[test]
    fn what_is_cut_or_no_archive_is_invalid() {
        let whole = zip(&[("s/corpus.jsonl", &[7; 10_000])]);
        for bad in [&b""[..], b"no archive", &whole[..whole.len() / 2]] {
            assert_eq!(unpacked(bad).0.unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
