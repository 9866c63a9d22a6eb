//! Streams an answer from a local server, and says how it ended.
//!
//! `cargo run -p kuhaku-llm --example streaming -- http://localhost:11434 qwen3:4b` asks an Ollama.
//! Without arguments a server on loopback stands in for it.

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use futures_util::StreamExt as _;
use kuhaku_core::{HttpClient, Runtime};
use kuhaku_llm::{ChatEvent, ChatRequest, LlmProvider as _, ModelBuilder, Service};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let stand_in;
    let (url, model) = match arguments.as_slice() {
        [url, model] => (url.clone(), model.clone()),
        _ => {
            stand_in = TranscriptServer::start([scripted()]).await?;
            println!("(no server was named; one on loopback plays its part)");
            (stand_in.url(), "stand-in".into())
        }
    };

    let (http, runtime) = (HttpClient::builder().build()?, Runtime::system());
    let model = ModelBuilder::new(Service::Ollama, model).base_url(url).build(&http, &runtime)?;
    let request =
        ChatRequest::new("Answer in one sentence.", "Why is the sky blue?").max_output_tokens(256);

    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event {
            Ok(ChatEvent::Text(piece)) => {
                print!("{piece}");
                std::io::stdout().flush()?;
            }
            Ok(ChatEvent::End { finish, usage, .. }) => {
                println!("\n({finish:?}, {:?} tokens written)", usage.output_tokens);
            }
            Ok(_) => {}
            // What was printed until here is a part of the answer.
            Err(error) => println!("\n({error})"),
        }
    }
    Ok(())
}

/// An answer in Ollama's form, piece by piece.
fn scripted() -> Reply {
    let pieces = ["Air ", "scatters ", "blue ", "light ", "more ", "than ", "red."];
    let mut reply = Reply::stream("application/x-ndjson");
    for piece in pieces {
        let line = format!("{{\"message\":{{\"content\":\"{piece}\"}},\"done\":false}}\n");
        reply = reply.piece(line).pause(Duration::from_millis(20));
    }
    reply.piece(concat!(
        "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",",
        "\"prompt_eval_count\":21,\"eval_count\":7}\n"
    ))
}
