//! Who calls services: every provider as the settings make it, every embedder, and both ways to
//! open Vertex AI.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::TryStreamExt as _;
use kuhaku_core::{
    ChatRequest, Embedder, HttpClient, LlmProvider, Resilience, Runtime, Section as _, Sources,
};
use kuhaku_llm::{EmbedderBuilder, LlmSettings, ModelBuilder, Service};
use serde_json::json;

use crate::watch::Watch;
use crate::{QUESTION, planted, secret_settings};

/// The secrets in the key file of a person who has logged in.
pub(crate) const PARTS_OF_A_KEY_FILE: [&str; 2] = ["client_secret", "refresh_token"];

/// The answer to who asks for a token.
pub(crate) fn token() -> String {
    json!({"access_token": planted("token"), "expires_in": 3600}).to_string()
}

/// Makes something to call, from the address of the service and that of who gives tokens.
type Make = Box<dyn Fn(&str, &str, &Runtime) -> Called>;

pub(crate) struct Caller {
    pub(crate) name: String,
    /// The keys that the service gets to see, and quotes.
    pub(crate) sends: Vec<String>,
    pub(crate) make: Make,
}

/// What can be asked.
pub(crate) enum Called {
    Model(Arc<dyn LlmProvider>),
    Embedder(Arc<dyn Embedder>),
}

impl Called {
    /// Asks in both ways, for two failures.
    pub(crate) async fn fail_twice(&self, watch: &Watch) {
        let outcomes = match self {
            Self::Model(model) => {
                watch.see("a provider", &format!("{} {model:?} {model:#?}", model.id()));
                let request = ChatRequest::new("", QUESTION);
                let whole = model.chat(request.clone()).await.map(drop);
                let streamed = match model.stream(request).await {
                    Ok(stream) => stream.try_collect::<Vec<_>>().await.map(drop),
                    Err(error) => Err(error),
                };
                [whole, streamed]
            }
            Self::Embedder(embedder) => {
                let shown = format!("{} {embedder:?} {embedder:#?}", embedder.fingerprint());
                watch.see("an embedder", &shown);
                let documents = embedder.embed_documents(&[QUESTION]).await.map(drop);
                [documents, embedder.embed_query(QUESTION).await.map(drop)]
            }
        };
        for outcome in outcomes {
            watch.see_error(&outcome.expect_err("no reply of the script is a success"));
        }
    }
}

pub(crate) fn all() -> Vec<Caller> {
    let mut callers: Vec<_> = Service::ALL.map(by_settings).into();
    let opened_by_token = || planted("token");
    callers.push(caller("vertex by token", "token", move |url, _, runtime| {
        Called::Model(model(url, &opened_by_token(), runtime))
    }));
    callers.push(caller("vertex by key file", "token", |url, tokens, runtime| {
        Called::Model(model(url, &key_file(tokens), runtime))
    }));
    for service in [Service::Ollama, Service::OpenAi, Service::OpenAiCompat, Service::Vertex] {
        callers.push(caller(
            &format!("embeddings of {service}"),
            "token",
            move |url, _, runtime| {
                Called::Embedder(embedder(service, url, &planted("token"), runtime))
            },
        ));
    }
    callers.push(caller("embeddings of vertex by key file", "token", |url, tokens, runtime| {
        Called::Embedder(embedder(Service::Vertex, url, &key_file(tokens), runtime))
    }));
    callers
}

fn caller(
    name: &str,
    sends: &str,
    make: impl Fn(&str, &str, &Runtime) -> Called + 'static,
) -> Caller {
    Caller { name: name.into(), sends: vec![planted(sends)], make: Box::new(make) }
}

/// A provider under settings in which every secret is planted. Vertex AI has no address to set, so
/// it is the token that it fails to get, and nothing goes to Google.
fn by_settings(service: Service) -> Caller {
    let sends = match service {
        Service::Vertex => PARTS_OF_A_KEY_FILE.map(planted).into(),
        _ => vec![planted(&format!("{service}_api_key"))],
    };
    let make = move |url: &str, _: &str, runtime: &Runtime| {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("planted-keys-{}.json", std::process::id()));
        std::fs::write(&path, key_file(url)).unwrap();
        let secrets = secret_settings().into_iter().map(|name| (name, planted(name)));
        let addresses = Service::ALL.map(|service| (format!("{service}_base_url"), url.to_owned()));
        let models = Service::ALL.map(|service| (format!("{service}_model"), "m".to_owned()));
        let others = [
            ("vertex_project", "p".to_owned()),
            ("vertex_credentials_file", path.display().to_string()),
            ("llm_timeout_seconds", "1".to_owned()),
            ("retry_enabled", "false".to_owned()),
            ("circuit_breaker_enabled", "false".to_owned()),
        ];
        let named =
            |(name, value): (String, String)| (format!("KUHAKU_{}", name.to_uppercase()), value);
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        let variables = secrets.chain(others).map(owned).chain(addresses).chain(models).map(named);
        let settings = LlmSettings::load(&Sources::new().env(variables)).unwrap();
        let provider = settings.provider(service.name(), &http(), runtime).unwrap();
        std::fs::remove_file(&path).unwrap();
        Called::Model(provider)
    };
    Caller { name: format!("{service} by settings"), sends, make: Box::new(make) }
}

fn model(url: &str, key: &str, runtime: &Runtime) -> Arc<dyn LlmProvider> {
    let builder = ModelBuilder::new(Service::Vertex, "m").project("p").base_url(url);
    let builder = builder.key(key.to_owned()).attempt_timeout(Duration::from_secs(1));
    builder.resilience(once(runtime)).build(&http(), runtime).unwrap()
}

fn embedder(service: Service, url: &str, key: &str, runtime: &Runtime) -> Arc<dyn Embedder> {
    let builder = EmbedderBuilder::new(service, "m").project("p").base_url(url);
    let builder = builder.key(key.to_owned()).attempt_timeout(Duration::from_secs(1));
    builder.resilience(once(runtime)).build(&http(), runtime).unwrap()
}

fn once(runtime: &Runtime) -> Resilience {
    Resilience::new(runtime.clone(), "test").attempts(1).without_breaker()
}

fn http() -> HttpClient {
    HttpClient::builder().build().unwrap()
}

/// The key file of a person, whose tokens are given at `tokens`.
fn key_file(tokens: &str) -> String {
    let [secret, refresh] = PARTS_OF_A_KEY_FILE.map(planted);
    json!({
        "type": "authorized_user", "client_id": "id", "client_secret": secret,
        "refresh_token": refresh, "token_uri": format!("{tokens}/token"),
    })
    .to_string()
}
