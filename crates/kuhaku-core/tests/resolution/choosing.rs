//! What is chosen, and what is asked and said on the way.

use std::time::{Duration, Instant};

use kuhaku_core::{Candidate, ConsentStep, ErrorKind, Reason, may_ask};

use crate::support::{Person, Source, World, local, service, silent, source};

/// Name, sources, what the settings name, what a person picks (`None`: nobody is there), and what
/// is chosen why.
type Row = (&'static str, Vec<Source>, &'static str, Option<Option<usize>>, &'static str, Reason);

#[tokio::test]
async fn the_first_rule_that_applies_decides() {
    let openai = || service("openai", 10, true);
    let groq = || service("groq", 13, true);
    let free = || service("openrouter", 5, true);
    let unset = || service("anthropic", 11, false);
    let table: Vec<Row> = vec![
        (
            "the lowest rank",
            vec![openai(), groq(), free()],
            "auto",
            None,
            "openrouter",
            Reason::SafeDefault,
        ),
        (
            "what is not ready does not count",
            vec![unset(), openai(), groq()],
            "",
            None,
            "openai",
            Reason::SafeDefault,
        ),
        (
            "a person's pick",
            vec![openai(), groq()],
            "auto",
            Some(Some(1)),
            "groq",
            Reason::PickedByPerson,
        ),
        ("no answer", vec![groq(), openai()], "auto", Some(None), "openai", Reason::SafeDefault),
        (
            "an answer out of range",
            vec![groq(), openai()],
            "auto",
            Some(Some(7)),
            "openai",
            Reason::SafeDefault,
        ),
        (
            "what the settings name",
            vec![openai(), groq()],
            " GROQ ",
            None,
            "groq",
            Reason::Requested,
        ),
        (
            "a last resort is passed over",
            vec![local(&["a"]), openai()],
            "auto",
            None,
            "openai",
            Reason::OnlyOption,
        ),
        (
            "a last resort alone",
            vec![local(&["new:3b", "old:7b"]), unset()],
            "auto",
            None,
            "local:new:3b",
            Reason::SafeDefault,
        ),
        (
            "a source by name",
            vec![local(&["new:3b", "old:7b"]), openai()],
            "local",
            None,
            "local:new:3b",
            Reason::SafeDefault,
        ),
        (
            "a source by name, picked",
            vec![local(&["new:3b", "old:7b"])],
            "local",
            Some(Some(1)),
            "local:old:7b",
            Reason::PickedByPerson,
        ),
        (
            "a source with one",
            vec![local(&["new:3b"]), openai()],
            "Local",
            None,
            "local:new:3b",
            Reason::Requested,
        ),
        (
            "an id",
            vec![local(&["new:3b", "old:7b"]), openai()],
            "local:old:7b",
            None,
            "local:old:7b",
            Reason::Requested,
        ),
    ];
    for (name, sources, requested, picks, expected, reason) in table {
        let world = World::new();
        let mut resolver = world.resolver(&sources).requested(requested);
        if let Some(picks) = picks {
            resolver = resolver.consent(Person { picks, ..Person::default() });
        }
        let resolution = resolver.resolve().await.unwrap();
        assert_eq!(
            (resolution.candidate.id.as_str(), resolution.reason),
            (expected, reason),
            "{name}"
        );
        assert_eq!(world.announced.lines().len(), 1, "{name}");
        assert!(world.announced.lines()[0].ends_with(&resolution.explain()), "{name}");
    }
}

/// RES-01
#[tokio::test]
async fn a_single_candidate_is_chosen_without_a_question() {
    let person = Person::default();
    let sources = [service("openai", 10, true), service("groq", 13, false)];
    for consent in [None, Some(person.clone())] {
        let world = World::new();
        let mut resolver = world.resolver(&sources);
        if let Some(consent) = consent {
            resolver = resolver.consent(consent);
        }
        for _ in 0..2 {
            let resolution = resolver.resolve().await.unwrap();
            assert_eq!(resolution.candidate.id, "openai");
            assert_eq!(resolution.reason, Reason::OnlyOption);
        }
        assert_eq!(
            world.announced.lines(),
            ["llm: openai (openai-large), the only one that is ready; questions go to \
              api.openai.example"]
        );
    }
    assert!(person.asked.lines().is_empty());
}

/// RES-01: the part about terminals.
#[test]
fn nobody_is_asked_without_a_terminal_or_in_ci() {
    let with = |name: &'static str, value: &'static str| {
        move |asked: &str| (asked == name).then(|| value.to_owned())
    };
    assert!(may_ask(true, |_| None));
    assert!(may_ask(true, with("CI", "")));
    assert!(!may_ask(false, |_| None));
    assert!(!may_ask(true, with("CI", "1")));
    assert!(!may_ask(true, with("KUHAKU_NONINTERACTIVE", "0")));
}

#[tokio::test]
async fn a_choice_that_nobody_made_is_announced_with_what_else_there_was() {
    let world = World::new();
    let sources = [service("openai", 10, true), service("openrouter", 5, true)];
    world.resolver(&sources).resolve().await.unwrap();
    assert_eq!(
        world.announced.lines(),
        ["! llm: openrouter (openrouter-large), the first of those that are ready (openai, \
          openrouter), since nobody picked one; questions go to api.openrouter.example"]
    );
}

#[tokio::test]
async fn a_question_says_what_text_would_go_where() {
    let world = World::new();
    let person = Person { picks: Some(0), ..Person::default() };
    let sources = [service("groq", 13, true), source("own", [Candidate::new("own", "tiny")])];
    world.resolver(&sources).consent(person.clone()).resolve().await.unwrap();
    assert_eq!(
        person.asked.lines(),
        ["Which one shall be a language model? groq (groq-large): questions go to \
          api.groq.example | own (tiny): questions stay in this process"]
    );
}

#[tokio::test]
async fn with_nothing_ready_the_error_says_what_each_candidate_takes() {
    let world = World::new();
    let sources = [service("openai", 10, false), service("groq", 13, false)];
    let error = world.resolver(&sources).resolve().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::CapabilityUnavailable);
    assert_eq!(
        error.to_string(),
        "cannot choose a language model: none is ready; next: set OPENAI_API_KEY for openai, or \
         set GROQ_API_KEY for groq"
    );
    let without = world.resolver(&sources).resolve_or("answers are quoted from the sources").await;
    assert!(without.unwrap().is_none());
    assert_eq!(
        world.announced.lines(),
        ["! going on without a language model: answers are quoted from the sources"]
    );
}

#[tokio::test]
async fn what_the_settings_name_is_taken_or_an_error_whatever_else_is_ready() {
    let sources = [service("openai", 10, true), service("groq", 13, false), local(&[])];
    for (requested, expected) in [
        (
            "bogus",
            "the settings name \"bogus\", which is none of those there are; next: name one of groq, local, openai",
        ),
        ("groq", "groq, which the settings name, is not ready; next: set GROQ_API_KEY"),
        ("local", "the settings name \"local\", which is none"),
        ("openai:other", "none of those there are; next: name one of openai"),
    ] {
        let world = World::new();
        let resolver = world.resolver(&sources).requested(requested);
        let error = resolver.resolve_or("nothing").await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::CapabilityUnavailable);
        assert!(error.to_string().contains(expected), "{error}");
        assert!(world.announced.lines().is_empty());
    }
}

#[tokio::test]
async fn only_the_source_that_is_named_is_probed() {
    let world = World::new();
    let sources = [service("openai", 10, true), local(&["a"]), silent("slow")];
    world.resolver(&sources).requested("local:a").resolve().await.unwrap();
    assert_eq!(world.probed.lines(), ["local"]);
}

/// RES-02
#[tokio::test]
async fn each_step_needs_a_yes_of_its_own_every_time() {
    let runtime = ConsentStep::new("install the runtime", "run `install runtime`");
    let model = ConsentStep::new("download the model e5", "run `models download e5`")
        .download("models.example", Some(118_000_001));
    let e5 = Candidate::new("e5", "e5").after_consent([runtime, model]);
    let asked = ["install the runtime", "download the model e5 from models.example (119 MB)"];
    let world = World::new();
    let resolve = |person: Person| {
        let resolver = world.resolver(&[source("e5", [e5.clone()])]).requested("e5");
        async move { resolver.consent(person).resolve().await }
    };

    let declines = Person { agrees: vec![true, false], ..Person::default() };
    let error = resolve(declines.clone()).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ConsentRequired);
    assert_eq!(
        error.to_string(),
        "cannot download the model e5 from models.example (119 MB) for e5: this was declined; \
         next: run `models download e5`"
    );
    assert_eq!(declines.asked.lines(), asked);

    let agrees = Person { agrees: vec![true], ..Person::default() };
    resolve(agrees.clone()).await.unwrap();
    resolve(agrees.clone()).await.unwrap();
    assert_eq!(agrees.asked.lines(), [asked, asked].concat());

    let resolver = world.resolver(&[source("e5", [e5.clone()])]).requested("e5");
    let error = resolver.resolve().await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::ConsentRequired);
    assert!(error.to_string().contains("nobody can be asked; next: run `install runtime`"));
}

#[tokio::test]
async fn what_needs_consent_is_never_chosen_by_itself() {
    let world = World::new();
    let step = ConsentStep::new("download e5", "run `models download e5`");
    let e5 = source("e5", [Candidate::new("e5", "e5").after_consent([step])]);
    let person = Person { agrees: vec![true], ..Person::default() };
    let error = world.resolver(&[e5]).consent(person.clone()).resolve().await.unwrap_err();
    assert_eq!(error.next_step(), Some("run `models download e5` for e5"));
    assert!(person.asked.lines().is_empty());
}

#[tokio::test]
async fn turned_off_it_takes_the_baseline_and_looks_at_nothing() {
    let world = World::new();
    let sources = [service("openai", 10, true)];
    let off = || world.resolver(&sources).automatic(false);
    let error = off().resolve().await.unwrap_err();
    assert!(error.to_string().contains("KUHAKU_AUTO"));
    let resolution = off().baseline(Candidate::new("bm25", "bm25")).resolve().await.unwrap();
    assert_eq!(
        resolution.explain(),
        "llm: bm25, as choosing by itself is turned off (KUHAKU_AUTO); questions stay in this \
         process"
    );
    assert!(world.probed.lines().is_empty());
    let resolution = off().requested("openai").resolve().await.unwrap();
    assert_eq!(resolution.reason, Reason::Requested);
}

#[tokio::test]
async fn a_silent_source_holds_up_nobody_and_is_named() {
    let world = World::new();
    let limited =
        |sources: &[Source]| world.resolver(sources).probe_limit(Duration::from_millis(50));
    let started = Instant::now();
    let sources = [silent("local"), service("openai", 10, true)];
    let resolution = limited(&sources).resolve().await.unwrap();
    assert_eq!(resolution.candidate.id, "openai");
    assert!(resolution.explain().ends_with("; no answer in time from local"));
    for requested in ["auto", "local"] {
        let resolver = limited(&[silent("local")]).requested(requested);
        let error = resolver.resolve().await.unwrap_err();
        assert!(error.next_step().unwrap().contains("local"), "{error}");
    }
    // Far below what a source without a limit would take.
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_preview_decides_and_does_nothing() {
    let world = World::new();
    let person = Person { picks: Some(1), ..Person::default() };
    let sources = [service("openai", 10, true), service("groq", 13, true)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("decisions.json");
    let resolver = world
        .resolver(&sources)
        .memory(kuhaku_core::DecisionMemory::at(&path))
        .consent(person.clone());
    assert_eq!(
        resolver.preview().await.unwrap().explain(),
        "llm: openai (openai-large), unless another is picked when asked (openai, groq); \
         questions go to api.openai.example"
    );
    assert!(person.asked.lines().is_empty());
    assert!(world.announced.lines().is_empty());
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
}
