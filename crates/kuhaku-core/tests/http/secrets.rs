//! A key is nowhere but in the request (R7).

use std::error::Error as StdError;

use kuhaku_core::{Error, HttpClient, HttpReply, HttpRequest, Runtime};
use kuhaku_testkit::transcript::{Ending, Reply};

use crate::{SHORT, client, serve};

const KEY: &str = "planted-5up3r53cr3t";

fn check(text: &str) {
    assert!(!text.contains(KEY), "{text}");
}

fn check_error(error: &Error) {
    let mut behind: Option<&dyn StdError> = Some(error);
    while let Some(error) = behind {
        check(&format!("{error} {error:?} {error:#?}"));
        behind = error.source();
    }
}

/// A request with the key in every place that can hold one.
fn request(url: &str) -> HttpRequest {
    let with_user = url.replacen("://", &format!("://user:{KEY}@"), 1);
    let request = HttpRequest::post(format!("{with_user}/v1?key={KEY}#{KEY}"))
        .secret_header("x-api-key", &KEY.to_owned().into())
        .header("x-plain", KEY)
        .json(&KEY)
        .attempt_timeout(SHORT)
        .idle_timeout(SHORT);
    check(&format!("{request:?} {request:#?}"));
    request
}

#[tokio::test]
async fn no_failure_shows_a_key() {
    let replies = [
        Reply::reset(),
        Reply::silence(),
        Reply::raw(format!("{KEY}\r\n\r\n")),
        Reply::new(307).header("location", format!("/{KEY}?key={KEY}")),
        Reply::json(KEY).ending(Ending::Reset),
        Reply::json(KEY).ending(Ending::Silence),
        Reply::chunked(200).flood(KEY, 10_000),
    ];
    for reply in replies {
        let server = serve([reply]).await;
        check_error(&client().send(request(&server.url()), 1000).await.unwrap_err());
        if let Ok(mut stream) = client().open(request(&server.url())).await {
            check(&format!("{stream:?}"));
            while let Some(piece) = stream.next_bytes().await.transpose() {
                let Err(error) = piece else { continue };
                check_error(&error);
                break;
            }
        }
    }
    let gone = serve([]).await.url();
    tokio::task::yield_now().await;
    for url in [gone.as_str(), "http://host.invalid", "ftp://host"] {
        check_error(&client().send(request(url), 1000).await.unwrap_err());
    }
    let odd = request("http://localhost").header("x-odd", format!("{KEY}\n{KEY}"));
    check(&format!("{odd:?}"));
    check_error(&client().send(odd, 1000).await.unwrap_err());
}

#[tokio::test]
async fn no_reply_shows_what_it_holds() {
    for status in [200, 401, 503] {
        let reply = Reply::new(status).header("set-cookie", KEY).piece(format!("{{\"{KEY}\""));
        let server = serve([reply]).await;
        let reply: HttpReply = client().send(request(&server.url()), 1000).await.unwrap();
        check(&format!("{reply:?} {reply:#?}"));
        check_error(&reply.json::<serde_json::Value>("ask").unwrap_err());
        if let Some(error) = reply.failure("ask", &Runtime::system()) {
            check_error(&error);
        }
    }
}

#[test]
fn the_credentials_of_a_proxy_are_not_shown() {
    let builder = HttpClient::builder().proxy(format!("http://u:{KEY}@proxy:3128").into());
    check(&format!("{builder:?}"));
    check(&format!("{:?}", builder.build().unwrap()));
    let wrong = HttpClient::builder().proxy(format!("http://[{KEY}").into()).build();
    check_error(&wrong.unwrap_err());
}
