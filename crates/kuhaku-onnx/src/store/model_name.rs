//! How a model is named.

use super::hub_path::{is_commit, is_safe_part};
use super::known::{KnownModel, known_models};
use crate::error::{Error, ErrorKind, Result};

/// A model: one that is known, or any of the hub's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelName {
    owner: String,
    name: String,
    /// A commit or a name of one.
    revision: String,
    pub(super) known: Option<&'static KnownModel>,
}

impl ModelName {
    /// A known name in any case, or `OWNER/NAME`, or `OWNER/NAME@REVISION`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let find = |it: &&KnownModel| {
            it.name.eq_ignore_ascii_case(text) || it.repository.eq_ignore_ascii_case(text)
        };
        if let Some(known) = known_models().iter().find(find) {
            return Ok(Self::of(known));
        }
        let (repository, revision) = text.split_once('@').unwrap_or((text, "main"));
        let parts = repository.split_once('/');
        let parts = parts.filter(|(owner, name)| is_safe_part(owner) && is_safe_part(name));
        let parts = parts.filter(|(owner, name)| !format!("{owner}{name}").contains("--"));
        match parts {
            Some((owner, name)) if is_safe_part(revision) => {
                let known = known_models().iter().find(|it| {
                    it.repository.eq_ignore_ascii_case(repository) && it.revision == revision
                });
                Ok(Self {
                    owner: owner.into(),
                    name: name.into(),
                    revision: revision.into(),
                    known,
                })
            }
            Some(_) => Err(unknown(text).next(
                "name the revision by its commit, or by a branch or tag without a slash in it",
            )),
            None => Err(unknown(text)),
        }
    }

    pub(super) fn of(known: &'static KnownModel) -> Self {
        let (owner, name) = known.repository.split_once('/').unwrap_or(("", known.repository));
        Self {
            owner: owner.into(),
            name: name.into(),
            revision: known.revision.into(),
            known: Some(known),
        }
    }

    /// What people call it.
    pub(super) fn shown(&self) -> String {
        match self.known {
            Some(known) => known.name.to_owned(),
            // The name of a known model's repository alone means the known commit.
            None if self.revision == "main" && self.is_main_of_no_other() => self.repository(),
            None => format!("{}@{}", self.repository(), self.revision),
        }
    }

    fn is_main_of_no_other(&self) -> bool {
        Self::parse(&self.repository()).is_ok_and(|parsed| parsed == *self)
    }

    /// The same model at a commit.
    #[cfg(feature = "download")]
    pub(super) fn at(&self, commit: &str) -> Self {
        Self { revision: commit.to_owned(), ..self.clone() }
    }

    /// Owner, slash, name.
    pub(super) fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// As a part of paths.
    pub(super) fn joined(&self) -> String {
        format!("{}--{}", self.owner, self.name)
    }

    /// The revision as it was named.
    pub(super) fn revision(&self) -> &str {
        &self.revision
    }

    /// The commit, if it was named by one.
    pub(super) fn commit(&self) -> Option<&str> {
        is_commit(&self.revision).then_some(&self.revision)
    }
}

fn unknown(text: &str) -> Error {
    let shown = kuhaku_core::one_line(text, 80);
    let names: Vec<_> = known_models().iter().map(|model| model.name).collect();
    Error::new(ErrorKind::UnknownModel, format!("find the model {shown}"), "there is no such name")
        .next(format!("take one of {}, or OWNER/NAME of the hub", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_ones_or_the_hubs() {
        let e5 = ModelName::parse("Multilingual-E5-Small").unwrap();
        assert_eq!(e5.repository(), "intfloat/multilingual-e5-small");
        assert!(e5.known.is_some() && e5.commit().is_some());
        assert_eq!(ModelName::parse("intfloat/multilingual-e5-small").unwrap(), e5);
        let other = ModelName::parse("Alibaba-NLP/gte-base@v1").unwrap();
        assert_eq!((other.revision(), other.commit()), ("v1", None));
        assert_eq!(other.joined(), "Alibaba-NLP--gte-base");
    }

    #[test]
    fn what_is_shown_names_the_same_model() {
        for (name, shown) in [
            ("a/b", "a/b"),
            ("a/b@main", "a/b"),
            ("a/b@v1", "a/b@v1"),
            ("INTFLOAT/multilingual-e5-small", "multilingual-e5-small"),
            ("intfloat/multilingual-e5-small@main", "intfloat/multilingual-e5-small@main"),
        ] {
            let model = ModelName::parse(name).unwrap();
            assert_eq!(model.shown(), shown);
            assert_eq!(ModelName::parse(&model.shown()).unwrap(), model, "{name}");
        }
    }

    #[test]
    fn what_could_lead_elsewhere_is_no_name() {
        for bad in [
            "",
            "nothing",
            "a/b/c",
            "../x",
            "a/..",
            "a/b@../x",
            "a/b@",
            "/b",
            "a/",
            "a--b/c",
            "a b/c",
            "a\\b/c",
            "./b",
            "a/b@refs/pr/1",
        ] {
            let error = ModelName::parse(bad).unwrap_err();
            assert_eq!(error.next_step().unwrap().contains("commit"), bad.contains("b@"), "{bad}");
            assert_eq!(*error.kind(), ErrorKind::UnknownModel, "{bad}");
        }
    }
}
