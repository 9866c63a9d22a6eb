//! The outcome of a suite, as JSON and as Markdown.

use std::fs;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use super::machine::Machine;
use crate::error::{Result, cannot};

/// Tables with the values behind them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Report {
    pub(crate) title: String,
    pub(crate) sections: Vec<Section>,
    /// What did not run, and why.
    pub(crate) skipped: Vec<String>,
    /// What was asked and not reached.
    pub(crate) missed: Vec<String>,
    /// Everything, for programs.
    pub(crate) values: Value,
}

/// A table under a heading.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Section {
    pub(crate) heading: String,
    pub(crate) text: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Report {
    pub(crate) fn markdown(&self, machine: &Machine) -> String {
        let mut text = format!("# {}\n\n", self.title);
        text.push_str(&format!(
            "Commit {}, {}, {} ({} cores, {} GiB), {}. Calibration loop: {:.1} ms.\n",
            machine.commit,
            machine.compiler,
            machine.processor,
            machine.cores,
            machine.memory_gib,
            machine.system,
            machine.calibration_ms
        ));
        for section in &self.sections {
            text.push_str(&format!("\n## {}\n\n", section.heading));
            if !section.text.is_empty() {
                text.push_str(&format!("{}\n\n", section.text));
            }
            text.push_str(&format!("| {} |\n", section.columns.join(" | ")));
            text.push_str(&format!("|{}\n", "---|".repeat(section.columns.len())));
            for row in &section.rows {
                text.push_str(&format!("| {} |\n", row.join(" | ")));
            }
        }
        for (heading, lines) in [("Skipped", &self.skipped), ("Not reached", &self.missed)] {
            if !lines.is_empty() {
                text.push_str(&format!("\n## {heading}\n\n"));
                lines.iter().for_each(|line| text.push_str(&format!("- {line}\n")));
            }
        }
        text
    }

    /// Writes `SUITE.json` and `SUITE.md` into a folder.
    pub(crate) fn write(&self, folder: &Path, suite: &str, machine: &Machine) -> Result<()> {
        let tried = || format!("write the report into {}", folder.display());
        fs::create_dir_all(folder).map_err(|error| cannot(tried(), error))?;
        let all = json!({
            "version": 1,
            "suite": suite,
            "machine": machine,
            "values": self.values,
            "skipped": self.skipped,
            "missed": self.missed,
        });
        let json = serde_json::to_string_pretty(&all).map_err(|error| cannot(tried(), error))?;
        let files =
            [(format!("{suite}.json"), json), (format!("{suite}.md"), self.markdown(machine))];
        for (name, content) in files {
            fs::write(folder.join(name), content).map_err(|error| cannot(tried(), error))?;
        }
        Ok(())
    }
}
