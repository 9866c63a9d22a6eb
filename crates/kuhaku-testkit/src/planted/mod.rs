//! Values that must never get out, each in a sentence of its own.
//!
//! All kinds of the default masker are there, with right check digits, between many neighbours. The
//! check digits are made here and not by the masker's own code, so that the two can disagree.

mod cards;
mod draw;
mod ids;
mod network;
mod phones;
mod sentences;
mod tokens;

use kuhaku_core::Placeholder;

use self::draw::Draw;

/// Bytes of the shortest needle: fewer may stand anywhere by chance.
const SHORTEST_NEEDLE: usize = 9;

/// A value and the sentence that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Planted {
    /// What masks it.
    pub kind: Placeholder,
    /// The value as it is written.
    pub value: String,
    /// A text that holds the value once, with neighbours. It may have several lines.
    pub sentence: String,
    /// What must never be found in any byte that is written or sent: the value, its letters and digits
    /// alone, and the part that no other value has.
    pub needles: Vec<String>,
}

/// How a value may be announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announced {
    /// In any way, or not at all.
    Freely,
    /// By a word nearby.
    ByWord,
    /// By a name and a sign of assignment.
    ByAssignment,
    /// It brings its own words along and stands on its own.
    ByItself,
}

/// A value before it stands anywhere.
#[derive(Clone, Debug)]
struct Value {
    kind: Placeholder,
    announced: Announced,
    /// The word that announces it.
    word: &'static str,
    text: String,
    /// The part that no other value has.
    core: String,
}

/// Makes a value of one kind.
type Maker = fn(&mut Draw) -> Value;

/// `count` values, each kind in its turn: the same ones for the same seed.
///
/// ```
/// let planted = kuhaku_testkit::planted(7, 3);
/// assert_eq!(planted, kuhaku_testkit::planted(7, 3));
/// assert!(planted.iter().all(|it| it.sentence.contains(&it.value)));
/// ```
pub fn planted(seed: u64, count: usize) -> Vec<Planted> {
    let makers: Vec<Maker> =
        [cards::MAKERS, ids::MAKERS, network::MAKERS, phones::MAKERS, tokens::MAKERS].concat();
    let mut draw = Draw::new(seed);
    let values = makers.iter().cycle().take(count);
    values.map(|make| plant(make(&mut draw), &mut draw)).collect()
}

fn plant(value: Value, draw: &mut Draw) -> Planted {
    let sentence = sentences::around(&value, draw);
    let compact: String = value.text.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut needles = vec![value.text.clone(), compact, value.core];
    needles.sort();
    needles.dedup();
    needles.retain(|needle| needle.len() >= SHORTEST_NEEDLE);
    Planted { kind: value.kind, value: value.text, sentence, needles }
}
