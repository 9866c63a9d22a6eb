//! What each command does.

mod ask;
mod audit;
mod conversation;
mod doctor;
mod documents;
mod eval;
mod extract;
mod fetch;
mod guard;
mod index;
mod ingest;
mod models;
mod quarantine;
mod search;

use kuhaku::{Result, Runtime};

use crate::args::{Args, Command};
use crate::console::Console;
use crate::context::Context;
use crate::exit::Exit;

/// Runs the command that was asked for.
pub(crate) async fn run(args: &Args, console: &Console, runtime: Runtime) -> Result<Exit> {
    let context = Context::new(&args.common, console, runtime)?;
    let outcome = match &args.command {
        Command::Ingest(args) => ingest::run(args, &context).await,
        Command::Search(args) => search::run(args, &context).await,
        Command::Ask(args) => ask::run(args, &context).await,
        Command::Extract(args) => extract::run(args, &context).await,
        Command::Documents(command) => documents::run(command, &context).await,
        Command::Quarantine(command) => quarantine::run(command, &context).await,
        Command::Audit(command) => audit::run(command, &context).await,
        Command::Guard(command) => guard::run(command, &context).await,
        Command::Index(command) => index::run(command, &context).await,
        Command::Eval(command) => eval::run(command, &context).await,
        Command::Models(command) => models::run(command, &context).await,
        Command::Doctor(args) => doctor::run(args, &context).await,
    };
    context.close().await;
    outcome
}
