//! Clean documents and questions, in the same two parts.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::archive::markdown;
use super::attacks::{Part, SEED, lines, part_of};
use super::inflated;
use crate::error::{Result, cannot};
use crate::files;

/// Bytes after which a section of the book is cut at the next blank line: the size of an abstract.
const SECTION: usize = 1500;

/// A text that nobody wrote to attack.
#[derive(Clone, Debug)]
pub(crate) struct Clean {
    /// The set.
    pub(crate) source: &'static str,
    /// What goes to one part: a document, a chapter, an article with its translations.
    pub(crate) group: String,
    pub(crate) text: String,
    pub(crate) question: bool,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

/// The documents and questions of one part; sets that are not there give none.
pub(crate) fn clean(data: &Path, part: Part) -> Result<Vec<Clean>> {
    let mut all = Vec::new();
    for (source, article) in [("scifact", false), ("xquad-en", true), ("xquad-tr", true)] {
        let folder = data.join(source);
        if folder.is_dir() {
            all.extend(beir(&folder, source, article)?);
        }
    }
    let book = data.join("docs-rust-book/rust-book-src.tar.gz");
    if book.is_file() {
        for (chapter, text) in markdown(&inflated(&book)?) {
            all.extend(sections(&text).into_iter().map(|text| Clean {
                source: "rust-book",
                group: format!("rust-book/{chapter}"),
                text,
                question: false,
            }));
        }
    }
    all.extend(converted(&data.join("docs-docling"))?);
    all.extend(dialogues(&data.join("sgd/dialogues.jsonl.gz"))?);
    all.extend(calls(&data.join("bfcl"))?);
    all.retain(|clean| part_of(SEED, &clean.group) == part);
    Ok(all)
}

/// A set in BEIR's layout. The paragraphs of an article, whose ids begin alike, belong together in all
/// languages; a question belongs to its document.
fn beir(folder: &Path, source: &'static str, article: bool) -> Result<Vec<Clean>> {
    let name = |id: &str| match id.split_once('-') {
        Some((of, _)) if article => format!("xquad/{of}"),
        _ => format!("{source}/{id}"),
    };
    let corpus = ["corpus.jsonl", "corpus.jsonl.gz"].map(|file| folder.join(file));
    let corpus = corpus.iter().find(|path| path.is_file());
    let mut all = Vec::new();
    for line in corpus.map_or_else(|| Ok(Vec::new()), |path| lines::<Line>(path))? {
        let text = if line.title.is_empty() { line.text } else { line.title + "\n" + &line.text };
        all.push(Clean { source, group: name(&line.id), text, question: false });
    }
    let documents = judged(folder)?;
    for line in lines::<Line>(&folder.join("queries.jsonl"))? {
        if let Some(document) = documents.get(&line.id) {
            all.push(Clean { source, group: name(document), text: line.text, question: true });
        }
    }
    Ok(all)
}

/// Office documents, pages and mails as Markdown, by sections.
fn converted(folder: &Path) -> Result<Vec<Clean>> {
    let mut all = Vec::new();
    for of_kind in files::folders(folder)? {
        for path in files::within(&of_kind.join("groundtruth"), ".md")? {
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let group = format!("docling/{}", name.split('.').next().unwrap_or_default());
            let text = files::read(&path)?;
            all.extend(sections(&text).into_iter().map(|text| Clean {
                source: "docling",
                group: group.clone(),
                text,
                question: false,
            }));
        }
    }
    Ok(all)
}

#[derive(Deserialize)]
struct Dialogue {
    id: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    text: String,
}

/// Dialogues as documents, six turns each, and what their users say as questions.
fn dialogues(path: &Path) -> Result<Vec<Clean>> {
    const TURNS: usize = 6;
    let mut all = Vec::new();
    for dialogue in if path.is_file() { lines::<Dialogue>(path)? } else { Vec::new() } {
        let clean = |text: String, question| Clean {
            source: "sgd",
            group: format!("sgd/{}", dialogue.id),
            text,
            question,
        };
        for turns in dialogue.turns.chunks(TURNS) {
            let said: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
            all.push(clean(said.join("\n"), false));
        }
        let first = dialogue.turns.iter().find(|turn| turn.speaker == "user");
        all.extend(first.map(|turn| clean(turn.text.clone(), true)));
    }
    Ok(all)
}

#[derive(Deserialize)]
struct Call {
    id: String,
    question: Vec<Vec<Message>>,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

/// What users ask of a model that has tools.
fn calls(folder: &Path) -> Result<Vec<Clean>> {
    let mut all = Vec::new();
    for path in files::within(folder, ".jsonl.gz")? {
        for call in lines::<Call>(&path)? {
            let first = call.question.into_iter().flatten().next();
            all.extend(first.map(|message| Clean {
                source: "bfcl",
                group: format!("bfcl/{}", call.id),
                text: message.content,
                question: true,
            }));
        }
    }
    Ok(all)
}

/// For each question its first document.
fn judged(folder: &Path) -> Result<HashMap<String, String>> {
    let mut documents = HashMap::new();
    for split in ["train", "test"] {
        let path = folder.join(format!("qrels/{split}.tsv"));
        if !path.is_file() {
            continue;
        }
        let text = fs::read_to_string(&path)
            .map_err(|error| cannot(format!("read {}", path.display()), error))?;
        for line in text.lines().skip(1) {
            let mut cells = line.split('\t');
            if let (Some(query), Some(document)) = (cells.next(), cells.next()) {
                documents.entry(query.to_owned()).or_insert_with(|| document.to_owned());
            }
        }
    }
    Ok(documents)
}

/// The sections of a chapter: cut at headings, and at blank lines where they are long.
fn sections(chapter: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    for paragraph in chapter.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        let full = sections.last().is_some_and(|section| section.len() > SECTION);
        let heading = paragraph.starts_with('#') && !sections.last().is_some_and(String::is_empty);
        if full || heading {
            sections.push(String::new());
        }
        if let Some(section) = sections.last_mut() {
            section.push_str(paragraph);
            section.push_str("\n\n");
        }
    }
    sections.retain(|section| !section.is_empty());
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapter_is_cut_at_headings_and_where_it_is_long() {
        let long = "word ".repeat(400);
        let chapter = format!("# A\n\ntext\n\n## B\n\n{long}\n\nrest\n");
        let found = sections(&chapter);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0], "# A\n\ntext\n\n");
        assert!(found[1].starts_with("## B") && found[2].starts_with("rest"));
    }

    #[test]
    fn paragraphs_of_an_article_stay_together_in_all_languages_and_questions_with_them() {
        let folder = tempfile::tempdir().unwrap();
        for set in ["xquad-en", "xquad-tr"] {
            let set = folder.path().join(set);
            fs::create_dir_all(set.join("qrels")).unwrap();
            let documents: String = (0..40)
                .map(|n| format!("{{\"_id\": \"p{:02}-{n}\", \"text\": \"t\"}}\n", n / 4))
                .collect();
            fs::write(set.join("corpus.jsonl"), documents).unwrap();
            fs::write(set.join("queries.jsonl"), "{\"_id\": \"q\", \"text\": \"who?\"}\n").unwrap();
            fs::write(set.join("qrels/test.tsv"), "q\tc\ts\nq\tp03-12\t1\n").unwrap();
        }
        let [train, test] =
            [Part::Train, Part::Test].map(|part| clean(folder.path(), part).unwrap());
        assert_eq!(train.len() + test.len(), 2 * 41);
        assert!(!train.is_empty() && !test.is_empty());
        for clean in &train {
            assert!(test.iter().all(|other| other.group != clean.group));
            let here = train.iter().filter(|other| other.group == clean.group);
            assert!(here.map(|other| other.source).any(|source| source != clean.source));
        }
    }
}
