//! An embedder on the test models.

use std::path::Path;

use kuhaku_core::{Embedder as _, Runtime};
use kuhaku_onnx::{LongText, ModelFolder, OnnxEmbedder, OnnxRuntime, RUNTIME_LIBRARY};

use super::Embed;
use crate::bench::block_on;
use crate::error::{Result, cannot};
use crate::models;

/// How many tokens two windows of a long document share.
const OVERLAP: usize = 64;

/// A model by its folder among the test models, perhaps with a file in it. Says so when there are
/// no test models.
pub(super) fn open(root: &Path, model: &str) -> Result<Option<Box<dyn Embed>>> {
    let folder = models::folder(root);
    let library = folder.join("onnxruntime").join(RUNTIME_LIBRARY);
    if !library.is_file() {
        println!("skipped: there are no test models; next: run `cargo xtask models`");
        return Ok(None);
    }
    let (name, file) = model.split_once('/').unwrap_or((model, "model.onnx"));
    let files = ModelFolder::new(folder.join(name)).model(file);
    let embedder = OnnxRuntime::open(&library).and_then(|onnx| {
        OnnxEmbedder::builder(files)
            .long_text(LongText::Windows { overlap: OVERLAP })
            .open(&onnx, &Runtime::system())
    });
    let embedder = embedder.map_err(|error| cannot(format!("open {model}"), error))?;
    Ok(Some(Box::new(embedder)))
}

impl Embed for OnnxEmbedder {
    fn fingerprint(&self) -> &str {
        kuhaku_core::Embedder::fingerprint(self)
    }

    fn fits(&self, text: &str) -> Result<bool> {
        let tokens = self.tokens(text).map_err(|error| cannot("count tokens", error))?;
        Ok(tokens.len() <= self.longest())
    }

    fn documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        block_on(self.embed_documents(texts))?.map_err(|error| cannot("embed documents", error))
    }

    fn queries(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        block_on(async {
            let mut vectors = Vec::with_capacity(texts.len());
            for text in texts {
                vectors.push(self.embed_query(text).await?);
            }
            Ok(vectors)
        })?
        .map_err(|error: kuhaku_core::Error| cannot("embed queries", error))
    }
}
