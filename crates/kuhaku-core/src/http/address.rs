//! Addresses: what may be called, and what of them may be shown.

use reqwest::Url;

use crate::error::{Error, ErrorKind, Result};

/// An address that can be called.
pub(super) fn parse(address: &str) -> Result<Url> {
    let wrong = |wrong| {
        Error::new(ErrorKind::InvalidInput, "call a service", wrong)
            .next("give an address such as https://host/path")
    };
    let url = Url::parse(address).map_err(|_| wrong("its address is not a URL"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("its address does not start with http:// or https:// and a host"));
    }
    Ok(url)
}

/// Host, port and path. Credentials, query and fragment stay out, since keys stand there.
pub(super) fn shown(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}{}", url.path()),
        None => format!("{host}{}", url.path()),
    }
}

/// Whether two addresses belong to one service: scheme, host and port are equal.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_show_host_and_path_only() {
        let url = parse("https://user:pa55@api.example:8443/v1/chat?key=s3cret#part").unwrap();
        assert_eq!(shown(&url), "api.example:8443/v1/chat");
        assert_eq!(shown(&parse("http://localhost").unwrap()), "localhost/");
    }

    #[test]
    fn what_is_no_web_address_is_refused_without_being_quoted() {
        for bad in ["", "localhost:11434", "ftp://s3cret/", "file:///s3cret", "http://", "/s3cret"]
        {
            let error = parse(bad).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::InvalidInput, "{bad}");
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{bad}");
        }
    }

    #[test]
    fn another_scheme_host_or_port_is_another_origin() {
        let base = parse("https://a.example/x").unwrap();
        for (other, same) in [
            ("https://a.example:443/y", true),
            ("http://a.example/x", false),
            ("https://b.example/x", false),
            ("https://a.example:8443/x", false),
        ] {
            assert_eq!(same_origin(&base, &parse(other).unwrap()), same, "{other}");
        }
    }
}
