//! Logistic regression on the worst window of each text, by AdaGrad.
//!
//! What is trained is what is judged: a text counts by its worst window. Of an attack inside a carrier only
//! windows that hold it count, or the model would learn the carrier. Step sizes per weight: Duchi, Hazan,
//! Singer, "Adaptive Subgradient Methods", JMLR 12 (2011).

use std::ops::Range;

use kuhaku_core::{GUARD_BUCKETS, GuardReading};

use super::random::Random;

/// Passes over the examples; the weights are averaged over the second half of them.
const EPOCHS: usize = 16;
const RATE: f32 = 0.1;
/// What the sum of squared gradients begins with: the first steps stay small.
const FIRST: f32 = 2e-3;
/// The share of a weight that a step takes away.
const DECAY: f32 = 2e-4;
/// Of a hundred examples, how many train another window than the worst, and how many do without rules.
const OTHER: usize = 20;
const WITHOUT_RULES: usize = 50;
/// The share of an attack, or of a window inside it, that makes a window one of the attack.
const HELD: f32 = 0.6;

/// A text with its answer.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) words: String,
    /// The attack, in characters that count; without it the text counts as a whole.
    pub(super) span: Option<Range<usize>>,
    pub(super) attack: bool,
    pub(super) weight: f32,
    /// Buckets of what the rules found.
    pub(super) rules: Vec<usize>,
}

/// How windows are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Each for itself.
    Itself,
    /// By what sets it apart from the rest of the text.
    Contrast,
}

/// One head: a weight for each bucket, and the bias.
#[derive(Clone, Debug)]
pub(super) struct Model {
    by: By,
    pub(super) weights: Vec<f32>,
    pub(super) bias: f32,
}

impl Model {
    fn empty(by: By) -> Self {
        Self { by, weights: vec![0.0; GUARD_BUCKETS], bias: 0.0 }
    }

    /// Trains on examples; the same examples and seed give the same model.
    pub(super) fn train(by: By, examples: &[Example], seed: u64) -> Self {
        let (mut random, mut model) = (Random::new(seed), Self::empty(by));
        let mut squares = Self { by, weights: vec![FIRST; GUARD_BUCKETS], bias: FIRST };
        let mut average = Self::empty(by);
        let mut order: Vec<&Example> = examples.iter().collect();
        for epoch in 0..EPOCHS {
            random.shuffle(&mut order);
            for example in &order {
                model.step(&mut squares, example, epoch == 0, &mut random);
            }
            if epoch >= EPOCHS / 2 {
                for (sum, weight) in average.weights.iter_mut().zip(&model.weights) {
                    *sum += weight;
                }
                average.bias += model.bias;
            }
        }
        let passes = (EPOCHS - EPOCHS / 2) as f32;
        average.weights.iter_mut().for_each(|sum| *sum /= passes);
        average.bias /= passes;
        average
    }

    fn step(&mut self, squares: &mut Self, example: &Example, any: bool, random: &mut Random) {
        let reading = GuardReading::read(&example.words);
        let allowed: Vec<&Range<usize>> = allowed(&reading, example.span.as_ref());
        let worst = if any || random.percent(OTHER) {
            random.pick(&allowed).map(|window| (*window).clone())
        } else {
            self.worst(&reading, &allowed).map(|(_, window)| window)
        };
        let Some(window) = worst else { return };
        let within = reading.features().get(reading.within(&window)).unwrap_or_default();
        let value = 1.0 / GuardReading::divisor(&window);
        let rules: &[usize] = if random.percent(WITHOUT_RULES) { &[] } else { &example.rules };
        let sum = |features: &[u32]| -> f32 {
            features.iter().map(|bucket| self.weight(*bucket as usize)).sum()
        };
        let share = self.share(&reading, &window);
        let inside = sum(within);
        let rest = if share > 0.0 { sum(reading.features()) - inside } else { 0.0 };
        let found: f32 = rules.iter().map(|bucket| self.weight(*bucket)).sum();
        let logit = (inside - share * rest) * value + found + self.bias;
        let answer = if example.attack { 1.0 } else { 0.0 };
        let gradient = (1.0 / (1.0 + (-logit).exp()) - answer) * example.weight;
        for bucket in within {
            self.move_weight(squares, *bucket as usize, gradient * value);
        }
        for bucket in rules {
            self.move_weight(squares, *bucket, gradient);
        }
        if share > 0.0 {
            // One window stands for the rest, or each step would go through the whole text.
            let apart: Vec<&Range<usize>> = (reading.windows().iter())
                .filter(|other| other.end <= window.start || window.end <= other.start)
                .collect();
            if let Some(other) = random.pick(&apart) {
                let rest = (reading.length() - window.len()) as f32 / other.len().max(1) as f32;
                let less = -gradient * value * share * rest;
                for bucket in reading.features().get(reading.within(other)).unwrap_or_default() {
                    self.move_weight(squares, *bucket as usize, less);
                }
            }
        }
        squares.bias += gradient * gradient;
        self.bias -= RATE * gradient / squares.bias.sqrt();
    }

    fn share(&self, reading: &GuardReading, window: &Range<usize>) -> f32 {
        match self.by {
            By::Itself => 0.0,
            By::Contrast => reading.share_of_rest(window),
        }
    }

    fn move_weight(&mut self, squares: &mut Self, bucket: usize, gradient: f32) {
        let slots = (self.weights.get_mut(bucket), squares.weights.get_mut(bucket));
        if let (Some(weight), Some(square)) = slots {
            *square += gradient * gradient;
            *weight -= RATE * gradient / square.sqrt() + DECAY * *weight;
        }
    }

    fn weight(&self, bucket: usize) -> f32 {
        self.weights.get(bucket).copied().unwrap_or_default()
    }

    /// The worst of some windows, and its logit without rules.
    fn worst(
        &self,
        reading: &GuardReading,
        among: &[&Range<usize>],
    ) -> Option<(f32, Range<usize>)> {
        let mut sums = Vec::with_capacity(reading.features().len() + 1);
        let mut sum = 0.0_f64;
        sums.push(sum);
        for bucket in reading.features() {
            sum += f64::from(self.weight(*bucket as usize));
            sums.push(sum);
        }
        let at = |place: usize| sums.get(place).copied().unwrap_or_default();
        let logits = among.iter().map(|window| {
            let within = reading.within(window);
            let inside = at(within.end) - at(within.start);
            let sum = inside - f64::from(self.share(reading, window)) * (sum - inside);
            (sum as f32 / GuardReading::divisor(window) + self.bias, (*window).clone())
        });
        logits.max_by(|(a, _), (b, _)| a.total_cmp(b))
    }

    /// The logit of a text.
    pub(super) fn logit(&self, words: &str, rules: &[usize]) -> f32 {
        let reading = GuardReading::read(words);
        let windows: Vec<&Range<usize>> = reading.windows().iter().collect();
        let found: f32 = rules.iter().map(|bucket| self.weight(*bucket)).sum();
        self.worst(&reading, &windows).map_or(self.bias, |(logit, _)| logit) + found
    }

    /// One signed byte per weight, and what it is a multiple of.
    pub(super) fn quantised(&self) -> (f32, Vec<i8>) {
        let most = self.weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        let scale = if most > 0.0 { most / 127.0 } else { 1.0 };
        let weights = self.weights.iter().map(|weight| (weight / scale).round() as i8);
        (scale, weights.collect())
    }
}

/// The windows that hold the attack; all of them when it is not known where it is.
fn allowed<'a>(reading: &'a GuardReading, span: Option<&Range<usize>>) -> Vec<&'a Range<usize>> {
    let windows = reading.windows().iter();
    let Some(span) = span else { return windows.collect() };
    let holds = |window: &&Range<usize>| {
        let shared = window.end.min(span.end).saturating_sub(window.start.max(span.start));
        shared as f32 >= HELD * window.len().min(span.len()) as f32
    };
    windows.filter(holds).collect()
}
