//! What a suite ran on.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::Serialize;

/// The machine, the code, and how fast a fixed loop is here.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_gib: u64,
    pub(crate) system: &'static str,
    pub(crate) compiler: String,
    pub(crate) commit: String,
    /// Milliseconds for the calibration loop, best of three.
    pub(crate) calibration_ms: f64,
}

pub(crate) fn describe(root: &Path) -> Machine {
    let field = |path: &str, name: &str| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default();
        line.split_once(':').map_or_else(String::new, |(_, value)| value.trim().to_string())
    };
    let memory = field("/proc/meminfo", "MemTotal");
    let kib: u64 = memory.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or_default();
    Machine {
        processor: field("/proc/cpuinfo", "model name"),
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
        memory_gib: kib.div_ceil(1024 * 1024),
        system: std::env::consts::OS,
        compiler: first_line(Command::new("rustc").arg("--version")),
        commit: first_line(
            Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(root),
        ),
        calibration_ms: calibrate(),
    }
}

fn first_line(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).lines().next().unwrap_or("unknown").to_string()
}

/// Sorts the first million numbers of a fixed sequence: integer work, branches and memory.
fn calibrate() -> f64 {
    let once = || {
        let begun = Instant::now();
        let mut state = 1_u64;
        let mut numbers: Vec<u64> = (0..1_000_000)
            .map(|_| {
                // The step of Knuth's MMIX generator.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 20
            })
            .collect();
        numbers.sort_unstable();
        std::hint::black_box(&numbers);
        begun.elapsed().as_secs_f64() * 1e3
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}
