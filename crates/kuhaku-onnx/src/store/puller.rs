//! Fetches models and the runtime library into the store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use kuhaku_core::{Consented, Downloader, FileDownload, HttpClient, Runtime};
use tokio::sync::oneshot;

use super::listing::{Listing, gated, host, token};
use super::model_name::ModelName;
use super::model_store::{FileCheck, ModelStore, StoredModel, Verdict, damaged};
use super::parts::Part;
use super::plan::{LARGEST_ARCHIVE, PlannedFile, PullPlan, What};
use super::record::{Record, RecordedFile, SumSource, replace, storage};
use super::release::{Release, name_of_library};
use super::snapshot::{Snapshot, published};
use super::unpack::unpack;
use super::wanted::{Wanted, plausible};
use crate::error::{Error, ErrorKind, Result};

/// How often the hub is asked before it counts as not to be reached.
const ATTEMPTS: u32 = 3;

type OnProgress = Arc<dyn Fn(&PullProgress) + Send + Sync>;

/// Pulls models and the runtime library. Made by [`ModelStore::puller`].
#[derive(Clone)]
#[must_use]
pub struct Puller {
    store: ModelStore,
    http: HttpClient,
    runtime: Runtime,
    downloader: Downloader,
    on_progress: OnProgress,
}

impl fmt::Debug for Puller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Puller").field("store", &self.store).finish_non_exhaustive()
    }
}

/// How far a pull is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PullProgress {
    /// The file that is being pulled.
    pub file: String,
    /// How many bytes are here of all the files of the plan.
    pub done: u64,
    /// How many there will be, as far as is known.
    pub total: Option<u64>,
    /// Whether another process pulls the same file, and is waited for.
    pub waiting: bool,
}

impl ModelStore {
    /// Fetches what is missing, over this client.
    pub fn puller(&self, http: HttpClient, runtime: Runtime) -> Puller {
        let idle = Duration::from_secs(self.settings.idle_timeout_seconds);
        let downloader = Downloader::new(http.clone(), runtime.clone()).idle_timeout(idle);
        Puller { store: self.clone(), http, runtime, downloader, on_progress: Arc::new(|_| {}) }
    }
}

impl Puller {
    /// Hears how far a pull is. Must not block.
    pub fn on_progress(mut self, hear: impl Fn(&PullProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Arc::new(hear);
        self
    }

    /// What pulling a model, or `onnxruntime`, would do. Only for a model that is not a known one
    /// the hub is asked, for names and lengths of files.
    ///
    /// # Errors
    /// [`ErrorKind::Offline`] when something is missing and the store is offline;
    /// [`ErrorKind::UnknownModel`]; [`ErrorKind::UnsupportedPlatform`]; those of the hub.
    pub async fn plan(&self, name: &str) -> Result<PullPlan> {
        let settings = &self.store.settings;
        if name_of_library(name) {
            let mut plan = PullPlan::library(Release::here()?, &settings.releases);
            if self.apart(ModelStore::runtime_library).await.is_ok() {
                (plan.files, plan.bytes) = (Vec::new(), Some(0));
            }
            return self.online(plan);
        }
        let model = ModelName::parse(name)?;
        let hub = host(&settings.hub).to_owned();
        let mut plan = PullPlan {
            name: model.shown(),
            host: hub,
            licence: model.known.map(|known| known.licence),
            files: Vec::new(),
            bytes: Some(0),
            what: What::Model { model: model.clone(), listing: None },
        };
        let named = model.shown();
        if let Ok(opened) = self.apart(move |store| store.open(&named)).await {
            self.complete(&model, opened, &mut plan).await?;
            return Ok(plan);
        }
        if let Some(known) = model.known {
            let commit = Snapshot::of(&self.store.places, &model, known.revision);
            let named = model.clone();
            let checks = self.apart(move |store| store.check(&named, &commit, false)).await?;
            plan.files = missing(&checks, |path| {
                known.files.iter().find(|file| file.path == path).and_then(|file| file.bytes)
            });
            let here: u64 = checks.iter().filter(|check| is_right(check)).map(|it| it.bytes).sum();
            let summed: Option<u64> = plan.files.iter().map(|file| file.bytes).sum();
            plan.bytes = summed.or(Some(known.about.saturating_sub(here)));
            return self.online(plan);
        }
        // Nothing is known, so it is the network's to say what there is.
        plan.files.push(PlannedFile { path: String::new(), bytes: None });
        plan = self.online(plan)?;
        let listing = Listing::ask(&self.http, &self.runtime, settings, &model, ATTEMPTS).await?;
        let files = listing.of_model(&plan.name)?;
        let bytes = |path: &str| listing.file(path).and_then(|file| file.bytes);
        plan.files =
            files.into_iter().map(|path| PlannedFile { bytes: bytes(&path), path }).collect();
        plan.bytes = plan.files.iter().map(|file| file.bytes).sum();
        plan.what = What::Model { model, listing: Some(listing) };
        Ok(plan)
    }

    /// Plans what is missing of a model that another program has fetched, perhaps not all of it. The
    /// hub is asked what belongs to it, once; when nobody answers, what is here is what there is.
    async fn complete(
        &self,
        model: &ModelName,
        opened: StoredModel,
        plan: &mut PullPlan,
    ) -> Result<()> {
        let store = &self.store;
        let listed =
            store.record(model, &opened.revision).is_some_and(|record| !record.paths.is_empty());
        if model.known.is_some() || listed || store.settings.offline {
            return Ok(());
        }
        let here = model.at(&opened.revision);
        let listing = Listing::ask(&self.http, &self.runtime, &store.settings, &here, 1).await;
        let Ok(listing) = listing else { return Ok(()) };
        let Ok(paths) = listing.of_model(&plan.name) else { return Ok(()) };
        let snapshot = Snapshot::of(&store.places, &here, &listing.commit);
        // Not being able to note it means to ask again.
        let _ = store.note(&here, &listing.commit, |record| record.paths = paths);
        let named = here.clone();
        let checks = self.apart(move |store| store.check(&named, &snapshot, false)).await?;
        plan.files = missing(&checks, |path| listing.file(path).and_then(|file| file.bytes));
        plan.bytes = plan.files.iter().map(|file| file.bytes).sum();
        plan.what = What::Model { model: here, listing: Some(listing) };
        Ok(())
    }

    fn online(&self, plan: PullPlan) -> Result<PullPlan> {
        if plan.is_complete() || !self.store.settings.offline {
            return Ok(plan);
        }
        let wrong = "files are missing, and the settings say to stay offline";
        Err(Error::new(ErrorKind::Offline, format!("pull {}", plan.name), wrong)
            .next("unset HF_HUB_OFFLINE and KUHAKU_MODELS__OFFLINE, or copy the files there"))
    }

    /// Carries out a plan: what has come before is gone on with, and each file is there only when it
    /// is whole and right. Gives the bytes that were received. Dropping the future keeps what has
    /// come.
    ///
    /// # Errors
    /// Those of [`Downloader::fetch`] under [`ErrorKind::Core`]; [`ErrorKind::UnusableModel`] when
    /// the repository lacks a file; [`ErrorKind::Damaged`]; [`ErrorKind::Storage`].
    pub async fn pull(&self, plan: &PullPlan, consented: Consented) -> Result<u64> {
        if plan.is_complete() {
            return Ok(0);
        }
        match &plan.what {
            What::Library(release) => self.pull_library(release, plan, consented).await,
            What::Model { model, listing } => {
                self.pull_model(model, listing.clone(), plan, consented).await
            }
        }
    }

    async fn pull_library(
        &self,
        release: &'static Release,
        plan: &PullPlan,
        consented: Consented,
    ) -> Result<u64> {
        let folder = release.folder(&self.store.places);
        let archive = folder.join(release.archive());
        let mut file = FileDownload::new(release.url(&self.store.settings.releases), &archive)
            .largest(LARGEST_ARCHIVE);
        if let Some(sum) = release.sum() {
            file = file.sha256(sum);
        }
        if release.bytes > 0 {
            file = file.bytes(release.bytes);
        }
        let downloader = self.told(&release.archive(), 0, plan.bytes);
        // One process at a time downloads, unpacks and removes.
        let lock = downloader.lock(&folder.join("pull.lock")).await;
        let lock = lock.map_err(|error| error.map_kind(ErrorKind::Core))?;
        if self.apart(ModelStore::runtime_library).await.is_ok() {
            return Ok(0);
        }
        let came = downloader.fetch(&file, consented).await;
        let came = came.map_err(|error| error.map_kind(ErrorKind::Core))?;
        self.apart(move |store| {
            // Held to the end of this work, which goes on when nobody waits for it any longer.
            let _lock = lock;
            let sum = unpack(&archive, &release.entry(), &folder.join(release.file))?;
            release.record(&store.places, sum)?;
            let _ = std::fs::remove_file(&archive);
            release.open(&store.places)
        })
        .await?;
        Ok(came.received)
    }

    async fn pull_model(
        &self,
        model: &ModelName,
        listing: Option<Listing>,
        plan: &PullPlan,
        consented: Consented,
    ) -> Result<u64> {
        let settings = &self.store.settings;
        let certain =
            |file: &PlannedFile| file.bytes.is_some() && published(model, &file.path).is_some();
        let listing = match listing {
            None if !plan.files.iter().all(certain) => self.listing(model).await?,
            listing => listing,
        };
        let commit = model.commit().or(listing.as_ref().map(|listing| listing.commit.as_str()));
        let commit = commit.unwrap_or_default().to_owned();
        let record_at = self.store.places.record(model, &commit);
        let fresh = || Record::new(model.repository(), &commit);
        let record = Record::read(&record_at).unwrap_or_else(fresh);
        let wanted = plan
            .files
            .iter()
            .map(|file| Wanted::of(model, file, listing.as_ref(), &record, settings));
        let wanted = wanted.collect::<Result<Vec<_>>>()?;
        plausible(model, plan, &wanted)?;
        if let (Some(listing), None) = (&listing, model.known) {
            // Before the first file: whatever ends this, what is missing is known to be.
            let paths = listing.of_model(&plan.name)?;
            self.store.note(model, &commit, |record| record.paths = paths)?;
        }
        let total: Option<u64> = wanted.iter().map(|file| file.bytes).sum();
        let total = total.or(plan.bytes);
        let snapshot = Snapshot::of(&self.store.places, model, &commit);
        let hub = settings.hub.trim_end_matches('/');
        let (mut done, mut received) = (0, 0);
        for file in wanted {
            let part = Part::of(&self.store.places, model, &commit, &file.path);
            let to = snapshot.root.join(&file.path);
            let url = format!("{hub}/{}/resolve/{commit}/{}", model.repository(), file.path);
            let mut download = FileDownload::new(url, &to)
                .part(part.path())
                .lock(part.lock())
                .largest(file.bytes.unwrap_or_else(|| file.most(plan)));
            if let Some((sum, _)) = file.sum {
                download = download.sha256(sum);
            }
            if let Some(bytes) = file.bytes {
                download = download.bytes(bytes);
            }
            if let Some(token) = token(settings) {
                download = download.bearer(token);
            }
            let came = self.told(&file.path, done, total).fetch(&download, consented).await;
            let came = came.map_err(|error| match error.kind() {
                kuhaku_core::ErrorKind::Unauthorized => {
                    gated(error.map_kind(ErrorKind::Core), settings)
                }
                kuhaku_core::ErrorKind::ChecksumMismatch
                    if matches!(file.sum, Some((_, SumSource::Recorded))) =>
                {
                    let record = record_at.display();
                    error.map_kind(ErrorKind::Core).next(format!(
                        "try again; if the file that is there now is the one you mean, remove {record}"
                    ))
                }
                _ => error.map_kind(ErrorKind::Core),
            })?;
            done += came.bytes;
            received += came.received;
            let found = std::fs::metadata(&to)
                .map_err(|source| storage("look at what was pulled", &to, source))?;
            let source = file.sum.map_or(SumSource::Recorded, |(_, source)| source);
            self.store.note(model, &commit, |record| {
                let checked = RecordedFile::checked(came.sha256, source, &found);
                record.files.insert(file.path, checked);
                // What was found here is another program's.
                record.pulled |= came.received > 0;
            })?;
        }
        if model.commit().is_none() {
            let reference = self.store.places.reference(model, model.revision());
            replace(&reference, commit.as_bytes())
                .map_err(|source| storage("note which commit was pulled", &reference, source))?;
        }
        let named = model.clone();
        let checks = self.apart(move |store| store.check(&named, &snapshot, false)).await?;
        match checks.iter().find(|check| !is_right(check)) {
            Some(wrong) => Err(damaged(&plan.name, &wrong.path, wrong.sha256, wrong.verdict)),
            None => Ok(received),
        }
    }

    /// What the hub says. A mirror that has the files and cannot say so will do when commit and
    /// weights are known.
    async fn listing(&self, model: &ModelName) -> Result<Option<Listing>> {
        let settings = &self.store.settings;
        let proven = model.known.is_some_and(|known| {
            let mut weights = known.files.iter().filter(|file| file.path.contains(".onnx"));
            weights.all(|file| file.sha256.is_some())
        });
        match Listing::ask(&self.http, &self.runtime, settings, model, ATTEMPTS).await {
            Ok(listing) => Ok(Some(listing)),
            Err(error) if *error.kind() == ErrorKind::UnknownModel && proven => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The downloader, telling how far the whole pull is.
    fn told(&self, file: &str, before: u64, total: Option<u64>) -> Downloader {
        let (hear, file) = (self.on_progress.clone(), file.to_owned());
        self.downloader.clone().on_progress(move |progress| {
            hear(&PullProgress {
                file: file.clone(),
                done: before.saturating_add(progress.done),
                total: total.or(progress.total.map(|total| before.saturating_add(total))),
                waiting: progress.waiting,
            });
        })
    }

    /// Work that reads much, on a thread of its own.
    async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ModelStore) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (done, outcome) = oneshot::channel();
        let store = self.store.clone();
        std::thread::spawn(move || done.send(work(&store)));
        outcome.await.unwrap_or_else(|stopped| {
            let kind = ErrorKind::Core(kuhaku_core::ErrorKind::Cancelled);
            Err(Error::new(kind, "look at the store", "the work on the disk was stopped")
                .next("try again")
                .caused_by(stopped))
        })
    }
}

fn is_right(check: &FileCheck) -> bool {
    matches!(check.verdict, Verdict::Matches(_))
}

fn missing(checks: &[FileCheck], bytes: impl Fn(&str) -> Option<u64>) -> Vec<PlannedFile> {
    let missing = checks.iter().filter(|check| !is_right(check));
    missing.map(|it| PlannedFile { path: it.path.clone(), bytes: bytes(&it.path) }).collect()
}
