//! Whether the sources hold what a reply cites them for.

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use kuhaku_index::{Analyzer, Language};
use serde::Serialize;

use super::language;
use super::numbers;
use super::sentences::first_end;
use super::tags::{self, Bracket, bracket};
use crate::question::{Terms, terms};
use crate::retrieve::Hit;

/// Informative words that a sentence has at least to count as a statement.
const STATEMENT: usize = 2;

/// How a generated answer rests on its sources, in sentences.
///
/// Questions, headings and other sentences with fewer than two informative words are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Grounding {
    /// Sentences that state something.
    pub sentences: usize,
    /// Those of them that cite a source that there is.
    pub cited: usize,
    /// Those of them whose cited sources all hold their words and numbers.
    pub grounded: usize,
}

/// What replies are checked against.
pub(super) struct Grounds<'a> {
    analyzer: &'a Analyzer,
    hits: &'a [&'a Hit],
    sources: Vec<OnceLock<Held>>,
    question: &'a str,
    /// The numbers of the question.
    asked: OnceLock<HashSet<String>>,
    threshold: f64,
    mark: &'a str,
}

/// The words and numbers of a text.
struct Held {
    text: String,
    terms: Terms,
    numbers: OnceLock<HashSet<String>>,
    language: OnceLock<Option<Language>>,
}

/// What one sentence cites, and what of it is not there.
#[derive(Debug, Default, PartialEq, Eq)]
struct Judgement {
    states: bool,
    cites: bool,
    ungrounded: BTreeSet<usize>,
}

impl<'a> Grounds<'a> {
    pub(super) fn new(
        analyzer: &'a Analyzer,
        hits: &'a [&'a Hit],
        question: &'a str,
        threshold: f64,
        mark: &'a str,
    ) -> Self {
        let sources = hits.iter().map(|_| OnceLock::new()).collect();
        let asked = OnceLock::new();
        Self { analyzer, hits, sources, question, asked, threshold, mark }
    }

    /// Marks the citations of a reply that comes in pieces.
    pub(super) fn annotator(&self) -> Annotator<'_> {
        Annotator { grounds: self, pending: String::new(), given: 0, told: Told::default() }
    }

    fn source(&self, number: usize) -> Option<&Held> {
        let at = number.checked_sub(1)?;
        let text = || {
            let chunk = &self.hits.get(at)?.chunk;
            let headings = chunk.headings.join("\n");
            let texts = [chunk.title.as_str(), headings.as_str(), chunk.text.as_str()];
            Some(texts.join("\n"))
        };
        let held = || Held::new(self.analyzer, text().unwrap_or_default());
        self.sources.get(at).map(|source| source.get_or_init(held))
    }

    /// Reads one sentence with its tags.
    fn judge(&self, sentence: &str) -> Judgement {
        let claim = claim(sentence);
        let words: Terms = terms(self.analyzer, &claim)
            .into_iter()
            .filter(|term| term.chars().any(char::is_alphabetic))
            .collect();
        let cited: BTreeSet<usize> =
            tags::all(sentence).flat_map(|(_, _, numbers)| numbers).collect();
        let cited: Vec<(usize, &Held)> =
            cited.into_iter().filter_map(|number| Some((number, self.source(number)?))).collect();
        let states = words.len() >= STATEMENT && !claim.trim_end().ends_with(['?', ':']);
        let mut judgement =
            Judgement { states, cites: !cited.is_empty(), ungrounded: BTreeSet::new() };
        let known = |reading: &String| {
            self.asked.get_or_init(|| numbers::all(self.question)).contains(reading)
                || cited.iter().any(|(_, source)| source.holds_number(reading))
        };
        let invented =
            numbers::in_digits(&claim).iter().any(|readings| !readings.iter().any(known));
        let held_by = |source: &Held| words.iter().filter(|it| source.terms.contains(*it)).count();
        let held_by_some = |word: &&String| cited.iter().any(|(_, it)| it.terms.contains(*word));
        let held_by_none = words.len() - words.iter().filter(held_by_some).count();
        for (number, source) in &cited {
            // What only the other sources of the sentence hold is not asked of this one.
            let held = held_by(source);
            let asked = held + held_by_none;
            // In f64 exactly: words of one sentence.
            let share = if asked > 0 { held as f64 / asked as f64 } else { 1.0 };
            if invented || share < self.threshold && !speaks_another(&claim, source) {
                judgement.ungrounded.insert(*number);
            }
        }
        judgement
    }
}

impl Held {
    fn new(analyzer: &Analyzer, text: String) -> Self {
        let terms = terms(analyzer, &text);
        Self { text, terms, numbers: OnceLock::new(), language: OnceLock::new() }
    }

    fn holds_number(&self, reading: &str) -> bool {
        self.numbers.get_or_init(|| numbers::all(&self.text)).contains(reading)
    }

    fn language(&self) -> Option<Language> {
        *self.language.get_or_init(|| language::of(&self.text))
    }
}

/// Whether a sentence is in another language than a source: their words say nothing of each other then.
fn speaks_another(claim: &str, source: &Held) -> bool {
    source.language().is_some_and(|theirs| language::of(claim).is_some_and(|ours| ours != theirs))
}

/// A sentence without its tags and the number of its list.
fn claim(sentence: &str) -> String {
    let mut claim = String::with_capacity(sentence.len());
    let mut done = 0;
    for (at, length, _) in tags::all(sentence) {
        claim.push_str(sentence.get(done..at).unwrap_or_default());
        done = at + length;
    }
    claim.push_str(sentence.get(done..).unwrap_or_default());
    let text = claim.trim_start_matches(|c: char| c.is_whitespace() || "#*-_•>".contains(c));
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['.', ')']) {
        Some(item) if rest.len() < text.len() && item.starts_with(char::is_whitespace) => {
            item.to_owned()
        }
        _ => text.to_owned(),
    }
}

/// A sentence with a mark behind each bracket that names one of these numbers.
fn annotate(sentence: &str, ungrounded: &BTreeSet<usize>, mark: &str) -> String {
    let mut marked = String::with_capacity(sentence.len() + mark.len() * ungrounded.len());
    let mut done = 0;
    for (at, length, numbers) in tags::all(sentence) {
        if numbers.iter().any(|number| ungrounded.contains(number)) {
            marked.push_str(sentence.get(done..at + length).unwrap_or_default());
            marked.push_str(mark);
            done = at + length;
        }
    }
    marked.push_str(sentence.get(done..).unwrap_or_default());
    marked
}

/// What the sentences so far told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) grounding: Grounding,
    /// The numbers of ungrounded citations, one for each sentence.
    pub(crate) ungrounded: Vec<usize>,
}

/// Marks citations as the sentences that they stand in are complete. All else leaves at once.
pub(crate) struct Annotator<'a> {
    grounds: &'a Grounds<'a>,
    /// The sentence that is not complete, and how much of it has been given.
    pending: String,
    given: usize,
    told: Told,
}

impl Annotator<'_> {
    /// Takes more of the reply, and gives what may leave of it; of the last piece all.
    pub(crate) fn push(&mut self, text: &str, last: bool) -> String {
        self.pending.push_str(text);
        let mut leaves = String::with_capacity(text.len());
        let mut done = 0;
        while let Some(end) = self.pending.get(done..).and_then(|rest| first_end(rest, last)) {
            let sentence = self.pending.get(done..done + end).unwrap_or_default();
            done += end;
            let Judgement { states, cites, ungrounded } = self.grounds.judge(sentence);
            let grounding = &mut self.told.grounding;
            grounding.sentences += usize::from(states);
            grounding.cited += usize::from(states && cites);
            grounding.grounded += usize::from(states && cites && ungrounded.is_empty());
            let marked = annotate(sentence, &ungrounded, self.grounds.mark);
            // What has been given may reach beyond, into what turned out to be the next sentence.
            leaves.push_str(marked.get(self.given.min(end)..).unwrap_or_default());
            self.told.ungrounded.extend(ungrounded);
            self.given = self.given.saturating_sub(end);
        }
        self.pending.drain(..done);
        let rest = self.pending.get(self.given..).unwrap_or_default();
        let holds = |(_, tail): (usize, &str)| bracket(tail) != Bracket::None;
        let tails =
            rest.match_indices(['[', '［']).map(|(at, _)| (at, rest.get(at..).unwrap_or_default()));
        let free = tails.into_iter().find(|tail| holds(*tail)).map_or(rest.len(), |(at, _)| at);
        leaves.push_str(rest.get(..free).unwrap_or_default());
        self.given += free;
        leaves
    }

    pub(crate) fn told(self) -> Told {
        self.told
    }
}

#[cfg(test)]
mod tests {
    use kuhaku_core::AccessTags;
    use kuhaku_index::{StoredChunk, Tokenizer};
    use proptest::prelude::*;

    use super::*;

    fn hits(texts: &[&str]) -> Vec<Hit> {
        let hit = |(at, text): (usize, &&str)| {
            let id = format!("d::{at}").parse().unwrap();
            Hit::new(StoredChunk::new(id, *text, AccessTags::none()))
        };
        texts.iter().enumerate().map(hit).collect()
    }

    /// The reply marked at a threshold, and what was told.
    fn marked(reply: &str, sources: &[&str], threshold: f64) -> (String, Told) {
        let hits = hits(sources);
        let hits: Vec<&Hit> = hits.iter().collect();
        let analyzer = Analyzer::new(Tokenizer::Default, Language::En);
        let question = "How many days, 30 or fewer?";
        let grounds = Grounds::new(&analyzer, &hits, question, threshold, "[unverified]");
        let mut annotator = grounds.annotator();
        let text = annotator.push(reply, true);
        (text, annotator.told())
    }

    const TIMEOUT: &str = "3D Secure timeout occurs when the issuer does not respond in time.";

    /// OUT-01
    #[test]
    fn a_citation_that_its_source_does_not_support_is_marked() {
        for threshold in [0.1, 0.2, 1.0] {
            let supported = format!("{TIMEOUT} [S1]");
            assert_eq!(marked(&supported, &[TIMEOUT], threshold).0, supported);
            let (text, told) = marked("You need to cancel your card. [S1]", &[TIMEOUT], threshold);
            assert_eq!(text, "You need to cancel your card. [S1][unverified]");
            assert_eq!(told.ungrounded, [1]);
        }
        let mut sources = ["a bird"; 10];
        sources[9] = "z";
        let (text, _) = marked("x [S1] y [S1] z [S10]", &sources, 0.1);
        assert_eq!(text, "x [S1][unverified] y [S1][unverified] z [S10]");
        assert_eq!(marked("All is well. [S5]", &[TIMEOUT], 0.1).0, "All is well. [S5]");
    }

    /// W-20: a short sentence that is a part of a long source is supported.
    #[test]
    fn a_short_sentence_is_held_by_a_long_source() {
        let long = format!("{TIMEOUT} Banks are slow on holidays, and so is the issuer of a card.");
        for reply in ["The issuer is slow [S1].", "Issuers respond slowly [S1]."] {
            assert_eq!(marked(reply, &[&long], 0.2).0, reply);
        }
    }

    #[test]
    fn a_number_must_stand_in_a_source_of_the_sentence_or_in_the_question() {
        let sources =
            ["Everybody has twenty-five days of annual leave.", "Sick leave: 1,500 hours."];
        for (reply, expected) in [
            ("Everybody has 25 days of leave [S1].", "Everybody has 25 days of leave [S1]."),
            (
                "Everybody has 26 days of leave [S1].",
                "Everybody has 26 days of leave [S1][unverified].",
            ),
            ("Not 30 days of leave [S1].", "Not 30 days of leave [S1]."),
            ("Sick leave is 1500 hours [S2].", "Sick leave is 1500 hours [S2]."),
            (
                "Leave has 25 days, sick leave 1.500 hours [S1, S2].",
                "Leave has 25 days, sick leave 1.500 hours [S1, S2].",
            ),
            (
                "1. Everybody has leave [S1].\n2. Sick leave [S2].",
                "1. Everybody has leave [S1].\n2. Sick leave [S2].",
            ),
        ] {
            assert_eq!(marked(reply, &sources, 0.2).0, expected);
        }
    }

    #[test]
    fn each_source_of_a_sentence_is_asked_for_what_the_others_do_not_hold() {
        let sources = ["Red foxes hunt at night.", "Grey wolves sleep in caves."];
        let both = "Red foxes hunt at night [S1] and grey wolves sleep in caves [S2].";
        assert_eq!(marked(both, &sources, 0.9).0, both);
        let wrong = marked("Red foxes hunt at night [S1][S2].", &sources, 0.2).0;
        assert_eq!(wrong, "Red foxes hunt at night [S1][S2].", "nothing is left to ask of S2");
    }

    #[test]
    fn words_of_another_language_are_not_compared_but_numbers_are() {
        let source = "Her çalışanın yılda 25 gün izni var ve bu izin için yöneticiye başvurur.";
        let reply = "You have 25 days of leave for which you apply to your manager [S1].";
        assert_eq!(marked(reply, &[source], 0.2).0, reply);
        let wrong = reply.replace("25", "26");
        assert!(marked(&wrong, &[source], 0.2).0.contains("[unverified]"));
    }

    #[test]
    fn sentences_are_counted_by_what_they_state_and_cite() {
        let reply = "# Annual leave\nEverybody has 25 days of annual leave [S1]. Unused days expire \
                     in March. Is that so? Yes. Foxes hunt grey wolves [S1]. They do [S9].";
        let source = "Everybody has 25 days of annual leave.";
        let told = marked(reply, &[source], 0.2).1;
        let Grounding { sentences, cited, grounded } = told.grounding;
        assert_eq!((sentences, cited, grounded), (4, 2, 1));
    }

    proptest! {
        #[test]
        fn a_reply_in_pieces_is_marked_like_the_whole(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "Foxes", " hunt", " 26", " days", "[S1]", " [S1", ", S2]", ".", ". ", "\n", " [x] ", "[",
                    "Everybody has 25 days of leave", " é", "。",
                ]),
                0..40,
            ),
        ) {
            let sources = ["Everybody has 25 days of annual leave.", "Foxes hunt."];
            let hits = hits(&sources);
            let hits: Vec<&Hit> = hits.iter().collect();
            let analyzer = Analyzer::new(Tokenizer::Default, Language::En);
            let grounds = Grounds::new(&analyzer, &hits, "", 0.2, "[unverified]");
            let mut whole = grounds.annotator();
            let expected = whole.push(&parts.concat(), true);
            let mut pieces = grounds.annotator();
            let mut given: String = parts.iter().map(|part| pieces.push(part, false)).collect();
            prop_assert!(expected.starts_with(&given));
            given.push_str(&pieces.push("", true));
            prop_assert_eq!(given, expected);
            prop_assert_eq!(pieces.told(), whole.told());
        }
    }
}
