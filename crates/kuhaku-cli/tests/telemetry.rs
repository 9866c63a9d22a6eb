//! What the command logs, and what it sends when it is told to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod support;

use serde_json::Value;
use support::Place;

fn ask(place: &Place, arguments: &[&str]) -> support::Ran {
    let question = ["ask", "How", "many", "days", "of", "annual", "leave?", "--docs", "handbook"];
    place.run(&[&question, arguments].concat())
}

/// OBS-01, OBS-02
#[test]
fn json_logs_are_a_value_a_line_with_the_trace_id_and_no_content() {
    let place = Place::new();
    place.handbook(None);
    let ran =
        ask(&place, &["--trace-id", "of-mine", "--log-format", "json", "--log-level", "trace"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines = ran.stderr.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    let ended: Vec<&Value> =
        lines.iter().filter(|line| line["message"] == "a request has ended").collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0]["trace_id"], "of-mine");
    assert_eq!((&ended[0]["event"], &ended[0]["outcome"]), (&"ask".into(), &"ok".into()));
    assert!(ended[0]["duration_ms"].is_number());
    assert!(ended[0].get("code").is_none(), "absent fields are left out");
    let stages = lines.iter().filter(|line| line["trace_id"] == "of-mine");
    let stages: Vec<&str> = stages.filter_map(|line| line["stage"].as_str()).collect();
    assert_eq!(stages, ["mask", "guard", "retrieve", "extract", "cite", "ask"]);
    for line in &lines {
        let line = line.to_string();
        for content in ["annual", "leave", "handbook", ".md"] {
            assert!(!line.contains(content), "{line}");
        }
    }
}

#[test]
fn unless_asked_nothing_is_logged_about_what_went_well() {
    let place = Place::new();
    place.handbook(None);
    let quiet = ask(&place, &[]);
    let told = ask(&place, &["--log-level", "info"]);
    assert!(!quiet.stderr.contains("a request has ended"), "{}", quiet.stderr);
    assert!(told.stderr.contains("info: a request has ended"), "{}", told.stderr);
    assert_eq!(quiet.stdout, told.stdout);
}

/// With a library's own switch for logs set: only what the list allows comes out.
#[test]
fn variables_of_libraries_open_no_other_log() {
    let place = Place::new();
    place.handbook(None);
    let arguments = ["ask", "annual", "leave", "--docs", "handbook"];
    let ran = place.command().args(arguments).env("RUST_LOG", "trace").output().unwrap();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    for theirs in ["sqlx", "TRACE", "DEBUG", "SELECT"] {
        assert!(!stderr.contains(theirs), "{stderr}");
    }
}

#[cfg(feature = "otlp")]
mod otlp {
    use std::process::{Command, Output};
    use std::time::Duration;

    use kuhaku_testkit::transcript::{Reply, TranscriptServer};

    use super::*;

    /// Long enough for any machine; nothing here waits that long unless it fails.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn command(place: &Place, endpoint: &str) -> Command {
        place.handbook(None);
        let mut command = place.command();
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("OTEL_") {
                command.env_remove(name);
            }
        }
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
        command.args(["ask", "How many days of annual leave?", "--docs", "handbook"]);
        command
    }

    /// The servers of this process go on while the command runs.
    async fn run(mut command: Command) -> Output {
        let ran = tokio::task::spawn_blocking(move || command.output().unwrap());
        tokio::time::timeout(PATIENCE, ran).await.expect("the command ends").unwrap()
    }

    #[tokio::test]
    async fn spans_and_metrics_of_a_command_are_delivered_before_it_ends() {
        let place = Place::new();
        let collector = TranscriptServer::start([Reply::new(200)]).await.unwrap();
        let mut command = command(&place, &collector.url());
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=sesame");
        let ran = run(command).await;
        assert!(ran.status.success());
        assert!(ran.stderr.is_empty() || !String::from_utf8_lossy(&ran.stderr).contains("deliver"));
        let requests = collector.requests();
        for (path, text) in [
            ("/v1/traces", "kuhaku.ask"),
            ("/v1/traces", "kuhaku.retrieve"),
            ("/v1/metrics", "rag_requests_total"),
        ] {
            let found = requests.iter().find(|it| it.path == path).expect(path);
            assert!(found.mentions(text), "{path}");
            assert_eq!(found.header("x-collector-key"), Some("sesame"));
        }
        for content in ["annual", "handbook", ".md"] {
            assert!(!requests.iter().any(|it| it.mentions(content)), "{content}");
        }
    }

    #[tokio::test]
    async fn without_a_collector_the_answer_and_the_status_are_the_same() {
        let place = Place::new();
        let silent = TranscriptServer::start([Reply::silence()]).await.unwrap();
        let mut plain = command(&place, "");
        plain.env_remove("OTEL_EXPORTER_OTLP_ENDPOINT");
        let plain = run(plain).await;
        for endpoint in [silent.url(), "http://127.0.0.1:1".into(), "not an address".into()] {
            let ran = run(command(&place, &endpoint)).await;
            assert_eq!((ran.status.code(), &ran.stdout), (plain.status.code(), &plain.stdout));
            let stderr = String::from_utf8_lossy(&ran.stderr);
            assert!(stderr.contains("warning: ") || stderr.contains("warn: "), "{stderr}");
        }
    }
}
