//! What the suite found.

use std::fmt;

/// How one case went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The provider does what the case asks for.
    Passed,
    /// The service has nothing of the kind.
    NotOffered,
    /// The provider does something else: what was seen.
    Failed(String),
}

/// One case and how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseReport {
    /// The name of the case, stable.
    pub case: &'static str,
    /// What the case asks for.
    pub claim: &'static str,
    /// How it went.
    pub outcome: Outcome,
}

/// All cases of one provider.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The provider's name.
    pub provider: String,
    /// The cases, always the same ones in the same order.
    pub cases: Vec<CaseReport>,
}

impl Report {
    /// The cases that failed.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failed(_)))
    }

    /// Ends the test if a case failed.
    ///
    /// # Panics
    /// With every case that failed and what was seen.
    #[track_caller]
    #[expect(clippy::panic, reason = "this is how a test fails")]
    pub fn assert_conforms(&self) {
        if self.failures().next().is_some() {
            panic!("{self}");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = self.failures().count();
        write!(f, "{}: {failed} of {} cases failed", self.provider, self.cases.len())?;
        for case in self.failures() {
            if let Outcome::Failed(seen) = &case.outcome {
                write!(f, "\n- {} ({}): {seen}", case.case, case.claim)?;
            }
        }
        Ok(())
    }
}

/// A Markdown table of providers and cases: `yes`, `no`, or `–` for what a service does not offer.
///
/// The reports must be of one version of the suite.
pub fn capability_table(reports: &[Report]) -> String {
    let mut table = String::from("| case |");
    for report in reports {
        table.push_str(&format!(" {} |", report.provider));
    }
    table.push_str("\n|---|");
    table.push_str(&":---:|".repeat(reports.len()));
    table.push('\n');
    let claims = reports.first().map_or([].as_slice(), |report| &report.cases);
    for (row, CaseReport { claim, .. }) in claims.iter().enumerate() {
        table.push_str(&format!("| {claim} |"));
        for report in reports {
            let mark = match report.cases.get(row).map(|case| &case.outcome) {
                Some(Outcome::Passed) => "yes",
                Some(Outcome::Failed(_)) => "no",
                Some(Outcome::NotOffered) | None => "–",
            };
            table.push_str(&format!(" {mark} |"));
        }
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(provider: &str, outcome: Outcome) -> Report {
        let case = |case, claim, outcome| CaseReport { case, claim, outcome };
        Report {
            provider: provider.into(),
            cases: vec![
                case("chat", "answers", Outcome::Passed),
                case("cut", "sees a cut stream", outcome),
            ],
        }
    }

    #[test]
    fn a_table_has_a_row_per_case_and_a_column_per_provider() {
        let reports = [
            report("a", Outcome::NotOffered),
            report("b", Outcome::Failed("a silent success".into())),
        ];
        assert_eq!(
            capability_table(&reports),
            "| case | a | b |\n|---|:---:|:---:|\n| answers | yes | yes |\n\
             | sees a cut stream | – | no |\n"
        );
    }

    #[test]
    #[should_panic(
        expected = "b: 1 of 2 cases failed\n- cut (sees a cut stream): a silent success"
    )]
    fn a_failure_says_which_case_and_what_was_seen() {
        report("a", Outcome::Passed).assert_conforms();
        report("b", Outcome::Failed("a silent success".into())).assert_conforms();
    }
}
