//! Measures of a ranking, with the semantics of trec_eval.

use std::collections::{BTreeMap, HashSet};

use super::cut::Cut;

/// How a grade becomes gain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gain {
    /// The grade itself, as trec_eval and BEIR do.
    #[default]
    Linear,
    /// 2^grade − 1 (Burges et al., ICML 2005).
    Exponential,
}

/// A ranking in which each result carries its grade.
///
/// Repeated ids keep their best rank and are dropped after it; grades below 0 count as 0. All
/// measures are in `[0, 1]`, and an empty ranking gives 0. A query with judgements of which none
/// is relevant gives 0, as in trec_eval.
///
/// ```
/// use std::collections::BTreeMap;
/// use kuhaku_eval::{Cut, Gain, GradedRanking};
///
/// let grades = BTreeMap::from([("a".to_string(), 2), ("b".to_string(), 1)]);
/// let ranking = GradedRanking::new(["x", "a", "a", "b"], &grades);
/// assert_eq!(ranking.reciprocal_rank(Cut::Whole), 0.5);
/// assert_eq!(ranking.recall(Cut::at(2).unwrap()), 0.5);
/// assert!(ranking.ndcg(Cut::Whole, Gain::Linear) < 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GradedRanking {
    /// The grade of each distinct result, best first; `None` where nobody judged it.
    grades: Vec<Option<u64>>,
    /// The grades above 0 of all judgements, highest first.
    ideal: Vec<u64>,
    relevant_from: u64,
    /// How many judged documents are relevant.
    relevant: usize,
    /// How many judged documents are not.
    nonrelevant: usize,
}

impl GradedRanking {
    /// Looks up the grades of ids that come best first. What has a grade of 1 or more is relevant.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a str>, judged: &BTreeMap<String, i64>) -> Self {
        Self::with_level(ids, judged, 1)
    }

    /// The same where only grades of `relevant_from` (at least 1) and above are relevant. Gains of
    /// nDCG do not depend on it.
    pub fn with_level<'a>(
        ids: impl IntoIterator<Item = &'a str>,
        judged: &BTreeMap<String, i64>,
        relevant_from: u64,
    ) -> Self {
        let ids = ids.into_iter();
        let mut seen = HashSet::with_capacity(ids.size_hint().0);
        let distinct = ids.filter(|id| seen.insert(*id));
        Self::of_grades(distinct.map(|id| judged.get(id).copied()), judged, relevant_from)
    }

    /// The same from the grades of distinct results, best first.
    pub(crate) fn of_grades(
        grades: impl Iterator<Item = Option<i64>>,
        judged: &BTreeMap<String, i64>,
        relevant_from: u64,
    ) -> Self {
        let relevant_from = relevant_from.max(1);
        let grades = grades.map(|grade| grade.map(clamped)).collect();
        let mut ideal: Vec<u64> =
            judged.values().copied().map(clamped).filter(|grade| *grade > 0).collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let relevant = ideal.iter().filter(|grade| **grade >= relevant_from).count();
        Self { grades, ideal, relevant_from, relevant, nonrelevant: judged.len() - relevant }
    }

    /// How many distinct results there are (`num_ret`).
    pub fn retrieved(&self) -> usize {
        self.grades.len()
    }

    /// How many judged documents are relevant (`num_rel`).
    pub fn relevant(&self) -> usize {
        self.relevant
    }

    /// How many relevant documents were retrieved (`num_rel_ret`).
    pub fn relevant_retrieved(&self) -> usize {
        self.hits(Cut::Whole)
    }

    /// The share of relevant documents among the first `k` (`P_k`); the divisor is `k` even where
    /// fewer were retrieved. Over the whole list it is the number retrieved (`set_P`).
    pub fn precision(&self, cut: Cut) -> f64 {
        match cut {
            Cut::At(k) => ratio(self.hits(cut), k.get()),
            Cut::Whole => ratio(self.hits(cut), self.retrieved()),
        }
    }

    /// The share of relevant documents among the distinct ones that are there, at most `k`.
    pub fn precision_of_returned(&self, cut: Cut) -> f64 {
        ratio(self.hits(cut), self.retrieved().min(cut.depth()))
    }

    /// The share of the relevant documents that were found (`recall_k`, `set_recall`).
    pub fn recall(&self, cut: Cut) -> f64 {
        ratio(self.hits(cut), self.relevant)
    }

    /// 1 if anything relevant was found, else 0 (`success_k`).
    pub fn success(&self, cut: Cut) -> f64 {
        if self.hits(cut) > 0 { 1.0 } else { 0.0 }
    }

    /// 1 / rank of the first relevant document, 0 if there is none (`recip_rank`).
    pub fn reciprocal_rank(&self, cut: Cut) -> f64 {
        self.first(cut).position(|grade| self.is_relevant(grade)).map_or(0.0, |at| ratio(1, at + 1))
    }

    /// The mean, over all relevant documents, of the precision at their ranks, 0 for those not
    /// found (`map`, `map_cut_k`).
    pub fn average_precision(&self, cut: Cut) -> f64 {
        let mut found = 0;
        let mut sum = 0.0;
        for (at, grade) in self.first(cut).enumerate() {
            if self.is_relevant(grade) {
                found += 1;
                sum += ratio(found, at + 1);
            }
        }
        if self.relevant == 0 { 0.0 } else { unit(sum / self.relevant as f64) }
    }

    /// Precision at the number of relevant documents (`Rprec`).
    pub fn r_precision(&self) -> f64 {
        Cut::at(self.relevant).map_or(0.0, |cut| ratio(self.hits(cut), self.relevant))
    }

    /// Discounted gain over that of the ideal ranking (`ndcg`, `ndcg_cut_k`): gain / log2(rank + 1)
    /// (Järvelin and Kekäläinen, TOIS 2002). The ideal is made of all judgements, not of what was
    /// retrieved.
    pub fn ndcg(&self, cut: Cut, gain: Gain) -> f64 {
        let Some(highest) = self.ideal.first().copied() else { return 0.0 };
        let found = self.first(cut).map(|grade| grade.unwrap_or(0));
        let dcg = discounted(found, highest, gain);
        unit(dcg / discounted(self.ideal.iter().copied().take(cut.depth()), highest, gain))
    }

    /// How often a relevant document stands above the judged ones that are not (`bpref`; Buckley
    /// and Voorhees, SIGIR 2004). Documents that nobody judged are passed over.
    pub fn bpref(&self) -> f64 {
        let bound = self.relevant.min(self.nonrelevant);
        let mut above = 0;
        let mut sum = 0.0;
        for grade in self.grades.iter().copied().flatten() {
            if grade < self.relevant_from {
                above += 1;
            } else {
                sum += 1.0 - ratio(above.min(self.relevant), bound);
            }
        }
        if self.relevant == 0 { 0.0 } else { unit(sum / self.relevant as f64) }
    }

    fn first(&self, cut: Cut) -> impl Iterator<Item = Option<u64>> {
        self.grades.iter().copied().take(cut.depth())
    }

    fn hits(&self, cut: Cut) -> usize {
        self.first(cut).filter(|grade| self.is_relevant(*grade)).count()
    }

    fn is_relevant(&self, grade: Option<u64>) -> bool {
        grade.is_some_and(|grade| grade >= self.relevant_from)
    }
}

fn clamped(grade: i64) -> u64 {
    u64::try_from(grade).unwrap_or(0)
}

fn discounted(grades: impl Iterator<Item = u64>, highest: u64, gain: Gain) -> f64 {
    grades
        .enumerate()
        .filter(|(_, grade)| *grade > 0)
        .map(|(at, grade)| gain_of(grade, highest, gain) / (at as f64 + 2.0).log2())
        .sum()
}

/// Exponential gains are divided by 2^highest, which a ratio does not feel and which keeps the
/// largest grades finite.
fn gain_of(grade: u64, highest: u64, gain: Gain) -> f64 {
    match gain {
        Gain::Linear => grade as f64,
        Gain::Exponential => power_of_half(highest - grade.min(highest)) - power_of_half(highest),
    }
}

fn power_of_half(exponent: u64) -> f64 {
    i32::try_from(exponent).map_or(0.0, |exponent| 0.5_f64.powi(exponent))
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Sums of rounded terms may pass 1 in the last bit, and an empty sum is −0.
fn unit(value: f64) -> f64 {
    value.clamp(0.0, 1.0) + 0.0
}
