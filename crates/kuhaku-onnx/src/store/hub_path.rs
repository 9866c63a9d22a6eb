//! Names that come from outside and become paths here.

/// The longest path of a file in a repository, in bytes.
const LONGEST: usize = 200;

/// Whether a path of a repository may be used as one here: relative, downwards, and without anything
/// that some system reads in another way.
pub(super) fn is_safe(path: &str) -> bool {
    path.len() <= LONGEST && path.split('/').all(is_safe_part)
}

/// Whether this can be one part of a path on every system.
pub(super) fn is_safe_part(part: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !part.is_empty() && part.chars().all(plain) && !part.starts_with('.') && !part.ends_with('.')
}

/// Whether this is the name of a commit.
pub(super) fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_lead_downwards_are_safe() {
        for path in ["config.json", "onnx/model.onnx", "1_Pooling/config.json", "a-b_c.onnx_data"] {
            assert!(is_safe(path), "{path}");
        }
        let long = "a".repeat(LONGEST + 1);
        for path in [
            "",
            "/",
            "/etc/passwd",
            "../up",
            "a/../b",
            "a//b",
            "a/",
            "./a",
            "a/.",
            ".git/config",
            "a\\..\\b",
            "c:/x",
            "a\0b",
            "é",
            "a b",
            "a.",
            "~/x",
            "%2e%2e/x",
            &long,
        ] {
            assert!(!is_safe(path), "{path}");
        }
    }
}
