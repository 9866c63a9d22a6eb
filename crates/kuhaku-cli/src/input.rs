//! Text from files and from standard input, of bounded size and in UTF-8.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, stdin};
use std::path::Path;

use kuhaku::Result;
use kuhaku::core::{Error, ErrorKind};
use tokio::sync::oneshot;

/// How much is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    bytes: usize,
    /// What to do about more.
    next: &'static str,
}

impl Limit {
    /// For texts.
    pub(crate) fn text(bytes: usize) -> Self {
        Self { bytes, next: "extract from parts of it, or raise extraction.max_text_bytes" }
    }

    /// For what comes with them in JSON, and for a text to look at: 16 MiB.
    pub(crate) fn moderate() -> Self {
        Self { bytes: 16 << 20, next: "give a shorter one" }
    }
}

/// What some editors put first; it is no part of the text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a file as text.
///
/// # Errors
/// `core.invalid_input` when it cannot be read, is longer than the limit or not UTF-8.
pub(crate) fn file(path: &Path, what: &'static str, most: Limit) -> Result<String> {
    let tried = format!("read {what} from `{}`", path.display());
    let file = File::open(path).map_err(|source| unreadable(&tried, source))?;
    text(file, &tried, most)
}

/// Opens a file of lines whose results go to the file `out`, and counts those that are not blank; what
/// can be read only once, such as a pipe, is not counted.
///
/// # Errors
/// `core.invalid_input` when it cannot be read, or is `out` itself.
pub(crate) fn lines(
    path: &Path,
    out: &Path,
    longest: usize,
) -> Result<(impl Iterator<Item = io::Result<String>> + use<>, Option<u64>)> {
    let tried = format!("read texts from `{}`", path.display());
    let broken = |source| unreadable(&tried, source);
    if is_same(path, out).map_err(broken)? {
        let wrong = "it is the file that --out names";
        return Err(Error::new(ErrorKind::InvalidInput, tried, wrong)
            .next("name another file with --out")
            .into());
    }
    let mut file = File::open(path).map_err(broken)?;
    let mut count = None;
    if file.metadata().map_err(broken)?.is_file() {
        let begin = file.stream_position().map_err(broken)?;
        let mut texts = 0;
        for line in Lines::new(BufReader::new(&file), 64) {
            texts += u64::from(!line.map_err(broken)?.trim().is_empty());
        }
        file.seek(io::SeekFrom::Start(begin)).map_err(broken)?;
        count = Some(texts);
    }
    Ok((Lines::new(BufReader::new(file), longest), count))
}

/// Whether both are one file, by whatever names. One that is not there yet is another.
fn is_same(path: &Path, other: &Path) -> io::Result<bool> {
    if !other.try_exists()? {
        return Ok(false);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let (path, other) = (path.metadata()?, other.metadata()?);
        Ok((path.dev(), path.ino()) == (other.dev(), other.ino()))
    }
    #[cfg(not(unix))]
    Ok(path.canonicalize()? == other.canonicalize()?)
}

/// Reads all of standard input as text. On a thread of its own, which is left behind when the command
/// is interrupted meanwhile.
///
/// # Errors
/// As for [`file`].
pub(crate) async fn all(most: Limit) -> Result<String> {
    let tried = "read the text from standard input";
    apart(move || text(stdin().lock(), tried, most)).await.unwrap_or_else(|| Ok(String::new()))
}

/// The next line of standard input; none at its end. On such a thread as well. A line that is too long
/// or not UTF-8 is an error within, and the next can be read.
///
/// # Errors
/// `core.invalid_input` when nothing can be read.
pub(crate) async fn line(most: Limit) -> Result<Option<Result<String>>> {
    let tried = "read a line of standard input";
    let read = move || {
        let mut bytes = Vec::new();
        let limit = u64::try_from(most.bytes).unwrap_or(u64::MAX).saturating_add(1);
        let mut input = stdin().lock();
        let read = (&mut input).take(limit).read_until(b'\n', &mut bytes);
        let read = read.and_then(|_| match bytes.len() > most.bytes && !bytes.ends_with(b"\n") {
            true => input.skip_until(b'\n').map(drop),
            false => Ok(()),
        });
        read.map_err(|source| unreadable(tried, source))?;
        Ok((!bytes.is_empty()).then(|| decoded(bytes, tried, most)))
    };
    apart(read).await.unwrap_or(Ok(None))
}

async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, outcome) = oneshot::channel();
    std::thread::spawn(move || {
        // Nobody waits any more when the command has ended.
        let _ = done.send(work());
    });
    outcome.await.ok()
}

fn text(reader: impl Read, tried: &str, most: Limit) -> Result<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most.bytes).unwrap_or(u64::MAX).saturating_add(1);
    reader.take(limit).read_to_end(&mut bytes).map_err(|source| unreadable(tried, source))?;
    decoded(bytes, tried, most)
}

fn decoded(mut bytes: Vec<u8>, tried: &str, most: Limit) -> Result<String> {
    if bytes.len() > most.bytes {
        let wrong = format!("it is longer than {} bytes", most.bytes);
        return Err(Error::new(ErrorKind::InvalidInput, tried.to_owned(), wrong)
            .next(most.next)
            .into());
    }
    if bytes.starts_with(MARK) {
        bytes.drain(..MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let wrong = format!("it is not UTF-8 from byte {at}");
        Error::new(ErrorKind::InvalidInput, tried.to_owned(), wrong)
            .next("convert it to UTF-8, for example with iconv")
            .into()
    })
}

fn unreadable(tried: &str, source: io::Error) -> kuhaku::Error {
    let wrong = match source.kind() {
        io::ErrorKind::NotFound => "there is no such file",
        io::ErrorKind::IsADirectory => "it is a folder",
        _ => "the operating system refused",
    };
    Error::new(ErrorKind::InvalidInput, tried.to_owned(), wrong)
        .next("check the path and the rights on it")
        .caused_by(source)
        .into()
}

/// Lines, each cut after so many bytes, so that a file without line breaks cannot take all memory.
/// What is cut is no JSON any more, and neither is a line that is not UTF-8: each is an error of its
/// line.
struct Lines<R> {
    reader: R,
    longest: usize,
    begun: bool,
}

impl<R> Lines<R> {
    fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, begun: false }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut line, mut any) = (Vec::new(), false);
        loop {
            let ready = match self.reader.fill_buf() {
                Ok(ready) => ready,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Some(Err(error)),
            };
            if ready.is_empty() {
                break;
            }
            any = true;
            let end = ready.iter().position(|byte| *byte == b'\n');
            let part = ready.get(..end.unwrap_or(ready.len())).unwrap_or_default();
            let room = self.longest.saturating_sub(line.len());
            line.extend(part.iter().take(room));
            let used = end.map_or(ready.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(MARK) {
            line.drain(..MARK.len());
        }
        any.then(|| {
            let text = String::from_utf8(line);
            Ok(text.unwrap_or_else(|wrong| {
                // No JSON begins so, and what it is replaced by never passes for a text.
                format!("\u{fffd}{}", String::from_utf8_lossy(wrong.as_bytes()))
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_and_what_is_not_utf8_is_no_json() {
        let input: &[u8] = b"\"a\"\r\n\n\"0123456789\"\n\"\xff\"\n\"cut";
        let lines = Lines::new(BufReader::with_capacity(4, input), 8);
        let lines: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(lines, ["\"a\"\r", "", "\"0123456", "\u{fffd}\"\u{fffd}\"", "\"cut"]);
        let json = |line: &String| serde_json::from_str::<serde_json::Value>(line).is_ok();
        assert_eq!(lines.iter().map(json).collect::<Vec<_>>(), [true, false, false, false, false]);
    }

    #[test]
    fn a_mark_before_the_first_line_is_no_part_of_it() {
        let input: &[u8] = b"\xef\xbb\xbf\"a\"\n\xef\xbb\xbf\"b\"\n";
        let lines = Lines::new(BufReader::with_capacity(2, input), 64).map(Result::unwrap);
        assert_eq!(lines.collect::<Vec<_>>(), ["\"a\"", "\u{feff}\"b\""]);
    }

    #[test]
    fn text_is_bounded_and_utf8() {
        assert_eq!(text(&b"\xef\xbb\xbftea"[..], "read it", Limit::text(6)).unwrap(), "tea");
        for (bytes, says) in [(&b"a\xff"[..], "from byte 1"), (b"1234567", "longer than 6 bytes")] {
            let error = text(bytes, "read it", Limit::text(6)).unwrap_err();
            assert_eq!(error.code(), "core.invalid_input");
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
