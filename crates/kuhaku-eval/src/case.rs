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

impl Expected {
    /// These documents or chunks are relevant, with grade 1 each.
    #[must_use]
    pub fn relevant<T: Into<String>>(self, ids: impl IntoIterator<Item = T>) -> Self {
        self.graded(ids.into_iter().map(|id| (id, 1)))
    }

    /// These documents or chunks have these grades.
    #[must_use]
    pub fn graded<T: Into<String>>(mut self, grades: impl IntoIterator<Item = (T, i64)>) -> Self {
        self.grades = Some(grades.into_iter().map(|(id, grade)| (id.into(), grade)).collect());
        self
    }

    /// Sets the answer in words.
    #[must_use]
    pub fn answer(mut self, answer: impl Into<String>) -> Self {
        self.answer = Some(answer.into());
        self
    }

    /// Sets the extracted object.
    #[must_use]
    pub fn object(mut self, object: Value) -> Self {
        self.object = Some(object);
        self
    }

    /// Sets whether the corpus holds an answer at all.
    #[must_use]
    pub fn answerable(mut self, answerable: bool) -> Self {
        self.answerable = Some(answerable);
        self
    }
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

    /// Sets the category.
    #[must_use]
    pub fn category(mut self, category: impl Into<String>) -> Self {
        self.category = Some(category.into());
        self
    }
}
