//! Payment cards and bank accounts.

use kuhaku_core::Placeholder;

use super::draw::{Draw, luhn_digit, values};
use super::{Announced, Maker, Value};

pub(super) const MAKERS: &[Maker] = &[
    |draw| fours(draw, &["4"], &[""]),
    |draw| fours(draw, &["51", "55", "2221", "2720"], &[" ", "-"]),
    |draw| fours(draw, &["4", "6011", "65"], &[".", "_"]),
    |draw| fours(draw, &["4", "9792", "2200"], &["  ", "\t", "\u{a0}", "\u{2009}", "\u{2011}"]),
    |draw| card(draw, &["34", "37"], 15, &[4, 6], &["", " ", "-"]),
    |draw| card(draw, &["36", "38"], 14, &[4, 6], &["", " ", "-"]),
    |draw| card(draw, &["62"], 19, &[6], &["", " "]),
    |draw| broken(draw, &["4", "53"]),
    |draw| iban(draw, &["TR", "DE", "ES", "PL", "BE", "AT", "CH", "DK", "PT"], &[""]),
    |draw| iban(draw, &["TR", "DE", "GB", "NL", "FR", "IT", "IE"], &[" "]),
    |draw| iban(draw, &["TR", "DE", "ES", "PT"], &["-", ".", "\u{a0}", "  "]),
];

fn number(draw: &mut Draw, prefixes: &[&'static str], length: usize) -> String {
    let prefix = draw.pick(prefixes);
    let payload = prefix.to_string() + &draw.digits(length - 1 - prefix.len());
    let check = luhn_digit(&payload);
    format!("{payload}{check}")
}

fn card(
    draw: &mut Draw,
    prefixes: &[&'static str],
    length: usize,
    groups: &[usize],
    gaps: &[&'static str],
) -> Value {
    let number = number(draw, prefixes, length);
    let text = draw.grouped(&number, groups, gaps);
    value(Placeholder::Card, "card", text, number)
}

fn fours(draw: &mut Draw, prefixes: &[&'static str], gaps: &[&'static str]) -> Value {
    card(draw, prefixes, 16, &[4, 4, 4], gaps)
}

/// In four groups with one line break between them.
fn broken(draw: &mut Draw, prefixes: &[&'static str]) -> Value {
    let number = number(draw, prefixes, 16);
    let (head, tail) = number.split_at_checked(8).unwrap_or_default();
    let groups = |half: &str, draw: &mut Draw| draw.grouped(half, &[4], &[" "]);
    let line = draw.pick(&["\n", "\r\n", "\n    ", "\n> "]);
    let text = groups(head, draw) + line + &groups(tail, draw);
    value(Placeholder::Card, "card", text, number)
}

/// Letters of a bank, where a country has them, and digits up to the country's length.
fn iban(draw: &mut Draw, countries: &[&'static str], gaps: &[&'static str]) -> Value {
    let country = draw.pick(countries);
    let (length, bank) = match country {
        "TR" => (26, ""),
        "DE" => (22, ""),
        "ES" => (24, ""),
        "PL" => (28, ""),
        "BE" => (16, ""),
        "AT" => (20, ""),
        "CH" => (21, ""),
        "DK" => (18, ""),
        "PT" => (25, ""),
        "GB" => (22, "NWBK"),
        "IE" => (22, "AIBK"),
        "NL" => (18, "ABNA"),
        "IT" => (27, "X"),
        _ => (27, ""),
    };
    let account = bank.to_string() + &draw.digits(length - 4 - bank.len());
    let rest = values(&format!("{account}{country}00")).iter().fold(0, |rest, value| {
        if *value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 }
    });
    let number = format!("{country}{:02}{account}", 98 - rest);
    let text = draw.grouped(&number, &[4; 7], gaps);
    value(Placeholder::Iban, "IBAN", text, number)
}

fn value(kind: Placeholder, word: &'static str, text: String, core: String) -> Value {
    Value { kind, announced: Announced::Freely, word, text, core }
}
