//! What is remembered of choices.

use std::fs;
use std::path::Path;

use kuhaku_core::{Capability, DecisionMemory, Reason, Runtime};
use serde_json::{Value, json};

use crate::support::{Person, Source, World, llm, local, service};

/// Decides as a run of its own: the id and why, and what was announced.
async fn run(
    path: &Path,
    sources: &[Source],
    requested: &str,
    person: Option<Person>,
) -> (String, Reason, Vec<String>) {
    let world = World::new();
    let resolver = world.resolver(sources).memory(DecisionMemory::at(path)).requested(requested);
    let resolver = match person {
        Some(person) => resolver.consent(person),
        None => resolver,
    };
    let resolution = resolver.resolve().await.unwrap();
    (resolution.candidate.id.clone(), resolution.reason, world.announced.lines())
}

fn stored(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[tokio::test]
async fn nothing_is_written_before_somebody_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/decisions.json");
    let [openai, groq] = [service("openai", 10, true), service("groq", 13, true)];
    let silent_person = Some(Person::default());
    run(&path, std::slice::from_ref(&openai), "auto", None).await;
    run(&path, &[openai.clone(), groq.clone()], "auto", None).await;
    run(&path, &[openai.clone(), groq.clone()], "auto", silent_person).await;
    DecisionMemory::at(&path).forget(&Runtime::system(), None);
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
    run(&path, &[openai, groq], "groq", None).await;
    assert_eq!(stored(&path)["decisions"]["llm"]["candidate"], "groq");
}

/// RES-03: the part about later runs.
#[tokio::test]
async fn a_choice_holds_for_later_runs_until_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.json");
    let both = [service("openai", 10, true), service("groq", 13, true)];
    let person = Person { picks: Some(1), ..Person::default() };
    run(&path, &both, "auto", Some(person.clone())).await;
    let (id, reason, announced) = run(&path, &both, "auto", Some(person.clone())).await;
    assert_eq!((id.as_str(), reason), ("groq", Reason::Remembered));
    assert_eq!(
        announced,
        ["llm: groq (groq-large), as last chosen; questions go to api.groq.example"]
    );
    assert_eq!(person.asked.lines().len(), 1);

    let gone = [service("openai", 10, true), service("groq", 13, false)];
    let (id, reason, announced) = run(&path, &gone, "auto", None).await;
    assert_eq!((id.as_str(), reason), ("openai", Reason::OnlyOption));
    assert_eq!(announced[0], "! groq, chosen earlier as a language model, is no longer ready");
    assert_eq!(announced.len(), 2);
}

#[tokio::test]
async fn a_remembered_last_resort_beats_what_became_ready() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.json");
    let models = local(&["new:3b", "old:7b"]);
    run(&path, std::slice::from_ref(&models), "local:old:7b", None).await;
    let with_key = [service("openai", 10, true), models];
    let (id, reason, _) = run(&path, &with_key, "auto", None).await;
    assert_eq!((id.as_str(), reason), ("local:old:7b", Reason::Remembered));
    let (id, ..) = run(&path, &with_key, "local", None).await;
    assert_eq!(id, "local:old:7b");
}

/// RES-03: the part about facts that change.
#[tokio::test]
async fn a_decision_is_made_anew_only_when_what_it_depends_on_changes() {
    let folder = tempfile::tempdir().unwrap();
    let memory = DecisionMemory::at(folder.path().join("decisions.json"));
    let runtime = Runtime::system();
    let device =
        |gpu: &str| Capability::new("device", "a device", "vectors").depends_on("gpu", gpu);
    memory.remember(&runtime, &device("cuda"), "cuda:0");
    memory.remember(&runtime, &llm(), "groq");
    for (gpu, expected) in [("cuda", Some("cuda:0")), ("none", None)] {
        assert_eq!(memory.recall(&runtime, &device(gpu)).as_deref(), expected);
        assert_eq!(memory.recall(&runtime, &llm()).as_deref(), Some("groq"));
    }
    memory.forget(&runtime, Some("llm"));
    assert_eq!(memory.recall(&runtime, &llm()), None);
    assert_eq!(memory.recall(&runtime, &device("cuda")).as_deref(), Some("cuda:0"));
}

/// RES-03: the part about damage.
#[tokio::test]
async fn a_damaged_file_is_ignored_and_the_next_choice_replaces_it() {
    let both = [service("openai", 10, true), service("groq", 13, true)];
    let future = json!({"schema": 999, "decisions": {"llm": {"candidate": "groq"}}}).to_string();
    let damaged: [(&[u8], &str); 5] = [
        (future.as_bytes(), "it has the schema 999, not 1"),
        (b"{\"schema\": 1, \"decis", "it is not a file of decisions"),
        (b"secret-content", "it is not a file of decisions"),
        (b"\xff\xfe", "UTF-8"),
        (&vec![b' '; 2 << 20], "it is too large"),
    ];
    for (content, wrong) in damaged {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decisions.json");
        fs::write(&path, content).unwrap();
        let (id, _, announced) = run(&path, &both, "auto", None).await;
        assert_eq!(id, "openai");
        assert!(announced[0].contains(wrong), "{announced:?}");
        assert!(!announced.concat().contains("secret-content"));
        assert_eq!(fs::read(&path).unwrap(), content);
        let (_, _, announced) = run(&path, &both, "groq", None).await;
        assert_eq!(announced.len(), 2, "{announced:?}");
        let expected = json!({
            "schema": 1,
            "decisions": {"llm": {"candidate": "groq", "fingerprint": {}}},
        });
        assert_eq!(stored(&path), expected);
    }
}

/// RES-03: the part about places that cannot be written.
#[tokio::test]
async fn a_place_that_cannot_be_written_costs_the_memory_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let world = World::new();
    let sources = [service("openai", 10, true)];
    for _ in 0..2 {
        let memory = DecisionMemory::at(file.join("decisions.json"));
        let resolver = world.resolver(&sources).memory(memory).requested("openai");
        assert_eq!(resolver.resolve().await.unwrap().candidate.id, "openai");
    }
    let announced = world.announced.lines();
    let unwritten: Vec<_> =
        announced.iter().filter(|line| line.contains("the choice is not remembered")).collect();
    assert_eq!(unwritten.len(), 1, "{announced:?}");
}

#[test]
fn writers_at_the_same_time_lose_no_choice() {
    const KINDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let folder = tempfile::tempdir().unwrap();
    let memory = DecisionMemory::at(folder.path().join("decisions.json"));
    let runtime = Runtime::system();
    let capability = |kind| Capability::new(kind, "a thing", "texts");
    std::thread::scope(|scope| {
        for kind in KINDS {
            let (memory, runtime) = (&memory, &runtime);
            scope.spawn(move || memory.remember(runtime, &capability(kind), kind));
        }
    });
    for kind in KINDS {
        assert_eq!(memory.recall(&runtime, &capability(kind)).as_deref(), Some(kind));
    }
}

#[tokio::test]
async fn a_choice_that_is_known_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.json");
    let sources = [service("openai", 10, true)];
    run(&path, &sources, "openai", None).await;
    // Still what was chosen, in other bytes.
    let spaced = stored(&path).to_string();
    fs::write(&path, &spaced).unwrap();
    run(&path, &sources, "openai", None).await;
    assert_eq!(fs::read_to_string(&path).unwrap(), spaced);
}

#[test]
fn a_writer_that_hangs_holds_up_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.json");
    let lock = fs::File::create(folder.path().join("decisions.json.lock")).unwrap();
    lock.lock().unwrap();
    let world = World::new();
    let memory = DecisionMemory::at(&path);
    memory.remember(&world.runtime, &llm(), "groq");
    assert!(world.announced.lines()[0].ends_with("another process is writing it"));
    drop(lock);
    memory.remember(&world.runtime, &llm(), "groq");
    assert_eq!(memory.recall(&world.runtime, &llm()).as_deref(), Some("groq"));
}
