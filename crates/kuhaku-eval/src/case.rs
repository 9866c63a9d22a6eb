//! What is asked, and what should come back.

use std::collections::BTreeMap;

use serde_json::Value;

/// What a target gets to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sample {
    /// Unique in its dataset.
    pub id: String,
    /// The question, or the text to extract from.
    pub query: String,
    /// Earlier turns of the conversation, oldest first; empty for a first question.
    pub history: Vec<String>,
}

impl Sample {
    /// A first question.
    pub fn new(id: impl Into<String>, query: impl Into<String>) -> Self {
        Self { id: id.into(), query: query.into(), history: Vec::new() }
    }

    /// Adds the earlier turns, oldest first.
    #[must_use]
    pub fn history(mut self, turns: impl IntoIterator<Item = String>) -> Self {
        self.history = turns.into_iter().collect();
        self
    }
}

/// What a good outcome holds. Absent means that nobody judged it, so nothing can be measured by it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// Grades by document or chunk id; above 0 is relevant, 0 and below is judged and not relevant.
    /// An empty map says that nothing is relevant.
    pub grades: Option<BTreeMap<String, i64>>,
    /// Passages that a good answer rests on, by id or in words; kept for measures that need a judge.
    pub chunks: Option<Vec<String>>,
    /// The answer in words.
    pub answer: Option<String>,
    /// The extracted object.
    pub object: Option<Value>,
    /// Whether the corpus holds an answer at all; where it does not, abstaining is right.
    pub answerable: Option<bool>,
}

/// A line of a dataset.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Case {
    /// What is asked.
    pub sample: Sample,
    /// What should come back.
    pub expected: Expected,
    /// A label to group results by.
    pub category: Option<String>,
}

impl Case {
    /// A case without category.
    pub fn new(sample: Sample, expected: Expected) -> Self {
        Self { sample, expected, category: None }
    }
}
