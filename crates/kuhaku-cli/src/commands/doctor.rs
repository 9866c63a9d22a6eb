//! `kuhaku doctor`.

use kuhaku::{AuditSettings, EmbedderChoice, EmbeddingProvider, Error, Result, Section as _};
use serde_json::json;

use crate::args::ModelArgs;
use crate::console::{Line, masked, masked_but_hosts};
use crate::context::Context;
use crate::exit::Exit;

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    fine: bool,
    says: String,
    next: Option<String>,
}

pub(crate) async fn run(args: &ModelArgs, context: &Context<'_>) -> Result<Exit> {
    let mut findings = match context.builder() {
        Ok(_) => {
            let model = model(args, context).await?;
            let embedding = embedding(context)?;
            vec![settings(context), index(context).await?, audit(context)?, embedding, model]
        }
        Err(error) => unusable(&error),
    };
    let console = context.console;
    // Paths and addresses that were typed are shown masked; where text goes must be seen.
    for finding in &mut findings {
        finding.says = masked_but_hosts(&finding.says);
        finding.next = finding.next.as_deref().map(masked_but_hosts);
    }
    if console.json() {
        let lines: Vec<_> = findings
            .iter()
            .map(|f| json!({ "what": f.what, "fine": f.fine, "says": f.says, "next": f.next }))
            .collect();
        console.value(&json!({ "version": 1, "findings": lines }));
    } else {
        console.line(format!("kuhaku {}", env!("CARGO_PKG_VERSION")));
        for finding in &findings {
            let mark = if finding.fine { "ok " } else { "fix" };
            console.line(
                Line::new()
                    .text(format!("{mark} "))
                    .bold(finding.what)
                    .text(format!(": {}", finding.says)),
            );
            // A line for each way on.
            let ways = finding.next.iter().flat_map(|next| next.split(", or "));
            for (at, way) in ways.enumerate() {
                console.line(format!("    {} {way}", if at == 0 { "next:" } else { "   or" }));
            }
        }
    }
    let fine = findings.iter().all(|finding| finding.fine);
    Ok(if fine { Exit::Done } else { Exit::Nothing })
}

/// What can be said when a setting has a value that is none: all that is wrong with the settings, and
/// that the rest hangs on them.
fn unusable(error: &Error) -> Vec<Finding> {
    let finding = |what, says: &str, next| Finding { what, fine: false, says: says.into(), next };
    let rest = ["index", "audit", "embedding model", "language model"];
    let rest =
        rest.map(|what| finding(what, "not looked at, since it hangs on the settings", None));
    let next = error.next_step().map(Into::into);
    let settings = finding("settings", &masked(error.wrong()), next);
    [settings].into_iter().chain(rest).collect()
}

fn settings(context: &Context<'_>) -> Finding {
    let unknown = kuhaku::unknown_settings(&context.sources).len();
    let (says, next) = match unknown {
        0 => ("all names and values are good".to_string(), None),
        1 => ("one name is unknown".into(), Some("correct the name warned about above".into())),
        n => {
            (format!("{n} names are unknown"), Some("correct the names warned about above".into()))
        }
    };
    Finding { what: "settings", fine: unknown == 0, says, next }
}

async fn index(context: &Context<'_>) -> Result<Finding> {
    let (folder, _) = context.folder()?;
    let shown = folder.display();
    match context.builder()?.index(&folder).create(false).without_embedder().open().await {
        Ok(rag) => {
            let rag = context.keep(rag);
            let totals = rag.maintenance().statistics().await?;
            let held = match totals.quarantined {
                0 => String::new(),
                held => format!(", {held} held back"),
            };
            let made = rag.index().fingerprint();
            let vectors = match &made.embedder {
                Some(embedder) => {
                    let named = embedder.split(';').next().unwrap_or_default();
                    format!("{} vectors by {named}", totals.vectors)
                }
                None => "no vectors".into(),
            };
            let says = format!(
                "{shown} holds {} documents in {} passages{held}, with {} sets of access tags; \
                 language {}, chunks {}, {vectors}",
                totals.documents,
                totals.chunks,
                totals.visibility_classes,
                made.language,
                made.chunker
            );
            let missing = made.embedder.is_some() && totals.vectors < totals.chunks;
            let next = match totals.documents {
                0 => Some("run `kuhaku ingest PATH` to fill it".to_string()),
                _ => missing.then(|| "run `kuhaku index reembed` for missing vectors".to_string()),
            };
            Ok(Finding { what: "index", fine: next.is_none(), says, next })
        }
        Err(error) => Ok(Finding {
            what: "index",
            fine: false,
            says: format!("cannot {}: {}", error.tried(), error.wrong()),
            next: error.next_step().map(Into::into),
        }),
    }
}

fn audit(context: &Context<'_>) -> Result<Finding> {
    let settings = AuditSettings::load(&context.sources)?;
    let (folder, _) = context.folder()?;
    let path = settings.path(&folder);
    let path = path.display();
    let (fine, says, next) = match settings.writable(&folder) {
        Ok(()) if settings.audit_enabled => {
            (true, format!("each request leaves a record in {path}"), None)
        }
        Ok(()) => (true, "off; requests leave no record".into(), None),
        Err(error) => {
            let says = format!("{path} cannot be written: {}", error.wrong());
            (false, says, error.next_step().map(Into::into))
        }
    };
    Ok(Finding { what: "audit", fine, says, next })
}

/// Which model makes vectors, whether it is here, and which text would go where.
fn embedding(context: &Context<'_>) -> Result<Finding> {
    let choice = EmbedderChoice::from_sources(&context.sources, context.runtime())?;
    let (fine, says, next) = match choice.preview() {
        Ok(Some(plan)) => (true, plan.to_string(), None),
        Ok(None) if choice.provider() == EmbeddingProvider::None => {
            (true, "none, as set; passages are found by words".to_owned(), None)
        }
        Ok(None) => {
            let next = if cfg!(feature = "dense") {
                "to have one, run `kuhaku models pull multilingual-e5-small onnxruntime`, or set \
                 KUHAKU_RAG__EMBEDDING_PROVIDER to a service"
            } else {
                "to have one, set KUHAKU_RAG__EMBEDDING_PROVIDER to a service, or build kuhaku with the \
                 feature `dense` for a local model"
            };
            (true, "none; passages are found by words".to_owned(), Some(next.to_owned()))
        }
        Err(error) => {
            let says = format!("cannot {}: {}", error.tried(), error.wrong());
            (false, says, error.next_step().map(Into::into))
        }
    };
    Ok(Finding { what: "embedding model", fine, says, next })
}

/// Which model would answer, why, and which text would go where; in one line.
async fn model(args: &ModelArgs, context: &Context<'_>) -> Result<Finding> {
    const STAYS: &str = "answers are sentences of the documents, and no text leaves this machine";
    let choice = context.choice(args)?;
    let named = choice.named();
    let (fine, says, next) = match choice.preview().await {
        Ok(Some(chosen)) => {
            let says = masked_but_hosts(&chosen.explain());
            (true, says.strip_prefix("llm: ").unwrap_or(&says).to_owned(), None)
        }
        Ok(None) => (true, format!("none, as set; {STAYS}"), None),
        // With the choice left open, having none is as good.
        Err(error) if matches!(named, Ok(None)) => {
            let says = format!("none ({}); {STAYS}", error.wrong());
            (true, says, error.next_step().map(|step| format!("to have one, {step}")))
        }
        Err(error) => {
            let says = format!("cannot {}: {}", error.tried(), error.wrong());
            (false, says, error.next_step().map(Into::into))
        }
    };
    Ok(Finding { what: "language model", fine, says, next })
}
