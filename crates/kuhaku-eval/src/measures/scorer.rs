//! All measures of one sample at once.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::answer::{Citations, answer_correctness, exact_match, token_f1};
use super::measure::Measure;
use super::object::{FieldTally, ObjectComparison, ObjectRules};
use super::ranking::GradedRanking;
use crate::case::{Case, Expected};
use crate::measurement::{Measurement, Unmeasured};
use crate::target::Outcome;

/// Scores outcomes by a list of measures.
///
/// - What nobody judged is unmeasured, never 0.
/// - A run that failed is scored as if it had given nothing.
/// - An empty map of grades says that nothing is relevant, so there is nothing to rank:
///   [`Unmeasured::Inapplicable`]. Judgements of which none is relevant give 0, as in trec_eval.
///
/// ```
/// use kuhaku_eval::{Case, Expected, Measure, Outcome, Sample, Scorer};
///
/// let case = Case::new(Sample::new("q1", "where?"), Expected::default().relevant(["a"]));
/// let scorer = Scorer::new(Measure::list("mrr, recall@1")?);
/// let scores = scorer.score(&case, &Outcome::retrieved(["x", "a"]));
/// assert_eq!(scores[0].value(), Some(0.5));
/// assert_eq!(scores[1].value(), Some(0.0));
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Scorer {
    measures: Vec<Measure>,
    relevant_from: u64,
    rules: ObjectRules,
}

impl Scorer {
    /// A scorer for which a grade of 1 is relevant.
    pub fn new(measures: impl IntoIterator<Item = Measure>) -> Self {
        Self {
            measures: measures.into_iter().collect(),
            relevant_from: 1,
            rules: ObjectRules::default(),
        }
    }

    /// Sets the lowest grade that is relevant; 0 is read as 1.
    #[must_use]
    pub fn relevant_from(mut self, grade: u64) -> Self {
        self.relevant_from = grade.max(1);
        self
    }

    /// Sets how objects are compared.
    #[must_use]
    pub fn object_rules(mut self, rules: ObjectRules) -> Self {
        self.rules = rules;
        self
    }

    /// The measures, in the order of the scores.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// The lowest grade that is relevant.
    pub fn lowest_relevant(&self) -> u64 {
        self.relevant_from
    }

    /// How objects are compared.
    pub fn rules(&self) -> ObjectRules {
        self.rules
    }

    /// One measurement per measure.
    pub fn score(&self, case: &Case, outcome: &Outcome) -> Vec<Measurement> {
        let expected = &case.expected;
        let ranking = self.ranking(expected, outcome);
        let object = self.compare(expected, outcome);
        let one = |measure: &Measure| self.one(*measure, expected, outcome, &ranking, &object);
        self.measures.iter().map(one).collect()
    }

    /// The counts by field, if there is a label; for [`FieldTally::add`] over many samples.
    pub fn fields(&self, case: &Case, outcome: &Outcome) -> BTreeMap<String, FieldTally> {
        let compared = self.compare(&case.expected, outcome);
        compared.map(|compared| compared.fields().clone()).unwrap_or_default()
    }

    fn one(
        &self,
        measure: Measure,
        expected: &Expected,
        outcome: &Outcome,
        ranking: &Result<GradedRanking, Unmeasured>,
        object: &Result<ObjectComparison, Unmeasured>,
    ) -> Measurement {
        let ranked = |of: &dyn Fn(&GradedRanking) -> f64| {
            measured(ranking.as_ref().map(of).map_err(|reason| *reason))
        };
        let of_object = |of: &dyn Fn(&ObjectComparison) -> Measurement| match object {
            Ok(object) => of(object),
            Err(reason) => Measurement::Unmeasured(*reason),
        };
        let of_text = |of: &dyn Fn(&str, &str) -> f64| {
            measured(texts(expected, outcome).map(|(wanted, given)| of(wanted, given)))
        };
        match measure {
            Measure::HitRate(cut) | Measure::Success(cut) => ranked(&|found| found.success(cut)),
            Measure::Precision(cut) => ranked(&|found| found.precision(cut)),
            Measure::PrecisionOfReturned(cut) => ranked(&|found| found.precision_of_returned(cut)),
            Measure::Recall(cut) => ranked(&|found| found.recall(cut)),
            Measure::ReciprocalRank(cut) => ranked(&|found| found.reciprocal_rank(cut)),
            Measure::AveragePrecision(cut) => ranked(&|found| found.average_precision(cut)),
            Measure::Ndcg(cut, gain) => ranked(&|found| found.ndcg(cut, gain)),
            Measure::Bpref => ranked(&GradedRanking::bpref),
            Measure::RPrecision => ranked(&GradedRanking::r_precision),
            Measure::ExactMatch => {
                of_text(&|wanted, given| f64::from(u8::from(exact_match(wanted, given))))
            }
            Measure::TokenF1 => of_text(&token_f1),
            Measure::AnswerCorrectness => of_text(&answer_correctness),
            Measure::CitationPrecision => {
                let cited = self.citations(expected, outcome);
                measured(cited.and_then(|cited| cited.precision().ok_or(Unmeasured::Undefined)))
            }
            Measure::CitationRecall => {
                let cited = self.citations(expected, outcome);
                measured(cited.and_then(|cited| cited.recall().ok_or(Unmeasured::Inapplicable)))
            }
            Measure::AbstentionPrecision => measured(
                abstention(expected, outcome)
                    .and_then(|(answerable, abstained)| applies(abstained, !answerable)),
            ),
            Measure::AbstentionRecall => measured(
                abstention(expected, outcome)
                    .and_then(|(answerable, abstained)| applies(!answerable, abstained)),
            ),
            Measure::FieldAccuracy => of_object(&ObjectComparison::accuracy),
            Measure::ExactObject => {
                of_object(&|object| Measurement::from(f64::from(u8::from(object.is_exact()))))
            }
            Measure::FieldPrecision => of_object(&|object| object.total().precision()),
            Measure::FieldRecall => of_object(&|object| object.total().recall()),
            Measure::FieldF1 => of_object(&|object| object.total().f1()),
            Measure::HallucinatedFields => of_object(&|object| object.total().hallucinated_share()),
        }
    }

    fn ranking(&self, expected: &Expected, outcome: &Outcome) -> Result<GradedRanking, Unmeasured> {
        let judged = expected.grades.as_ref().ok_or(Unmeasured::Unjudged)?;
        if judged.is_empty() {
            return Err(Unmeasured::Inapplicable);
        }
        let ids = given(&outcome.retrieved, outcome)?;
        let ids = ids.iter().map(String::as_str);
        Ok(GradedRanking::with_level(ids, judged, self.relevant_from))
    }

    fn citations(&self, expected: &Expected, outcome: &Outcome) -> Result<Citations, Unmeasured> {
        let judged = expected.grades.as_ref().ok_or(Unmeasured::Unjudged)?;
        let cited = given(&outcome.cited, outcome)?;
        Ok(Citations::new(&cited, judged, self.relevant_from))
    }

    fn compare(
        &self,
        expected: &Expected,
        outcome: &Outcome,
    ) -> Result<ObjectComparison, Unmeasured> {
        let label = expected.object.as_ref().ok_or(Unmeasured::Unjudged)?;
        // A target of objects whose reply was none gives a text alone: nothing matches.
        let nothing_given = outcome.object.is_none() && outcome.text.is_none();
        if nothing_given && outcome.failed.is_none() && outcome.abstained != Some(true) {
            return Err(Unmeasured::Unreported);
        }
        ObjectComparison::new(label, outcome.object.as_ref(), self.rules)
            .ok_or(Unmeasured::Inapplicable)
    }
}

fn measured(value: Result<f64, Unmeasured>) -> Measurement {
    value.map_or_else(Measurement::Unmeasured, Measurement::from)
}

/// What was given, empty for a run that failed.
fn given<'a>(
    ids: &'a Option<Vec<String>>,
    outcome: &Outcome,
) -> Result<Cow<'a, [String]>, Unmeasured> {
    match ids {
        Some(ids) => Ok(Cow::Borrowed(ids)),
        None if outcome.failed.is_some() => Ok(Cow::Owned(Vec::new())),
        None => Err(Unmeasured::Unreported),
    }
}

fn texts<'a>(
    expected: &'a Expected,
    outcome: &'a Outcome,
) -> Result<(&'a str, &'a str), Unmeasured> {
    if expected.answerable == Some(false) {
        return Err(Unmeasured::Inapplicable);
    }
    let wanted = expected.answer.as_deref().filter(|answer| !answer.trim().is_empty());
    let wanted = wanted.ok_or(Unmeasured::Unjudged)?;
    if outcome.failed.is_some() || outcome.abstained == Some(true) {
        // The words of a refusal are no answer.
        return Ok((wanted, ""));
    }
    outcome.text.as_deref().map(|text| (wanted, text)).ok_or(Unmeasured::Unreported)
}

/// Whether the case can be answered, and whether the target abstained.
fn abstention(expected: &Expected, outcome: &Outcome) -> Result<(bool, bool), Unmeasured> {
    let answerable = expected.answerable.ok_or(Unmeasured::Unjudged)?;
    match outcome.abstained {
        Some(abstained) => Ok((answerable, abstained)),
        None if outcome.failed.is_some() => Ok((answerable, false)),
        None => Err(Unmeasured::Unreported),
    }
}

fn applies(condition: bool, right: bool) -> Result<f64, Unmeasured> {
    if condition { Ok(f64::from(u8::from(right))) } else { Err(Unmeasured::Inapplicable) }
}
