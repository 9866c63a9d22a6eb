//! Measures of an answer that need no judge.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Whether two answers are the same after [`normal_tokens`].
pub fn exact_match(expected: &str, given: &str) -> bool {
    normal_tokens(expected) == normal_tokens(given)
}

/// The harmonic mean of token precision and recall, repeated tokens counted (Rajpurkar et al.,
/// EMNLP 2016). Two empty answers give 1, one empty answer 0.
///
/// ```
/// assert_eq!(kuhaku_eval::token_f1("the 27 days", "27 days a year"), 0.8);
/// ```
pub fn token_f1(expected: &str, given: &str) -> f64 {
    let (expected, given) = (normal_tokens(expected), normal_tokens(given));
    let total = expected.len() + given.len();
    if total == 0 {
        return 1.0;
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for token in &expected {
        *left.entry(token).or_default() += 1;
    }
    let mut common = 0;
    for token in &given {
        if let Some(count) = left.get_mut(token.as_str()).filter(|count| **count > 0) {
            *count -= 1;
            common += 1;
        }
    }
    (2 * common) as f64 / total as f64
}

/// Jaccard similarity of the sets of white-space tokens in lower case, punctuation kept. 0 when
/// either is empty.
///
/// ```
/// assert_eq!(kuhaku_eval::answer_correctness("a b c", "a b d"), 0.5);
/// ```
pub fn answer_correctness(expected: &str, given: &str) -> f64 {
    let (expected, given) = (expected.to_lowercase(), given.to_lowercase());
    let expected: BTreeSet<&str> = expected.split_whitespace().collect();
    let given: BTreeSet<&str> = given.split_whitespace().collect();
    if expected.is_empty() || given.is_empty() {
        return 0.0;
    }
    let common = expected.intersection(&given).count();
    common as f64 / (expected.len() + given.len() - common) as f64
}

/// The tokens that SQuAD compares: lower case, without punctuation, without the English articles,
/// split at white space.
pub fn normal_tokens(text: &str) -> Vec<String> {
    let text: String = text.to_lowercase().chars().filter(|char| !is_punctuation(*char)).collect();
    let is_article = |token: &&str| matches!(*token, "a" | "an" | "the");
    text.split_whitespace().filter(|token| !is_article(token)).map(str::to_owned).collect()
}

/// ASCII punctuation as in SQuAD, and the signs of other scripts that stand for it. Not "whatever is
/// no letter": that would drop the vowel signs of Indic scripts.
fn is_punctuation(char: char) -> bool {
    char.is_ascii_punctuation()
        || matches!(char,
            '¡' | '§' | '«' | '¶' | '·' | '»' | '¿'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
            | '\u{060c}' | '\u{061b}' | '\u{061f}' | '\u{0964}' | '\u{0965}'
            | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}

/// Cited ids set against the relevant ones; repeated ids count once.
pub(super) struct Citations {
    cited: usize,
    right: usize,
    relevant: usize,
}

impl Citations {
    pub(super) fn new(cited: &[String], judged: &BTreeMap<String, i64>, from: u64) -> Self {
        let relevant: BTreeSet<&str> = judged
            .iter()
            .filter(|(_, grade)| u64::try_from(**grade).is_ok_and(|grade| grade >= from))
            .map(|(id, _)| id.as_str())
            .collect();
        let cited: BTreeSet<&str> = cited.iter().map(String::as_str).collect();
        let right = cited.intersection(&relevant).count();
        Self { cited: cited.len(), right, relevant: relevant.len() }
    }

    pub(super) fn precision(&self) -> Option<f64> {
        (self.cited > 0).then(|| self.right as f64 / self.cited as f64)
    }

    pub(super) fn recall(&self) -> Option<f64> {
        (self.relevant > 0).then(|| self.right as f64 / self.relevant as f64)
    }
}
