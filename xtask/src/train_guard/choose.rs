//! How well the model does on texts it has not seen, and the thresholds.

use std::collections::BTreeMap;

use super::corpus::{Corpus, Text, fold, inside};
use super::learn::{By, Model};
use super::random::Random;

/// Folds of the cross-validation, by groups: neither an attack nor a carrier is on both sides.
const FOLDS: usize = 4;

/// The logits of held-out texts, by source.
pub(super) type Logits = BTreeMap<String, Vec<f32>>;

/// The logits of all texts of the training part, each from a model that has not seen it: as questions and
/// as parts of documents.
pub(super) fn held_out(corpus: &Corpus, seed: u64) -> [Logits; 2] {
    let [mut questions, mut documents] = [Logits::new(), Logits::new()];
    for at in 0..FOLDS {
        let seen = corpus.only(|text| fold(text, FOLDS) != at);
        let kept = corpus.only(|text| fold(text, FOLDS) == at);
        let asked = Model::train(By::Itself, &seen.for_questions(seed), seed);
        for (kind, texts) in [("attack", &kept.attacks), ("benign", &kept.questions)] {
            add(&mut questions, &asked, kind, texts.iter());
        }
        add(&mut questions, &asked, "document", kept.documents.iter());
        let written = Model::train(By::Contrast, &seen.for_documents(seed), seed);
        let mut random = Random::new(seed);
        let articles: Vec<&Text> = kept.documents.iter().collect();
        let letters: Vec<&Text> = kept.letters().collect();
        for (kind, texts) in [("attack", &kept.attacks), ("request", &kept.requests)] {
            for (place, carriers) in [("an article", &articles), ("a letter", &letters)] {
                let inside: Vec<Text> = texts
                    .iter()
                    .filter_map(|text| Some(inside(random.pick(carriers)?, text, &mut random)))
                    .collect();
                add(&mut documents, &written, &format!("{kind} in {place}"), inside.iter());
            }
            add(&mut documents, &written, kind, texts.iter());
        }
        add(&mut documents, &written, "composed", kept.composed.iter());
        add(&mut documents, &written, "benign", kept.documents.iter());
    }
    [questions, documents]
}

/// Kinds of documents, by the beginnings of their sources.
const DOMAINS: [&str; 6] = ["scifact", "rust-book", "xquad", "bipia", "docling", "sgd"];

/// The logits of documents whose whole kind was held out.
pub(super) fn unseen_kinds(corpus: &Corpus, seed: u64) -> Logits {
    let mut logits = Logits::new();
    for domain in DOMAINS {
        let of_it = |text: &Text| text.source.starts_with(domain) && text.span.is_none();
        let (kept, seen) = (corpus.only(of_it), corpus.without_documents(of_it));
        let model = Model::train(By::Contrast, &seen.for_documents(seed), seed);
        add(&mut logits, &model, "benign", kept.documents.iter());
    }
    logits
}

fn add<'a>(logits: &mut Logits, model: &Model, kind: &str, texts: impl Iterator<Item = &'a Text>) {
    for text in texts {
        let of = logits.entry(format!("{kind} {}", text.source)).or_default();
        of.push(model.logit(&text.words, &text.rules));
    }
}

/// The share of logits at or above a threshold.
pub(super) fn share(logits: &[f32], threshold: f32) -> f64 {
    let above = logits.iter().filter(|logit| **logit >= threshold).count();
    above as f64 / logits.len().max(1) as f64
}

/// The smallest threshold at which each of the sources that have a share stays within it.
pub(super) fn threshold(logits: &Logits, within: impl Fn(&str) -> Option<f64>) -> f32 {
    let each = logits.iter().filter_map(|(source, logits)| {
        let allowed = (within(source)? * logits.len() as f64) as usize;
        let mut sorted = logits.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        // Above the first logit that is one too many.
        sorted.get(allowed).map(|logit| logit + 1e-3)
    });
    each.fold(f32::NEG_INFINITY, f32::max)
}
