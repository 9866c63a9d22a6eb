//! The suite `security`, part PII: what the default masker finds and what it takes for more than it is.
//!
//! Rules are tuned on one half of the labelled rows; the numbers are those of the other half (D41).
//! Sentences are split by template, Presidio's cases within each recogniser.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use flate2::read::MultiGzDecoder;
use kuhaku::eval::BeirFolder;
use kuhaku_core::{Masker as _, PiiMasker, Placeholder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::report::{Report, Section};
use crate::error::{Result, cannot};

/// The seed of the split.
const SEED: u64 = 4;

/// What is asked of each kind that has so many rows.
const AT_LEAST: f64 = 0.97;
const ROWS: usize = 10;

/// Throughput asked, as a share of a scan that looks up the class of each byte.
const SPEED: f64 = 0.1;

/// False masks that are shown per text.
const SHOWN: usize = 60;

/// The entity types of the rows that the masker claims to know.
const CLAIMED: [(&str, Placeholder); 24] = [
    ("EMAIL_ADDRESS", Placeholder::Email),
    ("IP_ADDRESS", Placeholder::Ip),
    ("CREDIT_CARD", Placeholder::Card),
    ("IBAN_CODE", Placeholder::Iban),
    ("CRYPTO", Placeholder::Crypto),
    ("PHONE_NUMBER", Placeholder::Phone),
    ("TR_PHONE_NUMBER", Placeholder::Phone),
    ("PH_MOBILE_NUMBER", Placeholder::Phone),
    ("TR_NATIONAL_ID", Placeholder::NationalId),
    ("US_SSN", Placeholder::NationalId),
    ("US_ITIN", Placeholder::NationalId),
    ("UK_NINO", Placeholder::NationalId),
    ("UK_NHS", Placeholder::NationalId),
    ("DE_TAX_ID", Placeholder::NationalId),
    ("ES_NIF", Placeholder::NationalId),
    ("ES_NIE", Placeholder::NationalId),
    ("IT_FISCAL_CODE", Placeholder::NationalId),
    ("PL_PESEL", Placeholder::NationalId),
    ("FI_PERSONAL_IDENTITY_CODE", Placeholder::NationalId),
    ("SE_PERSONNUMMER", Placeholder::NationalId),
    ("IN_AADHAAR", Placeholder::NationalId),
    ("AU_TFN", Placeholder::NationalId),
    ("NL_BSN", Placeholder::NationalId),
    ("BR_CPF", Placeholder::NationalId),
];

/// A text with the values that stand in it.
struct Row {
    /// What must not be parted: a template, or a recogniser and its case.
    group: String,
    key: String,
    text: String,
    /// Bytes and entity type.
    values: Vec<(Range<usize>, String)>,
    /// What the row tests.
    about: BTreeSet<String>,
}

/// Hits, values and masks of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    values: usize,
    found: usize,
    false_masks: usize,
}

impl Score {
    fn recall(&self) -> f64 {
        self.found as f64 / self.values as f64
    }

    fn precision(&self) -> f64 {
        self.found as f64 / (self.found + self.false_masks) as f64
    }

    fn f1(&self) -> f64 {
        2.0 * self.found as f64 / (self.values + self.found + self.false_masks) as f64
    }

    fn cells(&self) -> Vec<String> {
        let all = [self.precision(), self.recall(), self.f1()].map(|value| format!("{value:.3}"));
        let counts = [self.values, self.found, self.false_masks].map(|count| count.to_string());
        [counts, all].concat()
    }
}

pub(crate) fn run(data: &Path) -> Result<Report> {
    let mut report = Report { title: "Masking".into(), ..Report::default() };
    let masker = PiiMasker::new();
    let mut values = BTreeMap::new();
    if data.join("pii").is_dir() {
        values.insert("kept", quality(&masker, &data.join("pii"), &mut report)?);
    } else {
        report.skipped.push("set pii: not in the data folder".into());
    }
    let texts = clean_texts(data, &mut report)?;
    values.insert("clean", false_masks(&masker, &texts, &mut report));
    if let Some((name, text)) = texts.first() {
        values.insert("speed", speed(&masker, name, text, &mut report));
    }
    report.values = json!({ "seed": SEED, "masker": masker.id(), "parts": values });
    Ok(report)
}

/// Scores the kept half.
fn quality(masker: &PiiMasker, folder: &Path, report: &mut Report) -> Result<Value> {
    let mut rows = kept(sentences(&folder.join("synthetic_sentences.jsonl.gz"))?, true);
    rows.extend(kept(cases(&folder.join("presidio_recognizer_cases.jsonl.gz"))?, false));
    let mut claimed: BTreeMap<String, Score> = BTreeMap::new();
    let mut others: BTreeMap<String, Score> = BTreeMap::new();
    for row in &rows {
        score(masker, row, &mut claimed, &mut others);
    }
    for (name, score) in &claimed {
        if score.values >= ROWS {
            for (measure, value) in [("precision", score.precision()), ("recall", score.recall())] {
                if value < AT_LEAST {
                    report.missed.push(format!("{name}: {measure} {value:.3} < {AT_LEAST}"));
                }
            }
        }
    }
    let columns = ["kind", "n", "found", "false masks", "precision", "recall", "F1"];
    report.sections.push(Section {
        heading: "Kinds that are claimed, kept half".into(),
        text: format!(
            "{} rows. A value counts as found when a mask of its kind covers it (an address without \
             the length of its network's prefix) and nothing else but punctuation. The kinds of masks are followed by the types of values they stand for.",
            rows.len()
        ),
        columns: columns.map(String::from).to_vec(),
        rows: claimed.iter().map(|(name, score)| line(name, score)).collect(),
    });
    report.sections.push(Section {
        heading: "Kinds that are not claimed, kept half".into(),
        text: "Each value that no mask covers is a miss.".into(),
        columns: ["type", "n", "masked", "recall"].map(String::from).to_vec(),
        rows: others
            .iter()
            .map(|(name, score)| {
                let counts = [score.values, score.found].map(|count| count.to_string());
                [vec![name.clone()], counts.to_vec(), vec![format!("{:.3}", score.recall())]]
                    .concat()
            })
            .collect(),
    });
    let all = |scores: &BTreeMap<String, Score>| -> Value {
        let of = |(name, score): (&String, &Score)| {
            let counts = [score.values, score.found, score.false_masks];
            (name.clone(), json!(counts))
        };
        scores.iter().map(of).collect::<serde_json::Map<_, _>>().into()
    };
    Ok(json!({ "rows": rows.len(), "claimed": all(&claimed), "others": all(&others) }))
}

fn line(name: &str, score: &Score) -> Vec<String> {
    [vec![name.to_string()], score.cells()].concat()
}

/// The value as it is asked for: the length of a network's prefix is no part of an address.
fn asked(text: &str, range: &Range<usize>, kind: Placeholder) -> Range<usize> {
    let value = text.get(range.clone()).unwrap_or_default();
    match value.split_once('/') {
        Some((address, _)) if kind == Placeholder::Ip => range.start..range.start + address.len(),
        _ => range.clone(),
    }
}

fn claim(entity: &str) -> Option<Placeholder> {
    CLAIMED.iter().find(|(name, _)| *name == entity).map(|(_, kind)| *kind)
}

/// Adds what the masks of one row are worth. A mask on a value of another type is neither right nor
/// wrong for its kind.
fn score(
    masker: &PiiMasker,
    row: &Row,
    claimed: &mut BTreeMap<String, Score>,
    others: &mut BTreeMap<String, Score>,
) {
    let masks = masks(masker, &row.text);
    for (range, entity) in &row.values {
        let Some(kind) = claim(entity) else {
            let score = others.entry(entity.clone()).or_default();
            score.values += 1;
            let covered = masks.iter().any(|(mask, _)| covers(&row.text, mask, range));
            score.found += usize::from(covered);
            continue;
        };
        let value = asked(&row.text, range, kind);
        let found = masks.iter().any(|(mask, of)| {
            *of == kind && covers(&row.text, mask, &value) && covers(&row.text, range, mask)
        });
        for name in [kind.as_str().to_string(), format!("{kind} {entity}")] {
            let score = claimed.entry(name).or_default();
            score.values += 1;
            score.found += usize::from(found);
        }
    }
    for (mask, kind) in &masks {
        let touched =
            |(range, _): &&(Range<usize>, String)| range.start < mask.end && mask.start < range.end;
        let right = row.values.iter().filter(touched).any(|(range, entity)| {
            claim(entity).is_none_or(|of| of == *kind) && covers(&row.text, range, mask)
        });
        if right {
            continue;
        }
        let about = row.about.iter().filter(|entity| claim(entity) == Some(*kind));
        let names = about.map(|entity| format!("{kind} {entity}")).take(1);
        for name in names.chain([kind.as_str().to_string()]) {
            claimed.entry(name).or_default().false_masks += 1;
        }
    }
}

/// Whether all letters and digits of `part` lie in `whole`.
fn covers(text: &str, whole: &Range<usize>, part: &Range<usize>) -> bool {
    let inside = text.get(part.clone()).unwrap_or_default().char_indices();
    inside.filter(|(_, c)| c.is_alphanumeric()).all(|(at, _)| whole.contains(&(part.start + at)))
}

/// The masked parts of a text.
fn masks(masker: &PiiMasker, text: &str) -> Vec<(Range<usize>, Placeholder)> {
    let masked = masker.mask(text);
    let mut found = Vec::new();
    for kind in Placeholder::ALL {
        for (at, it) in masked.text().match_indices(kind.as_str()) {
            let source = masked.map().to_source(at..at + it.len());
            if text.get(source.clone()) != Some(it) {
                found.push((source, kind));
            }
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found
}

/// The half that is kept from tuning: the second one by a hash, of all groups (templates) or of the
/// rows of each group (cases of a recogniser).
fn kept(rows: Vec<Row>, whole_groups: bool) -> Vec<Row> {
    let mut groups: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.group.clone()).or_default().push(row);
    }
    if whole_groups {
        let mut groups: Vec<(String, Vec<Row>)> = groups.into_iter().collect();
        groups.sort_by_key(|(group, _)| order(group));
        let tuning = groups.len() / 2;
        return groups.into_iter().skip(tuning).flat_map(|(_, rows)| rows).collect();
    }
    let second_half = |mut rows: Vec<Row>| {
        rows.sort_by_cached_key(|row| (order(&row.key), row.key.clone()));
        rows.split_off(rows.len() / 2)
    };
    groups.into_values().flat_map(second_half).collect()
}

/// FNV-1a of the seed and the key, finished as MurmurHash3 is, so that similar keys lie apart.
fn order(key: &str) -> u64 {
    let hash = format!("{SEED}:{key}").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[derive(Deserialize)]
struct Sentence {
    template_id: Value,
    text: String,
    spans: Vec<SentenceSpan>,
}

#[derive(Deserialize)]
struct SentenceSpan {
    start: usize,
    end: usize,
    entity: String,
}

fn sentences(path: &Path) -> Result<Vec<Row>> {
    let read = |sentence: Sentence| {
        let group = sentence.template_id.as_str().map(String::from);
        let group = group.unwrap_or_else(|| sentence.template_id.to_string());
        let spans = sentence.spans.into_iter();
        let values: Vec<_> =
            spans.map(|span| (bytes(&sentence.text, span.start, span.end), span.entity)).collect();
        let about = values.iter().map(|(_, entity)| entity.clone()).collect();
        Row { key: group.clone(), group, text: sentence.text, values, about }
    };
    Ok(lines(path)?.into_iter().map(read).collect())
}

#[derive(Deserialize)]
struct Case {
    id: String,
    entities: Vec<String>,
    text: String,
    spans: Vec<(usize, usize)>,
}

/// A case of several types does not say which value is of which: they count under the joined names. One
/// that names none is about what its recogniser is named after.
fn cases(path: &Path) -> Result<Vec<Row>> {
    let read = |case: Case| {
        let group = case.id.split(':').next().unwrap_or_default().to_string();
        let entity = match case.entities.as_slice() {
            [] if group == "phone_recognizer" => "PHONE_NUMBER".into(),
            [] => "unnamed".into(),
            entities => entities.join("+"),
        };
        let spans = case.spans.into_iter();
        let values = spans.map(|(start, end)| (bytes(&case.text, start, end), entity.clone()));
        let values = values.collect();
        Row { group, key: case.id, values, text: case.text, about: BTreeSet::from([entity]) }
    };
    Ok(lines(path)?.into_iter().map(read).collect())
}

/// The bytes of a range of characters.
fn bytes(text: &str, start: usize, end: usize) -> Range<usize> {
    let at = |place| text.char_indices().nth(place).map_or(text.len(), |(at, _)| at);
    at(start)..at(end)
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = String::from_utf8_lossy(&inflated(path)?).into_owned();
    let read = |line: &str| {
        serde_json::from_str(line)
            .map_err(|error| cannot(format!("read {}", path.display()), error))
    };
    text.lines().map(read).collect()
}

fn inflated(path: &Path) -> Result<Vec<u8>> {
    let tried = || format!("read {}", path.display());
    let file = File::open(path).map_err(|error| cannot(tried(), error))?;
    let mut content = Vec::new();
    let read = MultiGzDecoder::new(BufReader::new(file)).read_to_end(&mut content);
    read.map_err(|error| cannot(tried(), error))?;
    Ok(content)
}

/// Texts without personal data, or with little of it.
fn clean_texts(data: &Path, report: &mut Report) -> Result<Vec<(&'static str, String)>> {
    let mut texts = Vec::new();
    for name in ["scifact", "cranfield"] {
        let path = data.join(name);
        if !path.is_dir() {
            report.skipped.push(format!("set {name}: not in the data folder"));
            continue;
        }
        let failed = |error: kuhaku::eval::Error| cannot(format!("read {name}"), error);
        let folder = BeirFolder::open(&path).map_err(failed)?;
        let mut text = String::new();
        for document in folder.corpus().map_err(failed)? {
            let document = document.map_err(failed)?;
            text.push_str(&format!("{}\n{}\n\n", document.title, document.text));
        }
        texts.push((name, text));
    }
    let book = data.join("docs-rust-book/rust-book-src.tar.gz");
    if book.is_file() {
        texts.push(("docs-rust-book", markdown(&inflated(&book)?)));
    } else {
        report.skipped.push("set docs-rust-book: not in the data folder".into());
    }
    Ok(texts)
}

/// The Markdown files of a tar archive: blocks of 512 bytes, a header with name (at 0) and octal size
/// (at 124), then the file.
fn markdown(archive: &[u8]) -> String {
    const BLOCK: usize = 512;
    let field = |header: &[u8], at: Range<usize>| {
        let bytes = header.get(at).unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_matches(['\0', ' ']).to_string()
    };
    let mut text = String::new();
    let mut at = 0;
    while let Some(header) = archive.get(at..at + BLOCK) {
        let size = usize::from_str_radix(&field(header, 124..136), 8).unwrap_or(0);
        at += BLOCK;
        if field(header, 0..100).ends_with(".md") {
            let content = archive.get(at..at + size).unwrap_or_default();
            text.push_str(&String::from_utf8_lossy(content));
            text.push_str("\n\n");
        }
        at += size.div_ceil(BLOCK) * BLOCK;
    }
    text
}

/// Counts and shows the masks in clean texts.
fn false_masks(masker: &PiiMasker, texts: &[(&str, String)], report: &mut Report) -> Value {
    let mut counts = BTreeMap::new();
    for (name, text) in texts {
        let masks = masks(masker, text);
        let per = masks.len() as f64 / (text.len() as f64 / 1e5);
        report.sections.push(Section {
            heading: format!("Masks in {name}"),
            text: format!("{} in {} KB: {per:.2} per 100 KB.", masks.len(), text.len() / 1000),
            columns: ["kind", "what"].map(String::from).to_vec(),
            rows: masks.iter().take(SHOWN).map(|(mask, kind)| shown(text, mask, *kind)).collect(),
        });
        counts.insert(*name, json!({ "bytes": text.len(), "masks": masks.len() }));
    }
    json!(counts)
}

fn shown(text: &str, mask: &Range<usize>, kind: Placeholder) -> Vec<String> {
    let head = text.get(..mask.start).unwrap_or_default();
    let start = head.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
    let tail = text.get(mask.end..).unwrap_or_default();
    let end = tail.char_indices().nth(12).map_or(tail.len(), |(at, _)| at);
    let part = text.get(start..mask.end + end).unwrap_or_default();
    vec![kind.to_string(), part.replace(['\n', '|'], " ")]
}

/// Masks a text, and looks up the class of each of its bytes, thrice each; the best counts.
fn speed(masker: &PiiMasker, name: &str, text: &str, report: &mut Report) -> Value {
    let best = |work: &dyn Fn()| {
        let once = |_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64()
        };
        (0..3).map(once).fold(f64::INFINITY, f64::min)
    };
    let rate = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    let masking = rate(best(&|| {
        std::hint::black_box(masker.mask(text));
    }));
    let classes: [u8; 256] = std::hint::black_box(std::array::from_fn(|byte| {
        let byte = byte as u8;
        u8::from(byte.is_ascii_digit()) | u8::from(byte.is_ascii_alphabetic()) << 1
    }));
    let scanning = rate(best(&|| {
        let changes = |(before, count): (u8, usize), byte: u8| {
            let class = classes.get(usize::from(byte)).copied().unwrap_or_default();
            (class, count + usize::from(class != before))
        };
        std::hint::black_box(text.bytes().fold((0, 0), changes));
    }));
    let share = masking / scanning;
    report.sections.push(Section {
        heading: format!("Speed on {name}"),
        text: format!("{share:.3} of the scan; asked: {SPEED}."),
        columns: ["what", "MB/s"].map(String::from).to_vec(),
        rows: [("masking", masking), ("scan of byte classes", scanning)]
            .map(|(what, rate)| vec![what.to_string(), format!("{rate:.0}")])
            .to_vec(),
    });
    if share < SPEED {
        report.missed.push(format!("speed: {share:.3} of the scan < {SPEED}"));
    }
    json!({ "masking_mb_s": masking, "scan_mb_s": scanning, "share": share })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kept_half_is_half_of_each_recogniser_and_whole_templates() {
        let row = |group: &str, key: String| Row {
            group: group.into(),
            key,
            text: String::new(),
            values: Vec::new(),
            about: BTreeSet::new(),
        };
        let rows = || (0..20).map(|n| row(&format!("t{}", n / 5), format!("k{n}"))).collect();
        let templates = kept(rows(), true);
        assert_eq!(templates.len(), 10);
        assert_eq!(templates.iter().map(|row| &row.group).collect::<BTreeSet<_>>().len(), 2);
        let cases = kept(rows(), false);
        assert_eq!(cases.len(), 12);
        assert_eq!(cases.iter().map(|row| &row.group).collect::<BTreeSet<_>>().len(), 4);
    }

    #[test]
    fn a_value_is_found_only_by_a_mask_of_its_kind_that_ends_where_it_ends() {
        let masker = PiiMasker::new();
        let text = "ö a@b.com, 10.0.0.1 and 4111111111111111";
        let mut row = Row {
            group: String::new(),
            key: String::new(),
            text: text.into(),
            values: vec![(3..10, "EMAIL_ADDRESS".into()), (12..23, "IP_ADDRESS".into())],
            about: BTreeSet::new(),
        };
        row.values.push((12..17, "CITY".into()));
        let (mut claimed, mut others) = (BTreeMap::new(), BTreeMap::new());
        score(&masker, &row, &mut claimed, &mut others);
        let of = |name: &str| claimed.get(name).map(|s| [s.values, s.found, s.false_masks]);
        assert_eq!(of("[EMAIL]"), Some([1, 1, 0]));
        assert_eq!(of("[IP] IP_ADDRESS"), Some([1, 0, 0]));
        assert_eq!(of("[CARD]"), Some([0, 0, 1]));
        assert_eq!(others.get("CITY").map(|score| score.found), Some(1));
    }

    #[test]
    fn the_markdown_of_an_archive_is_read_without_its_headers() {
        let mut archive = vec![0_u8; 512];
        archive[..4].copy_from_slice(b"a.md");
        archive[124..135].copy_from_slice(b"00000000005");
        archive.extend(b"hello");
        archive.resize(1024 + 512, 0);
        assert_eq!(markdown(&archive), "hello\n\n");
    }
}
