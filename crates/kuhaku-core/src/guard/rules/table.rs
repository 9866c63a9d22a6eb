//! How a rule is written down.
//!
//! Rules on words are matched on small letters without accents; repetitions are bounded, so that
//! each match is short and the work linear.

use super::context::Counts;
use crate::guard::screening::GuardFamily;

/// Which form of the text a rule reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// Words of Latin letters; a match begins a word.
    Words,
    /// The same in scripts without borders of words that an automaton sees.
    Letters,
    /// Everything, punctuation and lines too.
    Plain,
}

/// What a match says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::guard) enum Strength {
    /// What also stands in harmless texts, and adds to what is found beside it.
    Cue,
    /// One of the two that a refusal needs.
    Signal,
    /// Enough by itself.
    Unmistakable,
}

/// Words of which each match of a rule holds one, for two of its parts.
pub(super) type Needs = [&'static [&'static str]; 2];

/// A name in patterns and what stands for it.
pub(super) type Fragment = (&'static str, &'static str);

/// The rules of a language.
#[derive(Debug)]
pub(super) struct Language {
    /// A fragment uses only fragments that are listed after it.
    pub(super) fragments: &'static [Fragment],
    pub(super) rules: &'static [RuleText],
}

/// One rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleText {
    pub(super) family: GuardFamily,
    pub(super) reads: Reads,
    pub(super) counts: Counts,
    pub(super) strength: Strength,
    pub(super) needs: Needs,
    pub(super) pattern: &'static str,
}

impl RuleText {
    pub(super) const fn words(family: GuardFamily, needs: Needs, pattern: &'static str) -> Self {
        let (reads, counts, strength) = (Reads::Words, Counts::Always, Strength::Unmistakable);
        Self { family, reads, counts, strength, needs, pattern }
    }

    pub(super) const fn letters(family: GuardFamily, needs: Needs, pattern: &'static str) -> Self {
        Self { reads: Reads::Letters, ..Self::words(family, needs, pattern) }
    }

    pub(super) const fn plain(family: GuardFamily, needs: Needs, pattern: &'static str) -> Self {
        Self { reads: Reads::Plain, ..Self::words(family, needs, pattern) }
    }

    /// Counts as a command only: not after a negation, nor as what somebody else does.
    pub(super) const fn as_command(self) -> Self {
        Self { counts: Counts::AsCommand, ..self }
    }

    /// Counts as a command that is no part of a question about software.
    pub(super) const fn as_bare_command(self) -> Self {
        Self { counts: Counts::AsBareCommand, ..self }
    }

    /// Does not count when the name at its end is written as a person's.
    pub(super) const fn unless_person(self) -> Self {
        Self { counts: Counts::UnlessPerson, ..self }
    }

    /// Does not count, but excuses a text that otherwise only resembles attacks.
    pub(super) const fn excuse(self) -> Self {
        Self { counts: Counts::Never, ..self }
    }

    pub(super) const fn signal(self) -> Self {
        Self { strength: Strength::Signal, ..self }
    }

    pub(super) const fn cue(self) -> Self {
        Self { strength: Strength::Cue, ..self }
    }

    /// A pattern with its fragments put in. In rules on words a space stands for any gap, or for none:
    /// words may have been run together.
    pub(super) fn written_out(&self, fragments: &[Fragment]) -> String {
        let mut written = self.pattern.to_owned();
        for (name, fragment) in fragments {
            written = written.replace(name, &format!("(?:{fragment})"));
        }
        // The border of ASCII words: "请ignore" begins one too, and automata stay fast.
        let written = written.replace(r"\b", r"(?-u:\b)").replace(r"\B", r"(?-u:\B)");
        match self.reads {
            Reads::Words => format!(r"(?-u:\b)(?:{})", written.replace(' ', "[ ,]?")),
            Reads::Letters => written.replace(' ', "[ ,]?"),
            Reads::Plain => written,
        }
    }
}
