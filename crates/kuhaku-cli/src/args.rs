//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use kuhaku::core::{Date, Timestamp};
use kuhaku::eval::Threshold;
use kuhaku::{ChunkId, DocumentId, IdKey, Strategy, TraceId};

use crate::exit;
use crate::fields::FieldArg;
use crate::logs::{LogFormat, LogLevel};

/// Ask a folder of documents, within the asker's rights, or take values out of text.
#[derive(Debug, Parser)]
#[command(
    name = "kuhaku",
    version,
    arg_required_else_help = true,
    after_help = exit::HELP,
    after_long_help = exit::HELP
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// The folder of the index [default: ./kuhaku-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Print one JSON value instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Read settings from this TOML file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Read environment variables from this dotenv file
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) env_file: Option<PathBuf>,
    /// The secret that document ids are made from, as 64 hex digits; for indexes that are compared
    #[arg(long, global = true, value_name = "HEX", value_parser = IdKey::from_hex)]
    pub(crate) id_key: Option<IdKey>,
    /// How log lines are written, to standard error
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) log_format: LogFormat,
    /// How much is logged
    #[arg(long, global = true, value_name = "LEVEL", value_enum, default_value_t)]
    pub(crate) log_level: LogLevel,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Put files and folders into the index
    Ingest(IngestArgs),
    /// Find passages
    Search(SearchArgs),
    /// Answer a question, with citations
    Ask(AskArgs),
    /// Take values out of a text, and ask for those that it lacks
    Extract(ExtractArgs),
    /// List or remove documents (for operators: shows all, whoever may see them)
    #[command(subcommand)]
    Documents(DocumentsCommand),
    /// List or release passages that were held back at ingest (for operators)
    #[command(subcommand)]
    Quarantine(QuarantineCommand),
    /// Show, check or prune the record of questions and searches (for operators)
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Say whether a text looks like an attack on a model's instructions, and why
    #[command(subcommand)]
    Guard(GuardCommand),
    /// Look after the index: sizes, damage, copies, erasure (for operators)
    #[command(subcommand)]
    Index(IndexCommand),
    /// Measure retrieval and answers on a dataset, and compare runs
    #[command(subcommand)]
    Eval(EvalCommand),
    /// List, pull, check or remove local models and the library that runs them
    #[command(subcommand)]
    Models(ModelsCommand),
    /// Say what is configured, what is missing, and what to do next
    Doctor(ModelArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelsCommand {
    /// List the models that are known by name, and which of them are here
    List,
    /// Download models; goes on where an earlier pull ended
    Pull(PullArgs),
    /// Read models whole and hold them against their sums; status 6 if one differs
    Verify {
        /// Which; all that are here without any
        #[arg(value_name = "NAME")]
        names: Vec<String>,
    },
    /// Remove models that were pulled
    Remove {
        /// Which
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Print the folder of a model, or the file of the library
    Path {
        /// Which
        #[arg(value_name = "NAME")]
        name: String,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PullArgs {
    /// A name of the list, `onnxruntime`, or OWNER/NAME[@REVISION] of the hub
    #[arg(required = true, value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Say what it holds and what it takes on the disk
    Stats,
    /// Look for damage, without changing anything
    Verify {
        /// Leave out whether each passage is found by the words of its text
        #[arg(long)]
        quick: bool,
    },
    /// Make a sound index of what can be read; the damaged files are kept beside it
    Repair,
    /// Copy the index, while it may be in use, to a folder that does not exist yet
    Backup {
        /// The new folder
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Delete the last bytes of what was removed, and give back the room
    Compact,
    /// Mask the stored text again, when this kuhaku masks more than the one that made the index
    Remask,
    /// Make the vectors of another embedding model, or those that are missing, of the stored text;
    /// goes on where an earlier run ended
    Reembed(ReembedArgs),
}

/// Which model makes the vectors, whatever the settings say.
#[derive(Debug, ClapArgs)]
pub(crate) struct ReembedArgs {
    /// Where the model is: local, vertex, openai, openai_compat or ollama; none takes all vectors away
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct IngestArgs {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Only callers with one of these roles see the documents; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Forget tags that an earlier --tag gave: what the documents state counts again, else everybody
    /// sees them
    #[arg(long, conflicts_with = "tags")]
    pub(crate) untag: bool,
    #[command(flatten)]
    pub(crate) walk: WalkArgs,
    /// Remove documents whose files were in these folders and are gone
    #[arg(long, conflicts_with = "reindex")]
    pub(crate) sync: bool,
    /// Stay, and ingest again whenever something changes in these folders; ends with Ctrl-C
    #[arg(long, conflicts_with = "reindex")]
    pub(crate) watch: bool,
    /// Make the index anew under today's settings: other documents go, tags that were set stay
    #[arg(long)]
    pub(crate) reindex: bool,
}

#[derive(Debug, Default, ClapArgs)]
pub(crate) struct WalkArgs {
    /// Only files whose name, or with a slash whose path in the folder, matches; `!PATTERN` leaves
    /// out; may be repeated
    #[arg(long = "glob", value_name = "PATTERN")]
    pub(crate) globs: Vec<String>,
    /// Also files and folders whose names begin with a dot
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Also what ignore files leave out
    #[arg(long)]
    pub(crate) no_ignore: bool,
    /// Do not enter folders inside folders
    #[arg(long)]
    pub(crate) no_recursive: bool,
}

/// Who asks, and for how much.
#[derive(Debug, ClapArgs)]
pub(crate) struct CallerArgs {
    /// A role of the asker; may be repeated. Without any, only untagged documents are seen
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
    /// How many passages at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) top_k: Option<u32>,
    /// How passages are found: by words (sparse), by meaning (dense), by both (hybrid); auto is both
    /// where the index has vectors
    #[arg(long, value_name = "NAME", value_parser = strategy)]
    pub(crate) strategy: Option<Strategy>,
    /// Only documents of this type; may be repeated
    #[arg(long = "doc-type", value_name = "TYPE")]
    pub(crate) doc_types: Vec<String>,
    /// Only documents whose metadata has this value; may be repeated
    #[arg(long = "where", value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Also documents that are not in force today
    #[arg(long)]
    pub(crate) any_validity: bool,
    /// Who asks, for the audit; gives no rights
    #[arg(long, value_name = "NAME")]
    pub(crate) identity: Option<String>,
    /// The id of the request, for logs and the audit
    #[arg(long, value_name = "ID", value_parser = trace_id)]
    pub(crate) trace_id: Option<TraceId>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SearchArgs {
    /// What to look for; quotes around several words are not needed
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AskArgs {
    /// The question; quotes around it are not needed
    #[arg(required = true)]
    pub(crate) question: Vec<String>,
    /// Ingest these files and folders first; without --index into an index that is thrown away
    #[arg(long = "docs", value_name = "PATH")]
    pub(crate) docs: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) caller: CallerArgs,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Print the answer when it is complete, not while it is written
    #[arg(long)]
    pub(crate) no_stream: bool,
}

/// What a batch goes without. Named for each of its options: an option that is required is not asked
/// for beside one that it conflicts with.
const ONE_TEXT: [&str; 7] = ["text", "file", "chat", "preview", "prior", "reference", "identity"];

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Without a text, --file or --jsonl the text is read from standard input; at a \
                        terminal, a conversation begins."
)]
pub(crate) struct ExtractArgs {
    /// What to extract: NAME, NAME:KIND or NAME:KIND=DESCRIPTION. KIND is text, number, integer,
    /// boolean, date or a choice such as small|large; [] after it makes a list, ? makes it optional
    #[arg(
        required_unless_present = "schema",
        value_name = "FIELD",
        value_parser = FieldArg::parse
    )]
    pub(crate) fields: Vec<FieldArg>,
    /// The text, after --; quotes around several words are not needed
    #[arg(last = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Take what to extract from this JSON Schema
    #[arg(long, value_name = "FILE", conflicts_with = "fields")]
    pub(crate) schema: Option<PathBuf>,
    /// Read the text from this file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    /// Read a text a line: JSON strings, or objects with `text` and perhaps `id`, `history`,
    /// `reference`, `prior`
    #[arg(
        long,
        value_name = "FILE",
        requires = "out",
        conflicts_with_all = ONE_TEXT
    )]
    pub(crate) jsonl: Option<PathBuf>,
    /// Write a line of JSON for each of --jsonl to this file; what an earlier run has done stays
    #[arg(long, value_name = "FILE", requires = "jsonl", conflicts_with_all = ONE_TEXT)]
    pub(crate) out: Option<PathBuf>,
    /// How many texts of --jsonl at a time
    #[arg(
        long,
        value_name = "N",
        requires = "jsonl",
        conflicts_with_all = ONE_TEXT,
        value_parser = clap::value_parser!(u32).range(1..=1024)
    )]
    pub(crate) concurrency: Option<u32>,
    /// Go on until everything is there: ask for what is missing, and read the replies, a line each,
    /// from standard input
    #[arg(long)]
    pub(crate) chat: bool,
    /// Print the prompt for the text, and ask no model
    #[arg(long, conflicts_with = "chat")]
    pub(crate) preview: bool,
    /// Go on from this earlier result, or from these values, in JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) prior: Option<PathBuf>,
    /// What else the text may refer to, such as a menu; JSON or text
    #[arg(long, value_name = "FILE")]
    pub(crate) reference: Option<PathBuf>,
    /// Look each value up in the text: report what was found, or make a result invalid, or drop what
    /// was not found and ask for it
    #[arg(long, value_name = "MODE", value_parser = ["off", "report", "invalid", "drop"])]
    pub(crate) evidence: Option<String>,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Who asks, for the audit
    #[arg(long, value_name = "NAME")]
    pub(crate) identity: Option<String>,
    /// The id of the request, for logs and the audit
    #[arg(long, value_name = "ID", value_parser = trace_id)]
    pub(crate) trace_id: Option<TraceId>,
}

/// Which model answers, whatever the settings say.
#[derive(Debug, Default, ClapArgs)]
pub(crate) struct ModelArgs {
    /// The service whose model is asked: none, auto, ollama, openai, anthropic, groq …
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,
    /// The model of that service
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DocumentsCommand {
    /// List all documents
    List,
    /// Remove documents by their ids
    Remove {
        /// The ids, as `documents list` prints them
        #[arg(required = true, value_name = "ID", value_parser = document_id)]
        ids: Vec<DocumentId>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuarantineCommand {
    /// List held-back passages and why they were held back
    List,
    /// Let readers see held-back passages from now on
    Release {
        /// The ids, as `quarantine list` prints them
        #[arg(required = true, value_name = "ID", value_parser = chunk_id)]
        ids: Vec<ChunkId>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardCommand {
    /// Screen a text; status 4 if a question like it would be refused
    Check(GuardCheckArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct GuardCheckArgs {
    /// The text; quotes around it are not needed; `-` reads it from standard input
    #[arg(required = true, value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// As a part of a document, which may tell of attacks; status 4 if it would be held back
    #[arg(long)]
    pub(crate) document: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Print records, newest last; they are not verified
    Show(AuditShowArgs),
    /// Check that all records are there, in order, as they were written; status 6 if not
    Verify,
    /// Remove full files whose last record is older
    Prune {
        /// The day, in UTC, before which records may go
        #[arg(long, value_name = "YYYY-MM-DD", value_parser = midnight)]
        before: Timestamp,
    },
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AuditShowArgs {
    /// Only the last N
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    /// Only this kind of request: ask, search or extraction
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// Only requests that ended in this way, such as refused or error
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Only the request with this id
    #[arg(long, value_name = "ID")]
    pub(crate) trace_id: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Run a dataset and print the measures
    Run(EvalRunArgs),
    /// Compare two runs on the same dataset
    Compare(EvalCompareArgs),
    /// Download a public dataset in BEIR's layout
    Fetch(EvalFetchArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalFetchArgs {
    /// Its name, such as scifact; without one, all names are listed
    pub(crate) name: Option<String>,
    /// The folder that datasets are put into, each in a folder of its name
    #[arg(long, default_value = "datasets", value_name = "DIR")]
    pub(crate) into: PathBuf,
    /// Where the archives are, if not at BEIR: the address before /NAME.zip
    #[arg(long, value_name = "URL")]
    pub(crate) mirror: Option<String>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalRunArgs {
    /// A folder in BEIR's layout (its corpus is searched), or a .jsonl or .csv file of questions
    /// (the index is asked)
    pub(crate) dataset: PathBuf,
    /// The judgements to take, for BEIR's layout
    #[arg(long, default_value = "test", value_name = "NAME")]
    pub(crate) split: String,
    /// Search instead of asking, for questions in a file
    #[arg(long)]
    pub(crate) search: bool,
    /// The measures, such as ndcg@10,recall@100,mrr
    #[arg(long, value_name = "LIST")]
    pub(crate) measures: Option<String>,
    /// How many documents to retrieve, for BEIR's layout
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) depth: u32,
    /// How many passages at most, for questions in a file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) top_k: Option<u32>,
    /// A role of the asker; may be repeated
    #[arg(long = "role", value_name = "ROLE")]
    pub(crate) roles: Vec<String>,
    /// Take so many questions at random
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// The seed of the sample and of the intervals
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// How many questions at a time
    #[arg(long, default_value = "1", value_name = "N")]
    pub(crate) concurrency: std::num::NonZeroUsize,
    /// Write the run to this new file, a JSON value a line
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Go on with the run that --out holds
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
    /// Keep the answers' texts in the run
    #[arg(long)]
    pub(crate) keep_answers: bool,
    #[command(flatten)]
    pub(crate) gates: GateArgs,
}

/// Conditions for the exit status.
#[derive(Debug, ClapArgs)]
pub(crate) struct GateArgs {
    /// End with status 6 unless the measure is at least this: ndcg@10=0.68; may be repeated
    #[arg(long = "min", value_name = "MEASURE=VALUE")]
    pub(crate) min: Vec<Threshold>,
    /// End with status 6 unless the measure is at most this; may be repeated
    #[arg(long = "max", value_name = "MEASURE=VALUE")]
    pub(crate) max: Vec<Threshold>,
    /// End with status 6 when a measure is significantly worse than in this run
    #[arg(long, value_name = "RUN")]
    pub(crate) no_worse_than: Option<PathBuf>,
    /// The level of significance, adjusted for the number of measures (Holm)
    #[arg(long, default_value_t = 0.05, value_name = "P", value_parser = alpha)]
    pub(crate) alpha: f64,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct EvalCompareArgs {
    /// The run to compare with
    pub(crate) baseline: PathBuf,
    /// The run to compare
    pub(crate) candidate: PathBuf,
    /// The seed of the randomisation test and of the intervals
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub(crate) seed: u64,
    /// End with status 6 when a measure of the candidate is significantly worse
    #[arg(long)]
    pub(crate) no_worse: bool,
    /// The level of significance, adjusted for the number of measures (Holm)
    #[arg(long, default_value_t = 0.05, value_name = "P", value_parser = alpha)]
    pub(crate) alpha: f64,
}

fn alpha(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("give a number between 0 and 1, such as 0.05".into()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.into(), value.into())),
        _ => Err("write it as KEY=VALUE".into()),
    }
}

/// The beginning of a day in UTC.
fn midnight(day: &str) -> Result<Timestamp, String> {
    let wrong = |_| "write it as YYYY-MM-DD".to_string();
    let day: Date = day.parse().map_err(wrong)?;
    format!("{day}T00:00:00Z").parse().map_err(wrong)
}

fn strategy(text: &str) -> kuhaku::rag::Result<Strategy> {
    text.parse()
}

fn trace_id(text: &str) -> kuhaku::core::Result<TraceId> {
    TraceId::new(text)
}

fn document_id(text: &str) -> kuhaku::core::Result<DocumentId> {
    DocumentId::new(text)
}

fn chunk_id(text: &str) -> kuhaku::core::Result<ChunkId> {
    text.parse()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
