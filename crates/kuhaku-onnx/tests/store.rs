//! The store, against a server that follows a script.
#![cfg(feature = "download")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::path::{Path, PathBuf};

use kuhaku_core::{Consented, ErrorKind as CoreKind, HttpClient, Runtime, Sha256};
use kuhaku_onnx::{
    ErrorKind, ModelStatus, ModelStore, Result, StoreSettings, SumSource, Verdict, known_models,
};
use kuhaku_testkit::transcript::{Reply, TranscriptServer};
use tempfile::TempDir;

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const NAME: &str = "somebody/some-model";

/// What the model consists of, in the order in which it is pulled.
const FILES: [(&str, &str); 3] =
    [("onnx/model.onnx", "weights"), ("config.json", "{}"), ("tokenizer.json", "{\"a\":1}")];

fn sum(content: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), content).unwrap();
    Sha256::of_file(&folder.path().join("f")).unwrap().to_string()
}

/// The hub's answer for a commit; the weights have this sum.
fn listing(commit: &str, weights: &str) -> Reply {
    Reply::json(format!(
        r#"{{"sha":"{commit}","siblings":[
            {{"rfilename":"README.md","size":1}},
            {{"rfilename":"config.json","size":2}},
            {{"rfilename":"tokenizer.json","size":7}},
            {{"rfilename":"onnx/model.onnx","size":7,"lfs":{{"sha256":"{weights}","size":7}}}}]}}"#
    ))
}

fn hub() -> Vec<Reply> {
    let files = FILES.map(|(_, content)| Reply::new(200).header("etag", "\"e\"").piece(content));
    [vec![listing(COMMIT, &sum("weights"))], files.to_vec()].concat()
}

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn settings(&self, hub: &str) -> StoreSettings {
        let mut settings = StoreSettings::default();
        settings.caches = Some(self.0.path().to_owned());
        settings.hub = hub.to_owned();
        settings
    }

    fn store(&self, hub: &str) -> ModelStore {
        ModelStore::new(self.settings(hub), None).unwrap()
    }

    fn repository(&self) -> PathBuf {
        self.0.path().join("huggingface/hub/models--somebody--some-model")
    }

    fn file(&self, path: &str) -> PathBuf {
        self.repository().join("snapshots").join(COMMIT).join(path)
    }

    /// All files below the snapshots.
    fn files(&self) -> Vec<String> {
        below(&self.repository().join("snapshots"))
    }
}

fn below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(below(&path)),
            false => found.push(path.file_name().unwrap().to_string_lossy().into_owned()),
        }
    }
    found.sort();
    found
}

async fn pull(store: &ModelStore, name: &str) -> Result<u64> {
    let puller = store.puller(HttpClient::builder().build().unwrap(), Runtime::system());
    let plan = puller.plan(name).await?;
    puller.pull(&plan, Consented::given()).await
}

async fn serve(script: impl IntoIterator<Item = Reply>) -> TranscriptServer {
    TranscriptServer::start(script).await.unwrap()
}

/// RES-06: pulled, checked, found again, and never fetched twice.
#[tokio::test]
async fn a_model_is_pulled_once_and_opened_without_the_network() {
    let server = serve(hub()).await;
    let (place, url) = (Place::new(), server.url());
    let store = place.store(&url);
    assert_eq!(store.status(NAME).unwrap(), ModelStatus::Absent);
    assert_eq!(pull(&store, NAME).await.unwrap(), 16);
    assert_eq!(pull(&store, NAME).await.unwrap(), 0);
    let asked: Vec<_> = server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(asked[0], format!("/api/models/{NAME}/revision/main?blobs=true"));
    assert_eq!(asked[1], format!("/{NAME}/resolve/{COMMIT}/onnx/model.onnx"));
    assert_eq!(asked.len(), 4);
    drop(server);

    let model = store.open(NAME).unwrap();
    assert_eq!((model.revision.as_str(), model.name.as_str()), (COMMIT, NAME));
    for (path, content) in FILES {
        assert_eq!(std::fs::read_to_string(model.folder.join(path)).unwrap(), content);
    }
    let verdicts: Vec<_> =
        model.files.iter().map(|file| (file.path.as_str(), file.verdict)).collect();
    // A server on this machine is not who published the weights.
    assert!(verdicts.contains(&("onnx/model.onnx", Verdict::Matches(SumSource::Recorded))));
    assert!(verdicts.contains(&("config.json", Verdict::Matches(SumSource::Recorded))));
    // Other clients of the hub find it by the name of the revision.
    let reference = std::fs::read_to_string(place.repository().join("refs/main")).unwrap();
    assert_eq!(reference, COMMIT);
}

/// RES-06: offline mode never tries.
#[tokio::test]
async fn offline_nothing_is_asked_of_anybody() {
    let server = serve(hub()).await;
    let place = Place::new();
    let mut settings = place.settings(&server.url());
    settings.releases = server.url();
    settings.offline = true;
    let store = ModelStore::new(settings, None).unwrap();
    for name in [NAME, "multilingual-e5-small", "onnxruntime"] {
        let error = pull(&store, name).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Offline, "{name}: {error}");
        assert!(error.next_step().unwrap().contains("HF_HUB_OFFLINE"), "{error}");
    }
    assert_eq!(server.connections(), 0);
}

/// R3: what it takes to plan a known model is known; nobody is asked before the yes.
#[tokio::test]
async fn planning_a_known_model_asks_nobody() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    let puller = store.puller(HttpClient::builder().build().unwrap(), Runtime::system());
    for known in known_models() {
        let plan = puller.plan(known.name).await.unwrap();
        let step = plan.step();
        assert_eq!(step.bytes, plan.bytes);
        assert!(step.bytes.unwrap() <= known.about && step.bytes.unwrap() > 80_000_000);
        assert!(step.to_string().contains(known.licence), "{step}");
        assert!(step.command.contains(known.name), "{step:?}");
    }
    assert_eq!(server.connections(), 0);
}

/// RES-06: what is not what was published is not kept.
#[tokio::test]
async fn weights_of_another_sum_are_not_kept() {
    let mut script = hub();
    script[0] = listing(COMMIT, &sum("others."));
    let server = serve(script).await;
    let place = Place::new();
    let error = pull(&place.store(&server.url()), NAME).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::ChecksumMismatch));
    assert!(error.wrong().contains(&sum("weights")) && error.wrong().contains(&sum("others.")));
    assert!(place.files().is_empty(), "{:?}", place.files());
}

/// RES-06: a sum that nobody publishes is recorded, and checked afterwards.
#[tokio::test]
async fn what_came_first_is_what_must_come_again() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    pull(&store, NAME).await.unwrap();
    std::fs::write(place.file("config.json"), "[]").unwrap();
    let checks = store.verify(NAME).unwrap();
    let wrong: Vec<_> =
        checks.iter().filter(|it| !matches!(it.verdict, Verdict::Matches(_))).collect();
    assert_eq!((wrong.len(), wrong[0].path.as_str()), (1, "config.json"));
    assert_eq!(*store.open(NAME).unwrap_err().kind(), ErrorKind::Damaged);
    drop(server);

    // The hub has another file of the same name now.
    let weights = sum("weights");
    let other = serve([listing(COMMIT, &weights), Reply::new(200).piece("[]")]).await;
    let elsewhere = place.store(&other.url());
    let error = pull(&elsewhere, NAME).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::ChecksumMismatch), "{error}");
    drop(other);

    let again = serve([listing(COMMIT, &weights), Reply::new(200).piece("{}")]).await;
    let store = place.store(&again.url());
    pull(&store, NAME).await.unwrap();
    assert_eq!(std::fs::read_to_string(place.file("config.json")).unwrap(), "{}");
    store.open(NAME).unwrap();
}

#[tokio::test]
async fn removing_takes_what_was_pulled_and_leaves_the_record() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    assert_eq!(*store.remove(NAME).unwrap_err().kind(), ErrorKind::NotPulled);
    pull(&store, NAME).await.unwrap();
    assert_eq!(store.remove(NAME).unwrap(), 16);
    assert!(place.files().is_empty());
    assert_eq!(store.status(NAME).unwrap(), ModelStatus::Absent);
    assert_eq!(*store.remove(NAME).unwrap_err().kind(), ErrorKind::NotPulled);
}

/// What the hub's own clients leave: files that are links to blobs, named by their sums.
#[cfg(unix)]
#[tokio::test]
async fn what_another_client_has_fetched_is_used_checked_and_left_alone() {
    let place = Place::new();
    for (path, content) in FILES {
        // Small files are named by their ids in git, which are no SHA-256.
        let name =
            if path.ends_with(".onnx") { sum(content) } else { format!("{:040}", content.len()) };
        let blob = place.repository().join("blobs").join(name);
        std::fs::create_dir_all(blob.parent().unwrap()).unwrap();
        std::fs::write(&blob, content).unwrap();
        std::fs::create_dir_all(place.file(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&blob, place.file(path)).unwrap();
    }
    std::fs::create_dir_all(place.repository().join("refs")).unwrap();
    std::fs::write(place.repository().join("refs/main"), format!("{COMMIT}\n")).unwrap();
    let store = place.store("http://127.0.0.1:9");
    let model = store.open(NAME).unwrap();
    let weights = model.files.iter().find(|file| file.path == "onnx/model.onnx").unwrap();
    assert_eq!(weights.verdict, Verdict::Matches(SumSource::Recorded));
    assert_eq!(pull(&store, NAME).await.unwrap(), 0);
    let error = store.remove(NAME).unwrap_err();
    assert!(error.wrong().contains("another program"), "{error}");
    assert_eq!(place.files().len(), 3);

    let blob = std::fs::canonicalize(place.file("onnx/model.onnx")).unwrap();
    std::fs::write(blob, "weighty").unwrap();
    assert_eq!(*store.open(NAME).unwrap_err().kind(), ErrorKind::Damaged);
}

#[tokio::test]
async fn answers_that_lead_elsewhere_are_refused() {
    let elsewhere = format!(
        r#"{{"sha":"{COMMIT}","siblings":[{{"rfilename":"config.json"}},
            {{"rfilename":"onnx/model.onnx"}},{{"rfilename":"tokenizer.json"}},
            {{"rfilename":"onnx/model.onnx_data/../../../../../../evil"}}]}}"#
    );
    let branch = r#"{"sha":"../../../../evil","siblings":[]}"#;
    for answer in [elsewhere.as_str(), branch, "[]", "<html>"] {
        let server = serve([Reply::json(answer)]).await;
        let place = Place::new();
        let error = pull(&place.store(&server.url()), NAME).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::MalformedResponse), "{answer}");
        assert_eq!(server.requests().len(), 1);
        assert!(below(place.0.path()).is_empty(), "{:?}", below(place.0.path()));
    }
}

#[tokio::test]
async fn a_commit_that_was_asked_for_is_the_one_that_is_taken() {
    let other = COMMIT.replace('0', "f");
    let server = serve([listing(&other, &sum("weights"))]).await;
    let place = Place::new();
    let named = format!("{NAME}@{COMMIT}");
    let error = pull(&place.store(&server.url()), &named).await.unwrap_err();
    assert!(error.wrong().contains("another commit"), "{error}");
}

/// R3: a mirror that says other sums than the ones that are published is not downloaded from.
#[tokio::test]
async fn a_mirror_cannot_change_a_published_sum() {
    let known = known_models().iter().find(|it| it.name == "multilingual-e5-small").unwrap();
    let siblings: Vec<_> = known
        .files
        .iter()
        .map(|file| {
            let sum = sum("another model");
            format!(r#"{{"rfilename":"{}","size":7,"lfs":{{"sha256":"{sum}"}}}}"#, file.path)
        })
        .collect();
    let answer = format!(r#"{{"sha":"{}","siblings":[{}]}}"#, known.revision, siblings.join(","));
    let server = serve([Reply::json(answer)]).await;
    let place = Place::new();
    let error = pull(&place.store(&server.url()), known.name).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::ChecksumMismatch), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_mirror_never_sees_the_token_and_a_refusal_says_what_to_do() {
    let server = serve([Reply::new(401)]).await;
    let place = Place::new();
    let mut settings = place.settings(&server.url());
    settings.token = Some("hf_s3cret".to_owned().into());
    let store = ModelStore::new(settings, None).unwrap();
    let error = pull(&store, NAME).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::Unauthorized));
    assert!(error.next_step().unwrap().contains("token is not sent"), "{error}");
    assert!(server.requests().iter().all(|request| !request.mentions("s3cret")));
    let none = serve([Reply::new(404)]).await;
    let error = pull(&place.store(&none.url()), NAME).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::UnknownModel);
}

/// The library is taken out of an archive whose sum is published; another archive is not opened.
#[tokio::test]
async fn another_archive_is_not_unpacked() {
    let server = serve([Reply::new(200).piece("another archive")]).await;
    let place = Place::new();
    let mut settings = place.settings("http://127.0.0.1:9");
    settings.releases = server.url();
    let store = ModelStore::new(settings, None).unwrap();
    let error = pull(&store, "onnxruntime").await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Core(_)), "{error}");
    assert_eq!(store.status("onnxruntime").unwrap(), ModelStatus::Absent);
    assert!(server.requests()[0].path.contains("/v1.24.4/onnxruntime-"));
    assert_eq!(*store.runtime_library().unwrap_err().kind(), ErrorKind::NotPulled);
}

/// A pull that came to no end leaves a model that is not whole, wherever it ended.
#[tokio::test]
async fn a_pull_that_failed_is_never_a_model() {
    let named = format!("{NAME}@{COMMIT}");
    for failing in 0..FILES.len() {
        let mut script = hub();
        script[failing + 1] = Reply::new(404);
        let server = serve(script).await;
        let place = Place::new();
        let store = place.store(&server.url());
        pull(&store, &named).await.unwrap_err();
        assert!(!matches!(store.status(&named).unwrap(), ModelStatus::Present { .. }), "{failing}");
        assert_eq!(*store.open(&named).unwrap_err().kind(), ErrorKind::NotPulled, "{failing}");
        let puller = store.puller(HttpClient::builder().build().unwrap(), Runtime::system());
        drop(server);
        // Not complete: the hub is asked, and is not there.
        puller.plan(&named).await.unwrap_err();
    }
}

/// A file that a failed write of the record did not reach is missed all the same.
#[tokio::test]
async fn a_record_of_one_file_is_no_list_of_the_model() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    let named = format!("{NAME}@{COMMIT}");
    pull(&store, &named).await.unwrap();
    let record = place.0.path().join(format!("kuhaku/models/somebody--some-model/{COMMIT}.json"));
    // As a version wrote it that did not note the list.
    let mut value: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&record).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("paths").unwrap();
    value["files"].as_object_mut().unwrap().retain(|path, _| path == "onnx/model.onnx");
    std::fs::write(&record, value.to_string()).unwrap();
    std::fs::remove_file(place.file("tokenizer.json")).unwrap();
    assert_eq!(*store.open(&named).unwrap_err().kind(), ErrorKind::NotPulled);
}

/// A name that a link gives itself proves nothing, least of all against the record.
#[cfg(unix)]
#[tokio::test]
async fn a_link_cannot_name_itself_what_was_published() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    pull(&store, NAME).await.unwrap();
    let evil = "another";
    for (at, whose) in [(place.0.path().join("elsewhere"), "others"), (place.repository(), "own")] {
        let blob = at.join("blobs").join(sum(evil));
        std::fs::create_dir_all(blob.parent().unwrap()).unwrap();
        std::fs::write(&blob, evil).unwrap();
        let weights = place.file("onnx/model.onnx");
        std::fs::remove_file(&weights).unwrap();
        std::os::unix::fs::symlink(&blob, &weights).unwrap();
        let checks = store.verify(NAME).unwrap();
        let wrong = checks.iter().find(|file| file.path == "onnx/model.onnx").unwrap();
        assert_eq!(
            wrong.verdict,
            Verdict::Differs { expected: sum("weights").parse().unwrap() },
            "{whose}"
        );
        assert_eq!(*store.open(NAME).unwrap_err().kind(), ErrorKind::Damaged, "{whose}");
    }
}

/// R3: no wrapped sum is shown to who is asked for a yes.
#[tokio::test]
async fn lengths_that_no_file_has_end_the_plan() {
    for size in [u64::MAX, u64::MAX / 2, (16 << 30) + 1] {
        let answer = format!(
            r#"{{"sha":"{COMMIT}","siblings":[{{"rfilename":"config.json","size":2}},
                {{"rfilename":"tokenizer.json","size":{size}}},
                {{"rfilename":"onnx/model.onnx","size":{size}}}]}}"#
        );
        let server = serve([Reply::json(answer)]).await;
        let place = Place::new();
        let error = pull(&place.store(&server.url()), NAME).await.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::MalformedResponse), "{size}");
        assert_eq!(server.requests().len(), 1);
    }
}

/// Weights that keep some of themselves apart are not whole without it, whoever fetched them.
#[tokio::test]
async fn what_another_client_has_fetched_in_part_is_completed() {
    let place = Place::new();
    for (path, content) in FILES {
        std::fs::create_dir_all(place.file(path).parent().unwrap()).unwrap();
        std::fs::write(place.file(path), content).unwrap();
    }
    std::fs::create_dir_all(place.repository().join("refs")).unwrap();
    std::fs::write(place.repository().join("refs/main"), COMMIT).unwrap();
    let listing = Reply::json(format!(
        r#"{{"sha":"{COMMIT}","siblings":[
            {{"rfilename":"config.json","size":2}},{{"rfilename":"tokenizer.json","size":7}},
            {{"rfilename":"onnx/model.onnx","size":7}},{{"rfilename":"onnx/model.onnx_data","size":5}}]}}"#
    ));
    let server = serve([listing, Reply::new(200).piece("apart")]).await;
    let store = place.store(&server.url());
    assert_eq!(pull(&store, NAME).await.unwrap(), 5);
    assert_eq!(std::fs::read_to_string(place.file("onnx/model.onnx_data")).unwrap(), "apart");
    assert_eq!(pull(&store, NAME).await.unwrap(), 0);
    assert_eq!(server.requests().len(), 2);
    std::fs::remove_file(place.file("onnx/model.onnx_data")).unwrap();
    assert_eq!(*store.open(NAME).unwrap_err().kind(), ErrorKind::NotPulled);
}

/// A mirror cannot give a known model of which no sum is built in another size than the one shown.
#[tokio::test]
async fn a_mirror_with_another_size_is_not_downloaded_from() {
    let known = known_models().iter().find(|it| it.name == "bge-reranker-base").unwrap();
    let listing = |weights: &str| {
        let files = known.files.iter().map(|file| {
            let size = if file.path.contains(".onnx") { weights } else { "2" };
            format!(r#"{{"rfilename":"{}","size":{size}}}"#, file.path)
        });
        let files = files.collect::<Vec<_>>().join(",");
        Reply::json(format!(r#"{{"sha":"{}","siblings":[{files}]}}"#, known.revision))
    };
    let replies = [listing("7"), listing("3000000000"), listing("null"), Reply::new(404)];
    for (at, reply) in replies.into_iter().enumerate() {
        let server = serve([reply]).await;
        let place = Place::new();
        let error = pull(&place.store(&server.url()), known.name).await.unwrap_err();
        let expected = match at {
            3 => ErrorKind::UnknownModel,
            _ => ErrorKind::Core(CoreKind::MalformedResponse),
        };
        assert_eq!(*error.kind(), expected, "{at}: {error}");
        assert_eq!(server.requests().len(), 1, "{at}");
    }
}

/// What has come is seen, and removed.
#[tokio::test]
async fn a_part_is_seen_and_removed() {
    let place = Place::new();
    let store = place.store("http://127.0.0.1:9");
    let part = place.repository().join(format!("blobs/{COMMIT}--onnx--model.onnx.part"));
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    std::fs::write(&part, "half").unwrap();
    std::fs::write(part.with_extension("part.origin"), "{}").unwrap();
    // Another program's.
    let other = part.with_file_name("0a.incomplete");
    std::fs::write(&other, "theirs").unwrap();
    for name in [NAME.to_owned(), format!("{NAME}@{COMMIT}")] {
        assert_eq!(store.status(&name).unwrap(), ModelStatus::Incomplete { bytes: 4 }, "{name}");
    }
    let elsewhere = format!("{NAME}@{}", COMMIT.replace('0', "f"));
    assert_eq!(store.status(&elsewhere).unwrap(), ModelStatus::Absent);
    assert_eq!(store.remove(NAME).unwrap(), 4);
    assert_eq!(below(&place.repository()), ["0a.incomplete"]);
}

#[tokio::test]
async fn a_wrong_token_is_not_a_missing_model() {
    for (status, kind) in [
        (400, ErrorKind::Core(CoreKind::InvalidInput)),
        (404, ErrorKind::UnknownModel),
        (422, ErrorKind::Core(CoreKind::InvalidInput)),
    ] {
        let server = serve([Reply::new(status)]).await;
        let error = pull(&Place::new().store(&server.url()), NAME).await.unwrap_err();
        assert_eq!(*error.kind(), kind, "{status}: {error}");
    }
    let place = Place::new();
    let mut settings = place.settings("https://huggingface.co");
    settings.token = Some("hf_a\nb".to_owned().into());
    let error = pull(&ModelStore::new(settings, None).unwrap(), NAME).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Core(CoreKind::InvalidInput), "{error}");
}

/// An empty file is none, whoever is asked.
#[tokio::test]
async fn empty_files_are_missing_everywhere() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    pull(&store, NAME).await.unwrap();
    std::fs::write(place.file("onnx/model.onnx"), "").unwrap();
    assert_eq!(store.status(NAME).unwrap(), ModelStatus::Incomplete { bytes: 9 });
    assert_eq!(*store.open(NAME).unwrap_err().kind(), ErrorKind::NotPulled);
    let checks = store.verify(NAME).unwrap();
    let weights = checks.iter().find(|file| file.path == "onnx/model.onnx").unwrap();
    assert_eq!(weights.verdict, Verdict::Missing);
}

/// A known model's repository at another revision is another model, all the way.
#[tokio::test]
async fn main_of_a_known_repository_is_opened_by_its_own_name() {
    let server = serve(hub()).await;
    let place = Place::new();
    let store = place.store(&server.url());
    let named = "intfloat/multilingual-e5-small@main";
    let puller = store.puller(HttpClient::builder().build().unwrap(), Runtime::system());
    let plan = puller.plan(named).await.unwrap();
    puller.pull(&plan, Consented::given()).await.unwrap();
    assert_eq!(store.open(&plan.name).unwrap().revision, COMMIT);
}
