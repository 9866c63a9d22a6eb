//! From what people write as Ollama's host to its base URL.

/// Where Ollama listens unless told otherwise.
const PORT: &str = "11434";

/// The base URL, without a slash at the end, that a value of `OLLAMA_HOST` or of the settings means.
///
/// The server's own variable names the address to listen on, and callers share it: a scheme may be
/// missing (D37), the port may be, and `0.0.0.0` means every interface, which a caller reaches by
/// the loopback one.
pub(crate) fn base_url(written: &str) -> String {
    let written = written.trim().trim_end_matches('/');
    let (scheme, rest) = match written.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest),
        None => ("http".to_owned(), written),
    };
    let (authority, path) = match rest.find('/') {
        Some(slash) => rest.split_at(slash),
        None => (rest, ""),
    };
    let (host, port) = split_port(authority);
    let host = match host {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" | "::" => "[::1]",
        host => host,
    };
    let port = match port {
        // A scheme brings its own port.
        None if written.contains("://") => String::new(),
        port => format!(":{}", port.unwrap_or(PORT)),
    };
    let bare = host.contains(':') && !host.contains(['[', '@']);
    let host = if bare { format!("[{host}]") } else { host.to_owned() };
    format!("{scheme}://{host}{port}{path}")
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    match authority.rsplit_once(':') {
        // More colons without brackets are an address of IPv6 without a port.
        Some((host, port)) if is_port(port) && (!host.contains(':') || host.ends_with(']')) => {
            (host, Some(port))
        }
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_understood_as_the_server_itself_understands_them() {
        for (written, url) in [
            ("", "http://127.0.0.1:11434"),
            ("localhost", "http://localhost:11434"),
            ("localhost:1234", "http://localhost:1234"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:1234", "http://127.0.0.1:1234"),
            ("http://0.0.0.0:11434/", "http://127.0.0.1:11434"),
            (":1234", "http://127.0.0.1:1234"),
            ("[::]:1234", "http://[::1]:1234"),
            ("::1", "http://[::1]:11434"),
            ("[fe80::1]", "http://[fe80::1]:11434"),
            (" HTTP://gpu.example:8080/ollama/ ", "http://gpu.example:8080/ollama"),
            ("https://gpu.example", "https://gpu.example"),
            ("http://localhost:11434", "http://localhost:11434"),
        ] {
            assert_eq!(base_url(written), url, "{written}");
        }
    }
}
