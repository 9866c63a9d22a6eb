//! What reaches a collector, and what happens when there is none.

#![cfg(all(feature = "rag", feature = "sqlite", feature = "otlp"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use kuhaku::core::{ChatResponse, Resilience, Resilient, Usage};
use kuhaku::telemetry::Otlp;
use kuhaku::{Answer, Rag, Runtime, Scope, TextDocument};
use kuhaku_testkit::ScriptedLlm;
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use opentelemetry::trace::{Span as _, Tracer as _};
use tracing_subscriber::layer::SubscriberExt as _;

/// Long enough for any machine; nothing here waits that long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

const QUESTION: &str = "How many falcons does Quillfeather keep?";

/// An answer under an exporter.
async fn ask(otlp: &Otlp) -> Answer {
    let runtime = Runtime::builder().metrics(otlp.metrics()).build();
    let subscriber = tracing_subscriber::registry().with(otlp.layer());
    let _sending = tracing::subscriber::set_default(subscriber);
    let reply = ChatResponse::new("saker-1", "Eleven falcons. [S1]");
    let model = ScriptedLlm::with_outcomes([Ok(reply.usage(Usage::new(Some(120), Some(7))))]);
    let resilience = Resilience::new(runtime.clone(), "llm");
    let model = Arc::new(Resilient::new(model, "http://localhost", resilience));
    let rag = Rag::builder().temporary().runtime(runtime).model(model).open().await.unwrap();
    let document = TextDocument::new("birds.md", "Quillfeather keeps eleven falcons.");
    rag.ingest(document).await.unwrap();
    let span = tracing::info_span!(target: "another_crate", "their span", falcon = "saker");
    let _entered = span.entered();
    tracing::error!("falcon: an event of somebody else");
    let answer = rag.ask(QUESTION, Scope::anonymous()).await.unwrap();
    rag.close().await;
    answer
}

/// OBS-03
#[tokio::test]
async fn spans_and_metrics_reach_the_collector_and_content_does_not() {
    let collector = TranscriptServer::start([Reply::new(200)]).await.unwrap();
    let otlp = Otlp::http(format!("{}/", collector.url())).service("aviary-app").start().unwrap();
    let answer = ask(&otlp).await;
    assert!(otlp.shutdown(PATIENCE).await, "everything was delivered");

    let requests = collector.requests();
    let of = |path: &str| {
        let of = requests.iter().filter(|it| it.path == path).collect::<Vec<_>>();
        assert!(!of.is_empty(), "{path}");
        of
    };
    let told = |path: &str, text: &str| of(path).iter().any(|it| it.mentions(text));
    for text in [
        "aviary-app",
        "kuhaku.ask",
        "kuhaku.mask",
        "kuhaku.guard",
        "kuhaku.retrieve",
        "kuhaku.generate",
        "kuhaku.output_guard",
        "kuhaku.cite",
        "chat model",
        "gen_ai.operation.name",
        "gen_ai.provider.name",
        "scripted",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "saker-1",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.output_tokens",
        "kuhaku.trace_id",
        answer.trace_id.as_str(),
    ] {
        assert!(told("/v1/traces", text), "{text} is in the spans");
    }
    for text in [
        "rag_requests_total",
        "kuhaku_stage_duration_seconds",
        "retrieve",
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.token.type",
    ] {
        assert!(told("/v1/metrics", text), "{text} is in the metrics");
    }
    for request in &requests {
        assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
        for content in ["alcon", "leven", "Quillfeather", "birds.md", "their span", "src/"] {
            assert!(!request.mentions(content), "{content} in {}", request.path);
        }
    }
}

#[tokio::test]
async fn a_collector_that_refuses_fails_or_never_answers_changes_no_answer_and_the_end_is_bounded()
{
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let broken = TranscriptServer::start([Reply::new(500)]).await.unwrap();
    let silent = TranscriptServer::start([Reply::silence()]).await.unwrap();
    for endpoint in [nobody, broken.url(), silent.url()] {
        let otlp = Otlp::http(endpoint.as_str()).start().unwrap();
        let answer = ask(&otlp).await;
        assert!(answer.text.starts_with("Eleven falcons."), "{}", answer.text);
        let ending = otlp.shutdown(Duration::from_millis(300));
        let delivered = tokio::time::timeout(PATIENCE, ending).await.expect("it is bounded");
        assert!(!delivered, "{endpoint}");
    }
}

/// OBS-06: in a process of its own, since the other tests of this file set subscribers.
#[test]
fn an_exporter_sets_nothing_global() {
    const CHILD: &str = "TEST_OF_A_MODEST_EXPORTER";
    if std::env::var_os(CHILD).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let collector = TranscriptServer::start([Reply::new(200)]).await.unwrap();
            let otlp = Otlp::http(collector.url()).start().unwrap();
            let _unused = (otlp.layer::<tracing_subscriber::Registry>(), otlp.metrics());
            let span = opentelemetry::global::tracer("somebody").start("a span");
            assert!(!span.span_context().is_valid(), "there is no global tracer");
            opentelemetry::global::meter("somebody").u64_counter("counter").build().add(1, &[]);
            otlp.shutdown(PATIENCE).await;
            assert!(collector.requests().is_empty(), "there is no global meter");
        });
        tracing::subscriber::set_global_default(tracing_subscriber::registry()).unwrap();
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let ran = child.args(["--exact", "an_exporter_sets_nothing_global"]).env(CHILD, "1");
    let ran = ran.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("1 passed"));
}

#[test]
fn what_cannot_work_is_an_error_that_quotes_nothing() {
    let outside = Otlp::http("http://localhost:4318").start().unwrap_err();
    assert_eq!(outside.code(), "core.invalid_input");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let builder = Otlp::http("not an address with a secret");
    assert!(!format!("{builder:?}").contains("secret"));
    let error = builder.start().unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    assert!(error.next_step().is_some());
}

#[cfg(feature = "otlp-grpc")]
mod grpc {
    use std::sync::Mutex;

    use bytes::Bytes;
    use tokio::net::TcpListener;

    use super::*;

    type Calls = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

    /// Answers calls of gRPC with an empty message.
    async fn serve(listener: TcpListener, calls: Calls) {
        while let Ok((stream, _)) = listener.accept().await {
            let calls = calls.clone();
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(answer(request, respond, calls.clone()));
                }
            });
        }
    }

    async fn answer(
        request: http::Request<h2::RecvStream>,
        mut respond: h2::server::SendResponse<Bytes>,
        calls: Calls,
    ) {
        let path = request.uri().path().to_owned();
        let (mut body, mut read) = (request.into_body(), Vec::new());
        while let Some(piece) = body.data().await {
            let piece = piece.unwrap();
            body.flow_control().release_capacity(piece.len()).unwrap();
            read.extend_from_slice(&piece);
        }
        calls.lock().unwrap().push((path, read));
        let head = http::Response::builder().header("content-type", "application/grpc");
        let mut reply = respond.send_response(head.body(()).unwrap(), false).unwrap();
        // Not compressed, no bytes: the default of a message.
        reply.send_data(Bytes::from_static(&[0; 5]), false).unwrap();
        let mut trailers = http::HeaderMap::new();
        trailers.insert("grpc-status", "0".parse().unwrap());
        reply.send_trailers(trailers).unwrap();
    }

    #[tokio::test]
    async fn spans_and_metrics_reach_a_collector_of_grpc() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let calls = Calls::default();
        tokio::spawn(serve(listener, calls.clone()));
        let otlp = Otlp::grpc(endpoint).service("aviary-app").start().unwrap();
        ask(&otlp).await;
        assert!(otlp.shutdown(PATIENCE).await, "everything was delivered");

        let calls = calls.lock().unwrap();
        for (service, text) in [
            ("trace.v1.TraceService", "kuhaku.retrieve"),
            ("metrics.v1.MetricsService", "retrieve"),
        ] {
            let path = format!("/opentelemetry.proto.collector.{service}/Export");
            let told =
                |(_, body): &&(String, Vec<u8>)| String::from_utf8_lossy(body).contains(text);
            assert!(calls.iter().filter(|it| it.0 == path).any(|it| told(&it)), "{path}");
        }
        for (_, body) in calls.iter() {
            assert!(!String::from_utf8_lossy(body).contains("alcon"));
        }
    }
}
