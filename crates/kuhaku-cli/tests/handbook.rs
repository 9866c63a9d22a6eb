//! The first thing a person tries: the handbook, offline, within the asker's rights.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use support::{KEY, Place, comparable, fixtures};

/// The questions of `fixtures/README.md`: question, page, part of the answer.
fn questions() -> Vec<(String, String, String)> {
    let readme = std::fs::read_to_string(fixtures().join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [question, page, part] = cells.as_slice() else { return None };
        let page = page.strip_prefix('`')?;
        Some(((*question).to_string(), page.to_string(), (*part).to_string()))
    });
    rows.collect()
}

#[test]
fn every_question_of_the_fixtures_is_answered_from_its_page() {
    let place = Place::new();
    let handbook = place.handbook(None);
    let index = place.path().join("index");
    let index = index.to_str().unwrap();
    let ingested = place.run(&["ingest", handbook.to_str().unwrap(), "--index", index]);
    assert_eq!(ingested.code, 0, "{}", ingested.stderr);
    let questions = questions();
    assert!(questions.len() >= 12);
    for (question, page, part) in questions {
        let (path, role) = match page.split_once("` (role `") {
            Some((path, role)) => (path.to_string(), Some(role.trim_end_matches(['`', ')']))),
            None => (page.trim_end_matches('`').to_string(), None),
        };
        let mut arguments = vec!["ask", question.as_str(), "--index", index];
        if let Some(role) = role {
            arguments.extend(["--role", role]);
        }
        let (code, answer) = place.json(&arguments);
        let text = answer["text"].as_str().unwrap();
        assert_eq!(code, 0, "{question}: {text}");
        assert!(text.contains(&part), "{question}: {text}");
        let cited = answer["citations"].as_array().unwrap();
        let page = format!("handbook/{path}");
        assert!(cited.iter().any(|c| c["source"] == page.as_str()), "{question}: {cited:?}");
        if role.is_some() {
            let (code, outsider) = place.json(&["ask", question.as_str(), "--index", index]);
            assert_eq!((code, &outsider["mode"]), (3, &"abstained".into()), "{question}");
        }
    }
    let (code, answer) =
        place.json(&["ask", "Which dentist does the company recommend?", "--index", index]);
    assert_eq!((code, &answer["mode"]), (3, &"abstained".into()), "{answer}");
}

/// R4, at the command: without the role, the restricted page might as well not exist.
#[test]
fn without_the_role_the_answers_are_those_of_a_handbook_that_never_held_the_page() {
    let (full, bare) = (Place::new(), Place::new());
    full.handbook(None);
    bare.handbook(Some("people/salary-bands.md"));
    let questions = [
        "What is the salary band for level 3 engineers?",
        "How many days of annual leave do I get?",
        "What does a level 3 engineer do in the first year?",
        "people ops",
    ];
    for question in questions {
        for verb in ["ask", "search"] {
            let run = |place: &Place| {
                assert_eq!(place.run(&["ingest", "handbook", "--id-key", KEY]).code, 0);
                place.json(&[verb, question, "--role", "engineering"])
            };
            let ((code, with), (bare_code, without)) = (run(&full), run(&bare));
            assert_eq!(code, bare_code, "{verb} {question}");
            assert_eq!(comparable(&with), comparable(&without), "{verb} {question}");
        }
    }
    let insider = full.run(&["ask", questions[0], "--role", "people_ops"]);
    assert!(insider.stdout.contains("66,000"), "{}", insider.stdout);
}

#[test]
fn a_folder_is_asked_in_one_go_and_nothing_is_left_behind() {
    let (full, bare) = (Place::new(), Place::new());
    full.handbook(None);
    bare.handbook(Some("people/salary-bands.md"));
    let question = "How many days of annual leave do I get?";
    let ask = |place: &Place| place.json(&["ask", "--docs", "handbook", question, "--id-key", KEY]);
    let ((code, with), (_, without)) = (ask(&full), ask(&bare));
    assert_eq!(code, 0);
    assert!(with["text"].as_str().unwrap().contains("27 days"));
    assert_eq!(comparable(&with), comparable(&without));
    let left: Vec<_> =
        std::fs::read_dir(full.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["handbook"], "no index and no temporary folder stays");
    let printed = full.run(&["ask", "--docs", "handbook", question]);
    assert!(printed.stdout.contains("[S1]") && printed.stdout.contains("leave.md"));
    assert!(!printed.stderr.contains("language model"), "nobody set one: {}", printed.stderr);
}
