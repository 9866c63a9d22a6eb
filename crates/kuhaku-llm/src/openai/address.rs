//! From the base URL that people write to the one that requests need.

/// Which endpoint of OpenAI's kind a server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// Messages in, a message out.
    Chat,
    /// One text in, its continuation out.
    Completions,
}

/// The base to which an endpoint's path is added, and the endpoint.
///
/// A URL that ends in `/completions` or `/chat/completions` names its endpoint. One without a path
/// gets `/v1`, where every such server has its endpoints.
pub(crate) fn address(written: &str) -> (String, Endpoint) {
    let written = written.trim().trim_end_matches('/');
    let (base, endpoint) = match written.strip_suffix("/chat/completions") {
        Some(base) => (base, Endpoint::Chat),
        None => match written.strip_suffix("/completions") {
            Some(base) => (base, Endpoint::Completions),
            None => (written, Endpoint::Chat),
        },
    };
    let base = base.trim_end_matches('/');
    let authority = base.split_once("://").map_or(base, |(_, rest)| rest);
    let bare = base == written && !authority.contains('/');
    (if bare { format!("{base}/v1") } else { base.to_owned() }, endpoint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// LLM-01: the part about base URLs.
    #[test]
    fn slashes_paths_and_endpoints_are_understood() {
        let table = [
            ("http://h/v1/", "http://h/v1", Endpoint::Chat),
            ("http://h:8000", "http://h:8000/v1", Endpoint::Chat),
            (" https://h/openai/v1// ", "https://h/openai/v1", Endpoint::Chat),
            ("http://h/v1/chat/completions", "http://h/v1", Endpoint::Chat),
            ("http://h/v1/completions/", "http://h/v1", Endpoint::Completions),
            ("http://h/completions", "http://h", Endpoint::Completions),
        ];
        for (written, base, endpoint) in table {
            assert_eq!(address(written), (base.to_owned(), endpoint), "{written}");
        }
    }
}
