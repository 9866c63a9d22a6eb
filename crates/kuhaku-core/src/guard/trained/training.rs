//! What the trainer needs of the trained stage, so that both look at the same.

use std::ops::Range;

use super::features::{BITS, Reader};
use super::weights::Weights;
use super::{Trained, family_bucket, root, share_of_rest, windows};
use crate::error::Result;
use crate::guard::InjectionGuard;
use crate::guard::normalise::Normalised;
use crate::guard::screening::GuardFamily;

/// How many weights each head has.
pub const GUARD_BUCKETS: usize = 1 << BITS;

/// A text as the trained stage looks at it.
#[derive(Clone, Debug, Default)]
pub struct GuardReading {
    /// The buckets of all features, in order.
    features: Vec<u32>,
    /// For each character that counts, how many features there are up to its end; begins with 0.
    upto: Vec<usize>,
    windows: Vec<Range<usize>>,
}

impl GuardReading {
    /// The words of a text as the guard reads them: what [`GuardReading::read`] takes.
    pub fn words(text: &str) -> String {
        Normalised::new(text).words.text().to_owned()
    }

    /// Reads normalised words.
    pub fn read(words: &str) -> Self {
        let mut read = Self { upto: vec![0], ..Self::default() };
        let mut ends = Vec::new();
        let mut reader = Reader::new();
        let Self { features, upto, .. } = &mut read;
        let mut add = |bucket: usize| features.push(u32::try_from(bucket).unwrap_or_default());
        let mut count = 0;
        for c in words.chars() {
            let taken = reader.take(c, |bucket| {
                add(bucket);
                count += 1;
            });
            if taken {
                upto.push(count);
                if c == '.' {
                    ends.push(upto.len() - 1);
                }
            }
        }
        reader.end(|bucket| {
            add(bucket);
            count += 1;
        });
        if let Some(last) = upto.last_mut() {
            *last = count;
        }
        windows(upto.len() - 1, &ends, |window| read.windows.push(window));
        read
    }

    /// The characters that count.
    pub fn length(&self) -> usize {
        self.upto.len().saturating_sub(1)
    }

    /// The windows that are judged, in characters that count.
    pub fn windows(&self) -> &[Range<usize>] {
        &self.windows
    }

    /// The buckets of all features.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Which of the features belong to a window.
    pub fn within(&self, window: &Range<usize>) -> Range<usize> {
        let at = |place: usize| self.upto.get(place).copied().unwrap_or(self.features.len());
        at(window.start)..at(window.end)
    }

    /// What the sum of a window's weights is divided by.
    pub fn divisor(window: &Range<usize>) -> f32 {
        root(window.len())
    }

    /// The share of the sum of all the rest that is taken off a window's sum when documents are judged.
    pub fn share_of_rest(&self, window: &Range<usize>) -> f32 {
        share_of_rest(window.len(), self.length())
    }

    /// The bucket of a family that rules found. Its weight is added undivided.
    pub fn family(family: GuardFamily) -> usize {
        family_bucket(family)
    }
}

impl InjectionGuard {
    /// A guard whose trained stage never says anything: the rules alone, to compare with.
    pub fn rules_only() -> Self {
        let none = vec![0; GUARD_BUCKETS];
        let silent = Weights::file([0.0; 2], [f32::MIN / 2.0; 2], [&none, &none]);
        let guard = Self::new();
        if let Ok(silent) = Trained::read(silent) {
            // Nobody has used this guard yet.
            let _ = guard.parts.trained.set(silent);
        }
        guard
    }
}

/// What the trained stage says, as a question and as a part of a document: probabilities, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardVerdict {
    /// As something that a user asks.
    pub question: f32,
    /// As a part of a document.
    pub document: f32,
}

/// Weights of the trained stage, apart from the rules.
#[derive(Clone, Debug)]
pub struct GuardWeights(Trained);

impl GuardWeights {
    /// Those that this crate brings along.
    pub fn builtin() -> Self {
        Self(Trained::builtin())
    }

    /// Those of a file.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when it is no file of weights or of another version, `ChecksumMismatch` when it was
    /// changed.
    pub fn from_file(file: Vec<u8>) -> Result<Self> {
        Trained::read(file).map(Self)
    }

    /// Writes a file: scale, bias and [`GUARD_BUCKETS`] weights for questions, then for documents.
    pub fn file(scales: [f32; 2], biases: [f32; 2], weights: [&[i8]; 2]) -> Vec<u8> {
        Weights::file(scales, biases, weights)
    }

    /// Judges a text in which rules found attacks of some families.
    pub fn judge(&self, text: &str, families: &[GuardFamily]) -> GuardVerdict {
        self.judge_words(&GuardReading::words(text), families)
    }

    /// Judges normalised words.
    pub fn judge_words(&self, words: &str, families: &[GuardFamily]) -> GuardVerdict {
        let scores = self.0.scores(words, families);
        GuardVerdict { question: scores.question.score, document: scores.document.score }
    }
}
