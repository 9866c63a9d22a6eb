//! Private keys in PEM and PGP armour.

use std::ops::Range;

use super::pattern::Pattern;

/// Finds blocks from their first line to their last. A block without a last line reaches as far as
/// lines of base64 follow.
#[derive(Debug)]
pub(super) struct PrivateKeyBlocks {
    begin: Pattern,
    end: Pattern,
    body: Pattern,
}

impl PrivateKeyBlocks {
    pub(super) fn new() -> Self {
        Self {
            begin: Pattern::new(
                &[r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"],
                |text| text.contains("--BEGIN "),
            ),
            end: Pattern::new(&[r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"], |text| {
                text.contains("---END ")
            }),
            body: Pattern::new(&[r"\A(?:(?:\r?\n|\\n)[A-Za-z0-9+/=]{16,})*"], |_| true),
        }
    }

    /// Whether a block begins in the text.
    pub(super) fn may_hold(&self, text: &str) -> bool {
        self.begin.that_may_match(text).is_some_and(|begin| begin.is_match(text))
    }

    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        let Some(begin) = self.begin.that_may_match(text) else {
            return found;
        };
        let ends = self.end.that_may_match(text).into_iter();
        let mut ends = ends.flat_map(|end| end.find_iter(text)).map(|end| end.range()).peekable();
        for begin in begin.find_iter(text) {
            if found.last().is_some_and(|last| begin.start() < last.end) {
                continue;
            }
            while ends.next_if(|end| end.start < begin.end()).is_some() {}
            let end = match ends.peek() {
                Some(end) => end.end,
                None => begin.end() + self.body(text.get(begin.end()..).unwrap_or_default()),
            };
            found.push(begin.start()..end);
        }
        found
    }

    fn body(&self, tail: &str) -> usize {
        self.body.that_may_match(tail).and_then(|body| body.find(tail)).map_or(0, |body| body.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_masked_whole_and_a_torn_one_as_far_as_it_goes() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nabc=\n-----END RSA PRIVATE KEY-----";
        let text = format!("a {key} b {key}.");
        let blocks = PrivateKeyBlocks::new();
        let found: Vec<&str> = blocks.find(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [key, key]);

        let torn = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA7\nthat was the key";
        let found = blocks.find(torn).pop().unwrap();
        assert_eq!(&torn[found.end..], "\nthat was the key");
        assert!(blocks.find("-----BEGIN PUBLIC KEY-----\nMIIEowIBAAKCAQEA7").is_empty());
    }
}
