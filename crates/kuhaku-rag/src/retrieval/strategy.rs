//! How chunks are found, by name.

use crate::named::named;

/// Ways to find chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Strategy {
    /// Hybrid where there is an embedder and the caller sees vectors, else sparse, which is announced.
    #[default]
    Auto,
    /// By words (BM25).
    Sparse,
    /// By vectors.
    Dense,
    /// By both, fused.
    Hybrid,
}

named!(
    Strategy,
    "way to find chunks",
    [
        Auto = "auto",
        Sparse = "sparse" or "bm25",
        Dense = "dense",
        Hybrid = "hybrid",
    ]
);

/// Where vectors come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EmbeddingProvider {
    /// The model on this machine, where it is there and can be run; else none.
    #[default]
    Auto,
    /// There are no vectors.
    None,
    /// A model on this machine.
    Local,
    /// Vertex AI.
    Vertex,
    /// OpenAI.
    OpenAi,
    /// A server with the interface of OpenAI.
    OpenAiCompatible,
    /// Ollama.
    Ollama,
}

named!(
    EmbeddingProvider,
    "embedding provider",
    [
        Auto = "auto",
        None = "none",
        Local = "local" or "sentence-transformer" or "onnx",
        Vertex = "vertex",
        OpenAi = "openai",
        OpenAiCompatible = "openai_compat",
        Ollama = "ollama",
    ]
);

/// How the nearest vectors are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VectorSearch {
    /// All vectors are compared.
    #[default]
    Exact,
    /// By graphs.
    Hnsw,
    /// By graphs where there are many vectors, else exactly.
    Auto,
}

named!(VectorSearch, "search of vectors", [Exact = "exact", Hnsw = "hnsw", Auto = "auto"]);

#[cfg(test)]
mod tests {
    use super::*;

    /// FAC-02: the part about retrieval.
    #[test]
    fn a_name_that_is_none_is_answered_with_the_names() {
        let error = "nope".parse::<Strategy>().unwrap_err().to_string();
        assert!(error.contains("auto sparse dense hybrid"), "{error}");
        for strategy in Strategy::ALL {
            assert_eq!(strategy.as_str().parse::<Strategy>().unwrap(), *strategy);
        }
        assert_eq!("BM25".parse::<Strategy>().unwrap(), Strategy::Sparse);
        let local = "sentence-transformer".parse::<EmbeddingProvider>().unwrap();
        assert_eq!(local, EmbeddingProvider::Local);
    }
}
