//! Finds the passage that answers a question, with an embedder on this machine.
//!
//! `cargo run -p kuhaku-onnx --example embed -- models/multilingual-e5-small` with `ORT_DYLIB_PATH`
//! naming the library of ONNX Runtime. Without them it says what it lacks.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use kuhaku_core::{Embedder as _, Runtime, Section as _, Sources};
use kuhaku_onnx::{LongText, ModelFolder, OnnxEmbedder, OnnxSettings};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = OnnxSettings::load(&Sources::new().env(std::env::vars()))?;
    let Some(folder) = std::env::args().nth(1) else {
        println!("name the folder of a model, such as multilingual-e5-small");
        return Ok(());
    };
    let onnx = match settings.runtime([]) {
        Ok(onnx) => onnx,
        Err(error) => {
            println!("{error}");
            return Ok(());
        }
    };
    let embedder = OnnxEmbedder::builder(ModelFolder::new(folder))
        .settings(&settings)
        .long_text(LongText::Windows { overlap: 64 })
        .open(&onnx, &Runtime::system())?;
    println!("{} numbers per vector, on {}", embedder.dimension(), embedder.device());

    let passages = ["The notice period is three months.", "Parcels are returned within 30 days."];
    let vectors = embedder.embed_documents(&passages).await?;
    let question = embedder.embed_query("How long may I keep a parcel?").await?;
    for (passage, vector) in passages.iter().zip(&vectors) {
        let cosine: f32 = vector.iter().zip(&question).map(|(a, b)| a * b).sum();
        println!("{cosine:.3}  {passage}");
    }
    Ok(())
}
