//! `tokenizer.json` as the published BERT and XLM-R tokenisers have it, with small vocabularies.

use serde_json::{Map, Value, json};

use super::transformer::Family;
use super::vocabulary;

/// The file, and the number of tokens that it knows.
pub(super) fn json(family: Family) -> (Value, usize) {
    match family {
        Family::Bert => bert(),
        Family::XlmRoberta => xlm_roberta(),
    }
}

fn bert() -> (Value, usize) {
    let tokens = vocabulary::wordpiece();
    let id = |token: &str| tokens.iter().position(|known| known == token);
    let vocabulary: Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), json!(id))).collect();
    let added: Vec<Value> =
        vocabulary::BERT_SPECIAL.iter().map(|token| added(token, id(token), false)).collect();
    let special = ["[CLS]", "[SEP]"].map(|token| (token, id(token)));
    let file = json!({
        "version": "1.0",
        // Set as published files do; whoever runs the model decides on both.
        "truncation": { "max_length": 32, "strategy": "LongestFirst", "stride": 0 },
        "padding": {
            "strategy": { "Fixed": 32 }, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true,
        },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": template(
            [("[CLS]", 0), ("A", 0), ("[SEP]", 0)].as_slice(),
            [("[CLS]", 0), ("A", 0), ("[SEP]", 0), ("B", 1), ("[SEP]", 1)].as_slice(),
            &special,
        ),
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    });
    (file, tokens.len())
}

fn xlm_roberta() -> (Value, usize) {
    let pieces = vocabulary::unigram();
    let id = |piece: &str| pieces.iter().position(|known| known == piece);
    let scored: Vec<Value> =
        pieces.iter().enumerate().map(|(id, piece)| json!([piece, score(id, piece)])).collect();
    let added: Vec<Value> = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        .iter()
        .map(|piece| added(piece, id(piece), *piece == "<mask>"))
        .collect();
    let special = ["<s>", "</s>"].map(|piece| (piece, id(piece)));
    let file = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": { "type": "Sequence", "normalizers": [
            { "type": "NFKC" },
            { "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": " " },
        ] },
        "pre_tokenizer": {
            "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true,
        },
        "post_processor": template(
            [("<s>", 0), ("A", 0), ("</s>", 0)].as_slice(),
            [("<s>", 0), ("A", 0), ("</s>", 0), ("</s>", 0), ("B", 0), ("</s>", 0)].as_slice(),
            &special,
        ),
        "decoder": {
            "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true,
        },
        "model": { "type": "Unigram", "unk_id": 3, "vocab": scored, "byte_fallback": false },
    });
    (file, pieces.len())
}

/// The log probability of a piece: words are likelier than the letters that make them up.
fn score(id: usize, piece: &str) -> f64 {
    if id < 4 || piece == "<mask>" {
        return 0.0;
    }
    let start = if piece.chars().count() > 1 { 4.0 } else { 7.0 };
    // In steps of 1/1024, which a file writes exactly.
    -(start + id as f64 / 1024.0)
}

fn added(token: &str, id: Option<usize>, lstrip: bool) -> Value {
    json!({
        "id": id, "content": token, "single_word": false, "lstrip": lstrip, "rstrip": false,
        "normalized": false, "special": true,
    })
}

/// A post-processor; `A` and `B` are the texts.
fn template(
    single: &[(&str, u8)],
    pair: &[(&str, u8)],
    special: &[(&str, Option<usize>)],
) -> Value {
    let parts = |parts: &[(&str, u8)]| -> Vec<Value> {
        parts
            .iter()
            .map(|(id, type_id)| {
                let kind = if matches!(*id, "A" | "B") { "Sequence" } else { "SpecialToken" };
                json!({ kind: { "id": id, "type_id": type_id } })
            })
            .collect()
    };
    let special: Map<String, Value> = special
        .iter()
        .map(|(token, id)| {
            let value = json!({ "id": token, "ids": [id], "tokens": [token] });
            ((*token).to_owned(), value)
        })
        .collect();
    json!({
        "type": "TemplateProcessing", "single": parts(single), "pair": parts(pair),
        "special_tokens": special,
    })
}
