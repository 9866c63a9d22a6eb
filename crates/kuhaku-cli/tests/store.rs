//! `kuhaku models` and `kuhaku eval fetch`, as processes, against a server on this machine.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

#[path = "support/hub.rs"]
mod hub;
mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hub::Hub;
use kuhaku::core::Sha256;
use serde_json::Value;
use support::{Place, Ran, ran};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const NAME: &str = "somebody/some-model";

/// What is waited for at most; only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(60);

fn weights() -> Vec<u8> {
    (0..3_000_000_u32).map(|n| u8::try_from(n * 31 % 253).unwrap()).collect()
}

fn sum(content: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f"), content).unwrap();
    Sha256::of_file(&folder.path().join("f")).unwrap().to_string()
}

/// A hub with one model, whose weights it says to have this sum.
fn hub_with(said: &str) -> Hub {
    let hub = Hub::start();
    let files: [(&str, Vec<u8>); 3] = [
        ("onnx/model.onnx", weights()),
        ("config.json", b"{}".to_vec()),
        ("tokenizer.json", b"{\"a\":1}".to_vec()),
    ];
    let siblings = files.iter().map(|(path, content)| {
        let lfs = if path.ends_with(".onnx") {
            format!(r#","lfs":{{"sha256":"{said}","size":{}}}"#, content.len())
        } else {
            String::new()
        };
        format!(r#"{{"rfilename":"{path}","size":{}{lfs}}}"#, content.len())
    });
    let siblings: Vec<_> = siblings.collect();
    let listing = format!(r#"{{"sha":"{COMMIT}","siblings":[{}]}}"#, siblings.join(","));
    hub.put(&format!("/api/models/{NAME}/revision/main"), listing);
    for (path, content) in files {
        hub.put(&format!("/{NAME}/resolve/{COMMIT}/{path}"), content);
    }
    hub
}

fn hub() -> Hub {
    hub_with(&sum(&weights()))
}

/// The command in a place, with its caches there and this hub.
fn command(place: &Place, hub: &Hub, arguments: &[&str]) -> Command {
    let mut command = place.command();
    command
        .args(arguments)
        .env("XDG_CACHE_HOME", place.path().join("caches"))
        .env("HF_ENDPOINT", hub.url())
        .stdin(Stdio::null());
    command
}

fn run(place: &Place, hub: &Hub, arguments: &[&str]) -> Ran {
    ran(command(place, hub, arguments).output().unwrap())
}

fn json(place: &Place, hub: &Hub, arguments: &[&str]) -> (i32, Value) {
    let ran = run(place, hub, &[arguments, &["--json"]].concat());
    let value = serde_json::from_str(&ran.stdout);
    (ran.code, value.unwrap_or_else(|e| panic!("{e}: {}{}", ran.stdout, ran.stderr)))
}

fn model(place: &Place) -> PathBuf {
    place.path().join("caches/huggingface/hub/models--somebody--some-model")
}

fn weights_file(place: &Place) -> PathBuf {
    model(place).join("snapshots").join(COMMIT).join("onnx/model.onnx")
}

fn part_file(place: &Place) -> PathBuf {
    model(place).join(format!("blobs/{COMMIT}--onnx--model.onnx.part"))
}

/// The final file is right or absent, never half.
fn right_or_absent(path: &Path) -> bool {
    std::fs::read(path).map_or(true, |found| found == weights())
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

fn wait_for(what: &str, reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !reached() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// RES-06: an explicit yes is required.
#[test]
fn nothing_is_downloaded_without_a_yes() {
    let (place, hub) = (Place::new(), hub());
    for name in [NAME, "multilingual-e5-small", "onnxruntime"] {
        let refused = run(&place, &hub, &["models", "pull", name]);
        assert_eq!(refused.code, 1, "{}", refused.stderr);
        assert!(refused.stderr.contains("[core.consent_required]"), "{}", refused.stderr);
        assert!(
            refused.stderr.contains(&format!("models pull {name} --yes")),
            "{}",
            refused.stderr
        );
        assert!(refused.stderr.contains("MB)"), "the size is named: {}", refused.stderr);
    }
    assert!(hub.asked().iter().all(|asked| asked.starts_with("/api/")), "{:?}", hub.asked());
    assert!(!weights_file(&place).exists());
}

/// RES-06: from nothing to a checked model and back.
#[test]
fn a_model_is_pulled_listed_checked_found_and_removed() {
    let (place, hub) = (Place::new(), hub());
    let (code, pulled) = json(&place, &hub, &["models", "pull", NAME, "--yes"]);
    assert_eq!(code, 0);
    assert_eq!(pulled["version"], 1);
    let first = &pulled["models"][0];
    assert_eq!((&first["name"], &first["revision"]), (&NAME.into(), &COMMIT.into()));
    assert_eq!(first["received_bytes"], 3_000_009);
    assert_eq!(first["files"].as_array().unwrap().len(), 3);
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());

    let again = run(&place, &hub, &["models", "pull", NAME]);
    assert_eq!(again.code, 0, "what is here needs no yes: {}", again.stderr);
    assert!(again.stdout.contains("here already"), "{}", again.stdout);
    assert!(again.stderr.contains("the one that came is recorded"), "{}", again.stderr);

    let path = run(&place, &hub, &["models", "path", NAME]);
    assert_eq!(Path::new(path.stdout.trim()), model(&place).join("snapshots").join(COMMIT));
    let (code, verified) = json(&place, &hub, &["models", "verify", NAME]);
    assert_eq!((code, &verified["models"][0]["verified"]), (0, &true.into()));

    std::fs::write(weights_file(&place), "damaged").unwrap();
    let (code, verified) = json(&place, &hub, &["models", "verify", NAME]);
    assert_eq!((code, &verified["models"][0]["verified"]), (6, &false.into()));
    let opened = run(&place, &hub, &["models", "path", NAME]);
    assert_eq!(opened.code, 1);
    assert!(opened.stderr.contains("[onnx.damaged]"), "{}", opened.stderr);
    assert_eq!(run(&place, &hub, &["models", "pull", NAME, "--yes"]).code, 0);
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());

    let (code, removed) = json(&place, &hub, &["models", "remove", NAME]);
    assert_eq!((code, &removed["models"][0]["freed_bytes"]), (0, &3_000_009.into()));
    assert!(!weights_file(&place).exists());
    assert_eq!(run(&place, &hub, &["models", "remove", NAME]).code, 3);
    assert_eq!(run(&place, &hub, &["models", "path", NAME]).code, 3);
}

#[test]
fn the_list_names_models_licences_and_whether_they_are_here() {
    let (place, hub) = (Place::new(), hub());
    let (code, list) = json(&place, &hub, &["models", "list"]);
    assert_eq!((code, &list["version"], &list["offline"]), (0, &1.into(), &false.into()));
    let models = list["models"].as_array().unwrap();
    assert!(models.len() >= 8, "{list}");
    let fields = models[0].as_object().unwrap();
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    let mut expected = vec![
        "name",
        "kind",
        "repository",
        "revision",
        "licence",
        "about_bytes",
        "default",
        "state",
        "bytes",
    ];
    expected.sort_unstable();
    let mut names = names;
    names.sort_unstable();
    assert_eq!(names, expected);
    assert_eq!(
        (&models[0]["name"], &models[0]["default"]),
        (&"multilingual-e5-small".into(), &true.into())
    );
    assert!(models.iter().all(|model| model["state"] == "absent"));
    let text = run(&place, &hub, &["models", "list"]).stdout;
    assert!(
        text.contains("multilingual-e5-small  not here  (embedder, 488 MB, MIT, the default)"),
        "{text}"
    );
    assert_eq!(hub.asked().len(), 0);
}

/// The guide shows what the command prints.
#[test]
fn the_guide_shows_the_list_as_it_is() {
    let (place, hub) = (Place::new(), hub());
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/models.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let shown = guide.split("$ kuhaku models list\n").nth(1).unwrap().split("```").next().unwrap();
    assert_eq!(run(&place, &hub, &["models", "list"]).stdout, shown);
}

#[test]
fn unknown_names_and_being_offline_say_what_to_do() {
    let (place, hub) = (Place::new(), hub());
    let unknown = run(&place, &hub, &["models", "pull", "nothing", "--yes"]);
    assert!(unknown.stderr.contains("[onnx.unknown_model]"), "{}", unknown.stderr);
    assert!(unknown.stderr.contains("multilingual-e5-small"), "{}", unknown.stderr);
    let mut offline = command(&place, &hub, &["models", "pull", NAME, "--yes"]);
    let offline = ran(offline.env("HF_HUB_OFFLINE", "1").output().unwrap());
    assert!(offline.stderr.contains("[onnx.offline]"), "{}", offline.stderr);
    let mut fetch = command(&place, &hub, &["eval", "fetch", "scifact", "--yes"]);
    let fetch = ran(fetch.env("HF_HUB_OFFLINE", "1").output().unwrap());
    assert!(fetch.stderr.contains("stay offline"), "{}", fetch.stderr);
    assert_eq!(hub.asked().len(), 0);
}

/// RES-06: interrupted by kill; resumed by the next pull.
#[test]
fn a_killed_pull_leaves_no_half_file_and_the_next_goes_on() {
    let (place, hub) = (Place::new(), hub());
    hub.slow(Duration::from_millis(10));
    let mut resumed = 0;
    for turn in 0..4_u64 {
        let mut pull = command(&place, &hub, &["models", "pull", NAME, "--yes"]).spawn().unwrap();
        wait_for("the part grows", || length(&part_file(&place)) > turn * 400_000 + 262_144);
        pull.kill().unwrap();
        pull.wait().unwrap();
        assert!(right_or_absent(&weights_file(&place)));
        assert!(length(&part_file(&place)) >= resumed, "nothing that has come is lost");
        resumed = length(&part_file(&place));
    }
    hub.slow(Duration::ZERO);
    let done = run(&place, &hub, &["models", "pull", NAME, "--yes"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());
    assert!(!part_file(&place).exists());
    let weights: Vec<_> =
        hub.asked().into_iter().filter(|asked| asked.contains("model.onnx")).collect();
    let last = weights.last().unwrap();
    assert!(last.ends_with(&format!(" {resumed}")), "{last} goes on at {resumed}");
}

/// RES-06: two processes at once.
#[test]
fn of_two_pulls_at_once_one_downloads() {
    let (place, hub) = (Place::new(), hub());
    hub.slow(Duration::from_millis(2));
    let pulls: Vec<_> = (0..2)
        .map(|_| {
            let mut pull = command(&place, &hub, &["models", "pull", NAME, "--yes"]);
            pull.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for pull in pulls {
        let pull = ran(pull.wait_with_output().unwrap());
        assert_eq!(pull.code, 0, "{}", pull.stderr);
    }
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());
    let weights = hub.asked().into_iter().filter(|asked| asked.contains("model.onnx"));
    assert_eq!(weights.count(), 1);
}

/// RES-06: who waits takes over from who is killed.
#[test]
fn a_waiting_pull_takes_over_from_a_killed_one() {
    let (place, hub) = (Place::new(), hub());
    hub.slow(Duration::from_millis(10));
    let mut first = command(&place, &hub, &["models", "pull", NAME, "--yes"]).spawn().unwrap();
    wait_for("the part grows", || length(&part_file(&place)) > 262_144);
    let mut second = command(&place, &hub, &["models", "pull", NAME, "--yes"]);
    let second = second.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the second has asked what there is", || {
        hub.asked().iter().filter(|asked| asked.starts_with("/api/")).count() >= 2
    });
    first.kill().unwrap();
    first.wait().unwrap();
    hub.slow(Duration::ZERO);
    let second = ran(second.wait_with_output().unwrap());
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());
}

/// RES-06: a full disk, stood in for by a limit on the size of files.
#[test]
fn a_full_disk_is_an_error_and_what_has_come_is_kept() {
    let (place, hub) = (Place::new(), hub());
    let pull = command(&place, &hub, &["models", "pull", NAME, "--yes"]);
    let mut limited = Command::new("prlimit");
    limited.arg("--fsize=1000000").arg(pull.get_program()).args(pull.get_args());
    limited.current_dir(place.path()).stdin(Stdio::null());
    for (name, value) in pull.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let Ok(limited) = limited.output() else {
        println!("skipped: there is no prlimit here");
        return;
    };
    let limited = ran(limited);
    assert_eq!(limited.code, 1, "{}", limited.stderr);
    assert!(limited.stderr.contains("[core.storage]"), "{}", limited.stderr);
    assert!(limited.stderr.contains("what has come is kept"), "{}", limited.stderr);
    assert!(!weights_file(&place).exists());
    assert_eq!(length(&part_file(&place)), 1_000_000);
    let after = run(&place, &hub, &["models", "pull", NAME, "--yes"]);
    assert_eq!(after.code, 0, "{}", after.stderr);
    assert!(std::fs::read(weights_file(&place)).unwrap() == weights());
    assert!(hub.asked().iter().any(|asked| asked.ends_with("model.onnx 1000000")));
}

#[test]
fn weights_of_another_sum_are_refused_with_both_sums() {
    let (place, hub) = (Place::new(), hub_with(&sum(b"others")));
    let (code, error) = json(&place, &hub, &["models", "pull", NAME, "--yes"]);
    assert_eq!((code, &error["error"]["code"]), (1, &"core.checksum_mismatch".into()));
    let wrong = error["error"]["wrong"].as_str().unwrap();
    assert!(wrong.contains(&sum(b"others")) && wrong.contains(&sum(&weights())), "{wrong}");
    assert!(!weights_file(&place).exists() && !part_file(&place).exists());
}

fn dataset(name: &str, entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, content) in entries {
        let path = format!("{name}/{path}");
        archive.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_dataset_is_fetched_with_consent_and_can_be_measured_on() {
    let (place, hub, name) = (Place::new(), Hub::start(), "webis-touche2020");
    let archive = dataset(
        name,
        &[
            ("corpus.jsonl", "{\"_id\":\"a\",\"title\":\"\",\"text\":\"bicycles stand here\"}\n"),
            ("queries.jsonl", "{\"_id\":\"1\",\"text\":\"bicycles\"}\n"),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n"),
        ],
    );
    hub.put(&format!("/beir/{name}.zip"), archive);
    let mirror = format!("{}/beir/", hub.url());
    let fetch = ["eval", "fetch", name, "--mirror", &mirror];
    let refused = run(&place, &hub, &fetch);
    assert!(refused.stderr.contains("[core.consent_required]"), "{}", refused.stderr);
    let (code, fetched) = json(&place, &hub, &[&fetch[..], &["--yes"]].concat());
    assert_eq!((code, &fetched["splits"][0]), (0, &"test".into()), "{fetched}");
    let measured = run(&place, &hub, &["eval", "run", &format!("datasets/{name}")]);
    assert_eq!(measured.code, 0, "{}", measured.stderr);
    assert!(measured.stdout.contains("| Recall@100 | 1.000 |"), "{}", measured.stdout);
    let again = run(&place, &hub, &fetch);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stdout.contains("here already"), "{}", again.stdout);

    // Another archive under the same name is noticed, though no sum is published for it.
    std::fs::remove_dir_all(place.path().join("datasets").join(name)).unwrap();
    hub.put(&format!("/beir/{name}.zip"), dataset(name, &[("corpus.jsonl", "{}")]));
    let other = run(&place, &hub, &[&fetch[..], &["--yes"]].concat());
    assert!(other.stderr.contains("[eval.mismatch]"), "{}", other.stderr);
    assert!(!place.path().join("datasets").join(name).exists());
}

#[test]
fn an_archive_that_is_not_the_published_one_is_not_unpacked() {
    let (place, hub) = (Place::new(), Hub::start());
    hub.put("/scifact.zip", dataset("scifact", &[("corpus.jsonl", "{}")]));
    let mirror = hub.url();
    let fetch = ["eval", "fetch", "scifact", "--mirror", &mirror, "--yes"];
    let fetched = run(&place, &hub, &fetch);
    assert_eq!(fetched.code, 1);
    assert!(fetched.stderr.contains("5f7d1de60b170fc8027bb7898e2efca1"), "{}", fetched.stderr);
    assert!(!place.path().join("datasets/scifact").exists());
    let unknown = run(&place, &hub, &["eval", "fetch", "nothing"]);
    assert!(unknown.stderr.contains("[eval.unknown_set]"), "{}", unknown.stderr);
    let (code, list) = json(&place, &hub, &["eval", "fetch"]);
    assert_eq!((code, &list["datasets"][0]["name"]), (0, &"scifact".into()));
}

/// An address is shown and noted; what may be secret in it is refused before anybody is asked.
#[test]
fn a_mirror_of_datasets_is_an_address_without_secrets() {
    let (place, hub) = (Place::new(), Hub::start());
    let host = hub.url().replace("http://", "");
    for mirror in [
        format!("http://me:s3cret@{host}"),
        format!("http://{host}?key=s3cret"),
        format!("ftp://{host}/s3cret"),
        "s3cret".to_owned(),
    ] {
        let ran = run(&place, &hub, &["eval", "fetch", "scifact", "--mirror", &mirror, "--yes"]);
        assert!(ran.stderr.contains("[eval.invalid_input]"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    }
    assert!(hub.asked().is_empty() && !place.path().join("datasets").exists());
}

/// What a person is told to run fetches the same, from the same place, into the same folder.
#[test]
fn the_command_to_run_instead_is_whole() {
    let (place, hub) = (Place::new(), Hub::start());
    hub.put("/scifact.zip", dataset("scifact", &[("corpus.jsonl", "{}")]));
    let mirror = hub.url();
    let fetch = ["eval", "fetch", "scifact", "--mirror", &mirror, "--into", "my sets"];
    let ran = run(&place, &hub, &fetch);
    let command = format!("kuhaku eval fetch scifact --into 'my sets' --mirror {mirror} --yes");
    assert!(ran.stderr.contains(&command), "{}", ran.stderr);
}

/// Two fetches of one set at once both have it then, and nothing is left over.
#[test]
fn two_fetches_at_once_fetch_once() {
    let (place, hub, name) = (Place::new(), Hub::start(), "webis-touche2020");
    let text = "bicycles stand here ".repeat(20_000);
    let corpus = format!("{{\"_id\":\"a\",\"title\":\"\",\"text\":\"{text}\"}}\n");
    let archive = dataset(
        name,
        &[
            ("corpus.jsonl", &corpus),
            ("queries.jsonl", "{\"_id\":\"1\",\"text\":\"bicycles\"}\n"),
            ("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n"),
        ],
    );
    hub.put(&format!("/{name}.zip"), archive);
    // What a killed process has left half unpacked.
    let apart = place.path().join("datasets/.kuhaku");
    std::fs::create_dir_all(apart.join(format!("{name}.4194305/qrels"))).unwrap();
    let (url, arguments) = (hub.url(), ["eval", "fetch", name, "--yes", "--mirror"]);
    let spawned: Vec<_> = (0..4)
        .map(|_| {
            let mut command = command(&place, &hub, &[&arguments[..], &[&url]].concat());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in spawned {
        let ran = ran(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let mut left: Vec<_> = std::fs::read_dir(&apart)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    let kept = ["json", "lock", "zip.lock"].map(|ending| format!("{name}.{ending}"));
    assert_eq!(left, kept);
    assert!(place.path().join("datasets").join(name).join("qrels/test.tsv").exists());
}

/// One that is not here hides nothing of the others.
#[test]
fn what_is_verified_is_told_of_each() {
    let (place, hub) = (Place::new(), hub());
    assert_eq!(run(&place, &hub, &["models", "pull", NAME, "--yes"]).code, 0);
    let (code, told) = json(&place, &hub, &["models", "verify", "a/b", NAME]);
    assert_eq!((code, told["models"].as_array().unwrap().len()), (3, 2), "{told}");
    assert_eq!(
        (&told["models"][0]["verified"], &told["models"][1]["verified"]),
        (&false.into(), &true.into())
    );
}

/// A pull of a known model that was killed is seen in the list, and what has come can be removed.
#[test]
fn what_has_come_of_a_known_model_is_listed_and_removed() {
    let (place, hub, name) = (Place::new(), Hub::start(), "multilingual-e5-small");
    let known = kuhaku::onnx::known_models().iter().find(|known| known.name == name).unwrap();
    let model = place.path().join("caches/huggingface/hub/models--intfloat--multilingual-e5-small");
    let part = model.join(format!("blobs/{}--onnx--model.onnx.part", known.revision));
    std::fs::create_dir_all(part.parent().unwrap()).unwrap();
    std::fs::write(&part, vec![7; 2_000_000]).unwrap();
    let listed = run(&place, &hub, &["models", "list"]);
    assert!(listed.stdout.contains("multilingual-e5-small  in part"), "{}", listed.stdout);
    assert_eq!(run(&place, &hub, &["models", "verify"]).code, 6);
    let removed = run(&place, &hub, &["models", "remove", name]);
    assert!(removed.stdout.contains("removed, 2 MB"), "{}{}", removed.stdout, removed.stderr);
    assert!(!part.exists() && hub.asked().is_empty());
}
