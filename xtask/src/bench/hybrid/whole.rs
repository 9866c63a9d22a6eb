//! What `HybridRetriever` does, from public parts and with the vectors of one model or more: each candidate
//! is measured by every vector, and a ranking by words that says little counts little.

use std::collections::HashMap;

use kuhaku::eval::Dataset;
use kuhaku::index::{DenseQuery, SparseQuery, Vector, inverse_document_frequency};
use kuhaku::rag::{Fuser, Fusion, Ranking};
use kuhaku_core::Embedder as _;

use super::super::block_on;
use super::choose::ndcg;
use super::corpus::Corpus;
use crate::error::{Result, cannot};

/// One question's rankings, before they are fused.
#[derive(Debug)]
pub(super) struct Lists {
    id: String,
    pub(super) words: Vec<(String, f64)>,
    /// Of each model, over all that any ranking found.
    vectors: Vec<Vec<(String, f64)>>,
    /// What words count of their weight.
    trust: f64,
}

/// The rankings of all questions.
pub(super) fn lists(corpora: &[&Corpus], dataset: &Dataset, depth: usize) -> Result<Vec<Lists>> {
    block_on(async {
        let mut lists = Vec::new();
        for case in dataset.cases() {
            lists.push(of(corpora, &case.sample.id, &case.sample.query, depth).await?);
        }
        Ok(lists)
    })?
}

async fn of(corpora: &[&Corpus], id: &str, text: &str, depth: usize) -> Result<Lists> {
    let failed = |error| cannot("search", error);
    let first = corpora.first().ok_or_else(|| cannot("search", "there is no corpus"))?;
    let bm25 = first.settings.bm25();
    let words = SparseQuery::new(text, depth).bm25(bm25);
    let words = first.reader.sparse(&words).await.map_err(failed)?;
    let (mut questions, mut found) = (Vec::new(), Vec::new());
    found.extend(words.iter().map(|hit| hit.id.clone()));
    for corpus in corpora {
        let row = corpus.embedder.embed_query(text).await;
        let row = row.map_err(|error| cannot("look up a question", error))?;
        let question = Vector::new(row).map_err(failed)?;
        let near = corpus.reader.dense(&DenseQuery::new(question.clone(), depth)).await;
        found.extend(near.map_err(failed)?.into_iter().map(|hit| hit.id));
        questions.push(question);
    }
    found.sort();
    found.dedup();
    let mut vectors = Vec::new();
    for (corpus, question) in corpora.iter().zip(&questions) {
        let rows = corpus.reader.vectors(&found).await.map_err(failed)?;
        let cosines = found
            .iter()
            .zip(rows)
            .filter_map(|(id, row)| Some((id.document().to_string(), question.cosine(&row?)?)));
        let mut cosines: Vec<(String, f64)> = cosines.collect();
        cosines.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        vectors.push(cosines);
    }
    let unit = (bm25.k1 + 1.0) * inverse_document_frequency(first.reader.visible_chunks(), 1);
    let most = words.first().map_or(0.0, |hit| hit.bm25);
    let least = words.last().map_or(0.0, |hit| hit.bm25);
    let words = words.iter().map(|hit| (hit.id.document().to_string(), hit.bm25)).collect();
    Ok(Lists { id: id.to_owned(), words, vectors, trust: trust(least, most, unit) })
}

/// What is left of the range from least to most when the most counts as a unit at least: the score of a
/// word, repeated without end, that one chunk holds.
fn trust(least: f64, most: f64, unit: f64) -> f64 {
    if most > least {
        (most - least) / (most.max(unit) - least)
    } else {
        (most / most.max(unit)).max(0.0)
    }
}

/// Fuses them; the vectors of all models count `dense` together, words the rest of 1.
pub(super) fn fused(lists: &[Lists], dense: f64) -> Result<HashMap<String, Vec<String>>> {
    let mut rankings = HashMap::new();
    for one in lists {
        let share = dense / one.vectors.len().max(1) as f64;
        let weight = (1.0 - dense) * one.trust;
        let mut all: Vec<_> = one.vectors.iter().map(|it| ranking(it).weight(share)).collect();
        all.push(ranking(&one.words).weight(weight));
        let fused = Fuser::new(Fusion::Minmax).fuse(&all);
        let fused = fused.map_err(|error| cannot("fuse rankings", error))?;
        rankings.insert(one.id.clone(), fused.into_iter().map(|(id, _)| id).collect());
    }
    Ok(rankings)
}

fn ranking(items: &[(String, f64)]) -> Ranking<String> {
    Ranking::new(items.iter().cloned())
}

/// The weights with what they give on a split, and the best of them.
pub(super) fn choose(
    lists: &[Lists],
    training: &Dataset,
    weights: &[f64],
) -> Result<(f64, Vec<(f64, f64)>)> {
    let mut points = Vec::new();
    for weight in weights {
        let rankings = fused(lists, *weight)?;
        let quality = ndcg(training, |id| rankings.get(id).map_or(&[], Vec::as_slice))?;
        points.push((*weight, quality));
    }
    let best = points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    let (best, _) = best.ok_or_else(|| cannot("choose a weight", "there are none"))?;
    Ok((best, points))
}

/// Words alone, as [`lists`] found them.
pub(super) fn words(lists: &[Lists]) -> HashMap<String, Vec<String>> {
    let ids = |one: &Lists| one.words.iter().map(|(id, _)| id.clone()).collect();
    lists.iter().map(|one| (one.id.clone(), ids(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_whole_when_their_best_reaches_the_unit_and_less_below_it() {
        assert_eq!(trust(2.0, 10.0, 9.0), 1.0);
        assert_eq!(trust(2.0, 4.0, 10.0), 0.25);
        assert_eq!(trust(5.0, 5.0, 10.0), 0.5);
        assert_eq!(trust(0.0, 0.0, 10.0), 0.0);
    }

    #[test]
    fn what_only_words_found_is_ordered_by_its_cosine_too() {
        let list = |items: &[(&str, f64)]| -> Vec<(String, f64)> {
            items.iter().map(|(id, score)| ((*id).to_owned(), *score)).collect()
        };
        let words = list(&[("a", 9.0), ("b", 8.0), ("c", 1.0)]);
        let vectors = vec![list(&[("b", 0.9), ("d", 0.8), ("a", 0.1), ("c", 0.0)])];
        let one = Lists { id: "q".into(), words, vectors, trust: 1.0 };
        let rankings = fused(&[one], 0.5).unwrap();
        assert_eq!(rankings["q"], ["b", "a", "d", "c"]);
    }
}
