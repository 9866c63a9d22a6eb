//! Telephone numbers as their countries write them.

use kuhaku_core::Placeholder;

use super::draw::Draw;
use super::{Announced, Maker, Value};

/// `#` stands for any digit, `N` for one from 2 to 8.
const SHAPES: &[&str] = &[
    "+90 532 N## ## ##",
    "+1-415-N##-####",
    "+1 (415) N##-####",
    "+44 20 7N## ####",
    "+44 (0)20 7N## ####",
    "+49 30 N######",
    "+33 1 N# ## ## ##",
    "+34 612 N## ###",
    "+39 06 N### ####",
    "+31 6 N#######",
    "+91 98765 N####",
    "+55 11 9N###-####",
    "+90532N######",
    "0044 20 7N## ####",
    "(212) N##-####",
    "415-N##-####",
    "415.N##.####",
    "0532 N## ## ##",
    "(0532) N## ## ##",
    "0532N######",
    "020 7N## ####",
    "0171 N######",
    "01 N# ## ## ##",
    "06-N#######",
    "(11) 9N###-####",
];

/// Without a calling code or a trunk digit.
const BARE: &[&str] = &["N#########", "532 N######", "612 N## ###", "98765 N####"];

pub(super) const MAKERS: &[Maker] = &[
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, SHAPES, Announced::Freely),
    |draw| number(draw, BARE, Announced::ByWord),
    |draw| number(draw, BARE, Announced::ByWord),
];

fn number(draw: &mut Draw, shapes: &[&'static str], announced: Announced) -> Value {
    let shape = draw.pick(shapes);
    let mut digit = |c: char| match c {
        '#' => draw.digits(1),
        'N' => draw.of("2345678", 1),
        other => other.to_string(),
    };
    let text: String = shape.chars().map(&mut digit).collect();
    let core = text.chars().filter(char::is_ascii_digit).collect();
    Value { kind: Placeholder::Phone, announced, word: "phone", text, core }
}
