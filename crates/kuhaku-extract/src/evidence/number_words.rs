//! Numbers in words, English and Turkish: from zero to the billions, halves and quarters, dozens.
//!
//! Words that stand side by side are one number, "twenty five", or state none, "twenty twelve". Turkish
//! words count in Turkish texts only: "on" and "bin" are English words too.

use std::ops::Range;

use crate::decimal::Decimal;

use super::border::Words;
use super::number::{Number, Reading, mixed};

/// A word that multiplies the number before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scale {
    /// Ten to this power.
    Power(i64),
    /// Twelve.
    Dozen,
}

/// A word that makes a written number larger.
pub(super) fn scale(word: &str) -> Option<Scale> {
    Some(Scale::Power(match word {
        "hundred" | "yüz" => 2,
        "thousand" | "bin" | "thousands" | "tausend" | "тысяч" | "тысячи" | "тысяча" | "हजार"
        | "हज़ार" | "الف" | "ألف" => 3,
        "lakh" | "lakhs" | "लाख" => 5,
        "million" | "millions" | "milyon" | "mio" | "миллион" | "миллиона" | "миллионов"
        | "millionen" | "مليون" => 6,
        "crore" | "crores" | "करोड़" => 7,
        "billion" | "billions" | "milyar" => 9,
        "trillion" | "trillions" | "trilyon" => 12,
        "dozen" | "dozens" | "düzine" => return Some(Scale::Dozen),
        _ => return ideograph(word.chars().next()?).filter(|_| word.chars().count() == 1),
    }))
}

/// An ideograph that multiplies the number before it.
pub(super) fn ideograph(c: char) -> Option<Scale> {
    Some(Scale::Power(match c {
        '十' => 1,
        '百' | '백' => 2,
        '千' | '천' => 3,
        '万' | '萬' | '만' => 4,
        '億' | '亿' | '억' => 8,
        '兆' => 12,
        _ => return None,
    }))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Unit(u64),
    Ten(u64),
    Hundred,
    Power(u32),
    Dozen,
    /// A half, alone or behind a whole number.
    Half,
    Quarter,
}

/// The numbers that a text states in words, given folded as well.
pub(super) fn spelled(original: &str, all: &Words<'_>) -> Vec<Number> {
    let (text, turkish) = (all.text, is_turkish(original, all));
    let mut found = Vec::new();
    let mut phrase: Vec<Spelled> = Vec::new();
    let (mut before, mut scaled) = ("", 0);
    for (start, word) in all.iter() {
        let place = start..start + word.len();
        let last = phrase.last().map_or(0, |it| it.place.end);
        let gap = text.get(last..start).unwrap_or_default();
        match meaning(word, turkish).filter(|_| !is_pronoun(before, word)) {
            Some(parts) => {
                if !GAPS.contains(&gap) {
                    found.extend(number(&std::mem::take(&mut phrase), text));
                }
                // "5 hundred thousand" is one number, read from its digits.
                let scale = !matches!(parts.first(), Some(Word::Unit(_) | Word::Ten(_)));
                let goes_on = scaled > 0 && text.get(scaled..start) == Some(" ");
                if phrase.is_empty() && scale && (goes_on || follows_digits(text, start)) {
                    scaled = place.end;
                } else if !phrase.is_empty() || !is_hung(text, start) {
                    phrase.push(Spelled { place, parts });
                }
            }
            // Whether these join two words is seen when the second one comes.
            None if word == "and" || word == "a" => {}
            None => found.extend(number(&std::mem::take(&mut phrase), text)),
        }
        before = word;
    }
    found.extend(number(&phrase, text));
    found
}

/// A number word, or several in one.
struct Spelled {
    place: Range<usize>,
    parts: Vec<Word>,
}

/// What may stand between the words of one number.
const GAPS: [&str; 5] = [" ", "-", " and ", " and a ", " a "];

/// Whether a digit stands before: 5 thousand, 5-thousand.
fn follows_digits(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let near = before.strip_suffix(" and a ").or(before.strip_suffix([' ', '-']));
    near.is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_digit()))
}

/// Whether a name stands right before: x-five.
fn is_hung(text: &str, start: usize) -> bool {
    let mut before = text.get(..start).unwrap_or_default().chars().rev();
    before.next() == Some('-') && before.next().is_some_and(char::is_alphanumeric)
}

/// "the one", "no one", "hiç bir": no numbers.
fn is_pronoun(before: &str, word: &str) -> bool {
    let one = ["no", "any", "every", "some", "the", "this", "that", "which", "each", "another"];
    (word == "one" && one.contains(&before)) || (word == "bir" && ["hiç", "her"].contains(&before))
}

/// What a run of number words states, if it states one number.
fn number(phrase: &[Spelled], text: &str) -> Vec<Number> {
    let (Some(first), Some(last)) = (phrase.first(), phrase.last()) else { return Vec::new() };
    let place = first.place.start..last.place.end;
    // "five and six" are two, "hundred and five" is one.
    for (at, pair) in phrase.windows(2).enumerate() {
        let [left, right] = pair else { continue };
        let gap = text.get(left.place.end..right.place.start).unwrap_or_default();
        let end = left.parts.last();
        let one = match gap {
            " and " | " and a " => {
                matches!(end, Some(Word::Hundred | Word::Power(_)))
                    || matches!(right.parts.first(), Some(Word::Half | Word::Quarter))
            }
            " a " => end == Some(&Word::Half),
            _ => true,
        };
        if !one {
            let (left, right) = phrase.split_at(at + 1);
            let mut found = number(left, text);
            found.extend(number(right, text));
            return found;
        }
    }
    let all: Vec<Word> = phrase.iter().flat_map(|it| it.parts.iter().copied()).collect();
    let Some(mut readings) = value(&all) else { return Vec::new() };
    let before = text.get(..place.start).unwrap_or_default().trim_end();
    let minus = ["minus", "eksi"].iter().any(|it| before.ends_with(it));
    if minus {
        readings.retain(|it| matches!(it, Reading::Exactly(_)));
        for reading in &mut readings {
            if let Reading::Exactly(number) = reading {
                *number = number.clone().negated();
            }
        }
    }
    vec![Number { place, readings }]
}

fn value(words: &[Word]) -> Option<Vec<Reading>> {
    let (mut total, mut current, mut power) = (0_u64, None::<u64>, u32::MAX);
    let exactly = |value: u64| Reading::Exactly(Decimal::new(false, &value.to_string(), 0));
    for (place, word) in words.iter().enumerate() {
        let so_far = current.unwrap_or(0);
        match word {
            Word::Unit(unit) => {
                let fits = match current {
                    None => true,
                    Some(it) => {
                        it != 0 && (it % 100 == 0 || (it % 10 == 0 && it % 100 > 10 && *unit < 10))
                    }
                };
                // Ten itself takes units in Turkish only: "on iki".
                let turkish_ten = so_far % 100 == 10 && *unit < 10;
                if !(fits || turkish_ten) || (*unit == 0 && place > 0) {
                    return None;
                }
                current = Some(so_far + unit);
            }
            Word::Ten(ten) => {
                if so_far % 100 != 0 || current == Some(0) {
                    return None;
                }
                current = Some(so_far + ten);
            }
            Word::Hundred => {
                if so_far >= 100 || current == Some(0) {
                    return None;
                }
                current = Some(so_far.max(1) * 100);
            }
            Word::Power(next) => {
                if *next >= power || current == Some(0) {
                    return None;
                }
                let scale = 10_u64.checked_pow(*next)?;
                total = total.checked_add(current.take().unwrap_or(1).checked_mul(scale)?)?;
                power = *next;
            }
            Word::Dozen => {
                let half = place == 1 && words.first() == Some(&Word::Half);
                if words.len() != place + 1 {
                    return None;
                }
                if half {
                    return Some(vec![exactly(6)]);
                }
                let count = total + so_far;
                let twelves = exactly(count.max(1).checked_mul(12)?);
                let plain = (count > 0).then(|| exactly(count));
                return Some(plain.into_iter().chain([twelves]).collect());
            }
            Word::Half | Word::Quarter => {
                let below = if *word == Word::Half { 2 } else { 4 };
                if words.len() == place + 1 {
                    let whole = total + so_far;
                    if *word == Word::Quarter && place > 0 {
                        // three quarters
                        return (total == 0 && whole < 4).then(|| vec![Reading::Ratio(whole, 4)]);
                    }
                    let whole = Decimal::new(false, &whole.to_string(), 0);
                    return Some(vec![mixed(&whole, 1, below)?]);
                }
                if !(*word == Word::Half && place == 0 && words.get(1) == Some(&Word::Dozen)) {
                    return None;
                }
            }
        }
    }
    Some(vec![exactly(total.checked_add(current.unwrap_or(0))?)])
}

fn meaning(word: &str, turkish: bool) -> Option<Vec<Word>> {
    let english = if turkish && word == "ten" { None } else { english(word) };
    match english {
        Some(meaning) => Some(vec![meaning]),
        None if turkish => turkish_parts(word),
        None => None,
    }
}

fn english(word: &str) -> Option<Word> {
    Some(match word {
        "zero" => Word::Unit(0),
        "one" => Word::Unit(1),
        "two" => Word::Unit(2),
        "three" => Word::Unit(3),
        "four" => Word::Unit(4),
        "five" => Word::Unit(5),
        "six" => Word::Unit(6),
        "seven" => Word::Unit(7),
        "eight" => Word::Unit(8),
        "nine" => Word::Unit(9),
        "ten" => Word::Unit(10),
        "eleven" => Word::Unit(11),
        "twelve" => Word::Unit(12),
        "thirteen" => Word::Unit(13),
        "fourteen" => Word::Unit(14),
        "fifteen" => Word::Unit(15),
        "sixteen" => Word::Unit(16),
        "seventeen" => Word::Unit(17),
        "eighteen" => Word::Unit(18),
        "nineteen" => Word::Unit(19),
        "twenty" => Word::Ten(20),
        "thirty" => Word::Ten(30),
        "forty" | "fourty" => Word::Ten(40),
        "fifty" => Word::Ten(50),
        "sixty" => Word::Ten(60),
        "seventy" => Word::Ten(70),
        "eighty" => Word::Ten(80),
        "ninety" => Word::Ten(90),
        "hundred" => Word::Hundred,
        "thousand" => Word::Power(3),
        "million" => Word::Power(6),
        "billion" => Word::Power(9),
        "dozen" => Word::Dozen,
        "half" => Word::Half,
        "quarter" | "quarters" => Word::Quarter,
        _ => return None,
    })
}

/// In the folded form: every i has its dot.
const TURKISH: [(&str, Word); 27] = [
    ("sifir", Word::Unit(0)),
    ("bir", Word::Unit(1)),
    ("iki", Word::Unit(2)),
    ("üç", Word::Unit(3)),
    ("dört", Word::Unit(4)),
    ("beş", Word::Unit(5)),
    ("altmiş", Word::Ten(60)),
    ("alti", Word::Unit(6)),
    ("yedi", Word::Unit(7)),
    ("sekiz", Word::Unit(8)),
    ("dokuz", Word::Unit(9)),
    ("on", Word::Ten(10)),
    ("yirmi", Word::Ten(20)),
    ("otuz", Word::Ten(30)),
    ("kirk", Word::Ten(40)),
    ("elli", Word::Ten(50)),
    ("yetmiş", Word::Ten(70)),
    ("seksen", Word::Ten(80)),
    ("doksan", Word::Ten(90)),
    ("yüz", Word::Hundred),
    ("bin", Word::Power(3)),
    ("milyon", Word::Power(6)),
    ("milyar", Word::Power(9)),
    ("düzine", Word::Dozen),
    ("yarim", Word::Half),
    ("buçuk", Word::Half),
    ("çeyrek", Word::Quarter),
];

/// One Turkish number word, or several written as one: "yirmibeş".
fn turkish_parts(word: &str) -> Option<Vec<Word>> {
    let (mut rest, mut parts) = (word, Vec::new());
    while !rest.is_empty() {
        let (name, meaning) = TURKISH.iter().find(|(name, _)| rest.starts_with(name))?;
        parts.push(*meaning);
        rest = rest.get(name.len()..)?;
    }
    Some(parts)
}

/// Whether the text is Turkish, by its letters or by words that no other language shares.
fn is_turkish(original: &str, all: &Words<'_>) -> bool {
    let shows = |word: &str| {
        matches!(
            word,
            "bir"
                | "iki"
                | "üç"
                | "dört"
                | "yedi"
                | "sekiz"
                | "dokuz"
                | "yirmi"
                | "otuz"
                | "yüz"
                | "milyon"
                | "adet"
                | "tane"
                | "kutu"
                | "için"
                | "lütfen"
                | "istiyorum"
                | "ve"
                | "olsun"
                | "çay"
                | "kilo"
                | "paket"
                | "var"
                | "yok"
        )
    };
    (!original.is_ascii() && original.contains(['ğ', 'Ğ', 'ş', 'Ş', 'ı', 'İ']))
        || all.iter().any(|(_, word)| shows(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts are given folded, but for the letters that show the language.
    fn states(text: &str, value: &str) -> bool {
        let folded = super::super::fold::folded(text);
        let value = Decimal::parse(value).unwrap();
        let places = super::super::border::word_places(&folded);
        let words = Words { text: &folded, places: &places };
        super::super::number::numbers(text, &words).place(&value, &(0..folded.len())).is_some()
    }

    #[test]
    fn words_state_numbers_in_english_and_turkish() {
        for (text, value) in [
            ("five boxes", "5"),
            ("Twenty-five", "25"),
            ("twenty five", "25"),
            ("one hundred and five", "105"),
            ("a hundred", "100"),
            ("two thousand three hundred", "2300"),
            ("one million two hundred thousand", "1200000"),
            ("a dozen eggs", "12"),
            ("two dozen", "24"),
            ("half a dozen", "6"),
            ("two and a half", "2.5"),
            ("half", "0.5"),
            ("three quarters", "0.75"),
            ("minus five", "-5"),
            ("five and six", "5"),
            ("five and six", "6"),
            ("one, two, three", "2"),
            ("beş kutu", "5"),
            ("yirmi beş", "25"),
            ("yirmibeş adet", "25"),
            ("YİRMİ BEŞ", "25"),
            ("on iki tane", "12"),
            ("altmış altı", "66"),
            ("kırk", "40"),
            ("yüz elli bin", "150000"),
            ("bin beş yüz", "1500"),
            ("iki buçuk kilo", "2.5"),
            ("yarım kilo", "0.5"),
            ("çeyrek kilo süt için", "0.25"),
            ("bir düzine", "12"),
            ("zero", "0"),
            ("room 12 five boxes", "5"),
            ("one-way", "1"),
        ] {
            assert!(states(text, value), "{value} by {text}");
        }
    }

    #[test]
    fn parts_of_number_words_state_nothing() {
        for (text, value) in [
            ("fifteen", "5"),
            ("twenty five", "20"),
            ("twenty five", "5"),
            ("twenty twelve", "20"),
            ("twenty twelve", "12"),
            ("fivefold", "5"),
            ("someone", "1"),
            ("no one came", "1"),
            ("tea on the table", "10"),
            ("put it in the bin", "1000"),
            ("five thousand", "5"),
            ("two and a half", "2"),
            ("three quarters", "3"),
            ("yirmi beş", "5"),
            ("yirmi beş", "20"),
            ("yüz elli", "100"),
            ("iki buçuk", "2"),
            ("minus five", "5"),
            ("birkaç kutu", "1"),
            ("altmış", "6"),
            ("hiç bir şey", "1"),
        ] {
            assert!(!states(text, value), "{value} by {text}");
        }
    }
}
