//! Where secrets may be sent.

/// Whether an address is reached over TLS, or is this machine. Credentials in it are refused: they
/// would be a way to disguise its host.
pub(super) fn is_safe(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains('@') {
        return false;
    }
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => authority.split(':').next(),
    };
    let loopback = matches!(host, Some("localhost" | "127.0.0.1" | "::1"));
    scheme == "https" || (scheme == "http" && loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_over_tls_or_stay_on_this_machine() {
        for (url, safe) in [
            ("https://oauth2.googleapis.com/token", true),
            ("http://127.0.0.1:8080/token", true),
            ("http://localhost/token", true),
            ("http://[::1]:8080/token", true),
            ("http://oauth2.googleapis.com/token", false),
            ("http://localhost.evil.example/token", false),
            ("http://127.0.0.1@evil.example/token", false),
            ("http://127.0.0.1\\@evil.example/token", true),
            ("https://user@evil.example/token", false),
            ("ftp://localhost/token", false),
            ("https:///token", false),
            ("token", false),
            ("", false),
        ] {
            assert_eq!(is_safe(url), safe, "{url}");
        }
    }
}
