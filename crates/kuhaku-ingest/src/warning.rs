//! What is worth knowing about a document that was read all the same.

use std::fmt;

use kuhaku_core::GuardFamily;

/// Something about a document that its owner should look at. Holds no content of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The bytes are not UTF-8; this encoding was assumed.
    EncodingAssumed {
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
    /// Bytes without a meaning in this encoding were replaced by U+FFFD.
    BytesReplaced {
        /// The encoding's WHATWG name.
        encoding: &'static str,
    },
    /// U+0000 was replaced by U+FFFD.
    NulReplaced {
        /// How often.
        count: usize,
    },
    /// The Markdown is nested too deeply to be parsed; it was read as plain text.
    NestedTooDeeply,
    /// A date is not written `YYYY-MM-DD`, or is not in the calendar, and was not stored.
    BadDate {
        /// The name of the date.
        key: &'static str,
    },
    /// A yes-or-no value is neither `true` nor `false` and was not stored.
    BadFlag {
        /// The name of the value.
        key: &'static str,
    },
    /// The front matter has a key that is often taken for access tags, and states no access tags:
    /// everybody may see the document unless its reader decides otherwise.
    NotAccessTags {
        /// The key: `tags`, `roles`, `access`, `acl`, `permissions` or `visibility`.
        key: &'static str,
    },
    /// The document expires before it takes effect, so it never holds.
    NeverValid,
    /// Front matter values that are neither one line nor a list were not stored.
    ValuesSkipped {
        /// How many.
        count: usize,
    },
    /// Chunks look like an attempt to instruct a model. They are kept unless a chunk says that it
    /// is held back.
    Suspicious {
        /// The kind of attempt.
        family: GuardFamily,
        /// The ordinals of the chunks, ascending.
        chunks: Vec<usize>,
    },
    /// The title looks like an attempt to instruct a model; the file name stands in for it.
    TitleReplaced,
    /// Metadata values that look like an attempt to instruct a model were not stored.
    MetadataDropped {
        /// How many.
        count: usize,
    },
}

impl Warning {
    /// A stable identifier in `snake_case`; never changes its meaning.
    pub fn code(&self) -> &'static str {
        match self {
            Self::EncodingAssumed { .. } => "encoding_assumed",
            Self::BytesReplaced { .. } => "bytes_replaced",
            Self::NulReplaced { .. } => "nul_replaced",
            Self::NestedTooDeeply => "nested_too_deeply",
            Self::BadDate { .. } => "bad_date",
            Self::BadFlag { .. } => "bad_flag",
            Self::NotAccessTags { .. } => "not_access_tags",
            Self::NeverValid => "never_valid",
            Self::ValuesSkipped { .. } => "values_skipped",
            Self::Suspicious { .. } => "suspicious",
            Self::TitleReplaced => "title_replaced",
            Self::MetadataDropped { .. } => "metadata_dropped",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EncodingAssumed { encoding } => {
                write!(f, "not UTF-8, read as {encoding}; save it as UTF-8 to be sure")
            }
            Self::BytesReplaced { encoding } => {
                write!(f, "some bytes have no meaning in {encoding} and became U+FFFD")
            }
            Self::NulReplaced { count } => {
                write!(f, "{} became U+FFFD", counted(*count, "NUL character", "NUL characters"))
            }
            Self::NestedTooDeeply => {
                f.write_str("nested too deeply for Markdown, read as plain text")
            }
            Self::BadDate { key } => write!(f, "{key} is not a date like 2026-12-31; left out"),
            Self::BadFlag { key } => write!(f, "{key} is neither true nor false; left out"),
            Self::NotAccessTags { key } => {
                write!(f, "{key} restricts nobody: only access_tags says who sees the document")
            }
            Self::NeverValid => f.write_str("expires before it takes effect, so it never holds"),
            Self::ValuesSkipped { count: 1 } => {
                f.write_str("1 front matter value is not one line or a list; left out")
            }
            Self::ValuesSkipped { count } => {
                write!(f, "{count} front matter values are not one line or a list; left out")
            }
            Self::Suspicious { family, chunks } => {
                let chunks = counted(chunks.len(), "chunk looks", "chunks look");
                write!(f, "{chunks} like {}", describe(*family))
            }
            Self::TitleReplaced => {
                f.write_str("the title looks like an instruction to a model; file name used")
            }
            Self::MetadataDropped { count: 1 } => {
                f.write_str("1 metadata value looks like an instruction to a model; left out")
            }
            Self::MetadataDropped { count } => {
                write!(f, "{count} metadata values look like instructions to a model; left out")
            }
        }
    }
}

fn counted(count: usize, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

fn describe(family: GuardFamily) -> &'static str {
    match family {
        GuardFamily::InstructionOverride => "an attempt to override instructions",
        GuardFamily::PersonaOverride => "an attempt to change a model's persona",
        GuardFamily::RoleSwitch => "a speaker's turn of a conversation",
        GuardFamily::SpecialToken => "control tokens of a chat format",
        GuardFamily::PromptLeak => "a request for a model's instructions",
        GuardFamily::Learned => "known attacks on a model",
        _ => "an attempt to instruct a model",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_written_like_many() {
        let suspicious = |chunks| Warning::Suspicious { family: GuardFamily::SpecialToken, chunks };
        let cases = [
            (Warning::NulReplaced { count: 1 }, "1 NUL character became"),
            (Warning::NulReplaced { count: 2 }, "2 NUL characters became"),
            (Warning::ValuesSkipped { count: 1 }, "1 front matter value is not"),
            (Warning::ValuesSkipped { count: 2 }, "2 front matter values are not"),
            (suspicious(vec![4]), "1 chunk looks like"),
            (suspicious(vec![4, 5]), "2 chunks look like"),
            (Warning::MetadataDropped { count: 1 }, "1 metadata value looks like an instruction"),
            (Warning::MetadataDropped { count: 2 }, "2 metadata values look like instructions"),
        ];
        for (warning, beginning) in cases {
            assert!(warning.to_string().starts_with(beginning), "{warning}");
        }
    }
}
