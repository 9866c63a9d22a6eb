//! The TLS configuration: rustls with ring, and the system's root certificates (D32).

use std::sync::Arc;

use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

/// What rustls needs to know; `None` when the system has no root certificates, in which case only
/// `http://` can be called. No process-wide provider is installed.
pub(super) fn configuration() -> Option<rustls::ClientConfig> {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().ok()?;
    Some(builder.with_platform_verifier().ok()?.with_no_client_auth())
}

/// A configuration that trusts nobody, so that the client never falls back on one of its own.
pub(super) fn trusting_nobody() -> Option<rustls::ClientConfig> {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().ok()?;
    Some(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}
