//! `kuhaku audit`.

use std::collections::VecDeque;

use kuhaku::core::{AuditErrorKind, AuditFinding, StoredRecord, Timestamp};
use kuhaku::{AuditFormat, AuditSettings, AuditTrail, Rag, Result, Section as _, one_line};
use serde_json::{Value, json};

use crate::args::{AuditCommand, AuditShowArgs};
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;

pub(crate) async fn run(command: &AuditCommand, context: &Context<'_>) -> Result<Exit> {
    match command {
        AuditCommand::Show(args) => show(args, context),
        AuditCommand::Verify => {
            let rag = context.open_existing().await?;
            verify(trail(&rag)?, context.console)
        }
        AuditCommand::Prune { before } => {
            let rag = context.open_existing().await?;
            prune(trail(&rag)?, *before, context.console)
        }
    }
}

/// An index in a folder has one always.
fn trail(rag: &Rag) -> Result<&AuditTrail> {
    rag.audit_trail().ok_or_else(|| {
        kuhaku::core::AuditError::new(
            AuditErrorKind::Read,
            "open the audit",
            "a temporary index has none",
        )
        .next("name an index with --index")
        .into()
    })
}

/// Prints records, newest last. Needs no index and no key: nothing is verified.
fn show(args: &AuditShowArgs, context: &Context<'_>) -> Result<Exit> {
    let console = context.console;
    let settings = AuditSettings::load(&context.sources)?;
    let (folder, _) = context.folder()?;
    let mut records = VecDeque::new();
    let mut unreadable = Vec::new();
    for record in settings.records(&folder)? {
        match record {
            Ok(record) if args.wants(&record) => records.push_back(record),
            Ok(_) => {}
            Err(error) => unreadable.push(error),
        }
        if args.last.is_some_and(|last| records.len() > last) {
            records.pop_front();
        }
    }
    if console.json() {
        let records: Vec<&Value> = records.iter().map(StoredRecord::object).collect();
        let unreadable: Vec<Value> = unreadable
            .iter()
            .map(|error| json!({ "code": error.code(), "wrong": error.wrong() }))
            .collect();
        console.value(&json!({ "version": 1, "records": records, "unreadable": unreadable }));
    } else {
        records.iter().for_each(|record| console.line(line(record)));
    }
    for error in &unreadable {
        console.note(&format!("warning: cannot {}: {}", error.tried(), error.wrong()));
    }
    if records.is_empty() {
        console.note(&format!("no such record in {}", settings.path(&folder).display()));
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

impl AuditShowArgs {
    fn wants(&self, record: &StoredRecord) -> bool {
        let is = |key, wanted: &Option<String>| {
            wanted.as_deref().is_none_or(|wanted| record.text(key) == Some(wanted))
        };
        is("event", &self.event) && is("outcome", &self.outcome) && is("trace_id", &self.trace_id)
    }
}

/// A record in one line: when, what, how it ended, who, what was asked.
fn line(record: &StoredRecord) -> Line {
    let text = |key| one_line(record.text(key).unwrap_or("-"), 80);
    let object = record.object();
    let mut line = Line::new()
        .dim(format!("{}  {}  ", text("time"), text("trace_id")))
        .text(format!("{} ", text("event")))
        .bold(text("outcome"));
    let reason = object.pointer("/attributes/reason").and_then(Value::as_str);
    for why in [record.text("error"), reason].into_iter().flatten() {
        line = line.text(format!(" ({})", one_line(why, 80)));
    }
    let identity = object.pointer("/actor/identity").and_then(Value::as_str);
    if let Some(identity) = identity.filter(|identity| !identity.is_empty()) {
        line = line.text(format!(" by {}", one_line(identity, 80)));
    }
    match record.text("input_excerpt") {
        Some(excerpt) => line.text(format!(": {}", one_line(excerpt, 100))),
        None => line,
    }
}

fn verify(trail: &AuditTrail, console: &Console) -> Result<Exit> {
    let found = trail.verify()?;
    if console.json() {
        let findings: Vec<Value> = found.findings.iter().map(finding).collect();
        console.value(&json!({
            "version": 1,
            "intact": found.is_intact(),
            "records": found.records,
            "files": found.files,
            "last_sequence": found.last_sequence,
            "last_hash": found.last_hash,
            "unanchored": found.unanchored,
            "unfinished": found.unfinished,
            "findings": findings,
            "omitted": found.omitted,
        }));
    } else {
        for AuditFinding { file, line, damage, .. } in &found.findings {
            let place = Line::new().bold(format!("{}:{line}", file.display()));
            console.line(place.text(format!(": {damage} ")).dim(format!("[{}]", damage.code())));
        }
        if found.omitted > 0 {
            console.line(format!("and {} more", found.omitted));
        }
        let verdict = if found.is_intact() { "intact" } else { "damaged" };
        console.line(format!(
            "{verdict}: {} records in {} files; the last is number {} with hash {}",
            found.records, found.files, found.last_sequence, found.last_hash
        ));
    }
    Ok(if found.is_intact() { Exit::Done } else { Exit::Unmet })
}

fn finding(finding: &AuditFinding) -> Value {
    json!({
        "file": finding.file.display().to_string(),
        "line": finding.line,
        "damage": finding.damage.code(),
        "says": finding.damage.to_string(),
    })
}

fn prune(trail: &AuditTrail, before: Timestamp, console: &Console) -> Result<Exit> {
    let pruned = trail.prune(before)?;
    if console.json() {
        let (files, records) = (pruned.files, pruned.records);
        console.value(&json!({ "version": 1, "files": files, "records": records }));
    } else if trail.format() == AuditFormat::Jsonl {
        console.line(format!("{} files with {} records removed", pruned.files, pruned.records));
    } else {
        console.line(format!("{} records removed", pruned.records));
    }
    Ok(Exit::Done)
}
