//! Whether a file looks like a shared library for this machine. The system's loader says too little
//! about a library for another processor, and a cut file can kill the process while it is mapped.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// Checks the beginning of a file.
///
/// # Errors
/// [`ErrorKind::UnusableRuntime`] when it is not a library for this system and processor, or when
/// its end is missing.
pub(super) fn check(path: &Path) -> Result<()> {
    let fail = |wrong: String| {
        let tried = format!("load the ONNX Runtime library `{}`", path.display());
        Error::new(ErrorKind::UnusableRuntime, tried, wrong).next(format!(
            "use the library for {} on {}",
            std::env::consts::OS,
            std::env::consts::ARCH
        ))
    };
    let unreadable = |source| fail("it cannot be read".into()).caused_by(source);
    if path.is_dir() {
        return Err(fail("it is a folder".into()));
    }
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    let mut start = Vec::new();
    file.by_ref().take(64).read_to_end(&mut start).map_err(unreadable)?;
    if !start.starts_with(magic()) {
        return Err(fail("it is not a shared library of this system".into()));
    }
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let header = Elf::read(&start).ok_or_else(|| fail("its beginning is cut or broken".into()))?;
    if !header.fits() {
        return Err(fail("it is for another kind of processor".into()));
    }
    file.seek(SeekFrom::Start(header.segments_at)).map_err(unreadable)?;
    let size = u64::from(header.segments) * u64::from(header.segment_size);
    let mut table = Vec::new();
    file.take(size).read_to_end(&mut table).map_err(unreadable)?;
    if header.end(&table).is_none_or(|end| end > length) {
        return Err(fail("its end is missing".into()));
    }
    Ok(())
}

fn magic() -> &'static [u8] {
    if cfg!(windows) {
        b"MZ"
    } else if cfg!(target_os = "macos") {
        &[]
    } else {
        b"\x7fELF"
    }
}

/// What matters of the header of a 64-bit little-endian ELF file.
struct Elf {
    kind: u16,
    machine: u16,
    segments_at: u64,
    segment_size: u16,
    segments: u16,
}

impl Elf {
    fn read(start: &[u8]) -> Option<Self> {
        let wide = start.get(4) == Some(&2) && start.get(5) == Some(&1);
        wide.then_some(())?;
        Some(Self {
            kind: short(start, 16)?,
            machine: short(start, 18)?,
            segments_at: long(start, 32)?,
            segment_size: short(start, 54)?,
            segments: short(start, 56)?,
        })
    }

    /// A shared object for this processor.
    fn fits(&self) -> bool {
        let machine = match std::env::consts::ARCH {
            "x86_64" => Some(62),
            "aarch64" => Some(183),
            "riscv64" => Some(243),
            _ => None,
        };
        self.kind == 3 && machine.is_none_or(|machine| machine == self.machine)
    }

    /// Where the last segment ends in the file.
    fn end(&self, table: &[u8]) -> Option<u64> {
        let size = usize::from(self.segment_size).max(1);
        let rows = table.chunks_exact(size).take(self.segments.into());
        (rows.len() == usize::from(self.segments)).then_some(())?;
        rows.map(|row| long(row, 8)?.checked_add(long(row, 32)?))
            .try_fold(0, |end, one| one.map(|one| one.max(end)))
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with one segment of `bytes` from the start of the file.
    fn library(machine: u16, bytes: u64) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[16..18].copy_from_slice(&3u16.to_le_bytes());
        file[18..20].copy_from_slice(&machine.to_le_bytes());
        file[32..40].copy_from_slice(&64u64.to_le_bytes());
        file[54..56].copy_from_slice(&56u16.to_le_bytes());
        file[56..58].copy_from_slice(&1u16.to_le_bytes());
        file[64 + 32..64 + 40].copy_from_slice(&bytes.to_le_bytes());
        file
    }

    fn wrong(bytes: &[u8]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("library");
        std::fs::write(&path, bytes).unwrap();
        check(&path).err().map(|error| error.wrong().to_owned())
    }

    #[test]
    fn a_library_for_another_processor_or_without_its_end_is_found_out_before_loading() {
        if !cfg!(target_os = "linux") {
            return;
        }
        let own = if cfg!(target_arch = "x86_64") { 62 } else { 183 };
        assert_eq!(wrong(&library(own, 120)), None);
        assert_eq!(wrong(&library(own, 121)).as_deref(), Some("its end is missing"));
        let other = wrong(&library(8, 120));
        assert_eq!(other.as_deref(), Some("it is for another kind of processor"));
        assert!(wrong(&library(own, 120)[..30]).is_some());
    }
}
