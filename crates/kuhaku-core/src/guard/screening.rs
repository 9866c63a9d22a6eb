//! What the guard reports.

use std::fmt;
use std::ops::Range;

/// Which kind of attack a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GuardFamily {
    /// Tells the model to drop what it was told.
    InstructionOverride,
    /// Tells the model to be somebody else.
    PersonaOverride,
    /// Plays another speaker of the conversation.
    RoleSwitch,
    /// Control tokens of a chat format.
    SpecialToken,
    /// Asks for the instructions themselves.
    PromptLeak,
}

impl GuardFamily {
    /// The stable name, as it stands in reports and audit records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InstructionOverride => "instruction_override",
            Self::PersonaOverride => "persona_override",
            Self::RoleSwitch => "role_switch",
            Self::SpecialToken => "special_token",
            Self::PromptLeak => "prompt_leak",
        }
    }
}

impl fmt::Display for GuardFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One place where a text looks like an attack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The kind of attack.
    pub family: GuardFamily,
    /// The bytes of the given text that look like it.
    pub range: Range<usize>,
}

/// What the guard found in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screening {
    findings: Vec<Finding>,
}

impl Screening {
    /// Orders the findings and joins those of one family that overlap.
    pub(super) fn new(mut found: Vec<Finding>) -> Self {
        found.sort_by_key(|finding| (finding.family, finding.range.start, finding.range.end));
        let mut findings: Vec<Finding> = Vec::with_capacity(found.len());
        for finding in found {
            match findings.last_mut() {
                Some(last)
                    if last.family == finding.family && finding.range.start < last.range.end =>
                {
                    last.range.end = last.range.end.max(finding.range.end);
                }
                _ => findings.push(finding),
            }
        }
        Self { findings }
    }

    /// The findings in the order of the families, then of their place.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The first family for which a question is refused, if there is one.
    pub fn blocked(&self) -> Option<GuardFamily> {
        self.findings.first().map(|finding| finding.family)
    }

    /// True when nothing was found.
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_ordered_by_family_and_overlaps_are_joined() {
        let finding = |family, range| Finding { family, range };
        let screening = Screening::new(vec![
            finding(GuardFamily::PromptLeak, 0..4),
            finding(GuardFamily::InstructionOverride, 8..12),
            finding(GuardFamily::InstructionOverride, 10..20),
            finding(GuardFamily::InstructionOverride, 1..2),
        ]);
        assert_eq!(
            screening.findings(),
            [
                finding(GuardFamily::InstructionOverride, 1..2),
                finding(GuardFamily::InstructionOverride, 8..20),
                finding(GuardFamily::PromptLeak, 0..4),
            ]
        );
        assert_eq!(screening.blocked(), Some(GuardFamily::InstructionOverride));
    }
}
