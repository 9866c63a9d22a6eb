//! National identity numbers with right check digits.

use kuhaku_core::Placeholder;

use super::draw::{Draw, group, luhn_digit, values, weighted};
use super::{Announced, Maker, Value};

pub(super) const MAKERS: &[Maker] = &[
    |draw| free("TCKN", draw, tckn, &[3, 3, 3], &["", " "]),
    |draw| free("SSN", draw, ssn, &[3, 2], &["-"]),
    |draw| near("SSN", draw, ssn, &[3, 2], &["", " "]),
    |draw| free("ITIN", draw, itin, &[3, 2], &["-"]),
    |draw| free("NINO", draw, nino, &[2, 2, 2, 2], &["", " "]),
    |draw| near("NHS", draw, nhs, &[3, 3], &["", " ", "-"]),
    |draw| free("Steuer-ID", draw, german_tax_id, &[2, 3, 3], &["", " "]),
    |draw| free("DNI", draw, nif, &[8], &["", "-"]),
    |draw| free("NIE", draw, nie, &[1, 7], &["", "-"]),
    |draw| free("codice fiscale", draw, codice_fiscale, &[], &[""]),
    |draw| free("NIR", draw, nir, &[1, 2, 2, 2, 3, 3], &["", " "]),
    |draw| near("BSN", draw, bsn, &[3, 3], &["", ".", " "]),
    |draw| near("PESEL", draw, pesel, &[], &[""]),
    |draw| free("henkilötunnus", draw, hetu, &[], &[""]),
    |draw| free("personnummer", draw, personnummer, &[6], &["-"]),
    |draw| free("CPF", draw, cpf_in_groups, &[], &[""]),
    |draw| free("CNPJ", draw, cnpj_in_groups, &[], &[""]),
    |draw| near("CPF", draw, cpf, &[], &[""]),
    |draw| near("Aadhaar", draw, aadhaar, &[4, 4], &["", " ", "-"]),
    |draw| near("TFN", draw, tfn, &[3, 3], &["", " "]),
];

type Id = fn(&mut Draw) -> String;

fn free(
    word: &'static str,
    draw: &mut Draw,
    id: Id,
    groups: &[usize],
    gaps: &[&'static str],
) -> Value {
    value(Announced::Freely, word, draw, id, groups, gaps)
}

fn near(
    word: &'static str,
    draw: &mut Draw,
    id: Id,
    groups: &[usize],
    gaps: &[&'static str],
) -> Value {
    value(Announced::ByWord, word, draw, id, groups, gaps)
}

fn value(
    announced: Announced,
    word: &'static str,
    draw: &mut Draw,
    id: Id,
    groups: &[usize],
    gaps: &[&'static str],
) -> Value {
    let core = id(draw);
    let text = draw.grouped(&core, groups, gaps);
    Value { kind: Placeholder::NationalId, announced, word, text, core }
}

/// Draws until the digits and one of the check digits, `0` to `9`, satisfy a rule.
fn checked(draw: &mut Draw, payload: Id, rule: fn(&[u32]) -> bool) -> String {
    loop {
        let payload = payload(draw);
        let with_check = (0..10).map(|check| format!("{payload}{check}"));
        if let Some(id) = with_check.into_iter().find(|id| rule(&values(id))) {
            return id;
        }
    }
}

/// Turkey: the tenth digit is seven times the odd places less the even ones, the eleventh the sum of
/// all before it.
fn tckn(draw: &mut Draw) -> String {
    let nine = draw.between(1, 9).to_string() + &draw.digits(8);
    let digits = values(&nine);
    let odd: u32 = digits.iter().step_by(2).sum();
    let even: u32 = digits.iter().skip(1).step_by(2).sum();
    let tenth = (odd * 7 + 100 - even) % 10;
    format!("{nine}{tenth}{}", (odd + even + tenth) % 10)
}

fn ssn(draw: &mut Draw) -> String {
    let (area, group) = (draw.between(100, 665), draw.between(10, 99));
    format!("{area}{group}{}", draw.between(1000, 9999))
}

fn itin(draw: &mut Draw) -> String {
    let (area, group) = (draw.between(900, 999), draw.between(70, 88));
    format!("{area}{group}{}", draw.between(1000, 9999))
}

fn nino(draw: &mut Draw) -> String {
    let letters = draw.of("ABCEHJLMPRSW", 1) + &draw.of("ABCEHJLMPRSW", 1);
    let digits = draw.digits(6);
    letters + &digits + &draw.of("ABCD", 1)
}

/// United Kingdom: weights 10 to 1 make a multiple of 11.
fn nhs(draw: &mut Draw) -> String {
    checked(
        draw,
        |draw| draw.of("456", 1) + &draw.digits(8),
        |id| weighted(id, &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
    )
}

/// Germany: of ten digits one stands twice and one is missing; ISO 7064 MOD 11,10.
fn german_tax_id(draw: &mut Draw) -> String {
    let ten = loop {
        let shuffled = draw.shuffled_digits();
        let (head, _) = shuffled.split_at_checked(9).unwrap_or_default();
        let again: String = head.chars().skip(4).take(1).collect();
        if !head.starts_with('0') {
            break format!("{head}{again}");
        }
    };
    let product = values(&ten).iter().fold(10, |product, digit| {
        let sum = match (digit + product) % 10 {
            0 => 10,
            sum => sum,
        };
        sum * 2 % 11
    });
    format!("{ten}{}", (11 - product) % 10)
}

fn spanish_letter(number: &str) -> String {
    let rest = number.parse::<usize>().unwrap_or(0) % 23;
    "TRWAGMYFPDXBNJZSQVHLCKE".chars().skip(rest).take(1).collect()
}

fn nif(draw: &mut Draw) -> String {
    let digits = draw.digits(8);
    let letter = spanish_letter(&digits);
    digits + &letter
}

fn nie(draw: &mut Draw) -> String {
    let (first, digits) = (draw.between(0, 2), draw.digits(7));
    let letter = spanish_letter(&format!("{first}{digits}"));
    let first: String = "XYZ".chars().skip(first).take(1).collect();
    first + &digits + &letter
}

/// Italy: values of characters at odd places are shuffled, those at even places are not.
fn codice_fiscale(draw: &mut Draw) -> String {
    const ODD: [u32; 10] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
    const ODD_LETTERS: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    let consonants = draw.of("BCDFGLMNPRSTVZ", 6);
    let (year, day) = (draw.between(50, 99), draw.between(10, 28));
    let (month, town) = (draw.of("ABCDEHLMPRST", 1), draw.of("ABCDEFGHIL", 1));
    let code = format!("{consonants}{year}{month}{day}{town}{}", draw.between(100, 999));
    let odd = |value: u32| match value.checked_sub(10) {
        Some(letter) => ODD_LETTERS.get(letter as usize).copied(),
        None => ODD.get(value as usize).copied(),
    };
    let even = |value: u32| value.checked_sub(10).unwrap_or(value);
    let of = |(place, value): (usize, &u32)| {
        if place % 2 == 0 { odd(*value).unwrap_or(0) } else { even(*value) }
    };
    let sum: u32 = values(&code).iter().enumerate().map(of).sum();
    let check: String = ('A'..='Z').skip((sum % 26) as usize).take(1).collect();
    code + &check
}

/// France: the key is 97 less the rest modulo 97.
fn nir(draw: &mut Draw) -> String {
    let (sex, year, month) = (draw.between(1, 2), draw.between(50, 99), draw.between(10, 12));
    let (department, rest) = (draw.between(10, 19), draw.between(100_100, 999_999));
    let code = format!("{sex}{year}{month}{department}{rest}");
    let key = 97 - code.parse::<u64>().unwrap_or(0) % 97;
    format!("{code}{key:02}")
}

/// Netherlands: weights 9 to 2 and -1 make a multiple of 11.
fn bsn(draw: &mut Draw) -> String {
    checked(
        draw,
        |draw| draw.between(1, 9).to_string() + &draw.digits(7),
        |id| weighted(id, &[9, 8, 7, 6, 5, 4, 3, 2, 10]).is_multiple_of(11),
    )
}

/// A year, a month and a day of the twentieth century.
fn birthday(draw: &mut Draw) -> String {
    let (year, month) = (draw.between(30, 99), draw.between(1, 12));
    format!("{year}{month:02}{:02}", draw.between(1, 28))
}

fn pesel(draw: &mut Draw) -> String {
    checked(
        draw,
        |draw| birthday(draw) + &draw.digits(4),
        |id| weighted(id, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]).is_multiple_of(10),
    )
}

/// Finland: the rest modulo 31 of the date and the serial number.
fn hetu(draw: &mut Draw) -> String {
    let (day, month, year) = (draw.between(1, 28), draw.between(1, 12), draw.between(30, 99));
    let serial = draw.between(100, 899);
    let date = format!("{day:02}{month:02}{year}");
    let rest = format!("{date}{serial}").parse::<usize>().unwrap_or(0) % 31;
    let check: String = "0123456789ABCDEFHJKLMNPRSTUVWXY".chars().skip(rest).take(1).collect();
    format!("{date}-{serial}{check}")
}

fn personnummer(draw: &mut Draw) -> String {
    let payload = birthday(draw) + &draw.digits(3);
    let check = luhn_digit(&payload);
    format!("{payload}{check}")
}

/// Brazil: a rest modulo 11 below 2 gives 0, another one is taken from 11.
fn brazilian_digit(payload: &str, weights: &[u32]) -> u32 {
    match weighted(&values(payload), weights) % 11 {
        0 | 1 => 0,
        rest => 11 - rest,
    }
}

fn cpf(draw: &mut Draw) -> String {
    let mut id = draw.digits(9);
    for weights in [&[10, 9, 8, 7, 6, 5, 4, 3, 2][..], &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]] {
        id = format!("{id}{}", brazilian_digit(&id, weights));
    }
    id
}

fn cpf_in_groups(draw: &mut Draw) -> String {
    let id = cpf(draw);
    let (head, check) = id.split_at_checked(9).unwrap_or_default();
    format!("{}-{check}", group(head, &[3, 3], "."))
}

fn cnpj_in_groups(draw: &mut Draw) -> String {
    let mut id = draw.digits(8) + "0001";
    for weights in
        [&[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2][..], &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]]
    {
        id = format!("{id}{}", brazilian_digit(&id, weights));
    }
    let (head, tail) = id.split_at_checked(8).unwrap_or_default();
    format!("{}/{}", group(head, &[2, 3], "."), group(tail, &[4], "-"))
}

/// India: the check of Verhoeff (1969), here by its table of the dihedral group.
fn aadhaar(draw: &mut Draw) -> String {
    const TABLE: [&str; 10] = [
        "0123456789",
        "1234067895",
        "2340178956",
        "3401289567",
        "4012395678",
        "5987604321",
        "6598710432",
        "7659821043",
        "8765932104",
        "9876543210",
    ];
    const PERMUTATIONS: [&str; 8] = [
        "0123456789",
        "1576283094",
        "5803796142",
        "8916043527",
        "9453126870",
        "4286573901",
        "2793806415",
        "7046913258",
    ];
    fn at(table: &[&str], row: usize, column: usize) -> usize {
        let cell = table.get(row).and_then(|row| row.chars().nth(column));
        cell.and_then(|c| c.to_digit(10)).unwrap_or(0) as usize
    }
    checked(
        draw,
        |draw| draw.between(2, 9).to_string() + &draw.digits(10),
        |id| {
            let step = |sum, (place, digit): (usize, &u32)| {
                at(&TABLE, sum, at(&PERMUTATIONS, place % 8, *digit as usize))
            };
            id.iter().rev().enumerate().fold(0, step) == 0
        },
    )
}

fn tfn(draw: &mut Draw) -> String {
    checked(
        draw,
        |draw| draw.between(1, 9).to_string() + &draw.digits(7),
        |id| weighted(id, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_lengths_of_their_kind() {
        let ids: [(Id, usize); 8] = [
            (tckn, 11),
            (nhs, 10),
            (german_tax_id, 11),
            (nir, 15),
            (hetu, 11),
            (aadhaar, 12),
            (codice_fiscale, 16),
            (cnpj_in_groups, 18),
        ];
        for seed in 0..50 {
            for (id, length) in ids {
                let id = id(&mut Draw::new(seed));
                assert_eq!(id.len(), length, "{id}");
            }
        }
    }
}
