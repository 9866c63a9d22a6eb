//! What the hub says of a repository at a revision: its commit, its files, their lengths and sums.

use kuhaku_core::{HttpClient, HttpRequest, Resilience, Runtime, Sha256};
use secrecy::SecretString;
use serde::Deserialize;

use super::hub_path::{is_commit, is_safe};
use super::model_name::ModelName;
use super::settings::StoreSettings;
use super::snapshot::WEIGHTS;
use crate::error::{Error, ErrorKind, Result};

/// The host whose token the settings hold.
const HUB: &str = "huggingface.co";

/// The longest answer that is read, in bytes.
const LONGEST: usize = 4 << 20;

/// The largest file that a model may have, in bytes: what a download takes at most.
pub(super) const LARGEST: u64 = 16 << 30;

/// A repository at a commit.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) commit: String,
    files: Vec<ListedFile>,
}

#[derive(Clone, Debug)]
pub(super) struct ListedFile {
    pub(super) path: String,
    pub(super) bytes: Option<u64>,
    pub(super) sha256: Option<Sha256>,
}

#[derive(Deserialize)]
pub(super) struct Answer {
    sha: String,
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Listing {
    /// Asks the hub, as often as this if it does not answer.
    pub(super) async fn ask(
        http: &HttpClient,
        runtime: &Runtime,
        settings: &StoreSettings,
        model: &ModelName,
        attempts: u32,
    ) -> Result<Self> {
        let hub = settings.hub.trim_end_matches('/');
        let (repository, revision) = (model.repository(), model.revision());
        let url = format!("{hub}/api/models/{repository}/revision/{revision}?blobs=true");
        let mut request = HttpRequest::get(&url).follow_redirects(3);
        if let Some(token) = token(settings) {
            request = request.bearer(&token);
        }
        let tried = format!("ask {} for {}", host(hub), model.shown());
        let resilience =
            Resilience::new(runtime.clone(), "hub").attempts(attempts).without_breaker();
        let ask = |_| async {
            let reply = http.send(request.clone(), LONGEST).await;
            let reply = reply.map_err(|error| error.map_kind(ErrorKind::Core))?;
            match reply.failure(tried.clone(), runtime) {
                Some(error) if reply.status() == 404 => {
                    let wrong = "there is no such model or revision";
                    Err(Error::new(ErrorKind::UnknownModel, tried.clone(), wrong)
                        .next("check the name on the hub's page of it")
                        .caused_by(error))
                }
                Some(error) => Err(error.map_kind(ErrorKind::Core)),
                None => Ok(reply),
            }
        };
        let reply =
            resilience.call(hub, None, ask).await.map_err(|error: Error| match error.kind() {
                ErrorKind::Core(kuhaku_core::ErrorKind::Unauthorized) => gated(error, settings),
                _ => error,
            })?;
        let answer: Answer = reply.json(tried.clone()).map_err(|e| e.map_kind(ErrorKind::Core))?;
        Self::of(answer, model, &tried)
    }

    pub(super) fn of(answer: Answer, model: &ModelName, tried: &str) -> Result<Self> {
        let odd = |wrong: &'static str| {
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::MalformedResponse);
            Error::new(kind, tried.to_owned(), wrong)
                .next("check the address of the hub in the settings (HF_ENDPOINT)")
        };
        if !is_commit(&answer.sha) {
            return Err(odd("the answer names no commit"));
        }
        if model.commit().is_some_and(|commit| commit != answer.sha) {
            return Err(odd("the answer is of another commit than the one that was asked for"));
        }
        // A path that leads elsewhere belongs to no model; that it is there is no reason to trust
        // the others.
        if answer.siblings.iter().any(|file| file.rfilename.split(['/', '\\']).any(|it| it == ".."))
        {
            return Err(odd("a file in the answer has a path that leads out of its folder"));
        }
        let files = answer.siblings.into_iter().filter(|file| is_safe(&file.rfilename));
        let files = files.map(|file| ListedFile {
            bytes: file.lfs.as_ref().and_then(|lfs| lfs.size).or(file.size),
            sha256: file.lfs.and_then(|lfs| lfs.sha256?.parse().ok()),
            path: file.rfilename,
        });
        let files: Vec<_> = files.collect();
        // Larger ones could not be added up either.
        if files.iter().any(|file| file.bytes.is_some_and(|bytes| bytes > LARGEST)) {
            return Err(odd("a file in the answer is longer than any that is taken"));
        }
        Ok(Self { commit: answer.sha, files })
    }

    pub(super) fn file(&self, path: &str) -> Option<&ListedFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The files that make a model of a repository that is not known: weights with what they keep
    /// apart, tokenizer, and what says how to use them.
    pub(super) fn of_model(&self, name: &str) -> Result<Vec<String>> {
        const BESIDE: [&str; 5] = [
            "config.json",
            "tokenizer.json",
            "tokenizer_config.json",
            "sentence_bert_config.json",
            "1_Pooling/config.json",
        ];
        let missing = |what: &str| {
            let wrong = format!("the repository has no {what}");
            Error::new(ErrorKind::UnusableModel, format!("pull {name}"), wrong)
                .next("take a repository that holds the model for ONNX Runtime")
        };
        let weights = WEIGHTS.into_iter().find(|path| self.file(path).is_some());
        let weights = weights.ok_or_else(|| missing("onnx/model.onnx"))?;
        for needed in ["config.json", "tokenizer.json"] {
            self.file(needed).ok_or_else(|| missing(needed))?;
        }
        let apart = format!("{weights}_data");
        let apart = self.files.iter().filter(|file| file.path.starts_with(&apart));
        let beside = BESIDE.iter().filter_map(|path| self.file(path));
        let weights = self.file(weights).into_iter();
        let files: Vec<_> = weights.chain(apart).chain(beside).collect();
        if let Some(empty) = files.iter().find(|file| file.bytes == Some(0)) {
            return Err(missing(&format!("content in its {}", empty.path)));
        }
        Ok(files.into_iter().map(|file| file.path.clone()).collect())
    }
}

/// The token, if requests go to the hub that it is for and over a connection that is its own.
pub(super) fn token(settings: &StoreSettings) -> Option<SecretString> {
    settings.token.clone().filter(|_| is_the_hub(settings))
}

/// Whether answers are the hub's own, not a mirror's and not changed on the way.
pub(super) fn is_the_hub(settings: &StoreSettings) -> bool {
    settings.hub.strip_prefix("https://").is_some_and(|rest| host(rest) == HUB)
}

/// The host of an address, with its port.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

/// Adds what a person does about a model that its owner gives to some alone.
pub(super) fn gated(error: Error, settings: &StoreSettings) -> Error {
    let next = match (token(settings), &settings.token) {
        (Some(_), _) => "accept the terms on the model's page with the account of the token",
        (None, Some(_)) => "give the mirror what it wants; the hub's token is not sent to it",
        (None, None) => "accept the terms on the model's page, and set HF_TOKEN",
    };
    error.next(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    fn listing(paths: &[&str]) -> Result<Listing> {
        let siblings = paths.iter().map(|path| Sibling {
            rfilename: (*path).to_owned(),
            size: Some(1),
            lfs: None,
        });
        let answer = Answer { sha: COMMIT.into(), siblings: siblings.collect() };
        Listing::of(answer, &ModelName::parse("a/b").unwrap(), "ask")
    }

    #[test]
    fn paths_that_lead_elsewhere_are_refused_and_odd_ones_left_out() {
        for bad in ["../x", "a/../../x", "..\\x", ".."] {
            assert!(listing(&["config.json", bad]).is_err(), "{bad}");
        }
        let listed = listing(&["config.json", "/etc/passwd", ".git", "a b"]).unwrap();
        assert_eq!(listed.files.len(), 1);
    }

    /// Sums of what a hostile hub says must not wrap around in what a person says yes to.
    #[test]
    fn lengths_that_no_file_has_are_refused() {
        for (bytes, taken) in [
            (0, true),
            (LARGEST, true),
            (LARGEST + 1, false),
            (u64::MAX / 2, false),
            (u64::MAX, false),
        ] {
            for by_lfs in [false, true] {
                let lfs = by_lfs.then_some(Lfs { sha256: None, size: Some(bytes) });
                let size = Some(if by_lfs { 1 } else { bytes });
                let file = Sibling { rfilename: "onnx/model.onnx".into(), size, lfs };
                let answer = Answer { sha: COMMIT.into(), siblings: vec![file] };
                let listed = Listing::of(answer, &ModelName::parse("a/b").unwrap(), "ask");
                assert_eq!(listed.is_ok(), taken, "{bytes}");
            }
        }
    }

    #[test]
    fn a_model_is_its_weights_its_tokenizer_and_what_says_how_to_use_them() {
        let listed = listing(&[
            "README.md",
            "config.json",
            "tokenizer.json",
            "onnx/model.onnx",
            "onnx/model.onnx_data",
            "onnx/model_int8.onnx",
            "pytorch_model.bin",
        ]);
        assert_eq!(
            listed.unwrap().of_model("a/b").unwrap(),
            ["onnx/model.onnx", "onnx/model.onnx_data", "config.json", "tokenizer.json"]
        );
        for missing in [&["config.json", "tokenizer.json"][..], &["model.onnx", "config.json"]] {
            let error = listing(missing).unwrap().of_model("a/b").unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::UnusableModel);
        }
    }

    #[test]
    fn only_the_hub_itself_is_given_the_token() {
        for (hub, given) in [
            ("https://huggingface.co", true),
            ("https://huggingface.co/", true),
            ("http://huggingface.co", false),
            ("https://huggingface.co.evil.example", false),
            ("https://huggingface.co:8443", false),
            ("https://mirror.example/huggingface.co", false),
        ] {
            let settings = StoreSettings {
                hub: hub.into(),
                token: Some("hf_s3cret".to_owned().into()),
                ..StoreSettings::default()
            };
            assert_eq!(token(&settings).is_some(), given, "{hub}");
        }
    }
}
