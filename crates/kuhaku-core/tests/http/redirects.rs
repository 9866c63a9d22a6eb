//! Redirects, which are followed by request only, and never with secrets.

use kuhaku_core::{ErrorKind, HttpRequest};
use kuhaku_testkit::transcript::Reply;

use crate::{client, serve};

fn to(location: String) -> Reply {
    Reply::new(307).header("location", location)
}

#[tokio::test]
async fn redirects_are_refused_unless_a_get_asks_for_them() {
    for status in [301, 302, 303, 307, 308] {
        let other = serve([Reply::json("{}")]).await;
        let redirect = Reply::new(status).header("location", other.url_of_another_host());
        let server = serve([redirect]).await;
        for request in [
            HttpRequest::get(server.url()),
            HttpRequest::post(server.url()).json(&1).follow_redirects(3),
        ] {
            let error = client().send(request, 1000).await.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Redirected, "{status}");
        }
        assert_eq!(other.connections(), 0, "{status}");
    }
}

#[tokio::test]
async fn secrets_stay_with_the_origin_that_they_were_meant_for() {
    let other = serve([Reply::json("{}")]).await;
    let away = to(other.url_of_another_host());
    let server = serve([to("/there".into()), away]).await;
    let request = HttpRequest::get(format!("{}/here", server.url()))
        .secret_header("x-api-key", &"s3cret".to_owned().into())
        .header("authorization", "Bearer s3cret")
        .header("x-plain", "yes")
        .follow_redirects(3);
    client().send(request, 1000).await.unwrap();
    let seen = server.requests();
    assert_eq!(seen[1].path, "/there");
    assert!(seen.iter().all(|request| request.mentions("s3cret")));
    let there = &other.requests()[0];
    assert!(!there.mentions("s3cret"), "{there:?}");
    assert_eq!(there.header("x-plain"), Some("yes"));
}

#[tokio::test]
async fn redirects_end_after_so_many() {
    let server = serve([to("/again".into())]).await;
    let request = HttpRequest::get(server.url()).follow_redirects(3);
    let error = client().send(request, 1000).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Redirected);
    assert_eq!(server.requests().len(), 4);
    let odd = serve([to("file:///etc/hosts".into())]).await;
    let request = HttpRequest::get(odd.url()).follow_redirects(3);
    assert_eq!(*client().send(request, 1000).await.unwrap_err().kind(), ErrorKind::Redirected);
}
