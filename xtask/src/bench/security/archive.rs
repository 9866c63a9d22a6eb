//! Markdown files in a tar archive.

use std::ops::Range;

/// The Markdown files of a tar archive, each with its path: blocks of 512 bytes, a header with name (at 0)
/// and octal size (at 124), then the file.
pub(super) fn markdown(archive: &[u8]) -> Vec<(String, String)> {
    const BLOCK: usize = 512;
    let field = |header: &[u8], at: Range<usize>| {
        let bytes = header.get(at).unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_matches(['\0', ' ']).to_string()
    };
    let mut files = Vec::new();
    let mut at = 0;
    while let Some(header) = archive.get(at..at + BLOCK) {
        let size = usize::from_str_radix(&field(header, 124..136), 8).unwrap_or(0);
        at += BLOCK;
        let name = field(header, 0..100);
        if name.ends_with(".md") {
            let content = archive.get(at..at + size).unwrap_or_default();
            files.push((name, String::from_utf8_lossy(content).into_owned()));
        }
        at += size.div_ceil(BLOCK) * BLOCK;
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_of_an_archive_is_read_without_its_headers() {
        let mut archive = vec![0_u8; 512];
        archive[..4].copy_from_slice(b"a.md");
        archive[124..135].copy_from_slice(b"00000000005");
        archive.extend(b"hello");
        archive.resize(1024 + 512, 0);
        assert_eq!(markdown(&archive), [("a.md".to_owned(), "hello".to_owned())]);
    }
}
