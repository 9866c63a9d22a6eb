//! The output guard: what is checked of a model's reply before any of it leaves.
//!
//! In this order: whether it gives the rules away (`canary`), whether it holds personal data that the
//! caller was not shown (`egress`), whether its citations hold what they are cited for (`grounding`).
//! The first two hold the reply back, the third marks. There is no switch.

mod canary;
mod egress;
mod escapes;
mod grounding;
mod language;
mod numbers;
mod plain;
mod policy;
mod sentences;
mod tags;
mod values;
mod views;

use std::ops::Range;

use kuhaku_core::{Masked, Masker, Placeholder, Runtime};
use kuhaku_index::Analyzer;

pub(crate) use self::canary::{Canary, Watch};
use self::egress::{Broken, Egress};
pub use self::grounding::Grounding;
use self::grounding::Grounds;
pub(crate) use self::grounding::{Annotator, Told};
pub use self::policy::OutputPolicy;
use crate::retrieve::Hit;

/// What a reply is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Against<'a> {
    pub(crate) masker: &'a dyn Masker,
    /// The recognisers of this workspace, whatever the masker is.
    pub(crate) recognisers: &'a dyn Masker,
    pub(crate) analyzer: &'a Analyzer,
    /// The question as it came.
    pub(crate) question: &'a str,
    /// What the caller is shown with the answer.
    pub(crate) hits: &'a [&'a Hit],
    pub(crate) threshold: f64,
    /// Stands behind a citation that does not hold.
    pub(crate) mark: &'a str,
    pub(crate) policy: OutputPolicy,
}

/// Why a reply does not leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    /// It gives the rules away.
    Canary,
    /// It holds a value of this kind that the caller was not shown.
    PersonalData(Placeholder),
    /// It could not be checked.
    Broken,
}

/// A reply that may leave.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Masked, its citations marked.
    pub(crate) text: String,
    pub(crate) told: Told,
    /// The check broke, and the policy lets the reply leave.
    pub(crate) broken: bool,
}

/// The guard of one request.
pub(crate) struct OutputGuard<'a> {
    canary: Canary,
    egress: Egress<'a>,
    grounds: Grounds<'a>,
    recognisers: &'a dyn Masker,
    policy: OutputPolicy,
}

/// A part of a reply, masked, and where its values stood.
pub(crate) struct Read {
    pub(crate) masked: Masked,
    pub(crate) values: Vec<(Range<usize>, Placeholder)>,
}

/// How many letters and digits a canary may be read in a character stands for.
pub(crate) fn plain_letters(c: char) -> usize {
    let mut count = 0;
    plain::each_plain(c, |_| count += 1);
    count
}

impl Held {
    /// The stable word, as in the audit.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Canary => "reply_held_back",
            Self::PersonalData(_) => "personal_data_held_back",
            Self::Broken => "output_check_failed",
        }
    }

    /// Counts it.
    pub(crate) fn count(self, runtime: &Runtime) {
        match self {
            Self::Canary => runtime.count("rag_canary_detected_total", "reply", 1),
            Self::PersonalData(kind) => runtime.count("rag_pii_egress_total", kind.as_str(), 1),
            Self::Broken => runtime.count("rag_output_guard_failures_total", "blocked", 1),
        }
    }
}

impl From<Broken> for Held {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

impl<'a> OutputGuard<'a> {
    pub(crate) fn new(canary: Canary, against: Against<'a>) -> Self {
        let Against { masker, recognisers, analyzer, question, hits, threshold, mark, policy } =
            against;
        let ours =
            |id: &str| id == recognisers.id() || id.starts_with(&format!("{}+", recognisers.id()));
        let beside = Some(recognisers).filter(|_| !ours(masker.id()));
        let mut texts = vec![question];
        for hit in hits {
            let chunk = &hit.chunk;
            texts.extend(
                [&chunk.text, &chunk.title, &chunk.source, &chunk.doc_type].map(String::as_str),
            );
            texts.extend(chunk.headings.iter().map(String::as_str));
        }
        Self {
            canary,
            egress: Egress::new(masker, beside, texts),
            grounds: Grounds::new(analyzer, hits, question, threshold, mark),
            recognisers,
            policy,
        }
    }

    pub(crate) fn canary(&self) -> &Canary {
        &self.canary
    }

    /// Whether a reply leaves that cannot be checked.
    pub(crate) fn is_permissive(&self) -> bool {
        self.policy == OutputPolicy::Permissive
    }

    /// Checks a whole reply.
    pub(crate) fn check(&self, reply: &str) -> Result<Checked, Held> {
        if self.canary.leaked_by(reply) {
            return Err(Held::Canary);
        }
        let (text, broken) = match self.values(reply) {
            Ok(text) => (text, false),
            Err(Held::Broken) if self.is_permissive() => {
                (egress::mask(self.recognisers, reply)?.into_parts().0, true)
            }
            Err(held) => return Err(held),
        };
        let mut annotator = self.annotator();
        let text = annotator.push(&text, true);
        Ok(Checked { text, told: annotator.told(), broken })
    }

    /// The reply masked, unless it holds a value that was not shown.
    fn values(&self, reply: &str) -> Result<String, Held> {
        let Read { masked, values } = self.read(reply)?;
        match self.unshown(&values, reply) {
            Some(held) => Err(held),
            None => match self.disguised(reply, true)? {
                Some(held) => Err(held),
                None => Ok(masked.into_parts().0),
            },
        }
    }

    /// Masks a part of a reply.
    pub(crate) fn read(&self, text: &str) -> Result<Read, Held> {
        let (masked, values) = self.egress.read(text)?;
        Ok(Read { masked, values })
    }

    /// The first of these values that the caller was not shown.
    pub(crate) fn unshown(
        &self,
        values: &[(Range<usize>, Placeholder)],
        text: &str,
    ) -> Option<Held> {
        self.egress.unshown(values, text).map(Held::PersonalData)
    }

    /// A value in disguise that the caller was not shown. Of a part of a reply, its end does not count.
    pub(crate) fn disguised(&self, text: &str, last: bool) -> Result<Option<Held>, Held> {
        Ok(self.egress.disguised(text, last)?.map(Held::PersonalData))
    }

    pub(crate) fn annotator(&self) -> Annotator<'_> {
        self.grounds.annotator()
    }
}
