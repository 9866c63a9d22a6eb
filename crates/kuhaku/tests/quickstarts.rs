//! FAC-08: what a newcomer does first, with a model that follows a script. That of extraction is in
//! `extraction`.

#![cfg(feature = "rag")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;

use kuhaku::{AccessTags, AuthContext, Rag, Roles, TextDocument};
use kuhaku_testkit::ScriptedLlm;

/// FAC-08
#[tokio::test]
async fn a_note_is_asked_and_the_answer_of_the_model_cites_it() {
    let model = Arc::new(ScriptedLlm::new(["Open the portal and choose Reset. [S1]"]));
    let rag = Rag::builder().model(model.clone()).open().await.unwrap();
    let note = "# Passwords\n\nTo reset your password, open the portal and choose Reset.";
    rag.ingest(TextDocument::new("handbook.md", note)).await.unwrap();
    let ada = AuthContext::new("ada", Roles::new(["engineering"]));
    let answer = rag.ask("How do I reset my password?", ada.scope()).await.unwrap();
    assert_eq!(answer.text, "Open the portal and choose Reset. [S1]");
    assert_eq!(answer.citations[0].title, "Passwords");
    assert_eq!(model.requests().len(), 1);
}

/// FAC-08: the example of access control. Without the right nothing is sent to the model.
#[tokio::test]
async fn a_note_for_some_does_not_exist_for_others() {
    let model = Arc::new(ScriptedLlm::new(["Between 60,000 and 70,000 euros. [S1]"]));
    let rag = Rag::builder().model(model.clone()).open().await.unwrap();
    let bands = "# Salary bands\n\nA level 3 engineer earns between 60,000 and 70,000 euros.";
    let tags = AccessTags::new(["people_ops"]).unwrap();
    rag.ingest(TextDocument::new("bands.md", bands).tags(tags)).await.unwrap();
    let question = "What does a level 3 engineer earn?";
    let ask = async |roles: &[&str]| {
        let caller = AuthContext::new("ada", Roles::new(roles));
        rag.ask(question, caller.scope()).await.unwrap()
    };
    let without = ask(&["engineering"]).await;
    assert!(without.citations.is_empty() && !without.text.contains("60,000"), "{}", without.text);
    assert_eq!(model.requests().len(), 0);
    let with = ask(&["engineering", "people_ops"]).await;
    assert_eq!(with.text, "Between 60,000 and 70,000 euros. [S1]");
    assert_eq!(with.citations[0].title, "Salary bands");
}
