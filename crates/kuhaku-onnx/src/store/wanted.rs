//! What is known of a file before it is fetched, and what is not taken.

use kuhaku_core::Sha256;

use super::listing::{LARGEST, Listing, is_the_hub};
use super::model_name::ModelName;
use super::plan::{PlannedFile, PullPlan};
use super::record::{Record, SumSource};
use super::settings::StoreSettings;
use super::snapshot::published;
use crate::error::{Error, ErrorKind, Result};

/// The longest file beside the weights whose length nobody says, in bytes.
const SMALL: u64 = 64 << 20;

/// A file to be fetched, with all that is known of it.
pub(super) struct Wanted {
    pub(super) path: String,
    pub(super) bytes: Option<u64>,
    pub(super) sum: Option<(Sha256, SumSource)>,
}

impl Wanted {
    /// All that is known: what this program knows, what the hub says, what was seen before. Where two
    /// of them contradict each other, nothing is fetched.
    pub(super) fn of(
        model: &ModelName,
        file: &PlannedFile,
        listing: Option<&Listing>,
        record: &Record,
        settings: &StoreSettings,
    ) -> Result<Self> {
        let path = file.path.clone();
        let listed = match listing {
            Some(listing) => Some(listing.file(&path).ok_or_else(|| {
                let wrong = format!("the repository has no {path} at {}", listing.commit);
                Error::new(ErrorKind::UnusableModel, format!("pull {}", model.shown()), wrong)
                    .next("check the address of the hub in the settings (HF_ENDPOINT)")
            })?),
            None => None,
        };
        let said = listed.and_then(|file| file.sha256);
        let built_in = published(model, &path);
        let recorded = record.files.get(&path).map(|file| (file.sha256, file.sum));
        let expected = built_in.or(recorded.map(|(sum, _)| sum));
        if let (Some(expected), Some(said)) = (expected, said)
            && expected != said
        {
            let wrong = format!("{path} has the SHA-256 {said} there, and {expected} was expected");
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ChecksumMismatch);
            return Err(Error::new(kind, format!("pull {}", model.shown()), wrong)
                .next("check the address of the hub in the settings (HF_ENDPOINT)"));
        }
        // A mirror is not who published the file.
        let said = said
            .filter(|_| is_the_hub(settings))
            .map(|sum| (sum, SumSource::Published))
            .or(recorded.or(said.map(|sum| (sum, SumSource::Recorded))));
        let sum = built_in.map(|sum| (sum, SumSource::Published)).or(said);
        let bytes = file.bytes.or(listed.and_then(|file| file.bytes));
        Ok(Self { path, bytes, sum })
    }

    /// The most bytes that are taken where no length is known; the plan was agreed to.
    pub(super) fn most(&self, plan: &PullPlan) -> u64 {
        if self.is_weights() { plan.bytes.map_or(LARGEST, with_room) } else { SMALL }
    }

    fn is_weights(&self) -> bool {
        self.path.contains(".onnx")
    }
}

/// A length with a little more: tables round.
fn with_room(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 16).saturating_add(1 << 20)
}

/// Refuses what a mirror says when it is wildly other than what was agreed to, where no sum could
/// tell.
pub(super) fn plausible(model: &ModelName, plan: &PullPlan, wanted: &[Wanted]) -> Result<()> {
    let (Some(_), Some(agreed)) = (model.known, plan.bytes) else { return Ok(()) };
    let unproven = |file: &&Wanted| file.is_weights() && published(model, &file.path).is_none();
    let unproven = wanted.iter().any(|file| unproven(&file));
    let told = wanted.iter().map(|file| file.bytes);
    let wrong = match told.sum::<Option<u64>>() {
        None if unproven => "the answer does not say how long the files are".to_owned(),
        Some(told) if told > with_room(agreed) || (unproven && told < agreed / 2) => {
            format!("the files are {told} bytes long there, and about {agreed} were expected")
        }
        _ => return Ok(()),
    };
    let kind = ErrorKind::Core(kuhaku_core::ErrorKind::MalformedResponse);
    Err(Error::new(kind, format!("pull {}", plan.name), wrong)
        .next("check the address of the hub in the settings (HF_ENDPOINT)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::known::known_models;
    use crate::store::record::RecordedFile;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    const HUB: &str = "https://huggingface.co";
    const MIRROR: &str = "https://mirror.example";

    fn sum(digit: char) -> Sha256 {
        digit.to_string().repeat(64).parse().unwrap()
    }

    /// What becomes of a sum that is said, beside one that is recorded.
    fn sum_of(
        hub: &str,
        said: Option<char>,
        recorded: Option<(char, SumSource)>,
    ) -> Result<Option<(Sha256, SumSource)>> {
        let model = ModelName::parse("a/b").unwrap();
        let lfs = said.map(|said| format!(r#","lfs":{{"sha256":"{}"}}"#, sum(said)));
        let lfs = lfs.unwrap_or_default();
        let answer = format!(
            r#"{{"sha":"{COMMIT}","siblings":[{{"rfilename":"onnx/model.onnx","size":7{lfs}}}]}}"#
        );
        let listing = Listing::of(serde_json::from_str(&answer).unwrap(), &model, "ask").unwrap();
        let mut record = Record::new("a/b", COMMIT);
        let found = std::fs::metadata(".").unwrap();
        record.files.extend(recorded.map(|(digit, source)| {
            ("onnx/model.onnx".to_owned(), RecordedFile::checked(sum(digit), source, &found))
        }));
        let file = PlannedFile { path: "onnx/model.onnx".into(), bytes: None };
        let settings = StoreSettings { hub: hub.into(), ..StoreSettings::default() };
        Ok(Wanted::of(&model, &file, Some(&listing), &record, &settings)?.sum)
    }

    #[test]
    fn only_the_hub_publishes_and_nobody_beats_the_record() {
        use SumSource::{Published, Recorded};
        for (hub, said, recorded, expected) in [
            (HUB, Some('a'), None, Some(Published)),
            (MIRROR, Some('a'), None, Some(Recorded)),
            ("http://huggingface.co", Some('a'), None, Some(Recorded)),
            (HUB, Some('a'), Some(('a', Recorded)), Some(Published)),
            (MIRROR, Some('a'), Some(('a', Published)), Some(Published)),
            (MIRROR, Some('a'), Some(('a', Recorded)), Some(Recorded)),
            (MIRROR, None, Some(('a', Published)), Some(Published)),
            (MIRROR, None, None, None),
        ] {
            let found = sum_of(hub, said, recorded).unwrap();
            let expected = expected.map(|source| (sum('a'), source));
            assert_eq!(found, expected, "{hub} {said:?} {recorded:?}");
        }
        for hub in [HUB, MIRROR] {
            let error = sum_of(hub, Some('b'), Some(('a', Recorded))).unwrap_err();
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::ChecksumMismatch);
            assert_eq!(*error.kind(), kind, "{hub}");
        }
    }

    #[test]
    fn what_was_agreed_to_bounds_what_is_taken() {
        let known = known_models().iter().find(|it| it.name == "bge-reranker-base").unwrap();
        let mut plan = PullPlan {
            name: known.name.into(),
            host: "h".into(),
            licence: None,
            files: Vec::new(),
            bytes: Some(known.about),
            what: crate::store::plan::What::Model { model: ModelName::of(known), listing: None },
        };
        let wanted = |path: &str, bytes| Wanted { path: path.into(), bytes, sum: None };
        let weights = wanted("onnx/model.onnx", None);
        assert!((known.about..known.about + known.about / 10).contains(&weights.most(&plan)));
        assert_eq!(wanted("config.json", None).most(&plan), SMALL);
        for (bytes, taken) in [
            (Some(known.about), true),
            (Some(known.about / 2), true),
            (Some(known.about / 2 - 1), false),
            (Some(known.about / 8 * 9), false),
            (None, false),
        ] {
            let files = [wanted("onnx/model.onnx", bytes)];
            assert_eq!(plausible(&ModelName::of(known), &plan, &files).is_ok(), taken, "{bytes:?}");
        }
        // One small file that is missing is no sign of anything.
        let files = [wanted("config.json", Some(700))];
        plausible(&ModelName::of(known), &plan, &files).unwrap();
        plan.bytes = None;
        assert_eq!(weights.most(&plan), LARGEST);
        assert!(plan.step().to_string().contains("at most 17180 MB"), "{}", plan.step());
    }
}
