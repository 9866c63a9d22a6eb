//! The terms of queries, remembered per piece of text, so that a warm query allocates nothing here.

use std::collections::HashMap;
use std::sync::Arc;

use super::Analyzer;
use super::words::Words;
use crate::fingerprint::Tokenizer;

/// Pieces remembered at most; the next query starts over.
const CAPACITY: usize = 1 << 12;

/// What one thread knows of pieces. For one analyzer.
#[derive(Debug, Default)]
pub(crate) struct QueryMemo {
    known: HashMap<Box<str>, Option<u32>>,
    numbers: HashMap<Arc<str>, u32>,
    /// By number: the term, and its place in the query that last held it, by that query's number.
    names: Vec<(Arc<str>, u64, usize)>,
    query: u64,
    /// Of the current query: terms by number, and how often they count.
    terms: Vec<(u32, u32)>,
    term: String,
    words: Words,
}

impl QueryMemo {
    fn number(&mut self) -> u32 {
        if let Some(number) = self.numbers.get(self.term.as_str()) {
            return *number;
        }
        let name: Arc<str> = self.term.as_str().into();
        let number = self.names.len() as u32;
        self.names.push((Arc::clone(&name), 0, 0));
        self.numbers.insert(name, number);
        number
    }

    fn count(&mut self, number: u32, again: bool) {
        let Some((_, query, place)) = self.names.get_mut(number as usize) else { return };
        if *query != self.query {
            (*query, *place) = (self.query, self.terms.len());
            self.terms.push((number, 1));
        } else if again && let Some((_, count)) = self.terms.get_mut(*place) {
            *count = count.saturating_add(1);
        }
    }
}

impl Analyzer {
    /// Calls `found` with the distinct terms of a query and how often each counts, in the order in
    /// which they first stand there. The memo must have been used with this analyzer alone.
    pub(crate) fn each_query_term(
        &self,
        text: &str,
        memo: &mut QueryMemo,
        found: &mut dyn FnMut(&str, u32),
    ) {
        if memo.known.len() > CAPACITY {
            *memo = QueryMemo::default();
        }
        memo.query += 1;
        memo.terms.clear();
        let again = self.tokenizer == Tokenizer::Simple;
        let mut words = std::mem::take(&mut memo.words);
        self.pieces(text, &mut words, &mut |piece| {
            let Some(raw) = text.get(piece.range).filter(|_| !piece.stored_only) else { return };
            let number = match memo.known.get(raw) {
                Some(number) => *number,
                None => {
                    let mut term = std::mem::take(&mut memo.term);
                    let some = self.term(raw, &mut term);
                    memo.term = term;
                    let number = some.then(|| memo.number());
                    memo.known.insert(raw.into(), number);
                    number
                }
            };
            if let Some(number) = number {
                memo.count(number, again);
            }
        });
        memo.words = words;
        for (number, count) in &memo.terms {
            if let Some((name, ..)) = memo.names.get(*number as usize) {
                found(name, *count);
            }
        }
    }
}
