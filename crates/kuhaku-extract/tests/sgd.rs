//! A replay of annotated conversations, with faults: what was known is never lost.
//!
//! The model is scripted from the annotation of the Schema-Guided Dialogue set: each turn it says what
//! the annotation has changed. Then the same with a fault in every reply, of five kinds in turn. When
//! the second reply is right, the state is the annotated one; when it has a fault as well, the state
//! before the turn stands.
//!
//! Reads `sgd` in the folder that `KUHAKU_BENCH_DATA` names, and says so when there is none.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]
#![allow(clippy::print_stdout, reason = "it reports what it has seen")]

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuhaku_extract::{ExtractRequest, Extraction, ExtractionStatus as Status, Extractor, Schema};
use kuhaku_testkit::ScriptedLlm;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Dialogue {
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: String,
    text: String,
    frames: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    service: String,
    #[serde(default)]
    slot_values: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Service {
    service_name: String,
    slots: Vec<Slot>,
}

#[derive(Deserialize)]
struct Slot {
    name: String,
    is_categorical: bool,
    possible_values: Vec<String>,
}

type State = BTreeMap<String, String>;

fn folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("KUHAKU_BENCH_DATA")?).join("sgd");
    folder.is_dir().then_some(folder)
}

fn dialogues(folder: &Path) -> Vec<Dialogue> {
    let file = std::fs::File::open(folder.join("dialogues.jsonl.gz")).unwrap();
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each service as a schema of optional slots; what people do not care about is a value too.
fn schemas(folder: &Path) -> BTreeMap<String, Schema> {
    let text = std::fs::read_to_string(folder.join("services.jsonl")).unwrap();
    let services = text.lines().map(|line| serde_json::from_str::<Service>(line).unwrap());
    let schema = |service: Service| {
        let slots = service.slots.into_iter().map(|slot| {
            let mut schema = json!({"type": "string"});
            if slot.is_categorical {
                let mut options = slot.possible_values;
                options.push("dontcare".into());
                schema["enum"] = json!(options);
            }
            (slot.name, schema)
        });
        let document = json!({"type": "object", "properties": Map::from_iter(slots)});
        let schema = Schema::from_json(&document).unwrap();
        (service.service_name.clone(), schema.named(service.service_name).unwrap())
    };
    services.map(schema).collect()
}

/// What a model says that takes a state to another.
fn right(before: &State, after: &State) -> String {
    let changed = after.iter().filter(|(slot, value)| before.get(*slot) != Some(value));
    let data: BTreeMap<_, _> = changed.collect();
    let gone = before.keys().filter(|slot| !after.contains_key(*slot));
    let clear: Vec<String> = gone.map(|slot| format!("/{slot}")).collect();
    json!({"data": data, "new": false, "clear": clear}).to_string()
}

const FAULTS: [&str; 5] = ["null", "invalid", "prose", "wrong type", "truncated"];

/// The same reply with a fault.
fn faulty(kind: usize, reply: &str, schema: &Schema) -> String {
    let whole: Value = serde_json::from_str(reply).unwrap();
    match FAULTS.get(kind).copied() {
        Some("null") => r#"{"data": null, "new": false}"#.into(),
        Some("invalid") => json!({"slots": whole.get("data")}).to_string(),
        Some("prose") => "I have noted that down. Anything else?".into(),
        Some("wrong type") => {
            let properties = schema.document().get("properties").and_then(Value::as_object);
            let names = properties.unwrap().keys();
            let said = whole.get("data").and_then(Value::as_object).unwrap();
            let wrong = names.filter(|name| said.is_empty() || said.contains_key(*name));
            let data = Map::from_iter(wrong.map(|name| (name.clone(), json!(5))));
            json!({"data": data, "new": false}).to_string()
        }
        _ => {
            // Somewhere within the data.
            let cut = reply.find("\"data\":{").unwrap() + "\"data\":{".len();
            reply
                .chars()
                .take(reply.chars().count().min(cut + 3))
                .collect::<String>()
                .trim_end_matches('}')
                .to_owned()
        }
    }
}

fn state(result: &Extraction) -> State {
    let state = result.state.as_ref().and_then(Value::as_object);
    let filled = state.into_iter().flatten().filter(|(_, value)| !value.is_null());
    filled.map(|(slot, value)| (slot.clone(), value.as_str().unwrap().to_owned())).collect()
}

#[derive(Debug, Default)]
struct Count {
    turns: usize,
    right: usize,
    faults: [usize; FAULTS.len()],
}

/// One turn. Gives the result, or none when both replies have the fault and it has failed as it must.
async fn turn(
    schema: &Schema,
    text: &str,
    prior: Option<&Extraction>,
    replies: [String; 2],
) -> Extraction {
    let model = Arc::new(ScriptedLlm::new(replies));
    let extractor = Extractor::builder(schema.clone(), model).build().unwrap();
    let mut request = ExtractRequest::new(text);
    request.prior = prior.map(Into::into);
    let result = extractor.extract(request).await.unwrap();
    // Services without state have it stored by their clients.
    serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap()
}

#[tokio::test]
async fn a_replayed_conversation_ends_turn_by_turn_in_the_annotated_state_whatever_goes_wrong() {
    let Some(folder) = folder() else {
        println!("skipped: KUHAKU_BENCH_DATA names no folder with `sgd`");
        return;
    };
    let (dialogues, schemas) = (dialogues(&folder), schemas(&folder));
    let (mut plain, mut mended, mut failed) =
        (Count::default(), Count::default(), Count::default());
    let mut cleared = 0;
    let mut drawn = 0;
    for dialogue in &dialogues {
        // Three conversations of each service side by side: without faults, mended, failing.
        let mut known: BTreeMap<&str, [Option<Extraction>; 3]> = BTreeMap::new();
        let mut states: BTreeMap<&str, [State; 3]> = BTreeMap::new();
        for said in dialogue.turns.iter().filter(|turn| turn.speaker == "user") {
            for frame in &said.frames {
                let schema = &schemas[&frame.service];
                let first = |(slot, values): (&String, &Vec<String>)| {
                    values.first().map(|value| (slot.clone(), value.clone()))
                };
                let gold: State = frame.slot_values.iter().filter_map(first).collect();
                let known = known.entry(&frame.service).or_default();
                let states = states.entry(&frame.service).or_default();
                let kind = drawn % FAULTS.len();
                // In the third, three turns of four go wrong for good.
                let fails = drawn % 4 != 3;
                drawn += 1;
                let [a, b, c] = known;
                let [state_a, state_b, state_c] = states;

                let reply = right(state_a, &gold);
                cleared += state_a.keys().filter(|slot| !gold.contains_key(*slot)).count();
                let result = turn(schema, &said.text, a.as_ref(), [reply, String::new()]).await;
                plain.turns += 1;
                plain.right += usize::from(state(&result) == gold && result.attempts == 1);
                (*state_a, *a) = (gold.clone(), Some(result));

                let reply = right(state_b, &gold);
                let fault = faulty(kind, &reply, schema);
                let result = turn(schema, &said.text, b.as_ref(), [fault, reply]).await;
                mended.turns += 1;
                mended.faults[kind] += 1;
                let twice = result.attempts == 2 && result.status == Status::Complete;
                mended.right += usize::from(state(&result) == gold && twice);
                (*state_b, *b) = (gold.clone(), Some(result));

                let reply = right(state_c, &gold);
                let fault = faulty(kind, &reply, schema);
                if fails {
                    let replies = [fault.clone(), fault];
                    let result = turn(schema, &said.text, c.as_ref(), replies).await;
                    failed.turns += 1;
                    failed.faults[kind] += 1;
                    let stands = state(&result) == *state_c && result.status == Status::Failed;
                    failed.right += usize::from(stands);
                    *c = Some(result);
                } else {
                    let result = turn(schema, &said.text, c.as_ref(), [reply, String::new()]).await;
                    assert_eq!(state(&result), gold);
                    (*state_c, *c) = (gold, Some(result));
                }
            }
        }
    }
    println!("{} dialogues, {} services, {cleared} cleared slots", dialogues.len(), schemas.len());
    for (name, count) in [("no fault", &plain), ("mended", &mended), ("failed", &failed)] {
        let faults: Vec<String> = FAULTS
            .iter()
            .zip(count.faults)
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        println!("{name}: {} of {} turns; {}", count.right, count.turns, faults.join(", "));
        assert_eq!(count.right, count.turns, "{name}");
    }
    assert!(plain.turns > 100 && cleared > 0 && failed.faults.iter().all(|count| *count > 0));
}
