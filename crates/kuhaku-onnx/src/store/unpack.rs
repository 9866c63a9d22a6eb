//! One file out of an archive, and nothing else.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write as _};
use std::path::Path;

use flate2::read::GzDecoder;
use kuhaku_core::Sha256;

use super::record::storage;
use crate::error::{Error, ErrorKind, Result};

/// The longest file that is taken out, in bytes.
const LARGEST: u64 = 1 << 30;

/// The most that is read of an archive to find it, unpacked, in bytes.
const MOST: u64 = 4 << 30;

/// How the name of a file ends while it is taken out.
const UNPACKING: &str = "unpacking";

/// Takes a file out of a `.tgz` or `.zip`, whole or not at all. No other name in the archive is used
/// for anything. One process at a time may do this in a folder: what others have left there half
/// done is removed.
pub(super) fn unpack(archive: &Path, entry: &str, to: &Path) -> Result<Sha256> {
    let failed = |source| storage("unpack the runtime library", archive, source);
    let opened = BufReader::new(File::open(archive).map_err(failed)?);
    let part = to.with_extension(format!("{}.{UNPACKING}", std::process::id()));
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
        remove_leftovers(folder);
    }
    let found = if archive.extension().is_some_and(|ending| ending == "zip") {
        from_zip(opened, entry, &part)
    } else {
        from_tar(GzDecoder::new(opened).take(MOST), entry, &part)
    };
    let done = found.and_then(|found| {
        if !found {
            return Ok(None);
        }
        fs::rename(&part, to)?;
        Sha256::of_file(to).map(Some)
    });
    match done {
        Ok(Some(sum)) => Ok(sum),
        outcome => {
            let _ = fs::remove_file(&part);
            Err(match outcome {
                Err(source) if source.kind() == io::ErrorKind::InvalidData => broken(source),
                Err(source) => failed(source),
                Ok(_) => broken(io::Error::other("no entry of that name")),
            })
        }
    }
}

fn remove_leftovers(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().extension().is_some_and(|ending| ending == UNPACKING) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn from_tar(archive: impl Read, entry: &str, part: &Path) -> io::Result<bool> {
    for found in tar::Archive::new(archive).entries().map_err(invalid)? {
        let found = found.map_err(invalid)?;
        // Links are no files, whatever their name.
        let named = found.path_bytes().strip_prefix(b"./").unwrap_or(&found.path_bytes())
            == entry.as_bytes();
        if named && found.header().entry_type().is_file() {
            return copy(found, part);
        }
    }
    Ok(false)
}

fn from_zip(archive: BufReader<File>, entry: &str, part: &Path) -> io::Result<bool> {
    let mut archive = zip::ZipArchive::new(archive).map_err(invalid)?;
    match archive.by_name(entry) {
        Ok(found) if found.is_file() => copy(found, part),
        Ok(_) | Err(zip::result::ZipError::FileNotFound) => Ok(false),
        Err(error) => Err(invalid(error)),
    }
}

fn copy(from: impl Read, part: &Path) -> io::Result<bool> {
    let mut file = File::options().write(true).create_new(true).open(part)?;
    let copied = io::copy(&mut from.take(LARGEST + 1), &mut file)?;
    if copied > LARGEST {
        return Err(invalid("it is too large"));
    }
    file.flush()?;
    file.sync_all()?;
    Ok(true)
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn broken(source: io::Error) -> Error {
    let wrong = "the archive is broken, or does not hold the library";
    Error::new(ErrorKind::Damaged, "unpack the runtime library", wrong)
        .next("pull it again; if it stays, set KUHAKU_ONNX__LIBRARY to a library of your own")
        .caused_by(source)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const ENTRY: &str = "onnxruntime-x/lib/libonnxruntime.so.1";

    fn tgz(entries: &[(&str, tar::EntryType, &[u8])]) -> Vec<u8> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, kind, content) in entries {
            let mut header = tar::Header::new_gnu();
            // Names are written as they are, `..` included.
            let bytes = &mut header.as_old_mut().name;
            bytes[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            if kind.is_symlink() {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            archive.append(&header, *content).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        for (name, content) in entries {
            archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// What is unpacked, and how many files the folder holds then.
    fn taken(name: &str, archive: &[u8]) -> (Result<Vec<u8>>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let (path, to) = (folder.path().join(name), folder.path().join("out/lib.so"));
        fs::write(&path, archive).unwrap();
        let outcome = unpack(&path, ENTRY, &to).map(|_| fs::read(&to).unwrap());
        (outcome, fs::read_dir(folder.path().join("out")).unwrap().count())
    }

    #[test]
    fn one_file_is_taken_and_nothing_else_is_written() {
        use tar::EntryType::{Regular, Symlink};
        let packed = tgz(&[
            ("../../evil", Regular, b"no"),
            (ENTRY, Symlink, b""),
            ("onnxruntime-x/lib/other", Regular, b"no"),
            (ENTRY, Regular, b"library"),
        ]);
        let (library, files) = taken("a.tgz", &packed);
        assert_eq!((library.unwrap(), files), (b"library".to_vec(), 1));
        let (library, files) = taken("a.zip", &zip(&[("../evil", b"no"), (ENTRY, b"library")]));
        assert_eq!((library.unwrap(), files), (b"library".to_vec(), 1));
    }

    #[test]
    fn what_a_dead_process_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, to) = (folder.path().join("a.tgz"), folder.path().join("out/lib.so"));
        fs::write(&path, tgz(&[(ENTRY, tar::EntryType::Regular, b"library")])).unwrap();
        fs::create_dir_all(folder.path().join("out")).unwrap();
        for left in ["lib.unpacking", "lib.1.unpacking"] {
            fs::write(folder.path().join("out").join(left), "half").unwrap();
        }
        unpack(&path, ENTRY, &to).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
    }

    #[test]
    fn archives_without_the_file_or_without_their_end_are_damaged() {
        use tar::EntryType::{Regular, Symlink};
        let whole = tgz(&[(ENTRY, Regular, &[7; 5000])]);
        for (name, packed) in [
            ("a.tgz", tgz(&[("other", Regular, b"no")])),
            ("a.tgz", tgz(&[(ENTRY, Symlink, b"")])),
            ("a.tgz", whole[..whole.len() / 2].to_vec()),
            ("a.tgz", b"no archive".to_vec()),
            ("a.zip", zip(&[("other", b"no")])),
            ("a.zip", b"no archive".to_vec()),
        ] {
            let (outcome, files) = taken(name, &packed);
            assert_eq!((*outcome.unwrap_err().kind(), files), (ErrorKind::Damaged, 0), "{name}");
        }
    }
}
