//! The sentences that people see in place of an answer, in one catalogue.

/// What is said when there is no answer. Replace any of them to speak another language.
///
/// Messages depend on nothing but the outcome, so that they tell nothing about what is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Messages {
    /// The question was blank.
    pub empty_question: String,
    /// The caller sees no document at all.
    pub nothing_visible: String,
    /// Nothing visible answers the question.
    pub no_match: String,
    /// The question looks like an attack on the instructions.
    pub refused: String,
    /// The model's reply was held back.
    pub withheld: String,
    /// Follows an answer that reached the limit of its length, or that a filter of the service ended.
    pub cut: String,
    /// Follows an answer that cites sources that do not exist; `{tags}` is replaced.
    pub unverified: String,
    /// Stands behind a citation of a source that does not hold what it is cited for; empty for no
    /// mark.
    pub ungrounded: String,
}

impl Default for Messages {
    fn default() -> Self {
        Self {
            empty_question: "Please ask a question.".into(),
            nothing_visible: "There are no documents to answer from yet.".into(),
            no_match: "I found nothing in the documents that answers this.".into(),
            refused: "I can't help with that request. Please ask about the documents.".into(),
            withheld: "Something went wrong while answering. Please ask again.".into(),
            cut: "Note: the answer was cut off before its end.".into(),
            unverified: "Note: {tags} could not be verified against the sources.".into(),
            ungrounded: "[unverified]".into(),
        }
    }
}
