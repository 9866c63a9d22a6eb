//! The sets that are known by name.

use crate::error::{Error, ErrorKind, Result};

/// A public set in BEIR's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublicSet {
    /// Its name: of the archive, and of the folder that comes out of it.
    pub name: &'static str,
    /// What it is about.
    pub about: &'static str,
    /// How many documents it has, rounded.
    pub documents: u32,
    /// How many questions its test split has.
    pub questions: u32,
    /// The MD5 that BEIR publishes for the archive, where its lists agree. MD5 tells damage, not
    /// malice; the SHA-256 of what came is recorded beside it.
    pub md5: Option<&'static str>,
}

const fn set(
    name: &'static str,
    about: &'static str,
    (documents, questions): (u32, u32),
    md5: Option<&'static str>,
) -> PublicSet {
    PublicSet { name, about, documents, questions, md5 }
}

const SETS: &[PublicSet] = &[
    set(
        "scifact",
        "claims and the abstracts that prove or refute them",
        (5_000, 300),
        Some("5f7d1de60b170fc8027bb7898e2efca1"),
    ),
    set(
        "nfcorpus",
        "questions on nutrition, medical articles",
        (3_600, 323),
        Some("a89dba18a62ef92f7d323ec890a0d38d"),
    ),
    set(
        "arguana",
        "arguments and their counterarguments",
        (8_700, 1_406),
        Some("8ad3e3c2a5867cdced806d6503f29b99"),
    ),
    set(
        "scidocs",
        "papers and what they cite",
        (25_000, 1_000),
        Some("38121350fc3a4d2f48850f6aff52e4a9"),
    ),
    set(
        "fiqa",
        "questions on finance, answers of a forum",
        (57_000, 648),
        Some("17918ed23cd04fb15047f73e6c3bd9d9"),
    ),
    set(
        "trec-covid",
        "questions on the pandemic, papers",
        (171_000, 50),
        Some("ce62140cb23feb9becf6270d0d1fe6d1"),
    ),
    set("webis-touche2020", "questions in dispute, arguments", (382_000, 49), None),
    set(
        "quora",
        "questions and others that mean the same",
        (523_000, 10_000),
        Some("18fb154900ba42a600f84b839c173167"),
    ),
    set(
        "nq",
        "questions to a search engine, paragraphs of Wikipedia",
        (2_680_000, 3_452),
        Some("d4d3d2e48787a744b6f6e691ff534307"),
    ),
    set(
        "dbpedia-entity",
        "questions for entities of DBpedia",
        (4_630_000, 400),
        Some("c2a39eb420a3164af735795df012ac2c"),
    ),
    set(
        "hotpotqa",
        "questions that need two paragraphs of Wikipedia",
        (5_230_000, 7_405),
        Some("f412724f78b0d91183a0e86805e16114"),
    ),
    set("fever", "claims, paragraphs of Wikipedia", (5_420_000, 6_666), None),
    set(
        "climate-fever",
        "claims on the climate, paragraphs of Wikipedia",
        (5_420_000, 1_535),
        None,
    ),
    set(
        "msmarco",
        "questions to a search engine, passages of the web; judged in its split `dev`",
        (8_840_000, 6_980),
        Some("444067daf65d982533ea17ebd59501e4"),
    ),
];

/// All of them, the smaller ones first.
pub fn public_sets() -> &'static [PublicSet] {
    SETS
}

impl PublicSet {
    /// The set of a name, in any case.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownSet`], which names those that there are.
    pub fn find(name: &str) -> Result<&'static Self> {
        SETS.iter().find(|set| set.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let names: Vec<_> = SETS.iter().map(|set| set.name).collect();
            let tried = format!("find the dataset {}", kuhaku_core::one_line(name, 80));
            Error::new(ErrorKind::UnknownSet, tried, "there is no such name")
                .next(format!("take one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_names_of_their_own_and_well_formed_sums() {
        for set in SETS {
            assert_eq!(PublicSet::find(&set.name.to_uppercase()).unwrap(), set);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(set.name.chars().all(plain), "{set:?}");
            let digits = |sum: &str| sum.len() == 32 && sum.chars().all(|c| c.is_ascii_hexdigit());
            assert!(set.md5.is_none_or(digits), "{set:?}");
        }
        let sums: Vec<_> = SETS.iter().filter_map(|set| set.md5).collect();
        assert!(sums.iter().enumerate().all(|(at, sum)| !sums[..at].contains(sum)));
        assert_eq!(*PublicSet::find("../x").unwrap_err().kind(), ErrorKind::UnknownSet);
    }
}
