//! `kuhaku models`.

use kuhaku::core::{ConsentStep, Consented, HttpClient};
use kuhaku::onnx::{
    DEFAULT_EMBEDDER, ErrorKind, FileCheck, ModelStatus, ModelStore, RUNTIME_NAME, RUNTIME_VERSION,
    StoreSettings, Verdict, known_models,
};
use kuhaku::{Result, Section as _};
use serde_json::{Value, json};

use crate::args::{ModelsCommand, PullArgs};
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;
use crate::progress::Bytes;
use crate::terminal::Terminal;

pub(crate) async fn run(command: &ModelsCommand, context: &Context<'_>) -> Result<Exit> {
    let store = store(context)?;
    let console = context.console;
    match command {
        ModelsCommand::List => list(&store, console),
        ModelsCommand::Pull(args) => pull(args, &store, context).await,
        ModelsCommand::Verify { names } => verify(names, &store, console),
        ModelsCommand::Remove { names } => remove(names, &store, console),
        ModelsCommand::Path { name } => path(name, &store, console),
    }
}

/// The store by the settings of this run.
pub(super) fn store(context: &Context<'_>) -> Result<ModelStore> {
    let settings = StoreSettings::load(&context.sources)?;
    Ok(ModelStore::new(settings, std::env::home_dir().as_deref())?)
}

/// One line of the list.
struct Listed {
    name: &'static str,
    kind: &'static str,
    repository: &'static str,
    revision: &'static str,
    licence: &'static str,
    about: Option<u64>,
    status: ModelStatus,
}

fn list(store: &ModelStore, console: &Console) -> Result<Exit> {
    let mut listed = Vec::new();
    for known in known_models() {
        listed.push(Listed {
            name: known.name,
            kind: known.kind.as_str(),
            repository: known.repository,
            revision: known.revision,
            licence: known.licence,
            about: Some(known.about),
            status: store.status(known.name)?,
        });
    }
    // Without a release for this machine there is nothing to list.
    if let Ok(status) = store.status(RUNTIME_NAME) {
        listed.push(Listed {
            name: RUNTIME_NAME,
            kind: "runtime",
            repository: "microsoft/onnxruntime",
            revision: RUNTIME_VERSION,
            licence: "MIT",
            about: None,
            status,
        });
    }
    if console.json() {
        let models: Vec<_> = listed.iter().map(Listed::json).collect();
        console.value(&json!({
            "version": 1, "cache": store.cache(), "offline": store.is_offline(), "models": models,
        }));
        return Ok(Exit::Done);
    }
    for model in &listed {
        console.line(model.line());
    }
    console.note(&format!("cache: {}", store.cache().display()));
    Ok(Exit::Done)
}

impl Listed {
    fn json(&self) -> Value {
        let (state, bytes) = match &self.status {
            ModelStatus::Present { bytes, .. } => ("present", *bytes),
            ModelStatus::Incomplete { bytes } => ("incomplete", *bytes),
            _ => ("absent", 0),
        };
        json!({
            "name": self.name,
            "kind": self.kind,
            "repository": self.repository,
            "revision": self.revision,
            "licence": self.licence,
            "about_bytes": self.about,
            "default": self.name == DEFAULT_EMBEDDER,
            "state": state,
            "bytes": bytes,
        })
    }

    fn line(&self) -> Line {
        let state = match &self.status {
            ModelStatus::Present { .. } => "here",
            ModelStatus::Incomplete { .. } => "in part",
            _ => "not here",
        };
        let size = self.about.map(|about| format!(", {}", megabytes(about))).unwrap_or_default();
        let default = if self.name == DEFAULT_EMBEDDER { ", the default" } else { "" };
        Line::new()
            .bold(self.name)
            .text(format!("  {state}  "))
            .dim(format!("({}{size}, {}{default})", self.kind, self.licence))
    }
}

async fn pull(args: &PullArgs, store: &ModelStore, context: &Context<'_>) -> Result<Exit> {
    let console = context.console;
    let http = HttpClient::builder().build()?;
    let mut pulled = Vec::new();
    for name in &args.names {
        let bar = Bytes::new();
        let puller = store.puller(http.clone(), context.runtime()).on_progress({
            let bar = bar.clone();
            move |progress| {
                bar.at(&progress.file, progress.done, progress.total, progress.waiting);
            }
        });
        let plan = puller.plan(name).await?;
        let received = if plan.is_complete() {
            0
        } else {
            let consented = consented(args.yes, &plan.step()).await?;
            console.note(&plan.step().to_string());
            puller.pull(&plan, consented).await?
        };
        bar.finish();
        // What was pulled was checked; this reads lengths and times alone.
        let (path, revision, files) = if plan.name == RUNTIME_NAME {
            (store.runtime_library()?, RUNTIME_VERSION.to_owned(), store.verify(RUNTIME_NAME)?)
        } else {
            let model = store.open(&plan.name)?;
            (model.folder, model.revision, model.files)
        };
        if console.json() {
            let files: Vec<_> = files.iter().map(json_of).collect();
            pulled.push(json!({
                "name": plan.name,
                "revision": revision,
                "path": path,
                "received_bytes": received,
                "files": files,
            }));
            continue;
        }
        let what = if received > 0 { "pulled" } else { "here already" };
        console.line(
            Line::new().bold(plan.name).text(format!("  {what}  ")).dim(path.display().to_string()),
        );
        for file in files.iter().filter(|file| recorded(file)) {
            let file = &file.path;
            console.note(&format!("{file}: no sum is published; the one that came is recorded"));
        }
    }
    if console.json() {
        console.value(&json!({ "version": 1, "models": pulled }));
    }
    Ok(Exit::Done)
}

/// A yes on the command line, or one at the terminal.
pub(super) async fn consented(yes: bool, step: &ConsentStep) -> Result<Consented> {
    if yes {
        return Ok(Consented::given());
    }
    Ok(Consented::ask(&Terminal::new(), step).await?)
}

fn recorded(file: &FileCheck) -> bool {
    matches!(file.verdict, Verdict::Matches(source) if source.as_str() == "recorded")
}

fn verify(names: &[String], store: &ModelStore, console: &Console) -> Result<Exit> {
    let present = |name: &&str| {
        matches!(
            store.status(name),
            Ok(ModelStatus::Present { .. } | ModelStatus::Incomplete { .. })
        )
    };
    let all = known_models().iter().map(|known| known.name).chain([RUNTIME_NAME]);
    let names: Vec<String> = match names {
        [] => all.filter(present).map(str::to_owned).collect(),
        named => named.to_vec(),
    };
    let (mut exit, mut lines) = (Exit::Done, Vec::new());
    for name in &names {
        let files = match store.verify(name) {
            // What is said of the others stays.
            Err(error) if *error.kind() == ErrorKind::NotPulled && names.len() > 1 => {
                exit = Exit::Nothing;
                lines.push(json!({ "name": name, "verified": false, "files": [] }));
                if !console.json() {
                    console.error(&error.into());
                }
                continue;
            }
            Err(error) if *error.kind() == ErrorKind::NotPulled => {
                console.error(&error.into());
                return Ok(Exit::Nothing);
            }
            files => files?,
        };
        let right = files.iter().all(|file| matches!(file.verdict, Verdict::Matches(_)));
        if !right && exit == Exit::Done {
            exit = Exit::Unmet;
        }
        for file in files.iter().filter(|_| !console.json()) {
            console
                .line(Line::new().bold(name).text(format!("  {}  ", file.path)).text(word(file)));
        }
        let files: Vec<_> = files.iter().map(json_of).collect();
        lines.push(json!({ "name": name, "verified": right, "files": files }));
    }
    if console.json() {
        console.value(&json!({ "version": 1, "models": lines }));
    } else if names.is_empty() {
        console.note("no model is here");
    }
    Ok(if names.is_empty() { Exit::Nothing } else { exit })
}

fn word(file: &FileCheck) -> String {
    match file.verdict {
        Verdict::Matches(source) => format!("as {}", source.as_str()),
        Verdict::Differs { expected } => {
            let found = file.sha256.map(|sum| sum.to_string()).unwrap_or_default();
            format!("differs: SHA-256 {found}, expected {expected}")
        }
        _ => "missing".into(),
    }
}

fn json_of(file: &FileCheck) -> Value {
    let (verdict, sum, expected) = match file.verdict {
        Verdict::Matches(source) => ("matches", Some(source.as_str()), None),
        Verdict::Differs { expected } => ("differs", None, Some(expected)),
        _ => ("missing", None, None),
    };
    json!({
        "path": file.path,
        "bytes": file.bytes,
        "sha256": file.sha256,
        "verdict": verdict,
        "sum": sum,
        "expected": expected,
    })
}

fn remove(names: &[String], store: &ModelStore, console: &Console) -> Result<Exit> {
    let (mut exit, mut lines) = (Exit::Done, Vec::new());
    for name in names {
        let freed = match store.remove(name) {
            Err(error) if *error.kind() == ErrorKind::NotPulled && !console.json() => {
                console.error(&error.into());
                exit = Exit::Nothing;
                continue;
            }
            Err(error) if *error.kind() == ErrorKind::NotPulled => {
                exit = Exit::Nothing;
                None
            }
            freed => Some(freed?),
        };
        lines.push(json!({ "name": name, "removed": freed.is_some(), "freed_bytes": freed }));
        if let Some(freed) = freed.filter(|_| !console.json()) {
            console.line(Line::new().bold(name).text(format!("  removed, {}", megabytes(freed))));
        }
    }
    if console.json() {
        console.value(&json!({ "version": 1, "models": lines }));
    }
    Ok(exit)
}

fn path(name: &str, store: &ModelStore, console: &Console) -> Result<Exit> {
    let found = if name.eq_ignore_ascii_case(RUNTIME_NAME) {
        store.runtime_library()
    } else {
        store.open(name).map(|model| model.folder)
    };
    match found {
        Ok(path) if console.json() => {
            console.value(&json!({ "version": 1, "name": name, "path": path }));
            Ok(Exit::Done)
        }
        Ok(path) => {
            console.line(path.display().to_string());
            Ok(Exit::Done)
        }
        Err(error) if *error.kind() == ErrorKind::NotPulled => {
            console.error(&error.into());
            Ok(Exit::Nothing)
        }
        Err(error) => Err(error.into()),
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{} MB", bytes.div_ceil(1_000_000))
}
