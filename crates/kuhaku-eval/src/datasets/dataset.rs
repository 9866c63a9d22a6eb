//! A set of cases.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::case::Case;
use crate::error::{Error, ErrorKind, Result};
use crate::random::SeededRandom;

/// Cases in a fixed order, each with an id of its own.
///
/// ```
/// use kuhaku_eval::{Case, Dataset, Expected, Sample};
/// let case = |id: &str| Case::new(Sample::new(id, "why?"), Expected::default());
/// let set = Dataset::new("mine", [case("a"), case("b"), case("c")])?;
/// assert_eq!(set.sample(2, 7).cases().len(), 2);
/// assert!(Dataset::new("twice", [case("a"), case("a")]).is_err());
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    name: String,
    cases: Vec<Case>,
}

impl Dataset {
    /// A set of these cases.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when two cases have one id.
    pub fn new(name: impl Into<String>, cases: impl IntoIterator<Item = Case>) -> Result<Self> {
        let cases: Vec<Case> = cases.into_iter().collect();
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, case) in cases.iter().enumerate() {
            if let Some(before) = first.insert(&case.sample.id, at) {
                let wrong = format!("cases {} and {} have the same id", before + 1, at + 1);
                return Err(Error::new(ErrorKind::InvalidInput, "make a dataset", wrong)
                    .next("give each case an id of its own"));
            }
        }
        Ok(Self::of_unique(name, cases))
    }

    pub(super) fn of_unique(name: impl Into<String>, cases: Vec<Case>) -> Self {
        Self { name: name.into(), cases }
    }

    /// The name, for reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The cases, in order.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// `count` cases drawn at random, or all when there are fewer. They keep their order. Equal
    /// seeds draw equal cases: the positions are shuffled by [`SeededRandom::shuffle`] of
    /// [`SeededRandom::new`], and the first `count` of them are taken.
    #[must_use]
    pub fn sample(&self, count: usize, seed: u64) -> Self {
        let mut drawn = shuffled(self.cases.len(), seed);
        drawn.truncate(count);
        self.at(drawn, &format!("sample of {count}, seed {seed}"))
    }

    /// Two parts without a case in common, the first with `share` of the cases (rounded; held in
    /// `0..=1`), drawn as [`sample`](Self::sample) does. Both keep the order.
    #[must_use]
    pub fn split(&self, share: f64, seed: u64) -> (Self, Self) {
        let count = (self.cases.len() as f64 * share.clamp(0.0, 1.0)).round() as usize;
        let mut first = shuffled(self.cases.len(), seed);
        let second = first.split_off(count.min(first.len()));
        let part = |positions, which| self.at(positions, &format!("{which} part, seed {seed}"));
        (part(first, "first"), part(second, "second"))
    }

    /// The cases of one category.
    #[must_use]
    pub fn category(&self, category: &str) -> Self {
        let of = |case: &&Case| case.category.as_deref() == Some(category);
        let cases = self.cases.iter().filter(of).cloned().collect();
        Self::of_unique(format!("{} ({category})", self.name), cases)
    }

    /// The content, as `sha256:` and 64 hexadecimal digits. The same for equal cases in equal
    /// order, from whatever file they were read; the name does not count. Each part goes in with
    /// its length, so that no two contents read alike.
    pub fn content_hash(&self) -> String {
        let mut hash = Hash(Sha256::new());
        hash.text("kuhaku-eval dataset 1");
        for case in &self.cases {
            hash.case(case);
        }
        let digest = hash.0.finalize();
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    }

    fn at(&self, mut positions: Vec<usize>, what: &str) -> Self {
        positions.sort_unstable();
        let cases = positions.iter().filter_map(|at| self.cases.get(*at)).cloned().collect();
        Self::of_unique(format!("{} ({what})", self.name), cases)
    }
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    SeededRandom::new(seed).shuffle(&mut positions);
    positions
}

struct Hash(Sha256);

impl Hash {
    fn case(&mut self, case: &Case) {
        self.text(&case.sample.id);
        self.text(&case.sample.query);
        self.list(Some(&case.sample.history));
        self.optional(case.category.as_deref());
        let expected = &case.expected;
        match &expected.grades {
            None => self.count(None),
            Some(grades) => {
                self.count(Some(grades.len()));
                for (id, grade) in grades {
                    self.text(id);
                    self.0.update(grade.to_be_bytes());
                }
            }
        }
        self.list(expected.chunks.as_deref());
        self.optional(expected.answer.as_deref());
        // Keys of an object are ordered, so equal objects are written alike.
        self.optional(expected.object.as_ref().map(Value::to_string).as_deref());
        self.0.update([expected.answerable.map_or(2, u8::from)]);
    }

    fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_be_bytes());
        self.0.update(text);
    }

    fn optional(&mut self, text: Option<&str>) {
        self.count(text.map(|_| 1));
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn list(&mut self, items: Option<&[String]>) {
        self.count(items.map(<[String]>::len));
        items.into_iter().flatten().for_each(|item| self.text(item));
    }

    fn count(&mut self, count: Option<usize>) {
        self.0.update([u8::from(count.is_some())]);
        self.0.update((count.unwrap_or(0) as u64).to_be_bytes());
    }
}
