//! The `kuhaku` command: documents in, cited answers out; text in, values out.
//!
//! Results go to standard output, everything else to standard error. The exit status says what
//! happened; see [`exit::Exit`].

mod args;
mod commands;
mod console;
mod context;
mod exit;
mod fields;
mod input;
mod logs;
mod progress;
mod telemetry;
mod terminal;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Args, Command, IndexCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::telemetry::Telemetry;

/// The signal for a file that grows past its limit; the same number on Linux, macOS and the BSDs.
#[cfg(unix)]
const SIGXFSZ: tokio::signal::unix::SignalKind = tokio::signal::unix::SignalKind::from_raw(25);

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let console = Console::new(false);
            return console.end(console.usage(&error)).into();
        }
    };
    let console = Console::new(args.common.json);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let exit = match runtime {
        Ok(runtime) => runtime.block_on(async {
            let telemetry = Telemetry::start(&args.common, &console);
            let exit = run(&args, &console, telemetry.runtime(&console)).await;
            telemetry.end().await;
            exit
        }),
        Err(error) => {
            console.note(&format!("error: cannot start: {error}"));
            Exit::Failed
        }
    };
    console.end(exit).into()
}

/// Runs the command until it ends or is told to. Whatever was applied before stays; requests under way
/// go on record as cancelled, and what drops last waits for the record.
async fn run(args: &Args, console: &Console, runtime: kuhaku::Runtime) -> Exit {
    // A write past the limit of a file's size shall be an error with a message, not a silent death.
    #[cfg(unix)]
    let _handled = tokio::signal::unix::signal(SIGXFSZ);
    let outcome = tokio::select! {
        outcome = commands::run(args, console, runtime) => outcome,
        exit = told_to_end() => {
            console.note(match args.command {
                Command::Ingest(_) | Command::Index(IndexCommand::Reembed(_)) => "interrupted; what was stored so far is kept, and the same \
                                       command goes on from there",
                Command::Models(_) => "interrupted; what has come is kept, and the same command \
                                       goes on from there",
                Command::Extract(ref args) if args.jsonl.is_some() => {
                    "interrupted; the lines that are done are kept, and the same command goes on \
                     from there"
                }
                _ => "interrupted",
            });
            return exit;
        }
    };
    match outcome {
        Ok(exit) => exit,
        Err(error) => {
            console.error(&error);
            Exit::Failed
        }
    }
}

/// Waits for Ctrl-C, or for the signal by which systems end a program.
async fn told_to_end() -> Exit {
    #[cfg(unix)]
    if let Ok(mut terminated) =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    {
        return tokio::select! {
            _ = tokio::signal::ctrl_c() => Exit::Interrupted,
            _ = terminated.recv() => Exit::Terminated,
        };
    }
    let _ = tokio::signal::ctrl_c().await;
    Exit::Interrupted
}
