//! Every tool's error becomes the umbrella's, with its own stable code.

#![cfg(all(feature = "rag", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use kuhaku::{AccessTags, Error, Rag, RagSettings, TraceId};

/// ERR-01
#[tokio::test]
async fn errors_say_what_was_tried_what_is_wrong_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = RagSettings::default();
    settings.top_k = 0;
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let errors: Vec<Error> = vec![
        AccessTags::new([""]).unwrap_err().into(),
        TraceId::new("a b").unwrap_err().into(),
        kuhaku::IdKey::from_hex("x").unwrap_err().into(),
        Rag::builder().settings(settings).open().await.unwrap_err(),
        Rag::builder().index(folder.path().join("gone")).create(false).open().await.unwrap_err(),
        Rag::builder().index(&file).open().await.unwrap_err(),
        Rag::builder().index(file.join("below")).open().await.unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.starts_with("cannot "), "{text}");
        assert!(error.code().contains('.') && !error.wrong().is_empty(), "{text}");
        assert!(error.next_step().is_some_and(|next| text.ends_with(next)), "{text}");
    }
}

/// FAC-04
#[tokio::test]
async fn building_writes_nothing_into_the_working_directory() {
    let before: Vec<_> = std::fs::read_dir(".").unwrap().map(|e| e.unwrap().file_name()).collect();
    let rag = Rag::builder().open().await.unwrap();
    let folder = rag.folder().unwrap().to_path_buf();
    assert!(rag.is_temporary() && folder.is_dir());
    drop(rag);
    assert!(!folder.exists(), "the temporary index removes itself");
    let after: Vec<_> = std::fs::read_dir(".").unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(before, after);
}
