//! `kuhaku ask` with a language model, against servers on this machine.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kuhaku_testkit::transcript::{Ending, Reply, TranscriptServer};
use serde_json::{Value, json};
use support::{Place, Ran, ran};
use tokio::runtime::Runtime;

const QUESTION: &str = "What is the guest network called?";

/// A key that nobody may read anywhere.
const KEY: &str = "sk-planted4f9c1e7a2b8d6035";

const ANSWER: &str = "The guest network is called Plover, and everybody who visits the office may \
                      use it for as long as the visit lasts, provided that nobody minds [S1]. The \
                      guest network is open to all, and it needs no word of any kind to get in [S1].";

/// What is waited for at most; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Ollama,
    OpenAi,
}

impl Shape {
    const BOTH: [Self; 2] = [Self::Ollama, Self::OpenAi];

    /// What precedes the answer: Ollama is asked for its models.
    fn before(self) -> Vec<Reply> {
        match self {
            Self::Ollama => vec![Reply::json(r#"{"models": [{"name": "tiny:1b"}]}"#)],
            Self::OpenAi => Vec::new(),
        }
    }

    fn piece(self, text: &str) -> String {
        match self {
            Self::Ollama => {
                let message = json!({ "role": "assistant", "content": text });
                let line = json!({ "model": "tiny:1b", "message": message, "done": false });
                format!("{line}\n")
            }
            Self::OpenAi => {
                let choice = json!({ "index": 0, "delta": { "content": text } });
                format!("data: {}\n\n", json!({ "model": "tiny", "choices": [choice] }))
            }
        }
    }

    fn end(self) -> String {
        match self {
            Self::Ollama => {
                let end = json!({
                    "model": "tiny:1b", "message": { "role": "assistant", "content": "" },
                    "done": true, "done_reason": "stop", "prompt_eval_count": 90, "eval_count": 7,
                });
                format!("{end}\n")
            }
            Self::OpenAi => {
                let stop = json!({ "index": 0, "delta": {}, "finish_reason": "stop" });
                let usage = json!({ "prompt_tokens": 90, "completion_tokens": 7 });
                let end = json!({ "model": "tiny", "choices": [stop], "usage": usage });
                format!("data: {end}\n\ndata: [DONE]\n\n")
            }
        }
    }

    /// The answer in pieces, of which the connection breaks off where `ending` says.
    fn stream(self, ending: Ending) -> Reply {
        let media_type = match self {
            Self::Ollama => "application/x-ndjson",
            Self::OpenAi => "text/event-stream",
        };
        let words = ANSWER.split_inclusive(' ');
        let reply = Reply::stream(media_type);
        let reply = words.fold(reply, |reply, word| reply.piece(self.piece(word)));
        match ending {
            Ending::Complete => reply.piece(self.end()),
            ending => reply.ending(ending),
        }
    }

    fn whole(self) -> Reply {
        let message = json!({ "role": "assistant", "content": ANSWER });
        Reply::json(
            match self {
                Self::Ollama => json!({
                    "model": "tiny:1b", "message": message, "done": true, "done_reason": "stop",
                    "prompt_eval_count": 90, "eval_count": 7,
                }),
                Self::OpenAi => json!({
                    "model": "tiny",
                    "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }],
                    "usage": { "prompt_tokens": 90, "completion_tokens": 7 },
                }),
            }
            .to_string(),
        )
    }

    fn command(self, place: &Place, server: &Server) -> Command {
        let url = server.server.url();
        let mut command = place.command();
        match self {
            Self::Ollama => command.env("OLLAMA_HOST", url).env("KUHAKU_LLM_PROVIDER", "ollama"),
            Self::OpenAi => command
                .env("KUHAKU_OPENAI_BASE_URL", format!("{url}/v1"))
                .env("OPENAI_API_KEY", KEY),
        };
        command.args(["ask", QUESTION]);
        command
    }
}

/// A server and what it runs on.
struct Server {
    server: TranscriptServer,
    runtime: Runtime,
}

impl Server {
    fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(TranscriptServer::start(script)).unwrap();
        Self { server, runtime }
    }

    fn answering(shape: Shape, answer: Reply) -> Self {
        Self::start(shape.before().into_iter().chain([answer]))
    }

    fn bodies(&self) -> Vec<Value> {
        self.server.requests().iter().filter_map(|request| request.json()).collect()
    }
}

fn indexed() -> Place {
    let place = Place::new();
    place.write("wifi.md", "# Wifi\n\nThe guest network is called Plover.\n");
    place.write("pay.txt", "The guest network of the pay office is called Falcon.\n");
    assert_eq!(place.run(&["ingest", "wifi.md"]).code, 0);
    assert_eq!(place.run(&["ingest", "pay.txt", "--tag", "people_ops"]).code, 0);
    place
}

fn record(place: &Place) -> Value {
    let (_, shown) = place.json(&["audit", "show"]);
    let records = shown["records"].as_array().unwrap();
    assert_eq!(records.len(), 1, "{records:?}");
    records[0].clone()
}

/// Starts a command, and reads its output until a text has come.
fn read_until(command: &mut Command, text: &str) -> (Child, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut read, mut buffer) = (Vec::new(), [0; 64]);
    let stdout = child.stdout.as_mut().unwrap();
    while !String::from_utf8_lossy(&read).contains(text) {
        let more = stdout.read(&mut buffer).unwrap();
        assert!(more > 0, "it ended after {:?}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&buffer[..more]);
    }
    (child, String::from_utf8(read).unwrap())
}

fn no_key(place: &Place, ran: &Ran) {
    let audit = std::fs::read_to_string(place.path().join("kuhaku-data/kuhaku_audit.jsonl"));
    for text in [&ran.stdout, &ran.stderr, &audit.unwrap()] {
        assert!(!text.contains(&KEY[3..]), "{text}");
    }
}

#[test]
fn the_answer_of_a_model_is_printed_with_its_sources_and_what_went_where() {
    for shape in Shape::BOTH {
        let place = indexed();
        let server = Server::answering(shape, shape.stream(Ending::Complete));
        let streamed = ran(shape.command(&place, &server).output().unwrap());
        assert_eq!(streamed.code, 0, "{}", streamed.stderr);
        assert_eq!(streamed.stdout, format!("{ANSWER}\n\n[S1] Wifi — wifi.md\n"));
        let host = server.server.url().replace("http://", "");
        let says = format!("questions and the passages found for them go to {host}");
        assert_eq!(streamed.stderr.matches(&says).count(), 1, "{}", streamed.stderr);
        let record = record(&place);
        assert_eq!(record["outcome"], "generated");
        assert_eq!(record["attributes"]["output_tokens"], 7);
        no_key(&place, &streamed);

        let server = Server::answering(shape, shape.whole());
        let whole = ran(shape.command(&place, &server).arg("--no-stream").output().unwrap());
        assert_eq!((whole.code, &whole.stdout), (0, &streamed.stdout));
        let server = Server::answering(shape, shape.whole());
        let json = ran(shape.command(&place, &server).arg("--json").output().unwrap());
        let json: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!((&json["mode"], &json["text"]), (&json!("generated"), &json!(ANSWER)));
        assert_eq!(json["usage"], json!({ "input_tokens": 90, "output_tokens": 7 }));
    }
}

/// LLM-13: also the part about streams that break off.
#[test]
fn text_comes_before_the_server_has_sent_the_last_and_what_came_stays_when_it_dies() {
    for shape in Shape::BOTH {
        let place = indexed();
        // The end never comes, so that whatever is read now came before it.
        let server = Server::answering(shape, shape.stream(Ending::Silence));
        let (child, read) = read_until(&mut shape.command(&place, &server), "Plover");
        drop(server);
        let rest = ran(child.wait_with_output().unwrap());
        let text = read + &rest.stdout;
        assert_eq!(rest.code, 1, "{}", rest.stderr);
        let text = text.strip_suffix('\n').unwrap();
        assert!(ANSWER.starts_with(text) && text.len() > 100, "{text}");
        assert!(rest.stderr.contains("[rag.partial_answer]"), "{}", rest.stderr);
        let says = format!("only its first {} characters came", text.chars().count());
        assert!(rest.stderr.contains(&says), "{}", rest.stderr);
        let record = record(&place);
        assert_eq!(
            (&record["outcome"], &record["error"]),
            (&json!("error"), &json!("rag.partial_answer"))
        );
        no_key(&place, &rest);
    }
}

#[test]
fn interrupting_ends_the_call_and_leaves_one_record() {
    let place = indexed();
    let shape = Shape::OpenAi;
    let server = Server::answering(shape, shape.stream(Ending::Silence));
    let (child, _) = read_until(&mut shape.command(&place, &server), "Plover");
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success()
    );
    let ended = ran(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130);
    assert!(ended.stdout.ends_with('\n'), "{}", ended.stdout);
    assert!(ended.stderr.ends_with("\ninterrupted\n"), "{}", ended.stderr);
    assert!(server.runtime.block_on(server.server.abandoned(1, PATIENCE)));
    assert_eq!(record(&place)["outcome"], "cancelled");
}

/// R4: nothing of a document that the caller may not see leaves this machine.
#[test]
fn a_hidden_document_is_in_no_request() {
    for shape in Shape::BOTH {
        for (role, sees) in [("engineering", false), ("people_ops", true)] {
            let place = indexed();
            let server = Server::answering(shape, shape.stream(Ending::Complete));
            let answered =
                ran(shape.command(&place, &server).args(["--role", role]).output().unwrap());
            assert_eq!(answered.code, 0, "{}", answered.stderr);
            let sent = server.bodies();
            assert_eq!(sent.len(), 1);
            let sent = sent[0].to_string();
            assert!(sent.contains("Plover"), "{sent}");
            let hidden = sent.contains("Falcon") || sent.contains("pay office");
            assert_eq!(hidden, sees, "{sent}");
        }
    }
}

#[test]
fn a_key_that_is_refused_and_quoted_is_shown_nowhere() {
    let place = indexed();
    let quoted = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}") } });
    let refused = Reply::new(401).header("content-type", "application/json");
    let server = Server::answering(Shape::OpenAi, refused.piece(quoted.to_string()));
    let refused = ran(Shape::OpenAi.command(&place, &server).output().unwrap());
    assert_eq!((refused.code, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("[core.unauthorized]"), "{}", refused.stderr);
    assert!(refused.stderr.contains("KUHAKU_OPENAI_API_KEY"), "{}", refused.stderr);
    no_key(&place, &refused);
    assert_eq!(record(&place)["error"], "core.unauthorized");
    assert!(server.server.requests()[0].mentions(KEY), "the service did get it");
}

#[test]
fn text_of_a_model_cannot_steer_the_terminal_in_whatever_pieces_it_comes() {
    let place = indexed();
    let shape = Shape::OpenAi;
    let mut reply = Reply::stream("text/event-stream");
    for piece in ["One\u{1b}", "[31m two\r", "\n three \u{9b}", "2J\n\n four", " five six seven"] {
        reply = reply.piece(shape.piece(piece));
    }
    reply = reply.piece(shape.piece(&" and so on".repeat(30))).piece(shape.end());
    let server = Server::answering(shape, reply);
    let printed = ran(shape.command(&place, &server).output().unwrap());
    assert!(
        printed.stdout.starts_with("One·[31m two\n three ·2J\n\n four five"),
        "{}",
        printed.stdout
    );
}

#[test]
fn flags_choose_the_model_for_one_run_and_a_setting_wins_over_what_is_remembered() {
    let place = indexed();
    let shape = Shape::OpenAi;
    let ask_with = |setting: Option<&str>, arguments: &[&str]| {
        let server = Server::answering(shape, shape.stream(Ending::Complete));
        let mut command = shape.command(&place, &server);
        if let Some(setting) = setting {
            command.env("KUHAKU_LLM_PROVIDER", setting);
        }
        let ran = ran(command.env("GROQ_API_KEY", KEY).args(arguments).output().unwrap());
        (ran, server.bodies())
    };
    let ask = |arguments: &[&str]| ask_with(None, arguments);
    let (none, sent) = ask(&["--provider", "none"]);
    assert_eq!((none.code, sent.len()), (0, 0));
    assert_eq!(none.stderr, "index: ./kuhaku-data\n");
    assert!(none.stdout.starts_with("The guest network is called Plover. [S1]"));
    assert!(!place.path().join(".kuhaku").exists());

    let (named, sent) = ask(&["--provider", "openai", "--model", "large"]);
    assert!(named.stderr.contains("llm: openai (large), as set; questions"), "{}", named.stderr);
    assert_eq!(sent[0]["model"], "large");
    assert!(!place.path().join(".kuhaku").exists(), "a flag is for one run");
    let (plain, _) = ask(&[]);
    assert!(plain.stderr.contains("since nobody picked one"), "{}", plain.stderr);

    let (set, _) = ask_with(Some("openai"), &[]);
    assert!(set.stderr.contains("as set"), "{}", set.stderr);
    assert!(place.path().join(".kuhaku/decisions.json").exists());
    let (none, sent) = ask_with(Some("none"), &[]);
    assert_eq!((none.code, sent.len()), (0, 0), "{}", none.stderr);
    let (none, sent) = ask(&["--provider", "none"]);
    assert_eq!((none.code, sent.len()), (0, 0), "{}", none.stderr);
    let (remembered, _) = ask(&[]);
    assert!(remembered.stderr.contains("as last chosen"), "{}", remembered.stderr);

    let (unnamed, sent) = ask(&["--model", "large"]);
    assert_eq!((unnamed.code, sent.len()), (1, 0));
    assert!(unnamed.stderr.contains("--provider"), "{}", unnamed.stderr);
    let (unknown, _) = ask(&["--provider", "opnai"]);
    assert!(unknown.stderr.contains("did you mean `openai`?"), "{}", unknown.stderr);
    let (unready, _) = ask(&["--provider", "anthropic"]);
    assert!(unready.stderr.contains("ANTHROPIC_API_KEY"), "{}", unready.stderr);
}

/// R3, R11: an offline command stays one, and what is asked is asked without any text.
#[test]
fn only_asking_looks_for_a_model_and_only_once() {
    let place = Place::new();
    place.write("wifi.md", "# Wifi\n\nThe guest network is called Plover.\n");
    let none = Reply::json(r#"{"models": []}"#);
    let server = Server::start([none]);
    let run = |arguments: &[&str]| {
        let mut command = place.command();
        command.env("OLLAMA_HOST", server.server.url()).args(arguments);
        assert_eq!(ran(command.output().unwrap()).code, 0, "{arguments:?}");
    };
    for arguments in [&["ingest", "wifi.md"][..], &["search", QUESTION], &["documents", "list"]] {
        run(arguments);
    }
    run(&["ask", QUESTION, "--provider", "none"]);
    assert_eq!(server.server.connections(), 0);
    run(&["ask", QUESTION]);
    let requests = server.server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].path.as_str(), requests[0].body.len()), ("/api/tags", 0));
}

#[test]
fn what_is_typed_in_the_wrong_place_is_not_repeated() {
    let place = indexed();
    for arguments in [["--provider", KEY, "--no-stream"], ["--provider", "openai", "--json"]] {
        let mut command = place.command();
        command.env("KUHAKU_OPENAI_MODEL", KEY).args(["ask", QUESTION]).args(arguments);
        let refused = ran(command.output().unwrap());
        assert_eq!(refused.code, 1);
        assert!(!(refused.stdout + &refused.stderr).contains(&KEY[3..]));
    }
}

#[test]
fn doctor_says_which_model_would_answer_and_what_it_would_take_to_have_one() {
    let place = indexed();
    let model = |variables: &[(&str, &str)]| {
        let mut command = place.command();
        command.envs(variables.iter().copied()).args(["doctor", "--json"]);
        let ran = ran(command.output().unwrap());
        let found: Value = serde_json::from_str(&ran.stdout).unwrap();
        let findings = found["findings"].as_array().unwrap();
        let model = findings.iter().find(|it| it["what"] == "language model").unwrap().clone();
        (ran.code, model)
    };
    let (code, nothing) = model(&[]);
    assert_eq!((code, &nothing["fine"]), (0, &json!(true)));
    assert!(nothing["says"].as_str().unwrap().contains("no text leaves this machine"));
    assert!(nothing["next"].as_str().unwrap().contains("OPENAI_API_KEY"));
    let (code, ready) = model(&[("OPENAI_API_KEY", KEY)]);
    let says = "openai (gpt-4o-mini), the only one that is ready; questions and the passages found \
                for them go to api.openai.com";
    assert_eq!((code, &ready["says"], &ready["next"]), (0, &json!(says), &Value::Null));
    let (code, named) = model(&[("KUHAKU_LLM_PROVIDER", "groq")]);
    assert_eq!((code, &named["fine"]), (3, &json!(false)));
    assert!(named["next"].as_str().unwrap().contains("GROQ_API_KEY"), "{named}");
    assert!(!place.path().join(".kuhaku").exists());
}

/// R13
#[test]
fn doctor_lists_what_is_wrong_with_the_settings_of_every_section_at_once() {
    let place = Place::new();
    let mut command = place.command();
    command.env("KUHAKU_RAG__TOP_K", "many").env("KUHAKU_LLM_TIMEOUT_SECONDS", "soon");
    command.env("KUHAKU_AUDIT_ENABLED", "perhaps").arg("doctor");
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let line = ran.stdout.lines().find(|line| line.starts_with("fix settings: ")).unwrap();
    for name in ["top_k", "llm_timeout_seconds", "audit_enabled"] {
        assert!(line.to_lowercase().contains(name), "{line}");
    }
    for rest in ["fix index: ", "fix audit: ", "fix language model: "] {
        assert!(ran.stdout.contains(rest), "{}", ran.stdout);
    }
}
