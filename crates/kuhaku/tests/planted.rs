//! Three hundred values of all kinds through the facade, and a search for them in what models are sent,
//! what callers get, what is logged at every level, and what is written (R7).

#![cfg(all(feature = "rag", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kuhaku::core::{
    Announcement, Announcer, Capabilities, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind,
    LlmProvider,
};
use kuhaku::{AskRequest, Rag, Runtime, Scope, TextDocument};
use kuhaku_testkit::{Planted, planted};
use tracing_subscriber::fmt::MakeWriter;

const COUNT: usize = 300;
/// Sentences per document.
const PAGE: usize = 6;

/// What was written to it.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn add(&self, what: &dyn std::fmt::Debug) {
        write!(self.0.lock().unwrap(), "{what:#?}").unwrap();
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Announcer for Kept {
    fn announce(&self, announcement: &Announcement) {
        self.add(announcement);
    }
}

/// Repeats all that it is sent, fails, and takes its time, in turn; keeps what it is sent.
#[derive(Clone, Debug, Default)]
struct Parrot(Kept, Arc<Mutex<usize>>);

#[async_trait]
impl LlmProvider for Parrot {
    fn id(&self) -> &str {
        "parrot:model"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> kuhaku::core::Result<ChatResponse> {
        self.0.add(&request);
        let turn = {
            let mut turn = self.1.lock().unwrap();
            *turn += 1;
            *turn
        };
        match turn % 5 {
            1 => Err(Error::new(ErrorKind::Unavailable, "ask the parrot", "it is asleep")),
            2 => std::future::pending().await,
            _ => {
                let said: Vec<String> = request.messages.into_iter().map(|it| it.text).collect();
                Ok(ChatResponse::new("parrot", said.join("\n")))
            }
        }
    }

    async fn stream(&self, _request: ChatRequest) -> kuhaku::core::Result<ChatStream> {
        Err(Error::new(ErrorKind::Unavailable, "stream", "parrots speak in one piece"))
    }
}

fn collect(folder: &Path, all: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, all);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            all.push((path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

fn found(all: &[(String, String)], values: &[Planted]) -> Vec<String> {
    let needles = values.iter().flat_map(|it| it.needles.iter().map(move |needle| (it, needle)));
    let pairs = needles.flat_map(|needle| all.iter().map(move |place| (needle, place)));
    pairs
        .filter(|((_, needle), (_, text))| text.contains(needle.as_str()))
        .map(|((it, needle), (name, _))| format!("{:?} {needle:?} in {name}", it.kind))
        .collect()
}

async fn fill(rag: &Rag, values: &[Planted]) {
    for (number, page) in values.chunks(PAGE).enumerate() {
        let text: Vec<&str> = page.iter().map(|it| it.sentence.as_str()).collect();
        let first = &page[0].sentence;
        let document = TextDocument::new(format!("page-{number}: {first}"), text.join("\n\n"))
            .metadata("about", first.as_str())
            .metadata(first.as_str(), "about");
        rag.ingest(document).await.unwrap();
    }
}

#[tokio::test]
async fn no_planted_value_is_sent_logged_written_or_returned() {
    let values = planted(23, COUNT);
    let folder = tempfile::tempdir().unwrap();
    let (logs, said, returned, parrot) =
        (Kept::default(), Kept::default(), Kept::default(), Parrot::default());
    let subscriber = tracing_subscriber::fmt()
        .with_writer(logs.clone())
        .with_max_level(tracing::Level::TRACE)
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let rag = Rag::builder()
        .index(folder.path().join("kb"))
        .runtime(Runtime::builder().announcer(said.clone()).build())
        .model(Arc::new(parrot.clone()))
        .open()
        .await
        .unwrap();
    fill(&rag, &values).await;
    for it in values.iter().step_by(3) {
        let request = AskRequest::new(it.sentence.as_str(), Scope::anonymous());
        let asked = rag.engine().ask(&request);
        match tokio::time::timeout(Duration::from_millis(150), asked).await {
            Ok(Ok(answer)) => {
                returned.add(&answer);
                returned.add(&serde_json::to_string(&answer).unwrap());
            }
            Ok(Err(error)) => {
                returned.add(&error);
                returned.add(&error.to_string());
            }
            Err(_) => {} // Dropped.
        }
        returned.add(&rag.search(&request).await.unwrap());
    }
    rag.close().await;

    assert!(parrot.0.text().contains("[CARD]"), "the model was sent what was found");
    assert!(returned.text().contains("[CARD]"));
    let mut all = vec![
        ("logs".to_string(), logs.text()),
        ("announcements".to_string(), said.text()),
        ("prompts".to_string(), parrot.0.text()),
        ("answers and errors".to_string(), returned.text()),
    ];
    collect(folder.path(), &mut all);
    assert!(all.iter().any(|(name, _)| name.ends_with("kuhaku_audit.jsonl")));
    let found = found(&all, &values);
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}
