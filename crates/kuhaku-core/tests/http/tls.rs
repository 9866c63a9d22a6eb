//! Who is trusted.

use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use kuhaku_core::{ErrorKind, HttpRequest, Status};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::{SOON, client};

/// Made for this test; nobody trusts it.
const CERTIFICATE: &[u8] = include_bytes!("fixtures/self_signed.der");
const ITS_KEY: &[u8] = include_bytes!("fixtures/self_signed.key.der");

/// The address of a server whose certificate is its own.
fn self_signed() -> String {
    let certificate = CertificateDer::from(CERTIFICATE);
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(ITS_KEY));
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("https://localhost:{}/v1", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        let (mut stream, _): (TcpStream, _) = listener.accept().unwrap();
        let mut tls = ServerConnection::new(Arc::new(config)).unwrap();
        // Fails, since the client leaves.
        while tls.is_handshaking() && tls.complete_io(&mut stream).is_ok() {}
    });
    url
}

/// Asking again would not help, and the service is not down: it may be another one.
#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_ends_the_call_for_good() {
    let request = HttpRequest::get(self_signed()).attempt_timeout(SOON);
    let error = client().send(request, 1000).await.unwrap_err();
    assert_eq!(error.status(), Status::Permanent, "{error:?}");
    assert!(!error.is_outage());
    // On a system without root certificates nothing is even connected.
    let without_roots = error.wrong().contains("no root certificates");
    let kind = if without_roots { ErrorKind::InvalidInput } else { ErrorKind::Unavailable };
    assert_eq!(*error.kind(), kind);
    assert!(without_roots || error.wrong().contains("certificate is not trusted"), "{error}");
    assert!(error.next_step().is_some());
}
