//! Making one ranking of several (D22).

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::error::{Result, invalid_input};
use crate::named::named;

/// Ways to fuse rankings, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fusion {
    /// Reciprocal ranks: `Σ weight / (k + rank)`, ranks from 1 (Cormack, Clarke and Büttcher 2009).
    /// What is in no list gets nothing from it. Scores do not matter.
    Rrf,
    /// Scores between the least and the greatest of their list: `Σ weight · (s − min) / (max − min)`.
    /// The last of a list gets as much as what is not in it. Where all scores are equal, each counts
    /// as 1, or as 0 when they are 0. A list with a [`Ranking::ceiling`] is not stretched beyond it.
    #[default]
    Minmax,
    /// Scores between the least that is possible and the greatest of their list:
    /// `Σ weight · (s − floor) / (max − floor)` (Bruch, Gai and Ingber 2023, section 4, TM2C2 without
    /// its convexity). The last of a list keeps what it is worth.
    Tmm,
}

named!(Fusion, "fusion", [Rrf = "rrf", Minmax = "minmax", Tmm = "tmm"]);

/// One list to fuse: keys with their scores, best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking<K> {
    items: Vec<(K, f64)>,
    weight: f64,
    floor: f64,
    ceiling: Option<f64>,
}

impl<K> Ranking<K> {
    /// A list with weight 1 whose scores have the least possible value 0, as those of BM25 have.
    pub fn new(items: impl IntoIterator<Item = (K, f64)>) -> Self {
        Self { items: items.into_iter().collect(), weight: 1.0, floor: 0.0, ceiling: None }
    }

    /// How much the list counts, 0 or more.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// The least score that is possible: -1 for cosines. For [`Fusion::Tmm`].
    #[must_use]
    pub fn floor(mut self, floor: f64) -> Self {
        self.floor = floor;
        self
    }

    /// What counts as a good score: the greatest of the list counts as at least this, so that a list of
    /// poor hits is not stretched to the same range as one of good ones. For [`Fusion::Minmax`] and
    /// [`Fusion::Tmm`]; by default the greatest of the list.
    #[must_use]
    pub fn ceiling(mut self, ceiling: f64) -> Self {
        self.ceiling = Some(ceiling);
        self
    }
}

/// Fuses rankings.
///
/// ```
/// use kuhaku_rag::{Fuser, Fusion, Ranking};
///
/// let dense = Ranking::new([("a", 0.91), ("b", 0.90)]).floor(-1.0);
/// let sparse = Ranking::new([("b", 7.0)]);
/// let fused = Fuser::new(Fusion::Tmm).fuse(&[dense, sparse])?;
/// assert_eq!(fused[0].0, "b");
/// # Ok::<(), kuhaku_rag::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fuser {
    fusion: Fusion,
    rrf_k: u32,
}

impl Fuser {
    /// A way of fusing, with 60 for the k of reciprocal ranks.
    pub fn new(fusion: Fusion) -> Self {
        Self { fusion, rrf_k: 60 }
    }

    /// The k of reciprocal ranks: the greater, the less the first ranks stand out.
    #[must_use]
    pub fn rrf_k(mut self, k: u32) -> Self {
        self.rrf_k = k;
        self
    }

    /// Everything that is in some list, once, with its fused score; best first, equal scores by key.
    /// A key that is in one list twice counts at its first place alone.
    ///
    /// Scores are added in the order of the lists (D6). They order what was fused and mean nothing
    /// beyond that (R9).
    ///
    /// # Errors
    /// `core.invalid_input` for a weight or a score that is not finite, and for a weight below 0.
    pub fn fuse<K: Clone + Eq + Hash + Ord>(
        &self,
        rankings: &[Ranking<K>],
    ) -> Result<Vec<(K, f64)>> {
        let mut places: HashMap<&K, usize> = HashMap::new();
        let mut fused: Vec<(&K, f64)> = Vec::new();
        for ranking in rankings {
            ranking.check()?;
            let items = ranking.distinct();
            let shares = self.shares(&items, ranking.floor, ranking.ceiling);
            for ((key, _), share) in items.into_iter().zip(shares) {
                let place = *places.entry(key).or_insert(fused.len());
                match fused.get_mut(place) {
                    Some((_, score)) => *score += ranking.weight * share,
                    None => fused.push((key, ranking.weight * share)),
                }
            }
        }
        fused.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| a.cmp(b)));
        Ok(fused.into_iter().map(|(key, score)| (key.clone(), score)).collect())
    }

    /// What each item of one list counts, before its weight.
    fn shares<K>(&self, items: &[(&K, f64)], floor: f64, ceiling: Option<f64>) -> Vec<f64> {
        let scores: Vec<f64> = items.iter().map(|(_, score)| *score).collect();
        match self.fusion {
            Fusion::Rrf => {
                let k = f64::from(self.rrf_k);
                (1..=items.len()).map(|rank| 1.0 / (k + rank as f64)).collect()
            }
            Fusion::Minmax => min_max_below(&scores, ceiling),
            Fusion::Tmm => {
                let range = greatest(&scores, ceiling) - floor;
                let share =
                    |score| if range > 0.0 { f64::max((score - floor) / range, 0.0) } else { 0.0 };
                scores.into_iter().map(share).collect()
            }
        }
    }
}

/// Scores between the least and the greatest of them; equal ones become 1, or 0 when they are 0.
pub(crate) fn min_max(scores: &[f64]) -> Vec<f64> {
    min_max_below(scores, None)
}

/// The same where the greatest counts as at least the ceiling; equal ones become their share of it.
fn min_max_below(scores: &[f64], ceiling: Option<f64>) -> Vec<f64> {
    let (least, own) = (least(scores), greatest(scores, None));
    let most = greatest(scores, ceiling);
    if own > least {
        return scores.iter().map(|score| (score - least) / (most - least)).collect();
    }
    let equal = match ceiling {
        _ if own == 0.0 => 0.0,
        Some(_) if most > 0.0 => (own / most).max(0.0),
        _ => 1.0,
    };
    vec![equal; scores.len()]
}

fn least(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(f64::INFINITY, f64::min)
}

/// The greatest of the scores and the ceiling.
fn greatest(scores: &[f64], ceiling: Option<f64>) -> f64 {
    scores.iter().copied().chain(ceiling).fold(f64::NEG_INFINITY, f64::max)
}

impl<K: Eq + Hash> Ranking<K> {
    fn check(&self) -> Result<()> {
        let scores =
            self.items.iter().map(|(_, score)| *score).chain([self.floor]).chain(self.ceiling);
        let wrong = if !self.weight.is_finite() || self.weight < 0.0 {
            format!("the weight {} is not 0 or more", self.weight)
        } else if let Some(score) = { scores }.find(|score| !score.is_finite()) {
            format!("the score {score} is not finite")
        } else {
            return Ok(());
        };
        Err(invalid_input("fuse rankings", wrong)
            .next("give finite scores, and weights of 0 or more"))
    }

    /// Each key at its first place.
    fn distinct(&self) -> Vec<(&K, f64)> {
        let mut seen = HashSet::new();
        let items = self.items.iter().filter(|(key, _)| seen.insert(key));
        items.map(|(key, score)| (key, *score)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fuse(fusion: Fusion, lists: &[&[(&'static str, f64)]]) -> Vec<(&'static str, f64)> {
        let lists: Vec<_> = lists.iter().map(|list| Ranking::new(list.iter().copied())).collect();
        Fuser::new(fusion).fuse(&lists).unwrap()
    }

    fn keys<'a>(fused: &[(&'a str, f64)]) -> Vec<&'a str> {
        fused.iter().map(|(key, _)| *key).collect()
    }

    #[track_caller]
    fn same(fused: &[(&str, f64)], expected: &[(&str, f64)]) {
        assert_eq!(keys(fused), keys(expected), "{fused:?}");
        for ((_, score), (key, value)) in fused.iter().zip(expected) {
            assert!((score - value).abs() < 1e-6, "{key}: {score}, not {value}");
        }
    }

    const DENSE: &[(&str, f64)] = &[("a", 0.9), ("b", 0.8), ("c", 0.1)];
    const WORDS: &[(&str, f64)] = &[("b", 12.0), ("d", 3.0)];

    /// FUS-01
    #[test]
    fn reciprocal_ranks_add_up() {
        let fused = fuse(Fusion::Rrf, &[&[("x", 0.9), ("y", 0.8)], &[("y", 3.0)]]);
        same(&fused, &[("y", 0.032522), ("x", 0.016393)]);
        let opposite = fuse(Fusion::Rrf, &[&[("b", 2.0), ("a", 1.0)], &[("a", 2.0), ("b", 1.0)]]);
        assert_eq!(keys(&opposite), ["a", "b"], "equal scores by key");
        assert_eq!(fuse(Fusion::Rrf, &[&[], &[]]), []);
    }

    /// FUS-02
    #[test]
    fn the_order_is_that_of_the_fused_scores() {
        let dense = [("a", 0.9), ("b", 0.8), ("c", 0.4)];
        let sparse = [("c", 7.0), ("d", 3.0), ("a", 1.0)];
        let fused = fuse(Fusion::Rrf, &[&dense, &sparse]);
        same(&fused, &[("a", 0.032266), ("c", 0.032266), ("b", 0.016129), ("d", 0.016129)]);
    }

    /// FUS-03
    #[test]
    fn min_max_takes_scores_to_the_range_from_0_to_1() {
        let cases: [(&[f64], &[f64]); 8] = [
            (&[0.0, 5.0, 10.0], &[0.0, 0.5, 1.0]),
            (&[3.0], &[1.0]),
            (&[0.0], &[0.0]),
            (&[2.0, 2.0, 2.0], &[1.0, 1.0, 1.0]),
            (&[0.0, 0.0], &[0.0, 0.0]),
            (&[-1.0, 0.0, 1.0], &[0.0, 0.5, 1.0]),
            (&[0.3, 0.3, 0.3], &[1.0, 1.0, 1.0]),
            (&[], &[]),
        ];
        for (scores, expected) in cases {
            assert_eq!(min_max(scores), expected, "{scores:?}");
        }
        let middle = min_max(&[8.3, 2.1, 0.4])[1];
        assert!((middle - 0.215190).abs() < 1e-6, "{middle}");
    }

    #[test]
    fn a_list_of_poor_hits_is_not_stretched_beyond_what_a_good_one_scores() {
        let cases: [(&[f64], f64, &[f64]); 7] = [
            (&[4.0, 2.0], 10.0, &[0.25, 0.0]),
            (&[20.0, 10.0], 10.0, &[1.0, 0.0]),
            (&[4.0], 10.0, &[0.4]),
            (&[40.0], 10.0, &[1.0]),
            (&[0.0], 10.0, &[0.0]),
            (&[], 10.0, &[]),
            (&[-2.0], -1.0, &[1.0]),
        ];
        for (scores, ceiling, expected) in cases {
            assert_eq!(min_max_below(scores, Some(ceiling)), expected, "{scores:?}");
        }
        let poor = [Ranking::new([("a", 4.0), ("b", 2.0)]).ceiling(10.0)];
        same(&Fuser::new(Fusion::Minmax).fuse(&poor).unwrap(), &[("a", 0.25), ("b", 0.0)]);
        same(&Fuser::new(Fusion::Tmm).fuse(&poor).unwrap(), &[("a", 0.4), ("b", 0.2)]);
        let endless = [Ranking::new([("a", 4.0)]).ceiling(f64::INFINITY)];
        assert!(Fuser::new(Fusion::Minmax).fuse(&endless).is_err());
    }

    /// RK-38
    #[test]
    fn reciprocal_ranks_count_by_the_weight_of_their_list() {
        let fused = fuse(Fusion::Rrf, &[&[("a", 2.0), ("b", 1.0)], &[("b", 2.0), ("c", 1.0)]]);
        same(&fused, &[("b", 0.0325225), ("a", 0.0163934), ("c", 0.0161290)]);
        let weighted = [Ranking::new([("a", 1.0)]).weight(2.0), Ranking::new([("b", 1.0)])];
        let fused = Fuser::new(Fusion::Rrf).fuse(&weighted).unwrap();
        same(&fused, &[("a", 0.0327869), ("b", 0.0163934)]);
        let first = Fuser::new(Fusion::Rrf).rrf_k(1).fuse(&weighted).unwrap();
        assert_eq!(first[0], ("a", 1.0));
    }

    /// RK-39
    #[test]
    fn min_max_adds_up_over_lists() {
        let fused = fuse(Fusion::Minmax, &[&[("a", 30.0), ("b", 10.0)], &[("b", 0.9), ("a", 0.5)]]);
        same(&fused, &[("a", 1.0), ("b", 1.0)]);
        let fused = fuse(Fusion::Minmax, &[&[("a", 5.0), ("b", 1.0)], &[("c", 0.7)]]);
        same(&fused, &[("a", 1.0), ("c", 1.0), ("b", 0.0)]);
    }

    /// RK-40
    #[test]
    fn lists_of_one_and_empty_lists_are_no_special_case() {
        let one: &[(&str, f64)] = &[("only", 0.2)];
        same(&fuse(Fusion::Minmax, &[one, &[("only", 4.0)]]), &[("only", 2.0)]);
        same(&fuse(Fusion::Minmax, &[one, &[]]), &[("only", 1.0)]);
        for fusion in Fusion::ALL {
            assert_eq!(fuse(*fusion, &[&[], &[]]), []);
            assert_eq!(fuse(*fusion, &[]), []);
        }
    }

    /// RK-41
    #[test]
    fn the_fusions_differ_on_one_example() {
        let fused = fuse(Fusion::Minmax, &[DENSE, WORDS]);
        same(&fused, &[("b", 1.875), ("a", 1.0), ("c", 0.0), ("d", 0.0)]);
        let fused = fuse(Fusion::Rrf, &[DENSE, WORDS]);
        same(&fused, &[("b", 0.032522), ("a", 0.016393), ("d", 0.016129), ("c", 0.015873)]);
        let lists = [
            Ranking::new(DENSE.iter().copied()).weight(0.3),
            Ranking::new(WORDS.iter().copied()).weight(0.7),
        ];
        let fused = Fuser::new(Fusion::Minmax).fuse(&lists).unwrap();
        same(&fused, &[("b", 0.9625), ("a", 0.3), ("c", 0.0), ("d", 0.0)]);
    }

    /// RK-42
    #[test]
    fn equal_scores_keep_one_order() {
        let dense = [("a", 0.9), ("b", 0.8), ("c", 0.7)];
        let fused = fuse(Fusion::Minmax, &[&dense, &[("c", 9.0), ("d", 5.0), ("e", 1.0)]]);
        same(&fused, &[("a", 1.0), ("c", 1.0), ("b", 0.5), ("d", 0.5), ("e", 0.0)]);
    }

    /// RK-43
    #[test]
    fn what_both_lists_hold_wins_when_scores_count_from_their_floor() {
        let lists =
            [Ranking::new([("a", 0.91), ("b", 0.90)]).floor(-1.0), Ranking::new([("b", 7.0)])];
        let observed = Fuser::new(Fusion::Minmax).fuse(&lists).unwrap();
        same(&observed, &[("a", 1.0), ("b", 1.0)]);
        let theoretical = Fuser::new(Fusion::Tmm).fuse(&lists).unwrap();
        same(&theoretical, &[("b", 1.0 + 1.90 / 1.91), ("a", 1.0)]);
        let nothing = Ranking::new([("a", -1.0)]).floor(-1.0);
        same(&Fuser::new(Fusion::Tmm).fuse(&[nothing]).unwrap(), &[("a", 0.0)]);
    }

    /// RK-44
    #[test]
    fn a_list_that_repeats_itself_counts_once() {
        let lists: &[&[(&str, f64)]] =
            &[&[("same", 0.9), ("same", 0.9), ("b", 0.1)], &[("b", 5.0)]];
        same(&fuse(Fusion::Minmax, lists), &[("b", 1.0), ("same", 1.0)]);
        same(&fuse(Fusion::Rrf, lists), &[("b", 1.0 / 62.0 + 1.0 / 61.0), ("same", 1.0 / 61.0)]);
    }

    /// RK-46: keys are the caller's; a weight belongs to its list, so that none can be missing.
    #[test]
    fn names_and_weights_are_checked_and_keys_are_free() {
        let error = "borda".parse::<Fusion>().unwrap_err();
        assert!(error.to_string().contains("rrf minmax tmm"), "{error}");
        assert_eq!(" RRF ".parse::<Fusion>().unwrap(), Fusion::Rrf);
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            let list = Ranking::new([("a", 1.0)]).weight(weight);
            assert!(Fuser::new(Fusion::Rrf).fuse(&[list]).is_err(), "{weight}");
        }
        assert!(Fuser::new(Fusion::Tmm).fuse(&[Ranking::new([("a", f64::NAN)])]).is_err());
        // Two texts of one document under the key that the caller gives them.
        let by_document = |text: &'static str| (text.split_once(' ').map(|(id, _)| id), 1.0);
        let lists = [Ranking::new([by_document("x v1")]), Ranking::new([by_document("x v2")])];
        let fused = Fuser::new(Fusion::Rrf).fuse(&lists).unwrap();
        assert_eq!(fused, [(Some("x"), 2.0 / 61.0)]);
    }
}
