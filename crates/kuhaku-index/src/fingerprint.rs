//! What shapes the stored form of an index (D15).

use std::fmt;
use std::str::FromStr;

use kuhaku_core::{SettingValue, Value};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::vector::LARGEST;

/// Everything that changes what is stored. An index holds one; opening it with another is an error.
/// k1, b and field weights are not part of it: they act at query time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fingerprint {
    /// How words are found in text.
    pub tokenizer: Tokenizer,
    /// The language whose words are stemmed.
    pub language: Language,
    /// The masker, by its id.
    pub masker: String,
    /// The chunker with its sizes.
    pub chunker: String,
    /// The embedder, by its fingerprint; absent for an index without vectors.
    pub embedder: Option<String>,
    /// How many numbers its vectors have; absent without an embedder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
}

impl Fingerprint {
    /// A fingerprint without vectors.
    pub fn new(
        tokenizer: Tokenizer,
        language: Language,
        masker: impl Into<String>,
        chunker: impl Into<String>,
    ) -> Self {
        Self {
            tokenizer,
            language,
            masker: masker.into(),
            chunker: chunker.into(),
            embedder: None,
            dimension: None,
        }
    }

    /// With vectors of an embedder of this fingerprint, of so many numbers each.
    #[must_use]
    pub fn embedder(mut self, fingerprint: impl Into<String>, dimension: usize) -> Self {
        self.embedder = Some(fingerprint.into());
        self.dimension = Some(dimension);
        self
    }

    /// With another embedder, or none.
    pub(crate) fn with_embedder(mut self, space: Option<VectorSpace>) -> Result<Self> {
        if space.as_ref().is_some_and(|space| !(1..=LARGEST).contains(&space.dimension)) {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                "take an embedder on",
                "its vectors have no numbers, or more than 65,536",
            )
            .next("give the number of numbers that the embedder's vectors have"));
        }
        self.dimension = space.as_ref().map(|space| space.dimension);
        self.embedder = space.map(|space| space.embedder);
        Ok(self)
    }

    /// Which vectors the index takes.
    pub fn space(&self) -> Option<VectorSpace> {
        let (embedder, dimension) = (self.embedder.clone()?, self.dimension?);
        Some(VectorSpace { embedder, dimension })
    }
}

/// The vectors of one embedder, which alone can be compared.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct VectorSpace {
    /// The embedder's fingerprint.
    pub embedder: String,
    /// Numbers per vector, from 1 to 65,536.
    pub dimension: usize,
}

impl VectorSpace {
    /// The vectors of an embedder.
    pub fn new(embedder: impl Into<String>, dimension: usize) -> Self {
        Self { embedder: embedder.into(), dimension }
    }

    /// Whether a vector can be one of these.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] when it cannot, or when there is no embedder.
    pub(crate) fn check(
        space: Option<&Self>,
        dimension: usize,
        tried: impl FnOnce() -> String,
    ) -> Result<()> {
        let (wrong, next) = match space {
            Some(Self { dimension: wanted, .. }) if *wanted == dimension => return Ok(()),
            Some(Self { dimension: wanted, embedder }) => (
                format!(
                    "it has {dimension} numbers, and those of the index's embedder `{embedder}` \
                     have {wanted}"
                ),
                "use the embedder of the index, or run `kuhaku index reembed` to change it",
            ),
            None => (
                "the index has no embedder, so no vectors".to_owned(),
                "run `kuhaku index reembed` to give it one, or search by words",
            ),
        };
        Err(Error::new(ErrorKind::InvalidInput, tried(), wrong).next(next))
    }
}

/// Ways to find words in text, by name (D19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tokenizer {
    /// Lower case, runs of letters, digits and underscores; a repeated query term counts again.
    Simple,
    /// The same runs without English stop words, stemmed by the original Porter algorithm.
    Porter,
    /// Unicode words with folding, stemming of the index's language, CJK bigrams, and identifiers
    /// whole and in parts.
    #[default]
    Default,
}

/// A language whose words are stemmed and whose stop words are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Language {
    /// No stemming and no stop words.
    None,
    /// Arabic.
    Ar,
    /// Danish.
    Da,
    /// German.
    De,
    /// Greek.
    El,
    /// English.
    #[default]
    En,
    /// Spanish.
    Es,
    /// Finnish.
    Fi,
    /// French.
    Fr,
    /// Hungarian.
    Hu,
    /// Italian.
    It,
    /// Dutch.
    Nl,
    /// Norwegian.
    No,
    /// Portuguese.
    Pt,
    /// Romanian.
    Ro,
    /// Russian.
    Ru,
    /// Swedish.
    Sv,
    /// Tamil.
    Ta,
    /// Turkish.
    Tr,
}

macro_rules! named {
    ($type:ident, $what:literal, [$($variant:ident = $name:literal),+ $(,)?]) => {
        impl $type {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name, as settings write it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl SettingValue for $type {
            const KIND: &'static str = concat!("one of", $(" ", $name),+);

            fn read(value: &Value) -> Result<Self, String> {
                let name = String::read(value)?;
                name.parse().map_err(|_| format!("must be {}", Self::KIND))
            }

            fn show(&self) -> String {
                self.as_str().into()
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self> {
                let name = name.trim().to_ascii_lowercase();
                let found = Self::ALL.iter().find(|value| value.as_str() == name);
                found.copied().ok_or_else(|| {
                    Error::new(
                        ErrorKind::InvalidInput,
                        concat!("use the ", $what),
                        concat!("it is none of ", $($name, " "),+),
                    )
                    .next("choose one of the names listed")
                })
            }
        }
    };
}

named!(Tokenizer, "tokenizer", [Simple = "simple", Porter = "porter", Default = "default"]);
named!(
    Language,
    "language",
    [
        None = "none",
        Ar = "ar",
        Da = "da",
        De = "de",
        El = "el",
        En = "en",
        Es = "es",
        Fi = "fi",
        Fr = "fr",
        Hu = "hu",
        It = "it",
        Nl = "nl",
        No = "no",
        Pt = "pt",
        Ro = "ro",
        Ru = "ru",
        Sv = "sv",
        Ta = "ta",
        Tr = "tr",
    ]
);
