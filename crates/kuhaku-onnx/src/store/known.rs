//! The models that are known by name.
//!
//! Revisions are commits of their repositories. Sums are those that the hub publishes for large files
//! (the object ids of Git LFS are SHA-256 sums) and, for small files, those on which independent
//! public manifests of the same revision agree. Where there is none, none is given here: the sum that
//! the hub publishes at the pull is taken, else the one that came first is recorded.

use std::fmt;

/// What a model does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ModelKind {
    /// It makes vectors of texts.
    Embedder,
    /// It judges how well passages answer a question.
    Reranker,
    /// It sorts texts into classes.
    Classifier,
}

impl ModelKind {
    /// The kind in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedder => "embedder",
            Self::Reranker => "reranker",
            Self::Classifier => "classifier",
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A model that is known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownModel {
    /// Its name here.
    pub name: &'static str,
    /// What it does.
    pub kind: ModelKind,
    /// Its repository at the hub: owner, slash, name.
    pub repository: &'static str,
    /// The commit of the repository, 40 hexadecimal digits.
    pub revision: &'static str,
    /// Its licence, by SPDX.
    pub licence: &'static str,
    /// The folder of the repository that is opened as the model; empty for its root.
    pub folder: &'static str,
    /// What is fetched, in bytes, rounded up where a length is not known.
    pub about: u64,
    /// What is fetched.
    pub files: &'static [KnownFile],
}

/// A file of a known model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownFile {
    /// Its path in the repository.
    pub path: &'static str,
    /// Its length in bytes, where it is known for certain.
    pub bytes: Option<u64>,
    /// Its SHA-256 in hexadecimal, where one is published.
    pub sha256: Option<&'static str>,
}

const fn file(path: &'static str, bytes: u64, sha256: &'static str) -> KnownFile {
    KnownFile { path, bytes: Some(bytes), sha256: Some(sha256) }
}

/// A file of which the sum is known and the length is not.
const fn summed(path: &'static str, sha256: &'static str) -> KnownFile {
    KnownFile { path, bytes: None, sha256: Some(sha256) }
}

/// A file of which neither is known before it is pulled.
const fn unsummed(path: &'static str) -> KnownFile {
    KnownFile { path, bytes: None, sha256: None }
}

/// The embedder that is taken unless another is named.
pub const DEFAULT_EMBEDDER: &str = "multilingual-e5-small";

/// All of them.
pub fn known_models() -> &'static [KnownModel] {
    MODELS
}

/// The tokenizer that all of BERT's uncased children share.
const UNCASED: KnownFile = file(
    "tokenizer.json",
    711_396,
    "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
);

const MODELS: &[KnownModel] = &[
    KnownModel {
        name: DEFAULT_EMBEDDER,
        kind: ModelKind::Embedder,
        repository: "intfloat/multilingual-e5-small",
        revision: "614241f622f53c4eeff9890bdc4f31cfecc418b3",
        licence: "MIT",
        folder: "",
        about: 487_400_000,
        files: &[
            file(
                "onnx/model.onnx",
                470_268_510,
                "ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665",
            ),
            file(
                "tokenizer.json",
                17_082_730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            ),
            file(
                "config.json",
                655,
                "69137736cab8b8903a07fe8afaafdda25aac55415a12a55d1bffa9f581abf959",
            ),
            file(
                "tokenizer_config.json",
                443,
                "a1d6bc8734a6f635dc158508bef000f8e2e5a759c7d92f984b2c86e5ff53425b",
            ),
            unsummed("sentence_bert_config.json"),
            unsummed("1_Pooling/config.json"),
        ],
    },
    KnownModel {
        name: "bge-reranker-base",
        kind: ModelKind::Reranker,
        repository: "BAAI/bge-reranker-base",
        revision: "2cfc18c9415c912f9d8155881c133215df768a70",
        licence: "MIT",
        folder: "",
        about: 1_130_000_000,
        files: &[
            unsummed("onnx/model.onnx"),
            unsummed("tokenizer.json"),
            unsummed("config.json"),
            unsummed("tokenizer_config.json"),
        ],
    },
    KnownModel {
        name: "all-MiniLM-L6-v2",
        kind: ModelKind::Embedder,
        repository: "sentence-transformers/all-MiniLM-L6-v2",
        revision: "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
        licence: "Apache-2.0",
        folder: "",
        about: 90_900_000,
        files: &[
            file(
                "onnx/model.onnx",
                90_405_214,
                "6fd5d72fe4589f189f8ebc006442dbb529bb7ce38f8082112682524616046452",
            ),
            file(
                "tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            file(
                "config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            file(
                "tokenizer_config.json",
                350,
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            ),
            unsummed("sentence_bert_config.json"),
            summed(
                "1_Pooling/config.json",
                "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
            ),
        ],
    },
    KnownModel {
        name: "all-mpnet-base-v2",
        kind: ModelKind::Embedder,
        repository: "sentence-transformers/all-mpnet-base-v2",
        revision: "e8c3b32edf5434bc2275fc9bab85f82640a19130",
        licence: "Apache-2.0",
        folder: "",
        about: 437_000_000,
        files: &[
            unsummed("onnx/model.onnx"),
            unsummed("tokenizer.json"),
            unsummed("config.json"),
            unsummed("tokenizer_config.json"),
            unsummed("sentence_bert_config.json"),
            unsummed("1_Pooling/config.json"),
        ],
    },
    KnownModel {
        name: "bge-small-en-v1.5",
        kind: ModelKind::Embedder,
        repository: "BAAI/bge-small-en-v1.5",
        revision: "5c38ec7c405ec4b44b94cc5a9bb96e735b38267a",
        licence: "MIT",
        folder: "",
        about: 133_900_000,
        files: &[
            file(
                "onnx/model.onnx",
                133_093_490,
                "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
            ),
            UNCASED,
            file(
                "config.json",
                743,
                "094f8e891b932f2000c92cfc663bac4c62069f5d8af5b5278c4306aef3084750",
            ),
            file(
                "tokenizer_config.json",
                366,
                "9261e7d79b44c8195c1cada2b453e55b00aeb81e907a6664974b4d7776172ab3",
            ),
            unsummed("sentence_bert_config.json"),
            unsummed("1_Pooling/config.json"),
        ],
    },
    KnownModel {
        name: "bge-reranker-v2-m3",
        kind: ModelKind::Reranker,
        repository: "onnx-community/bge-reranker-v2-m3-ONNX",
        revision: "6f5ff65298512715a1e669753bc754d2bc8f367b",
        licence: "Apache-2.0",
        folder: "",
        about: 2_290_000_000,
        files: &[
            unsummed("onnx/model.onnx"),
            unsummed("onnx/model.onnx_data"),
            unsummed("tokenizer.json"),
            unsummed("config.json"),
            unsummed("tokenizer_config.json"),
        ],
    },
    KnownModel {
        name: "ms-marco-MiniLM-L6-v2",
        kind: ModelKind::Reranker,
        repository: "cross-encoder/ms-marco-MiniLM-L6-v2",
        revision: "c5ee24cb16019beea0893ab7796b1df96625c6b8",
        licence: "Apache-2.0",
        folder: "",
        about: 91_730_000,
        files: &[
            file(
                "onnx/model.onnx",
                91_011_230,
                "5d3e70fd0c9ff14b9b5169a51e957b7a9c74897afd0a35ce4bd318150c1d4d4a",
            ),
            UNCASED,
            file(
                "config.json",
                794,
                "380e02c93f431831be65d99a4e7e5f67c133985bf2e77d9d4eba46847190bacc",
            ),
            file(
                "tokenizer_config.json",
                1_330,
                "a5c2e5a7b1a29a0702cd28c08a399b5ecc110c263009d17f7e3b415f25905fd8",
            ),
        ],
    },
    KnownModel {
        name: "deberta-v3-base-prompt-injection-v2",
        kind: ModelKind::Classifier,
        repository: "protectai/deberta-v3-base-prompt-injection-v2",
        revision: "e6535ca4ce3ba852083e75ec585d7c8aeb4be4c5",
        licence: "Apache-2.0",
        folder: "onnx",
        about: 747_300_000,
        files: &[
            file(
                "onnx/model.onnx",
                738_563_188,
                "f0ea7f239f765aedbde7c9e163a7cb38a79c5b8853d3f76db5152172047b228c",
            ),
            file(
                "onnx/tokenizer.json",
                8_648_886,
                "752fe5f0d5678ad563e1bd2ecc1ddf7a3ba7e2024d0ac1dba1a72975e26dff2f",
            ),
            file(
                "onnx/config.json",
                1_014,
                "3093743035223c46b1497a72e939e56fa0a50afbd7bafbf7eb8aad060b8d23f8",
            ),
            summed(
                "onnx/tokenizer_config.json",
                "77d3dd1a9c30397a06545251ed9274bd92e4a85feb98497eeed50c920f962274",
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use kuhaku_core::Sha256;

    use super::super::hub_path::{is_commit, is_safe};
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        let names: BTreeSet<_> = MODELS.iter().map(|model| model.name.to_lowercase()).collect();
        assert_eq!(names.len(), MODELS.len());
        for model in MODELS {
            assert!(is_commit(model.revision), "{model:?}");
            assert_eq!(model.repository.split('/').count(), 2, "{model:?}");
            let known: u64 = model.files.iter().filter_map(|file| file.bytes).sum();
            assert!(model.about >= known, "{}: {known}", model.name);
            for file in model.files {
                assert!(is_safe(file.path), "{file:?}");
                assert!(file.sha256.is_none_or(|sum| sum.parse::<Sha256>().is_ok()), "{file:?}");
            }
            let inside = |name: &str| {
                let folder = if model.folder.is_empty() { "" } else { "onnx/" };
                model.files.iter().any(|file| file.path == format!("{folder}{name}"))
            };
            assert!(inside("tokenizer.json") && inside("config.json"), "{}", model.name);
            assert!(model.files.iter().any(|file| file.path == "onnx/model.onnx"));
        }
    }

    #[test]
    fn the_default_embedder_is_known_to_the_last_byte_of_its_weights() {
        let default = MODELS.iter().find(|model| model.name == DEFAULT_EMBEDDER).unwrap();
        assert!(
            default.files.iter().any(|file| file.path.ends_with(".onnx") && file.sha256.is_some())
        );
    }
}
