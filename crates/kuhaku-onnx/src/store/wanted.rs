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
