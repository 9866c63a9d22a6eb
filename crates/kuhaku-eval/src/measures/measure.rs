//! The measures by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::cut::Cut;
use super::ranking::Gain;
use crate::error::{Error, ErrorKind};

/// A measure of one sample, in `[0, 1]`. Higher is better for all but
/// [`HallucinatedFields`](Self::HallucinatedFields).
///
/// Written and read as text: `ndcg@10`, `recall@100`, `mrr`, `map`, `exact_match`.
///
/// ```
/// use kuhaku_eval::{Cut, Gain, Measure};
/// let measure: Measure = "nDCG@10".parse()?;
/// assert_eq!(measure, Measure::Ndcg(Cut::at(10).unwrap(), Gain::Linear));
/// assert_eq!(measure.to_string(), "ndcg@10");
/// assert!("ndcg@0".parse::<Measure>().is_err());
/// # Ok::<(), kuhaku_eval::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Measure {
    /// `hit_rate`: 1 if anything relevant was found. The same number as `success`.
    HitRate(Cut),
    /// `success`, under trec_eval's name.
    Success(Cut),
    /// `precision` or `p`: the divisor is k even where fewer were retrieved, as in trec_eval.
    Precision(Cut),
    /// `precision_of_returned`: the divisor is the number of distinct results, at most k.
    PrecisionOfReturned(Cut),
    /// `recall`.
    Recall(Cut),
    /// `mrr`: reciprocal rank of the first relevant document.
    ReciprocalRank(Cut),
    /// `map`: average precision.
    AveragePrecision(Cut),
    /// `ndcg`, and `ndcg_exp` with exponential gain.
    Ndcg(Cut, Gain),
    /// `bpref`.
    Bpref,
    /// `r_precision`.
    RPrecision,
    /// `exact_match`: the expected answer after normalising as SQuAD does.
    ExactMatch,
    /// `token_f1`: overlap with the expected answer.
    TokenF1,
    /// `answer_correctness`: Jaccard similarity of words.
    AnswerCorrectness,
    /// `citation_precision`: relevant ones among the cited ids.
    CitationPrecision,
    /// `citation_recall`: cited ones among the relevant ids.
    CitationRecall,
    /// `abstention_precision`: measured where the target abstained; 1 if nothing could be answered.
    AbstentionPrecision,
    /// `abstention_recall`: measured where nothing can be answered; 1 if the target abstained.
    AbstentionRecall,
    /// `field_accuracy`: matching leaves of the label.
    FieldAccuracy,
    /// `exact_object`: 1 if the whole object matches.
    ExactObject,
    /// `field_precision`: correct values among those given.
    FieldPrecision,
    /// `field_recall`: correct values among those expected.
    FieldRecall,
    /// `field_f1`: harmonic mean of the two.
    FieldF1,
    /// `hallucinated_fields`: values where the label has none, among those given. Lower is better.
    HallucinatedFields,
}

type OfRanking = fn(Cut) -> Measure;

/// Names of measures that take a depth. The first name of a measure is the one it prints.
const OF_RANKINGS: &[(&str, &str, OfRanking)] = &[
    ("hit_rate", "Hit rate", Measure::HitRate),
    ("hit", "Hit rate", Measure::HitRate),
    ("success", "Success", Measure::Success),
    ("precision", "Precision", Measure::Precision),
    ("p", "Precision", Measure::Precision),
    ("precision_of_returned", "Precision of returned", Measure::PrecisionOfReturned),
    ("recall", "Recall", Measure::Recall),
    ("mrr", "MRR", Measure::ReciprocalRank),
    ("map", "MAP", Measure::AveragePrecision),
    ("ndcg", "nDCG", |cut| Measure::Ndcg(cut, Gain::Linear)),
    ("ndcg_exp", "nDCG (exp)", |cut| Measure::Ndcg(cut, Gain::Exponential)),
];

const OTHERS: &[(&str, &str, Measure)] = &[
    ("bpref", "bpref", Measure::Bpref),
    ("r_precision", "R-precision", Measure::RPrecision),
    ("exact_match", "Exact match", Measure::ExactMatch),
    ("token_f1", "Token F1", Measure::TokenF1),
    ("answer_correctness", "Answer correctness", Measure::AnswerCorrectness),
    ("citation_precision", "Citation precision", Measure::CitationPrecision),
    ("citation_recall", "Citation recall", Measure::CitationRecall),
    ("abstention_precision", "Abstention precision", Measure::AbstentionPrecision),
    ("abstention_recall", "Abstention recall", Measure::AbstentionRecall),
    ("field_accuracy", "Field accuracy", Measure::FieldAccuracy),
    ("exact_object", "Exact object", Measure::ExactObject),
    ("field_precision", "Field precision", Measure::FieldPrecision),
    ("field_recall", "Field recall", Measure::FieldRecall),
    ("field_f1", "Field F1", Measure::FieldF1),
    ("hallucinated_fields", "Hallucinated fields", Measure::HallucinatedFields),
];

impl Measure {
    /// The measures of retrieval that are usual: `mrr@10`, then `recall` and then `ndcg` at each
    /// depth, in the order given.
    pub fn of_retrieval(depths: &[std::num::NonZeroUsize]) -> Vec<Self> {
        let at = |measure: OfRanking| depths.iter().map(move |k| measure(Cut::At(*k)));
        Cut::at(10)
            .map(Self::ReciprocalRank)
            .into_iter()
            .chain(at(Self::Recall))
            .chain(at(|cut| Self::Ndcg(cut, Gain::Linear)))
            .collect()
    }

    /// Reads names separated by commas, in their order; repeated ones count once.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownMeasure`] for the first that does not exist.
    pub fn list(names: &str) -> Result<Vec<Self>, Error> {
        let mut measures = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let measure = name.parse()?;
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        Ok(measures)
    }

    /// All names, those with a depth as `name@k`.
    pub fn names() -> impl Iterator<Item = String> {
        let of_rankings = OF_RANKINGS.iter().map(|(name, ..)| format!("{name}[@k]"));
        of_rankings.chain(OTHERS.iter().map(|(name, ..)| (*name).to_owned()))
    }

    /// The name for people, as a column has it: `nDCG@10`.
    pub fn title(self) -> String {
        self.entry().map_or_else(String::new, |(_, title, cut)| format!("{title}{cut}"))
    }

    /// Whether a higher value is better.
    pub fn higher_is_better(self) -> bool {
        self != Self::HallucinatedFields
    }

    /// The depth, the whole list for measures that have none.
    pub fn cut(self) -> Cut {
        match self {
            Self::HitRate(cut)
            | Self::Success(cut)
            | Self::Precision(cut)
            | Self::PrecisionOfReturned(cut)
            | Self::Recall(cut)
            | Self::ReciprocalRank(cut)
            | Self::AveragePrecision(cut)
            | Self::Ndcg(cut, _) => cut,
            _ => Cut::Whole,
        }
    }

    fn entry(self) -> Option<(&'static str, &'static str, Cut)> {
        let cut = self.cut();
        let ranked = OF_RANKINGS.iter().find(|(.., make)| make(cut) == self);
        let ranked = ranked.map(|(name, title, _)| (*name, *title, cut));
        ranked.or_else(|| {
            let (name, title, _) = OTHERS.iter().find(|(.., measure)| *measure == self)?;
            Some((*name, *title, Cut::Whole))
        })
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.entry() {
            Some((name, _, cut)) => write!(f, "{name}{cut}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim().to_ascii_lowercase().replace('-', "_");
        let (name, depth) = match text.split_once('@') {
            Some((name, depth)) => (name, Some(depth)),
            None => (text.as_str(), None),
        };
        let cut = match depth.map(str::parse).transpose() {
            Ok(depth) => depth.map_or(Some(Cut::Whole), Cut::at),
            Err(_) => None,
        };
        let Some(cut) = cut else {
            let wrong = "what follows @ is no whole number from 1 on";
            return Err(unknown(wrong).next("write a depth such as ndcg@10"));
        };
        if let Some((.., make)) = OF_RANKINGS.iter().find(|(known, ..)| *known == name) {
            return Ok(make(cut));
        }
        match OTHERS.iter().find(|(known, ..)| *known == name) {
            Some((.., measure)) if depth.is_none() => Ok(*measure),
            Some((name, ..)) => {
                Err(unknown("it has no depth").next(format!("write {name} without @")))
            }
            None => {
                let names: Vec<String> = Self::names().collect();
                let next = format!("take one of {}", names.join(", "));
                Err(unknown("there is no measure of that name").next(next))
            }
        }
    }
}

fn unknown(wrong: &'static str) -> Error {
    Error::new(ErrorKind::UnknownMeasure, "read the name of a measure", wrong)
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
