//! Downloads from servers that send something else than a file, or send the caller elsewhere.

use kuhaku_core::{Consented, ErrorKind, FileDownload};
use kuhaku_testkit::transcript::Reply;

use crate::downloads::{Place, content, downloader, sum_of};
use crate::serve;

async fn refused(reply: Reply, file: impl Fn(FileDownload) -> FileDownload) -> ErrorKind {
    let server = serve([reply]).await;
    let place = Place::new();
    let file = file(place.file(&server));
    let error = downloader().fetch(&file, Consented::given()).await.unwrap_err();
    assert!(!place.path().exists(), "{error}");
    assert_eq!(server.requests().len(), 1, "{error}");
    assert!(error.next_step().is_some(), "{error}");
    *error.kind()
}

#[tokio::test]
async fn a_web_page_is_no_file_whatever_its_status_and_type() {
    let page = "<!DOCTYPE html><title>Sign in</title>";
    let declared = Reply::new(200).header("content-type", "text/html; charset=utf-8");
    for reply in [declared.piece(page), Reply::new(200).piece(page)] {
        assert_eq!(refused(reply, |file| file).await, ErrorKind::MalformedResponse);
    }
}

#[tokio::test]
async fn an_encoding_that_nobody_asked_for_is_refused() {
    let reply = Reply::new(200).header("content-encoding", "gzip").piece("packed");
    assert_eq!(refused(reply, |file| file).await, ErrorKind::MalformedResponse);
}

#[tokio::test]
async fn another_length_is_another_file() {
    for length in [6, 8] {
        let reply = Reply::new(200).piece("7 bytes");
        let kind = refused(reply, |file| file.bytes(length)).await;
        assert_eq!(kind, ErrorKind::MalformedResponse);
    }
}

#[tokio::test]
async fn a_length_beyond_the_limit_is_refused_before_a_byte_is_written() {
    let huge = "HTTP/1.1 200 OK\r\ncontent-length: 9007199254740993\r\n\r\nx";
    let kind = refused(Reply::raw(huge), |file| file).await;
    assert_eq!(kind, ErrorKind::ResponseTooLarge);
    let small = Reply::new(200).piece(content());
    assert_eq!(refused(small, |file| file.largest(699_999)).await, ErrorKind::ResponseTooLarge);
}

#[tokio::test]
async fn a_reply_without_end_ends_at_the_limit() {
    for limit in [FileDownload::largest, FileDownload::bytes] {
        let server = serve([Reply::chunked(200).flood(vec![7; 1 << 16], 1 << 20)]).await;
        let place = Place::new();
        let file = limit(place.file(&server), 1 << 20);
        let error = downloader().fetch(&file, Consented::given()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::ResponseTooLarge);
        assert!(!place.part().exists() && !place.path().exists());
        assert!(server.sent() < 64 << 20, "{}", server.sent());
    }
}

#[tokio::test]
async fn statuses_are_tried_again_only_if_that_may_help() {
    for (status, kind, requests) in [
        (401, ErrorKind::Unauthorized, 1),
        (403, ErrorKind::Unauthorized, 1),
        (404, ErrorKind::InvalidInput, 1),
        (204, ErrorKind::MalformedResponse, 1),
        (503, ErrorKind::Unavailable, 3),
    ] {
        let server = serve([Reply::new(status)]).await;
        let place = Place::new();
        let error = downloader().fetch(&place.file(&server), Consented::given()).await;
        assert_eq!(*error.unwrap_err().kind(), kind, "{status}");
        assert_eq!(server.requests().len(), requests, "{status}");
    }
}

#[tokio::test]
async fn a_token_stays_with_its_host() {
    let other = serve([Reply::new(200).piece(content())]).await;
    let away = format!("{}/cdn", other.url_of_another_host());
    let server = serve([Reply::new(302).header("location", away)]).await;
    let place = Place::new();
    let file = place.file(&server).sha256(sum_of(&content())).bearer("hf_s3cret".to_owned().into());
    assert!(!format!("{file:?}").contains("s3cret"));
    downloader().fetch(&file, Consented::given()).await.unwrap();
    assert_eq!(server.requests()[0].header("authorization"), Some("Bearer hf_s3cret"));
    assert!(!other.requests()[0].mentions("s3cret"));
}

#[tokio::test]
async fn a_circle_of_redirects_ends() {
    let server = serve([Reply::new(302).header("location", "/again")]).await;
    let place = Place::new();
    let error = downloader().fetch(&place.file(&server), Consented::given()).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Redirected);
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_folder_that_cannot_be_is_an_error_of_the_disk() {
    let server = serve([Reply::new(200).piece("x")]).await;
    let place = Place::new();
    std::fs::write(place.path(), "a file").unwrap();
    let file = FileDownload::new(server.url(), place.path().join("below"));
    let error = downloader().fetch(&file, Consented::given()).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Storage);
    assert!(error.next_step().is_some());
}

#[tokio::test]
async fn an_expected_length_beyond_the_limit_is_refused_before_anybody_is_asked() {
    let server = serve([Reply::new(200).piece("x")]).await;
    let place = Place::new();
    for (length, largest) in [(u64::MAX, None), ((16 << 30) + 1, None), (11, Some(10))] {
        let file = place.file(&server).bytes(length);
        let file = match largest {
            Some(largest) => file.largest(largest),
            None => file,
        };
        let error = downloader().fetch(&file, Consented::given()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::ResponseTooLarge, "{length}");
    }
    assert_eq!(server.connections(), 0);
}

/// What is not a regular file is neither written through nor read.
#[cfg(unix)]
#[tokio::test]
async fn links_in_the_place_of_what_is_written_are_refused() {
    for ending in [".part", ".part.origin", ".lock"] {
        let server = serve([Reply::new(200).header("etag", "\"e\"").piece("evil")]).await;
        let place = Place::new();
        let outside = place.path().with_file_name("outside");
        std::fs::write(&outside, "kept").unwrap();
        let mut link = place.path().into_os_string();
        link.push(ending);
        std::os::unix::fs::symlink(&outside, &link).unwrap();
        let error = downloader().fetch(&place.file(&server), Consented::given()).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Storage, "{ending}: {error}");
        assert!(error.wrong().contains("link"), "{error}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept", "{ending}");
        assert!(!place.path().exists());
    }
}
