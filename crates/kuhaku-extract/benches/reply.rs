//! What reading a reply costs: `cargo bench -p kuhaku-extract --bench reply`.
//!
//! A plain reply of ten fields, and replies of 1 MB made to cost time. What counts for the latter is
//! that each stays below 50 ms.

use divan::{Bencher, black_box};
use kuhaku_extract::{PartialReply, ReplyLimits, Verdict, parse_reply};
use serde_json::Value;

fn main() {
    divan::main();
}

const MEGABYTE: usize = 1 << 20;

fn accept(value: &Value) -> Verdict {
    if value.get("data").is_some() { Verdict::Satisfied } else { Verdict::Refused }
}

fn plain() -> String {
    let pairs: Vec<String> = (0..10).map(|n| format!("\"field_{n}\": \"value {n}\"")).collect();
    format!("Here you are:\n```json\n{{\"data\": {{{}}}, \"new\": false}}\n```", pairs.join(", "))
}

#[divan::bench]
fn ten_fields(bencher: Bencher) {
    let reply = plain();
    bencher.bench(|| parse_reply(black_box(&reply), &ReplyLimits::default(), &mut accept));
}

#[divan::bench]
fn ten_fields_in_parts(bencher: Bencher) {
    let reply = plain();
    bencher.bench(|| {
        let mut partial = PartialReply::default();
        reply.split_inclusive(' ').map(|part| partial.push(black_box(part)).len()).sum::<usize>()
    });
}

#[divan::bench(sample_count = 10, args = [
    "[", "{", "\"", "{\"a\":", "[\"", "{\"", "[{", "['a' ", "{a:1},", "{\"a\":1},\"b\":1},", "/*", "…,", "[1e999,", "{\"a\":{\"b\":[1},\"c\":1}", "1,", "\\\"",
])]
fn hostile_megabyte(bencher: Bencher, shard: &str) {
    let reply = shard.repeat(MEGABYTE / shard.len());
    bencher.bench(|| parse_reply(black_box(&reply), &ReplyLimits::default(), &mut accept));
}

#[divan::bench(sample_count = 10, args = ["\"", "\" ", "\"a ", "'a' ", "}", "1,", "9", "b ", "\"a\":1,", "//\n"])]
fn hostile_megabyte_in_a_value(bencher: Bencher, shard: &str) {
    let reply = format!("{{\"data\": [{}", shard.repeat(MEGABYTE / shard.len()));
    bencher.bench(|| parse_reply(black_box(&reply), &ReplyLimits::default(), &mut accept));
}
