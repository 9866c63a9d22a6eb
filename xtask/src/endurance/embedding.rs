//! `cargo xtask crash`, its third part: a process that ingests and embeds is killed at any moment.
//!
//! The embedder is a server of this process, which notes what it is asked. Each passage holds a word of
//! its own, so that it is known which passage a text is, and how often it was asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use kuhaku::index::{
    ChunkIndex, ChunkReader, DenseQuery, Depth, OpenOptions, SparseQuery, SqliteIndex, Vector,
};
use kuhaku::{DocumentOutcome, IdKey, IngestOptions, Rag, Roles, Scope, Sources};
use kuhaku_core::{ChunkId, Runtime};
use kuhaku_testkit::{EmbeddingServer, word_vector};

use super::history::Draw;
use super::{Place, Process, block_on, failed, say};
use crate::error::Result;

/// Numbers of a vector.
const DIMENSION: usize = 24;
/// Documents of a corpus, and passages of one at most.
const DOCUMENTS: u64 = 40;
const PASSAGES: u64 = 9;
/// Texts per call of the embedder.
const BATCH: usize = 8;
/// The front matter of documents of several groups.
const GROUPS: [&str; 4] = ["", "", "access_tags: [hr]", "access_tags: [hr, legal]"];
const TAKES: Duration = Duration::from_micros(1500);

/// A passage, by the word that it alone holds.
type Word = String;

/// What is in an index: of each chunk its text and its vector.
type Content = BTreeMap<ChunkId, (String, Option<Vector>)>;

pub(super) fn run(kills: usize) -> Result<()> {
    let seed = SystemTime::UNIX_EPOCH.elapsed().map_or(1, |now| now.as_nanos() as u64);
    let begun = Instant::now();
    let mut tally = Tally::default();
    let mut round = 0;
    while tally.kills < kills {
        let place = Place::new(&format!("embed-{round}"))?;
        let mut corpus = Corpus::new(&place.0, seed.wrapping_add(round))?;
        corpus.survive(kills, &mut tally).map_err(|error| {
            failed(format!("kill {} with seed {}: {error}", tally.kills, corpus.seed))
        })?;
        round += 1;
    }
    println!(
        "{} kills while embedding, over {round} corpora: {} passages with their vectors, as without a \
         kill to the last bit; {} texts asked for, {} of them again, {} at most after a kill; {:.1} s",
        tally.kills,
        tally.passages,
        tally.asked,
        tally.again,
        tally.most,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    passages: usize,
    asked: usize,
    again: usize,
    most: usize,
}

/// Documents, the server that embeds them, and the index that is being made.
struct Corpus {
    seed: u64,
    draw: Draw,
    place: PathBuf,
    server: EmbeddingServer,
    /// Passages of the largest document.
    largest: usize,
}

impl Corpus {
    fn new(place: &Path, seed: u64) -> Result<Self> {
        let mut draw = Draw::new(seed, 2);
        let folder = place.join("corpus");
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut largest = 0;
        for document in 0..DOCUMENTS {
            let passages = 1 + draw.below(PASSAGES);
            largest = largest.max(passages as usize);
            let group = GROUPS.get(draw.below(4) as usize).copied().unwrap_or_default();
            let mut text = format!("---\ntitle: Document {document}\n{group}\n---\n");
            for passage in 0..passages {
                text.push_str(&format!("passage{document}x{passage} {}\n\n", draw.words(28)));
            }
            fs::write(folder.join(format!("{document:02}.md")), text).map_err(failed)?;
        }
        let server = EmbeddingServer::start(DIMENSION).map_err(failed)?;
        server.takes(TAKES);
        Ok(Self { seed, draw, place: place.to_path_buf(), server, largest })
    }

    /// Kills whoever makes the index until it is made, and compares it with one that was made at once.
    fn survive(&mut self, kills: usize, tally: &mut Tally) -> Result<()> {
        let whole = self.ingest("whole")?;
        while whole.line()?.is_some() {}
        let reference = block_on(content(&self.place.join("whole")))??;
        self.check_vectors(&reference)?;
        let mut asked: Vec<Word> = Vec::new();
        loop {
            let before = self.server.requests().len();
            let safe: BTreeSet<Word> = self.safe(&reference)?.into_iter().collect();
            let ended = self.ingest_until_killed(before, tally.kills < kills)?;
            let now = words(&self.server.requests().split_off(before));
            if let Some(word) = now.iter().find(|word| safe.contains(*word)) {
                return Err(failed(format!("{word} had a vector and was embedded again")));
            }
            asked.extend(now.iter().cloned());
            if ended {
                break;
            }
            tally.kills += 1;
            if tally.kills.is_multiple_of(50) {
                eprintln!("  embedding: {}", tally.kills);
            }
            let kept: BTreeSet<Word> = self.safe(&reference)?.into_iter().collect();
            let lost = now.iter().filter(|word| !kept.contains(*word)).count();
            // What is stored together: documents until they fill a batch.
            if lost >= BATCH + self.largest {
                return Err(failed(format!("{lost} vectors were lost with one kill")));
            }
            tally.most = tally.most.max(lost);
        }
        let made = block_on(content(&self.place.join("index")))??;
        if made != reference {
            return Err(failed("the index is not as without a kill"));
        }
        block_on(same_hits(&self.place, &mut self.draw))??;
        let once: BTreeSet<&Word> = asked.iter().collect();
        tally.passages += made.len();
        tally.asked += asked.len();
        tally.again += asked.len() - once.len();
        Ok(())
    }

    fn ingest(&self, index: &str) -> Result<Process> {
        let place = self.place.to_str().ok_or_else(|| failed("the path is not Unicode"))?;
        Process::start(&[], &["embed-writer", place, index, self.server.url()])
    }

    /// True when it has ended before it was killed.
    fn ingest_until_killed(&mut self, before: usize, kill: bool) -> Result<bool> {
        let mut writer = self.ingest("index")?;
        if kill {
            let wanted = before + self.draw.below(14) as usize;
            while self.server.requests().len() < wanted {
                if writer.child.try_wait().map_err(failed)?.is_some() {
                    break;
                }
                thread::sleep(Duration::from_micros(200));
            }
            // With none wanted it is killed while it starts or makes the index.
            let patience = if wanted == before { 40_000 } else { 9_000 };
            thread::sleep(Duration::from_micros(self.draw.below(patience)));
            writer.child.kill().map_err(failed)?;
            writer.child.wait().map_err(failed)?;
        }
        let mut ended = false;
        while let Some(line) = writer.line()? {
            ended |= line == "end";
        }
        if !kill && !ended {
            return Err(failed("the process ended by itself without having done its work"));
        }
        Ok(ended)
    }

    /// The passages that are stored, each of which must be as it will be in the end.
    fn safe(&self, reference: &Content) -> Result<Vec<Word>> {
        let folder = self.place.join("index");
        if !folder.join("index.sqlite3").exists() {
            return Ok(Vec::new());
        }
        let options = OpenOptions::new(&folder, Runtime::system());
        let found = match block_on(SqliteIndex::verify(&options, Depth::Quick))? {
            Ok(found) => found,
            // Killed before there was a first commit.
            Err(error) if error.code() == "index.not_found" => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        if let Some(finding) = found.findings.first() {
            return Err(failed(format!("the index is damaged: {finding}")));
        }
        let stored = block_on(content(&folder))??;
        for (id, chunk) in &stored {
            if reference.get(id) != Some(chunk) {
                return Err(failed(format!("{id} is not as without a kill")));
            }
        }
        Ok(stored.values().filter_map(|(text, _)| word(text)).collect())
    }

    /// Each chunk has the vector of its own text.
    fn check_vectors(&self, content: &Content) -> Result<()> {
        let texts: BTreeMap<Word, String> = self
            .server
            .requests()
            .into_iter()
            .flatten()
            .filter_map(|text| Some((word(&text)?, text)))
            .collect();
        for (id, (text, vector)) in content {
            let asked = word(text).and_then(|word| texts.get(&word));
            let asked = asked.ok_or_else(|| failed(format!("{id} was never embedded")))?;
            let should = Vector::new(word_vector(asked, DIMENSION)).map_err(failed)?;
            let has = vector.as_ref().ok_or_else(|| failed(format!("{id} has no vector")))?;
            let dot: f32 = has.as_slice().iter().zip(should.as_slice()).map(|(a, b)| a * b).sum();
            if dot < 0.9999 {
                return Err(failed(format!("{id} has the vector of another text")));
            }
        }
        Ok(())
    }
}

/// The word of a passage; nothing for the text that tells the dimension.
fn word(text: &str) -> Option<Word> {
    text.split_whitespace().find(|word| word.starts_with("passage")).map(ToOwned::to_owned)
}

fn words(requests: &[Vec<String>]) -> Vec<Word> {
    requests.iter().flatten().filter_map(|text| word(text)).collect()
}

fn everybody() -> Scope {
    Scope::with_roles(Roles::new(["hr", "legal"]))
}

async fn ids(index: &dyn ChunkIndex) -> Result<Vec<ChunkId>> {
    let mut ids = Vec::new();
    for document in index.maintenance().documents().await.map_err(failed)? {
        let chunks = u32::try_from(document.chunks).map_err(failed)?;
        ids.extend((0..chunks).map(|ordinal| ChunkId::new(document.id.clone(), ordinal)));
    }
    Ok(ids)
}

/// All chunks of an index.
async fn content(folder: &Path) -> Result<Content> {
    let options = OpenOptions::new(folder, Runtime::system());
    let index = SqliteIndex::open(options).await.map_err(failed)?;
    let ids = ids(&index).await?;
    let reader = ChunkIndex::reader(&index, &everybody()).await.map_err(failed)?;
    let texts = reader.fetch(&ids).await.map_err(failed)?;
    let vectors = reader.vectors(&ids).await.map_err(failed)?;
    if texts.len() != ids.len() || vectors.len() != ids.len() {
        return Err(failed("chunks are missing"));
    }
    let content = texts.into_iter().zip(vectors);
    let content = content.map(|(chunk, vector)| (chunk.id, (chunk.text, vector))).collect();
    drop(reader);
    index.close().await;
    Ok(content)
}

/// Compares what two indexes find, by words and by meaning, to the last bit.
async fn same_hits(place: &Path, draw: &mut Draw) -> Result<()> {
    let mut readers = Vec::new();
    let mut indexes = Vec::new();
    for name in ["whole", "index"] {
        let options = OpenOptions::new(place.join(name), Runtime::system());
        let index = SqliteIndex::open(options).await.map_err(failed)?;
        readers.push(ChunkIndex::reader(&index, &everybody()).await.map_err(failed)?);
        indexes.push(index);
    }
    for _ in 0..8 {
        let text = draw.words(4);
        let mut found = Vec::new();
        for reader in &readers {
            found.push(hits(reader.as_ref(), &text).await?);
        }
        if found.first() != found.last() {
            return Err(failed(format!("`{text}` finds {found:?}")));
        }
    }
    drop(readers);
    for index in indexes {
        index.close().await;
    }
    Ok(())
}

async fn hits(reader: &dyn ChunkReader, text: &str) -> Result<Vec<(ChunkId, u64)>> {
    let sparse = reader.sparse(&SparseQuery::new(text, 10)).await.map_err(failed)?;
    let vector = Vector::new(word_vector(text, DIMENSION)).map_err(failed)?;
    let dense = reader.dense(&DenseQuery::new(vector, 10)).await.map_err(failed)?;
    let sparse = sparse.into_iter().map(|hit| (hit.id, hit.bm25.to_bits()));
    Ok(sparse.chain(dense.into_iter().map(|hit| (hit.id, hit.cosine.to_bits()))).collect())
}

/// The process that is killed: ingests the corpus of a place into an index of it.
pub(super) async fn write(place: &Path, index: &str, server: &str) -> Result<()> {
    let batch = BATCH.to_string();
    let sources = Sources::new().env([
        ("OLLAMA_HOST", server),
        ("KUHAKU_RAG__EMBEDDING_PROVIDER", "ollama"),
        ("KUHAKU_RAG__EMBEDDING_MODEL", "words"),
        ("KUHAKU_RAG__EMBEDDING_BATCH", &batch),
        // A paragraph of the corpus is a passage.
        ("KUHAKU_RAG__CHUNK_SIZE", "200"),
        ("KUHAKU_RAG__CHUNK_OVERLAP", "0"),
    ]);
    let builder = Rag::builder().sources(&sources).map_err(failed)?;
    let key = IdKey::from_bytes([5; 32]);
    let rag = builder.index(place.join(index)).id_key(key).open().await.map_err(failed)?;
    say("open")?;
    let corpus = [place.join("corpus")];
    let options = IngestOptions::default();
    let report = rag.ingest_paths(&corpus, &options, &mut ()).await.map_err(failed)?;
    if report.count(DocumentOutcome::Failed) > 0 || !report.warnings.is_empty() {
        return Err(failed(format!("{report:?}")));
    }
    rag.close().await;
    say("end")
}
