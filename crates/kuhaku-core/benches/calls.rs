//! What the layers around a call cost, and whether many callers stay apart:
//! `cargo bench -p kuhaku-core --features http --bench calls`.
//!
//! A server on loopback, in a process of its own, answers at once. Within one run and in turn, the
//! same request of 8 kB, answered with 1 kB in the shape of OpenAI, is made with reqwest alone and
//! with all layers (client, deadline, breaker, retry, attempt timeout, metering, span) and their
//! default limits; what is compared are the medians (D40). Then: the cost of the
//! layers per streamed event, the memory of 1,000 open streams, and a storm of 200 callers against a
//! server that answers 429 with `Retry-After: 1` for three seconds, as a histogram.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench tells its numbers, and ends when something is wrong"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use kuhaku_core::{
    Capabilities, ChatEvent, ChatRequest, ChatResponse, ChatStream, Error, ErrorKind, Finish,
    HttpClient, HttpRequest, HttpStream, LlmProvider, Resilience, Resilient, Result, Runtime,
    SseDecoder, Usage,
};
use serde_json::{Value, json};

const CONNECTIONS: usize = 21;
const CALLS: usize = 400;
const EVENTS: usize = 200_000;
const STREAMS: usize = 1_000;
const CALLERS: usize = 200;
/// Of a prompt with its sources, in bytes.
const PROMPT: usize = 8_000;

fn main() {
    if std::env::args().any(|argument| argument == "serve") {
        return serve();
    }
    let server = Server::start();
    // One thread, so that the scheduler's choices are not what is compared.
    let one = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    one.block_on(calls(&server.url));
    let two = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    two.unwrap().block_on(async {
        events().await;
        streams(&server.url).await;
        storm(&server.url).await;
    });
}

/// A model that speaks the smallest dialect there is.
#[derive(Debug)]
struct Model {
    client: HttpClient,
    url: String,
    runtime: Runtime,
}

impl Model {
    fn request(&self, path: &str, request: &ChatRequest) -> HttpRequest {
        HttpRequest::post(format!("{}{path}", self.url))
            .bearer(&"key".to_owned().into())
            .json(&body(request))
    }
}

fn body(request: &ChatRequest) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": request.messages[0].text}]})
}

#[async_trait]
impl LlmProvider for Model {
    fn id(&self) -> &str {
        "bench:m"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn chat(&self, request: ChatRequest) -> Result<ChatResponse> {
        let reply = self.client.send(self.request("/chat", &request), 1 << 20).await?;
        if let Some(error) = reply.failure("ask the bench", &self.runtime) {
            return Err(error);
        }
        let reply: Value = reply.json("read the reply of the bench")?;
        Ok(ChatResponse::new("m", text_of(&reply)))
    }

    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        let stream = self.client.open(self.request("/stream", &request)).await?;
        let state = (stream, SseDecoder::new(1 << 20));
        Ok(Box::pin(stream::unfold(state, |mut state| async {
            let event = next_event(&mut state.0, &mut state.1).await?;
            Some((event.map(ChatEvent::Text), state))
        })))
    }
}

async fn next_event(stream: &mut HttpStream, decoder: &mut SseDecoder) -> Option<Result<String>> {
    loop {
        match decoder.next_event() {
            Ok(Some(event)) => return Some(Ok(event.data)),
            Err(error) => return Some(Err(error)),
            Ok(None) => match stream.next_bytes().await {
                Ok(bytes) => decoder.feed(&bytes?),
                Err(error) => return Some(Err(error)),
            },
        }
    }
}

/// The same call with reqwest alone, then with everything. Where the system runs the two ends of a
/// connection decides more than what is measured, so there are many connections: the medians of
/// each pair are compared, and then the median over the pairs is taken.
async fn calls(url: &str) {
    let question = "a".repeat(PROMPT);
    let mut pairs = Vec::new();
    for _ in 0..CONNECTIONS {
        pairs.push(connection(url, &question).await);
    }
    let [bare, layered] = [0, 1].map(|of| median(pairs.iter().map(|pair| pair[of]).collect()));
    let [bare_us, layered_us] = [bare, layered].map(|time| time * 1e6);
    let more = median(pairs.iter().map(|pair| pair[1] - pair[0]).collect()) * 1e6;
    let ratio = median(pairs.iter().map(|pair| pair[1] / pair[0]).collect());
    println!(
        "call      bare reqwest {bare_us:.1} µs, all layers {layered_us:.1} µs; pair by pair \
         {more:+.1} µs, {:+.1} % (at most 5)",
        (ratio - 1.0) * 100.0
    );
}

/// The medians in seconds, without layers and with, over a connection each.
async fn connection(url: &str, question: &str) -> [f64; 2] {
    let runtime = Runtime::system();
    let client = HttpClient::builder().build().unwrap();
    let model = Model { client, url: url.to_owned(), runtime: runtime.clone() };
    let model = Resilient::new(model, url, layer(&runtime));
    let bare = reqwest::Client::builder().tls_backend_preconfigured(no_tls()).no_proxy().build();
    let bare = bare.unwrap();
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..CALLS {
        // In turn which of the two comes first.
        let layered = matches!(round % 4, 1 | 2);
        let started = Instant::now();
        let request = ChatRequest::new("", question);
        if layered {
            let request = request.deadline(started + Duration::from_secs(300));
            assert!(model.chat(request).await.unwrap().text.starts_with("Yes."));
        } else {
            let sent = bare
                .post(format!("{url}/chat"))
                .header("authorization", "Bearer key")
                .header("content-type", "application/json")
                .body(serde_json::to_vec(&body(&request)).unwrap())
                .send();
            let bytes = sent.await.unwrap().bytes().await.unwrap();
            let reply: Value = serde_json::from_slice(&bytes).unwrap();
            assert!(text_of(&reply).starts_with("Yes."));
        }
        times[usize::from(layered)].push(started.elapsed().as_secs_f64());
    }
    // The first calls connect.
    times.map(|times| median(times.into_iter().skip(10).collect()))
}

fn text_of(reply: &Value) -> &str {
    reply["choices"][0]["message"]["content"].as_str().unwrap_or_default()
}

/// Without a configuration, reqwest looks for a provider of the whole process, which there is not.
fn no_tls() -> rustls::ClientConfig {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    rustls::ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

fn layer(runtime: &Runtime) -> Resilience {
    Resilience::new(runtime.clone(), "llm").attempt_timeout(Duration::from_secs(120))
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// A stream that is there already, so that only the layers and the decoder cost.
async fn events() {
    #[derive(Debug)]
    struct Ready;
    #[async_trait]
    impl LlmProvider for Ready {
        fn id(&self) -> &str {
            "bench:ready"
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::default()
        }
        async fn chat(&self, _: ChatRequest) -> Result<ChatResponse> {
            Ok(ChatResponse::new("m", ""))
        }
        async fn stream(&self, _: ChatRequest) -> Result<ChatStream> {
            let text = stream::repeat_with(|| Ok(ChatEvent::Text("word ".into()))).take(EVENTS);
            let usage = Usage::default();
            let end = ChatEvent::End { finish: Finish::Stop, usage, model: "m".into() };
            Ok(Box::pin(text.chain(stream::iter([Ok(end)]))))
        }
    }
    let layered = Resilient::new(Ready, "ready", layer(&Runtime::system()));
    let plain = ChatRequest::new("", "a".repeat(PROMPT));
    let mut alone = [Duration::ZERO; 2];
    for round in 0..CALLS {
        let request = plain.clone().deadline(Instant::now() + Duration::from_secs(600));
        let started = Instant::now();
        let of = round % 2;
        match of {
            0 => Ready.chat(request).await.unwrap(),
            _ => layered.chat(request).await.unwrap(),
        };
        alone[of] += started.elapsed();
    }
    let [bare, with] = alone.map(|time| time / (CALLS as u32 / 2));
    println!("layers    of a call that does nothing: {bare:.1?} without, {with:.1?} with");
    let request = || ChatRequest::new("", "q").deadline(Instant::now() + Duration::from_secs(600));
    let bare = drain(Ready.stream(request()).await.unwrap()).await;
    let layered = drain(layered.stream(request()).await.unwrap()).await;
    let mut decoder = SseDecoder::new(1 << 20);
    let started = Instant::now();
    for _ in 0..EVENTS {
        decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"word \"}}]}\n\n");
        assert!(decoder.next_event().unwrap().is_some());
    }
    let decoded = started.elapsed();
    let per = |time: Duration| time.as_secs_f64() * 1e6 / EVENTS as f64;
    println!(
        "event     bare {:.2} µs, with layers {:.2} µs, decoder {:.2} µs: {:+.2} µs (at most 5)",
        per(bare),
        per(layered),
        per(decoded),
        per(layered) - per(bare) + per(decoded),
    );
}

async fn drain(mut stream: ChatStream) -> Duration {
    let started = Instant::now();
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    started.elapsed()
}

/// Streams that are all open at once, each with one event.
async fn streams(url: &str) {
    let before = resident();
    let runtime = Runtime::system();
    let client = HttpClient::builder().build().unwrap();
    let model = Model { client, url: url.to_owned(), runtime: runtime.clone() };
    let model = Arc::new(Resilient::new(model, url, layer(&runtime)));
    let question: Arc<str> = "a".repeat(PROMPT).into();
    let started = Instant::now();
    let open = stream::iter(0..STREAMS).map(|_| {
        let (model, question) = (model.clone(), question.clone());
        async move {
            let mut stream = model.stream(ChatRequest::new("", &*question)).await.unwrap();
            stream.next().await.unwrap().unwrap();
            stream
        }
    });
    let open: Vec<ChatStream> = open.buffer_unordered(100).collect().await;
    let (took, after) = (started.elapsed(), resident());
    println!(
        "streams   {} open after {took:.0?}; resident {after:.0} MB, {:.0} MB of it theirs (at most 100)",
        open.len(),
        after - before,
    );
}

/// The memory of this process in MB, as Linux tells it; elsewhere not a number.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) / 1024.0
}

/// Callers that are all told to come again in a second.
async fn storm(url: &str) {
    let runtime = Runtime::system();
    let client = HttpClient::builder().build().unwrap();
    // The server's three seconds begin with the first of these requests.
    let started = Instant::now();
    let times: Arc<Mutex<Vec<(usize, Duration)>>> = Arc::default();
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..CALLERS {
        let (runtime, client, times) = (runtime.clone(), client.clone(), times.clone());
        let url = format!("{url}/busy");
        callers.spawn(async move {
            let call = |_| async {
                times.lock().unwrap().push((caller, started.elapsed()));
                let reply = client.send(HttpRequest::get(&url), 1024).await?;
                reply.failure("ask the bench", &runtime).map_or(Ok(()), Err)
            };
            let deadline = started + Duration::from_secs(30);
            layer(&runtime)
                .attempts(10)
                .call::<_, ErrorKind, _, _>(&url, Some(deadline), call)
                .await
        });
    }
    let outcomes: Vec<Result<(), Error>> = callers.join_all().await;
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    let times = times.lock().unwrap();
    let mut early = 0;
    for caller in 0..CALLERS {
        let own: Vec<_> = times.iter().filter(|(by, _)| *by == caller).map(|(_, at)| *at).collect();
        early += own.windows(2).filter(|pair| pair[1] - pair[0] < Duration::from_secs(1)).count();
    }
    println!(
        "storm     {CALLERS} callers, {} attempts, {early} before their time, {failed} callers failed, \
         all done after {:.1?}; attempts per 100 ms:",
        times.len(),
        started.elapsed(),
    );
    let last = times.iter().map(|(_, at)| at.as_millis() / 100).max().unwrap_or_default();
    for bin in 0..=last {
        let count = times.iter().filter(|(_, at)| at.as_millis() / 100 == bin).count();
        println!("  {:>4.1} s {count:>4} {}", bin as f64 / 10.0, "#".repeat(count));
    }
}

/// The server's process.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let program = std::env::current_exe().unwrap();
        let child = Command::new(program).arg("serve").stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap();
        let mut url = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Answers at once: a thread per connection, so that the server is never what waits.
fn serve() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    println!("http://{}", listener.local_addr().unwrap());
    let busy_since: Arc<Mutex<Option<Instant>>> = Arc::default();
    for connection in listener.incoming() {
        let busy_since = busy_since.clone();
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        thread.spawn(move || answer(connection.unwrap(), &busy_since)).unwrap();
    }
}

fn answer(mut connection: TcpStream, busy_since: &Mutex<Option<Instant>>) -> Option<()> {
    connection.set_nodelay(true).ok()?;
    let mut bytes = Vec::new();
    let reply = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{
            "index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Yes. ".repeat(200)},
        }],
        "usage": {"prompt_tokens": 2000, "completion_tokens": 200, "total_tokens": 2200},
    });
    let reply = reply.to_string();
    let chat = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{reply}", reply.len());
    loop {
        let head = loop {
            if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            more(&mut connection, &mut bytes)?;
        };
        let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let end = head + length.map_or(0, |length| length.parse().unwrap());
        while bytes.len() < end {
            more(&mut connection, &mut bytes)?;
        }
        bytes.drain(..end);
        let reply = match text.split(' ').nth(1)? {
            "/chat" => &chat,
            "/stream" => {
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nb\r\ndata: Yes\n\n\r\n"
            }
            _ => {
                let since = *busy_since.lock().unwrap().get_or_insert_with(Instant::now);
                if since.elapsed() < Duration::from_secs(3) {
                    "HTTP/1.1 429 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
                } else {
                    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
                }
            }
        };
        connection.write_all(reply.as_bytes()).ok()?;
    }
}

fn more(connection: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 16 << 10];
    let read = connection.read(&mut buffer).ok().filter(|read| *read > 0)?;
    bytes.extend_from_slice(&buffer[..read]);
    Some(())
}
