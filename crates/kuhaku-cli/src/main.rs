//! The `kuhaku` command: documents in, cited answers out, on one machine.
//!
//! Results go to standard output, everything else to standard error. The exit status says what
//! happened; see [`exit::Exit`].

mod args;
mod commands;
mod console;
mod context;
mod exit;
mod progress;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::Args;
use crate::console::Console;
use crate::exit::Exit;

/// The signal for a file that grows past its limit; the same number on Linux, macOS and the BSDs.
#[cfg(unix)]
const SIGXFSZ: tokio::signal::unix::SignalKind = tokio::signal::unix::SignalKind::from_raw(25);

fn main() -> ExitCode {
    let args = Args::parse();
    let console = Console::new(args.common.json);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let exit = match runtime {
        Ok(runtime) => runtime.block_on(run(&args, &console)),
        Err(error) => {
            console.note(&format!("error: cannot start: {error}"));
            Exit::Failed
        }
    };
    exit.into()
}

/// Runs the command until it ends or Ctrl-C does. Whatever was applied before stays.
async fn run(args: &Args, console: &Console) -> Exit {
    // A write past the limit of a file's size shall be an error with a message, not a silent death.
    #[cfg(unix)]
    let _handled = tokio::signal::unix::signal(SIGXFSZ);
    let outcome = tokio::select! {
        outcome = commands::run(args, console) => outcome,
        _ = tokio::signal::ctrl_c() => {
            console.note("interrupted; what was stored so far is kept, and the same command goes on from there");
            return Exit::Interrupted;
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
