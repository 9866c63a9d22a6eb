//! Indexes the lines of FOLDER/corpus.txt with tantivy in memory and searches for the lines of
//! FOLDER/common.txt and FOLDER/rare.txt, one query at a time, the best of three. Prints one JSON value.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, Schema, TEXT};
use tantivy::{Index, Searcher, doc};

fn timed(searcher: &Searcher, parser: &QueryParser, queries: &str) -> f64 {
    let search = |query: &str| {
        let query = parser.parse_query(query).unwrap();
        black_box(searcher.search(&query, &TopDocs::with_limit(10)).unwrap());
    };
    queries.lines().for_each(search);
    let mut times: Vec<f64> = queries
        .lines()
        .map(|query| {
            let run = |_| {
                let begun = Instant::now();
                search(query);
                begun.elapsed().as_secs_f64() * 1e6
            };
            (0..3).map(run).fold(f64::INFINITY, f64::min)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let read = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    let corpus = read("corpus.txt");
    let begun = Instant::now();
    let mut schema = Schema::builder();
    let text = schema.add_text_field("text", TEXT | STORED);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer(200_000_000).unwrap();
    for line in corpus.lines() {
        writer.add_document(doc!(text => line)).unwrap();
    }
    writer.commit().unwrap();
    let index_ms = begun.elapsed().as_secs_f64() * 1e3;
    writer.wait_merging_threads().unwrap();
    let searcher = index.reader().unwrap().searcher();
    let parser = QueryParser::for_index(&index, vec![text]);
    let common_us = timed(&searcher, &parser, &read("common.txt"));
    let rare_us = timed(&searcher, &parser, &read("rare.txt"));
    println!(r#"{{"index_ms":{index_ms},"common_us":{common_us},"rare_us":{rare_us}}}"#);
}
