//! `kuhaku eval fetch`.

use kuhaku::Result;
use kuhaku::core::{Downloader, Error, ErrorKind, HttpClient};
use kuhaku::eval::{FetchedSet, SetFetcher, public_sets};
use serde_json::json;

use super::models::{consented, store};
use crate::args::EvalFetchArgs;
use crate::console::{Console, Line};
use crate::context::Context;
use crate::exit::Exit;
use crate::progress::Bytes;

pub(crate) async fn run(args: &EvalFetchArgs, context: &Context<'_>) -> Result<Exit> {
    let console = context.console;
    let Some(name) = &args.name else {
        list(console);
        return Ok(Exit::Done);
    };
    let http = HttpClient::builder().build()?;
    let bar = Bytes::new();
    let downloader = Downloader::new(http.clone(), context.runtime()).on_progress({
        let (bar, file) = (bar.clone(), name.clone());
        move |progress| bar.at(&file, progress.done, progress.total, progress.waiting)
    });
    let mut fetcher = SetFetcher::new(&args.into, http, context.runtime()).downloader(downloader);
    if let Some(mirror) = &args.mirror {
        fetcher = fetcher.mirror(mirror);
    }
    if let Some(there) = fetcher.find(name)? {
        return Ok(done(name, &there, None, console));
    }
    if store(context)?.is_offline() {
        let wrong = "it is not here, and the settings say to stay offline";
        return Err(Error::new(
            ErrorKind::CapabilityUnavailable,
            format!("fetch the dataset {name}"),
            wrong,
        )
        .next("unset HF_HUB_OFFLINE and KUHAKU_MODELS__OFFLINE, or copy the folder there")
        .into());
    }
    let plan = fetcher.plan(name).await?;
    let consented = consented(args.yes, &plan.step()).await?;
    console.note(&plan.step().to_string());
    let fetched = fetcher.fetch(&plan, consented).await?;
    bar.finish();
    if !fetched.published {
        console.note("no sum is published for the archive; the one that came is recorded");
    }
    Ok(done(name, &plan.folder, Some(&fetched), console))
}

fn done(
    name: &str,
    folder: &std::path::Path,
    fetched: Option<&FetchedSet>,
    console: &Console,
) -> Exit {
    if console.json() {
        console.value(&json!({
            "version": 1,
            "dataset": name,
            "folder": folder,
            "received_bytes": fetched.map_or(0, |fetched| fetched.received),
            "sha256": fetched.map(|fetched| fetched.sha256),
            "splits": fetched.map(|fetched| &fetched.splits),
        }));
        return Exit::Done;
    }
    let what = if fetched.is_some() { "fetched" } else { "here already" };
    console
        .line(Line::new().bold(name).text(format!("  {what}  ")).dim(folder.display().to_string()));
    let folder = folder.display().to_string();
    // As one word of a shell.
    let folder = match folder.contains([' ', '\'', '"', '$', '`']) {
        true => format!("'{}'", folder.replace('\'', "'\\''")),
        false => folder,
    };
    console.note(&format!("next: kuhaku eval run {folder}"));
    Exit::Done
}

fn list(console: &Console) {
    if console.json() {
        let sets = public_sets().iter().map(|set| {
            json!({
                "name": set.name,
                "about": set.about,
                "documents": set.documents,
                "questions": set.questions,
                "md5": set.md5,
            })
        });
        let sets: Vec<_> = sets.collect();
        return console.value(&json!({ "version": 1, "datasets": sets }));
    }
    for set in public_sets() {
        let size = format!("({} documents, {} questions)", set.documents, set.questions);
        console.line(Line::new().bold(set.name).text(format!("  {}  ", set.about)).dim(size));
    }
}
