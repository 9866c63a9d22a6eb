//! Real processes on one index: killed at any moment, short of room, and many at once.
//!
//! What is written is a history that a seed determines, so that every process knows what must be
//! there after each batch: `crash` kills its writer and takes its room away, `churn` lets one write,
//! three read and a fifth try to write. `crash` also kills a process that ingests and embeds.

#[cfg(feature = "churn")]
mod answers;
#[cfg(feature = "churn")]
mod churn;
mod crash;
mod embedding;
mod history;
mod place;
mod writer;

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use place::Place;

use crate::error::{Result, cannot};

/// `crash [--kills N] [--write-failures M] [--embed K]`.
pub(crate) fn crash(arguments: &[&str]) -> Result<ExitCode> {
    let (mut kills, mut failures, mut embedding) = (500, 200, 100);
    for pair in arguments.chunks(2) {
        match pair {
            ["--kills", number] => kills = count(number)?,
            ["--write-failures", number] => failures = count(number)?,
            ["--embed", number] => embedding = count(number)?,
            _ => {
                let wrong = "they are --kills N, --write-failures N, --embed N";
                return Err(cannot("read the arguments", wrong));
            }
        }
    }
    crash::run(kills, failures)?;
    embedding::run(embedding)?;
    Ok(ExitCode::SUCCESS)
}

/// `churn [--seconds S]`; runs itself again with the test hook that it needs.
pub(crate) fn churn(root: &Path, arguments: &[&str]) -> Result<ExitCode> {
    let seconds = match arguments {
        [] => 120,
        ["--seconds", number] => count(number)?,
        _ => return Err(cannot("read the arguments", "they are --seconds N")),
    };
    #[cfg(feature = "churn")]
    {
        let _ = root;
        churn::run(seconds as u64)
    }
    #[cfg(not(feature = "churn"))]
    {
        let seconds = seconds.to_string();
        let mut again = Command::new(crate::cargo::program());
        again.args(["run", "--quiet", "--package", "xtask", "--features", "churn"]);
        again.args(["--", "churn", "--seconds", &seconds]).current_dir(root);
        let status = again.status().map_err(|error| cannot("run with the feature churn", error))?;
        Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// What a process of a suite does.
pub(crate) fn part(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["crash-writer", folder, seed, from, until] => {
            block_on(writer::write(Path::new(folder), number(seed)?, count(from)?, count(until)?))?
        }
        ["embed-writer", place, index, server] => {
            block_on(embedding::write(Path::new(place), index, server))?
        }
        #[cfg(feature = "churn")]
        ["churn", rest @ ..] => churn::part(rest),
        _ => Err(cannot("take part in a suite", "there is no such part")),
    }
}

fn number(text: &str) -> Result<u64> {
    text.parse().map_err(|_| cannot("read the arguments", format!("`{text}` is no number")))
}

fn count(text: &str) -> Result<usize> {
    text.parse().map_err(|_| cannot("read the arguments", format!("`{text}` is no number")))
}

fn block_on<T>(future: impl Future<Output = T>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.map_err(|error| cannot("start a runtime", error))?.block_on(future))
}

fn failed(error: impl std::fmt::Display) -> crate::error::Error {
    cannot("go on", error)
}

/// Says something to whoever has started this process.
fn say(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(failed)
}

/// A process of a suite and what it says.
struct Process {
    child: Child,
    lines: Receiver<String>,
}

/// Longer than anything takes here that is not stuck.
const PATIENCE: Duration = Duration::from_secs(60);

impl Process {
    /// Starts this program again for a part in a suite, with a command in front if need be.
    fn start(front: &[&str], arguments: &[&str]) -> Result<Self> {
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = match front {
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
            [] => Command::new(program),
        };
        command.arg("endurance-part").args(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.spawn().map_err(failed)?;
        let out = child.stdout.take().ok_or_else(|| failed("its output is not there"))?;
        let (send, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(std::result::Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines })
    }

    /// What it says next; nothing when it has ended.
    fn line(&self) -> Result<Option<String>> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Ok(Some(line)),
            Err(Disconnected) => Ok(None),
            Err(Timeout) => Err(failed("a process has been silent for a minute")),
        }
    }

    fn tell(&mut self, line: &str) -> Result<()> {
        let input = self.child.stdin.as_mut().ok_or_else(|| failed("its input is not there"))?;
        writeln!(input, "{line}").and_then(|()| input.flush()).map_err(failed)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL where it matters; one that has ended already is only waited for.
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait().map(drop)) {
            eprintln!("a process may be left: {error}");
        }
    }
}
