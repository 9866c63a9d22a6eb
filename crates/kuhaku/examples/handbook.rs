//! Ingests a folder and asks it, as two different people.
//!
//! `cargo run -p kuhaku --example handbook`

#![allow(clippy::print_stdout, reason = "an example prints")]

use std::path::Path;

use kuhaku::{AuthContext, IngestOptions, Rag, Roles};

#[tokio::main(flavor = "current_thread")]
async fn main() -> kuhaku::Result<()> {
    let handbook = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/handbook");
    let rag = Rag::builder().open().await?;
    let report = rag.ingest_paths(&[handbook], &IngestOptions::default(), &mut ()).await?;
    println!("{} documents", report.documents.len());

    let question = "What is the salary band for level 3 engineers?";
    for roles in [vec!["engineering"], vec!["engineering", "people_ops"]] {
        let caller = AuthContext::new("ada", Roles::new(&roles));
        let answer = rag.ask(question, caller.scope()).await?;
        println!("{roles:?}: {}", answer.text);
    }
    Ok(())
}
