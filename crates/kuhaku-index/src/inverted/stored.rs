//! Generations as blocks of bytes, for snapshots.
//!
//! Lists of fixed size stand there as they stand in memory. All reading is checked: bytes that were
//! not written by this module give none.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use kuhaku_core::{AccessTags, DocumentId};

use super::document::{Body, Document};
use super::frequencies::{Frequencies, Lengths};
use super::generation::{Generation, Part};
use super::matrix::Matrix;
use super::postings::{Block, Postings};
use super::segment::{Chunk, Entry, Run, Segment};
use super::terms::Terms;
use super::tombstones::Tombstones;
use crate::document::Validity;
use crate::fingerprint::VectorSpace;
use crate::identity::ContentHash;
use crate::snapshot::{Reader, Writer, array, number, put_number, put_word, word};
use crate::vector::Vector;

impl Generation {
    /// Writes all parts.
    pub(crate) fn encode(&self, writer: &mut Writer) -> io::Result<()> {
        writer.block(&(self.parts.len() as u64).to_le_bytes())?;
        for part in &self.parts {
            part.segment.encode(writer)?;
            let dead = part.dead.as_ref();
            let documents = 0..part.segment.documents().len() as u32;
            let dead: Vec<u32> = documents
                .filter(|place| dead.is_some_and(|dead| dead.has_document(*place)))
                .collect();
            writer.list(dead.into_iter(), put_number)?;
        }
        Ok(())
    }

    /// What [`Generation::encode`] has written.
    pub(crate) fn decode(reader: &mut Reader, space: Option<VectorSpace>) -> Option<Self> {
        let dimension = space.as_ref().map_or(0, |space| space.dimension);
        let count = u64::from_le_bytes(reader.block()?.try_into().ok()?);
        let mut parts = Vec::new();
        for _ in 0..count {
            let segment = Segment::decode(reader, dimension)?;
            let mut dead = Tombstones::default();
            for document in reader.list(4, number)? {
                dead.bury(&segment, document);
            }
            let dead = (dead.documents() > 0).then(|| Arc::new(dead));
            parts.push(Part { segment: Arc::new(segment), dead });
        }
        Some(Self { parts, space, ..Self::default() })
    }
}

impl Segment {
    fn encode(&self, writer: &mut Writer) -> io::Result<()> {
        writer.list(self.classes.iter(), |class, bytes| put_tags(&class.tags, bytes))?;
        writer.list(self.documents.iter(), put_entry)?;
        writer.list(self.chunks.iter(), |chunk, bytes| {
            put_number(chunk.document, bytes);
            put_number(chunk.ordinal, bytes);
            put_lengths(chunk.lengths, bytes);
        })?;
        writer.list(self.terms.letters.as_bytes().chunks(1 << 16), |letters, bytes| {
            put_number(letters.len() as u32, bytes);
            bytes.extend_from_slice(letters);
        })?;
        let Postings { starts, chunks, frequencies, block_starts, blocks } = &self.postings;
        let numbers = [
            &self.terms.ends,
            &self.term_runs,
            starts,
            chunks,
            block_starts,
            &self.chunk_terms,
            &self.forward,
        ];
        for numbers in numbers {
            writer.list(numbers.iter().copied(), put_number)?;
        }
        writer.list(self.runs.iter(), |run, bytes| {
            put_number(run.class, bytes);
            put_number(run.start, bytes);
        })?;
        writer.list(frequencies.iter().copied(), put_frequencies)?;
        writer.list(blocks.iter(), |block, bytes| {
            put_number(block.last, bytes);
            put_frequencies(block.most, bytes);
            put_lengths(block.least, bytes);
        })?;
        // Codes follow from rows.
        let rows = self.matrix.chunks().iter().enumerate();
        writer.list(rows, |(row, chunk), bytes| {
            put_number(*chunk, bytes);
            let numbers = self.matrix.row(row).map(Vector::as_slice).unwrap_or_default();
            numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        })
    }

    fn decode(reader: &mut Reader, dimension: usize) -> Option<Self> {
        let classes = reader.list(4, tags)?;
        let documents = reader.list(64, entry)?;
        let chunks = reader.list(20, |bytes| {
            let (document, ordinal) = (number(bytes)?, number(bytes)?);
            Some(Chunk { document, ordinal, lengths: lengths(bytes)? })
        })?;
        let letters = reader.list(4, |bytes| {
            let length = number(bytes)? as usize;
            let (letters, rest) = bytes.split_at_checked(length)?;
            *bytes = rest;
            Some(letters.to_vec())
        })?;
        let letters = String::from_utf8(letters.concat()).ok()?;
        let mut numbers = || reader.fixed(u32::from_le_bytes);
        let terms = Terms { letters, ends: numbers()? };
        let term_runs = numbers()?;
        let (starts, held_by, block_starts) = (numbers()?, numbers()?, numbers()?);
        let (chunk_terms, forward) = (numbers()?, numbers()?);
        let runs =
            reader.list(8, |bytes| Some(Run { class: number(bytes)?, start: number(bytes)? }))?;
        let tfs = reader.fixed(of_bytes)?;
        let blocks = reader.list(20, |bytes| {
            let (last, most) = (number(bytes)?, frequencies(bytes)?);
            Some(Block { last, most, least: lengths(bytes)? })
        })?;
        let mut matrix = Matrix::default();
        let size = dimension.checked_mul(4)?;
        let mut next = 0;
        reader.list(size.checked_add(4)?, |bytes| {
            let chunk =
                number(bytes).filter(|chunk| (next..chunks.len() as u32).contains(chunk))?;
            next = chunk + 1;
            let (row, rest) = bytes.split_at_checked(size)?;
            matrix.push(chunk, Vector::from_bytes(row, dimension)?);
            *bytes = rest;
            Some(())
        })?;
        let postings = Postings { starts, chunks: held_by, frequencies: tfs, block_starts, blocks };
        let mut segment = Self::with_classes(classes, Postings::default());
        segment.documents = documents;
        segment.totals = chunks.iter().map(|chunk| chunk.lengths.total()).collect();
        segment.chunks = chunks;
        segment.terms = terms;
        segment.term_runs = term_runs;
        segment.runs = runs;
        segment.postings = postings;
        segment.chunk_terms = chunk_terms;
        segment.forward = forward;
        segment.matrix = matrix;
        segment.is_consistent().then(|| segment.summed())
    }

    /// Whether lists that belong together have the same length.
    fn is_consistent(&self) -> bool {
        let terms = self.terms.len() + 1;
        let Postings { starts, chunks, frequencies, block_starts, .. } = &self.postings;
        [self.term_runs.len(), starts.len(), block_starts.len()] == [terms; 3]
            && [frequencies.len(), self.forward.len()] == [chunks.len(); 2]
            && self.chunk_terms.len() == self.chunks.len() + 1
    }
}

fn put_lengths(lengths: Lengths<u32>, bytes: &mut Vec<u8>) {
    for length in [lengths.heading, lengths.body, lengths.extra] {
        put_number(length, bytes);
    }
}

#[inline]
fn lengths(bytes: &mut &[u8]) -> Option<Lengths<u32>> {
    Some(Lengths { heading: number(bytes)?, body: number(bytes)?, extra: number(bytes)? })
}

fn put_frequencies(tf: Frequencies, bytes: &mut Vec<u8>) {
    let [low, high] = tf.body.to_le_bytes();
    bytes.extend_from_slice(&[tf.heading, tf.extra, low, high]);
}

fn of_bytes([heading, extra, low, high]: [u8; 4]) -> Frequencies {
    Frequencies { heading, extra, body: u16::from_le_bytes([low, high]) }
}

#[inline]
fn frequencies(bytes: &mut &[u8]) -> Option<Frequencies> {
    array(bytes).map(of_bytes)
}

fn put_tags(tags: &AccessTags, bytes: &mut Vec<u8>) {
    put_number(tags.iter().count() as u32, bytes);
    tags.iter().for_each(|tag| put_word(tag, bytes));
}

fn tags(bytes: &mut &[u8]) -> Option<AccessTags> {
    let names: Option<Vec<&str>> = (0..number(bytes)?).map(|_| word(bytes)).collect();
    AccessTags::new(names?).ok()
}

/// Documents have no row outside the durable engine, which alone has snapshots.
fn put_entry(entry: &Entry, bytes: &mut Vec<u8>) {
    let document = &*entry.document;
    for number in [entry.class, entry.chunks.start, entry.chunks.end] {
        put_number(number, bytes);
    }
    let row = match document.body {
        Body::Row(row) => row,
        Body::Held(_) => 0,
    };
    bytes.extend_from_slice(&row.to_le_bytes());
    bytes.extend_from_slice(&document.chunks.to_le_bytes());
    bytes.extend_from_slice(document.content.as_bytes());
    let Validity { effective, expires, obsolete } = document.validity;
    let days = [effective, expires];
    bytes.extend_from_slice(&[u8::from(document.pinned_tags), u8::from(obsolete)]);
    for day in days {
        put_word(&day.map(|day| day.to_string()).unwrap_or_default(), bytes);
    }
    put_word(document.id.as_str(), bytes);
    put_word(&document.doc_type, bytes);
    put_number(document.metadata.len() as u32, bytes);
    for (key, value) in &document.metadata {
        put_word(key, bytes);
        put_word(value, bytes);
    }
}

fn entry(bytes: &mut &[u8]) -> Option<Entry> {
    let (class, start, end) = (number(bytes)?, number(bytes)?, number(bytes)?);
    let body = Body::Row(i64::from_le_bytes(array(bytes)?));
    let chunks = u64::from_le_bytes(array(bytes)?);
    let content = ContentHash::from_bytes(array(bytes)?);
    let [pinned_tags, obsolete] = array(bytes)?.map(|flag: u8| flag == 1);
    let mut day = || match word(bytes)? {
        "" => Some(None),
        day => day.parse().ok().map(Some),
    };
    let validity = Validity::between(day()?, day()?).obsolete(obsolete);
    let id = DocumentId::new(word(bytes)?).ok()?;
    let doc_type = word(bytes)?.to_owned();
    let mut metadata = BTreeMap::new();
    for _ in 0..number(bytes)? {
        metadata.insert(word(bytes)?.to_owned(), word(bytes)?.to_owned());
    }
    let document =
        Document { id, content, pinned_tags, chunks, doc_type, metadata, validity, body };
    Some(Entry { document: Arc::new(document), class, chunks: start..end })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::fmt::Write as _;
    use std::io::{Read as _, Seek as _};

    use super::super::drafter::{Drafter, Drafters};
    use super::super::parallel::drafted_on;
    use super::*;
    use crate::analysis::Analyzer;
    use crate::document::{ChunkRecord, DocumentRecord};
    use crate::fingerprint::{Language, Tokenizer};
    use crate::plan::resident;
    use crate::snapshot::Pace;

    fn bytes(generation: &Generation) -> Vec<u8> {
        let file = tempfile::tempfile().unwrap();
        let mut writer = Writer::paced(file, Pace::default());
        generation.encode(&mut writer).unwrap();
        let mut file = writer.finish().unwrap();
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// Documents whose words come in another order in each.
    fn documents() -> Vec<DocumentRecord> {
        let document = |number: usize| {
            let mut text = String::new();
            (0..900).for_each(|n| write!(text, "w{} ", (number * 7_919 + n * n) % 4_999).unwrap());
            let canonical = kuhaku_core::Masked::replacing(&text, Vec::new()).canonical();
            let content = ContentHash::from_bytes([number as u8; 32]);
            let id = DocumentId::new(format!("d{}", number * 31 % 97)).unwrap();
            let mut record = DocumentRecord::new(id, content, canonical);
            record.tags = AccessTags::new([["a"], ["b"]][number % 2]).unwrap();
            let middle = text.len() / 2 - text.len() / 2 % 2;
            record.chunks = vec![ChunkRecord::new(0..middle), ChunkRecord::new(middle..text.len())];
            record
        };
        (0..90).map(document).collect()
    }

    fn space() -> Option<VectorSpace> {
        Some(VectorSpace { embedder: "e".into(), dimension: 3 })
    }

    /// One of two chunks has one.
    fn vector(record: &DocumentRecord, ordinal: u32) -> Option<Vector> {
        let bytes = record.content.as_bytes();
        (bytes[0] as u32 % 2 == ordinal)
            .then(|| Vector::new(vec![f32::from(bytes[0]), 1.0, -3.5]).unwrap())
    }

    fn generation(threads: usize) -> Generation {
        let drafters = Drafters::new(Analyzer::new(Tokenizer::Simple, Language::None));
        let size = |record: &DocumentRecord| record.text.as_str().len();
        let work = |records: Vec<DocumentRecord>, drafter: &mut Drafter| {
            for record in records {
                drafter.draft.document(resident(&record, Body::Row(7)), record.tags.clone());
                for (ordinal, chunk) in (0..).zip(&record.chunks) {
                    let terms = drafter.count(&record, chunk);
                    drafter.draft.chunk(ordinal, terms, vector(&record, ordinal));
                }
            }
            vec![()]
        };
        let (count, segments) = drafted_on(threads, &drafters, documents(), size, work);
        assert_eq!(count.len() > 1, threads > 1);
        Generation::of(space(), segments)
    }

    #[test]
    fn any_number_of_threads_makes_the_same_index() {
        let one = bytes(&generation(1));
        for threads in [2, 3, 7] {
            assert!(bytes(&generation(threads)) == one, "{threads} threads");
        }
    }

    #[test]
    fn what_is_read_is_what_was_written_with_its_tombstones() {
        let generation = generation(1).next(&[DocumentId::new("d31").unwrap()], None);
        let written = bytes(&generation);
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, &written).unwrap();
        file.rewind().unwrap();
        let mut reader = Reader::new(file).unwrap();
        let read = Generation::decode(&mut reader, space()).unwrap();
        reader.finished().unwrap();
        assert!(bytes(&read) == written);
        assert_eq!(read.statistics(), generation.statistics());
    }
}
