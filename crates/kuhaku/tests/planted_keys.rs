//! A key that opens a model is in no file of the index, the audit among them, and in no log (R7).

#![cfg(all(feature = "rag", feature = "sqlite", feature = "vertex"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;
use std::sync::Arc;

use kuhaku::core::{HttpClient, Resilience};
use kuhaku::llm::{ModelBuilder, Service};
use kuhaku::{LlmProvider, Rag, Runtime, Scope, TextDocument};
use kuhaku_testkit::providers::Logs;
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use tracing::instrument::WithSubscriber as _;

const KEY: &str = "pl4nted-key-5up3r53cr3t";

/// A model whose service refuses its key, or fails, and quotes it.
fn model(service: Service, server: &TranscriptServer) -> Arc<dyn LlmProvider> {
    let (http, runtime) = (HttpClient::builder().build().unwrap(), Runtime::system());
    let once = Resilience::new(runtime.clone(), "test").attempts(1);
    let builder = ModelBuilder::new(service, "m").project("p").base_url(server.url());
    builder.key(KEY.to_owned()).resilience(once).build(&http, &runtime).unwrap()
}

/// Whether any file below a folder holds the key.
fn key_below(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return key_below(&path);
        }
        let content = std::fs::read(&path).unwrap();
        content.windows(KEY.len()).any(|window| window == KEY.as_bytes())
    })
}

#[tokio::test]
async fn a_refused_key_is_in_no_record_of_the_request_that_failed() {
    for service in Service::ALL {
        let folder = tempfile::tempdir().unwrap();
        let quoting = |status| {
            let body = format!("{{\"error\":{{\"message\":\"wrong key {KEY}\"}}}}");
            Reply::new(status).header("x-key", KEY).piece(body)
        };
        let server = TranscriptServer::start([quoting(401), quoting(500)]).await.unwrap();
        let logs = Logs::default();
        let asked = async {
            let model = model(service, &server);
            let rag = Rag::builder().index(folder.path()).model(model).open().await.unwrap();
            rag.ingest(TextDocument::new("wifi.md", "The guest network is called Plover."))
                .await
                .unwrap();
            for _ in 0..2 {
                let asked = rag.ask("What is the guest network called?", Scope::anonymous()).await;
                let shown = format!("{asked:?} {rag:?}");
                assert!(asked.is_err() && !shown.contains(KEY), "{service}: {shown}");
            }
            rag.close().await;
        };
        asked.with_subscriber(logs.clone()).await;
        assert!(!logs.text().contains(KEY), "{service}: {}", logs.text());
        let asked = server.requests();
        assert_eq!(asked.iter().filter(|request| request.mentions(KEY)).count(), 2, "{service}");
        let audit = std::fs::read_to_string(folder.path().join("kuhaku_audit.jsonl")).unwrap();
        assert_eq!(
            audit.lines().filter(|line| line.contains("\"outcome\":\"error\"")).count(),
            2,
            "{audit}"
        );
        assert!(!key_below(folder.path()), "{service}");
    }
}
