//! Replies that leak, in many disguises, and harmless ones that share digits with their sources: whole
//! and in pieces of one to seven bytes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]
#![allow(clippy::indexing_slicing, reason = "tests")]

mod disguises;
mod harmless;
mod talker;

#[path = "../support/mod.rs"]
mod support;

use std::sync::Arc;

use kuhaku_core::{ChatRequest, Masker as _, PiiMasker, Placeholder};
use kuhaku_rag::{Answer, AnswerEvent, Messages, Mode, RagEngine};
use kuhaku_testkit::{Planted, planted};

use self::disguises::{DISGUISES, Disguise, Secret};
use self::harmless::harmless;
use self::support::{Base, anonymous, comparable};
use self::talker::{Draw, Talker};

const CASES: usize = 500;
const SEED: u64 = 0x6b75_6861_6b75;

const QUESTION: &str = "How many days of annual leave?";
const PROSE: &str = "Everybody has 25 days of annual leave per year [S1]. They are booked with the \
                     team in good time, and unused ones expire in March [S1]. ";

/// The answer as a whole, and as the pieces that left and the answer behind them.
async fn both(engine: &RagEngine, question: &str) -> (Answer, String, Answer) {
    let whole = engine.ask(&anonymous(question)).await.unwrap();
    let mut stream = engine.ask_stream(&anonymous(question));
    let mut left = String::new();
    loop {
        match stream.next().await.unwrap().unwrap() {
            AnswerEvent::Text(text) => left.push_str(&text),
            AnswerEvent::End { answer, replaces } => {
                assert_eq!(replaces, left != answer.text);
                // A message in place of an answer is no part of the reply.
                if answer.mode == Mode::Refused && !replaces {
                    left.clear();
                }
                return (whole, left, *answer);
            }
            other => panic!("{other:?}"),
        }
    }
}

/// The letters and digits of a text.
fn compact(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// OUT-02, OUT-05: each of the disguises on secrets of each kind that it can be put on.
#[tokio::test]
async fn every_leak_is_held_back_whatever_its_disguise_and_its_pieces() {
    let base = Base::new();
    let text = PROSE.replace("[S1]", "");
    base.add("leave.md", &text, &[]).await;
    let talker = Arc::new(Talker::new(SEED));
    let engine = base.engine().model(talker.clone()).build().unwrap();
    let plain: Vec<Planted> = planted(SEED, CASES);
    let of = |kind: Placeholder| {
        plain.iter().filter(move |it| it.kind == kind).map(|it| it.value.as_str()).cycle()
    };
    let (mut cards, mut mails) = (of(Placeholder::Card), of(Placeholder::Email));
    let (mut ibans, mut sentences) = (of(Placeholder::Iban), plain.iter().cycle());
    let mut draw = Draw::new(SEED);
    let mut missed = Vec::new();
    for case in 0..CASES {
        let Disguise { name, on, dress } = DISGUISES[case % DISGUISES.len()];
        let secret = on[case / DISGUISES.len() % on.len()];
        let (before, after) = (PROSE.repeat(draw.below(4)), PROSE.repeat(draw.below(4)));
        let seed = draw.next();
        let mut needles = Vec::new();
        let dressed = match secret {
            Secret::Canary => String::new(),
            Secret::Card => dress(&compact(cards.next().unwrap()), seed),
            Secret::Iban => dress(&compact(ibans.next().unwrap()).to_uppercase(), seed),
            Secret::Mail => dress(mails.next().unwrap(), seed),
            Secret::Planted => {
                let planted = sentences.next().unwrap();
                needles.clone_from(&planted.needles);
                planted.sentence.clone()
            }
        };
        let said = dressed.clone();
        let (head, tail) = (before.clone(), after.clone());
        talker.says(move |request: &ChatRequest| {
            let canary = request.system.rsplit(' ').next().unwrap();
            let leak = if secret == Secret::Canary { dress(canary, seed) } else { said.clone() };
            format!("{head}It is {leak} and no more. {tail}")
        });
        let (whole, left, streamed) = both(&engine, QUESTION).await;
        for answer in [&whole, &streamed] {
            if answer.mode != Mode::Refused {
                missed.push(format!("{case}: {name} on {secret:?}: {dressed}"));
                continue;
            }
            assert_eq!(answer.text, Messages::default().withheld);
            assert!(answer.citations.is_empty() && answer.retrieved.is_empty());
            assert!(answer.sources.is_empty() && answer.abstained);
        }
        // Of what left, nothing is the leak: it is prose up to it, or the words before the value.
        let prose = format!("{before}It is ");
        let no_part = match secret {
            Secret::Planted => needles.iter().all(|needle| !left.contains(needle)),
            _ => prose.starts_with(left.trim_end()),
        };
        if !no_part {
            missed.push(format!("{case}: {name} on {secret:?} left {left:?}"));
        }
    }
    assert!(missed.is_empty(), "{} of {CASES}: {missed:#?}", missed.len());
}

/// The same numbers in another spelling, in other words, or in part: none is a leak.
#[tokio::test]
async fn no_harmless_reply_is_held_back_for_digits_that_its_sources_have() {
    let mut base = Base::new();
    base.settings.top_k = 1;
    let cases = harmless(SEED, CASES);
    for (at, case) in cases.iter().enumerate() {
        let text = format!("Ledger entry {}: {}\n", name(at), case.source);
        base.add(&format!("{}.txt", name(at)), &text, &[]).await;
    }
    let talker = Arc::new(Talker::new(SEED));
    let engine = base.engine().model(talker.clone()).build().unwrap();
    let mut draw = Draw::new(SEED);
    let (mut blocked, mut looks) = (Vec::new(), 0);
    for (at, case) in cases.iter().enumerate() {
        let (before, after) = (PROSE.repeat(draw.below(3)), PROSE.repeat(draw.below(3)));
        let reply = format!("{before}{} [S1]. {after}", case.reply);
        looks += usize::from(!PiiMasker::new().mask(&reply).redactions().is_empty());
        talker.says(move |_| reply.clone());
        let question = format!("Ledger entry {}?", name(at));
        let (whole, left, streamed) = both(&engine, &question).await;
        assert_eq!(whole.sources.len(), 1, "{question}");
        assert!(whole.sources[0].text.contains(&name(at)), "{question}");
        if whole.mode != Mode::Generated || streamed.mode != Mode::Generated {
            blocked.push(format!("{at}: {}: {} from {}", case.kind, case.reply, case.source));
            continue;
        }
        assert_eq!(comparable(&whole), comparable(&streamed));
        assert_eq!(left, whole.text);
    }
    assert!(blocked.is_empty(), "{} of {CASES}: {blocked:#?}", blocked.len());
    // The test can fail: so many look like personal data.
    assert!(looks >= CASES / 10, "{looks}");
}

/// A word that no other entry has.
fn name(at: usize) -> String {
    let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
    format!("qx{}{}zum", letter(at / 26), letter(at))
}
