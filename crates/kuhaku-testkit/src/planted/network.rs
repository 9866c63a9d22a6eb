//! Addresses: of mail, of hosts, of currencies.

use kuhaku_core::Placeholder;
use sha2::{Digest as _, Sha256};

use super::draw::Draw;
use super::{Announced, Maker, Value};

pub(super) const MAKERS: &[Maker] = &[
    |draw| mail(draw, &["ayse.", "o'brien-"], &["@example.com", "@mail.example.co.uk"]),
    |draw| mail(draw, &["ömer.", "иван."], &["@örnek.com", "@пример.рф", "@xn--rnek-5qa.example"]),
    |draw| {
        mail(draw, &["ada+", "x_"], &["%40example.com", "&#64;example.org", "&#x40;example.net"])
    },
    |draw| mail(draw, &["ada.**b**", "`c`."], &["@example.com"]),
    host,
    |draw| {
        let core = format!("2001:db8:{}:{}::7", hexadecimal(draw), hexadecimal(draw));
        value(Placeholder::Ip, "host", core.clone(), core)
    },
    |draw| {
        let groups: Vec<String> = (0..7).map(|_| hexadecimal(draw)).collect();
        let core = format!("2a02:{}", groups.join(":"));
        value(Placeholder::Ip, "addr", core.clone(), core)
    },
    |draw| base58check(draw, 0),
    |draw| base58check(draw, 5),
    |draw| {
        let core = format!("0x{}", draw.of("0123456789abcdef", 40));
        value(Placeholder::Crypto, "wallet", core.clone(), core)
    },
    bech32,
];

fn value(kind: Placeholder, word: &'static str, text: String, core: String) -> Value {
    Value { kind, announced: Announced::Freely, word, text, core }
}

fn mail(draw: &mut Draw, heads: &[&'static str], tails: &[&'static str]) -> Value {
    let (head, tail) = (draw.pick(heads), draw.pick(tails));
    let core = draw.of("hjkqvwxz", 10);
    value(Placeholder::Email, "mail", format!("{head}{core}{tail}"), core)
}

/// A private address of the longest form.
fn host(draw: &mut Draw) -> Value {
    let mut part = || draw.between(100, 254);
    let core = format!("10.{}.{}.{}", part(), part(), part());
    value(Placeholder::Ip, "client_ip", core.clone(), core)
}

fn hexadecimal(draw: &mut Draw) -> String {
    draw.of("123456789abcdef", 1) + &draw.of("0123456789abcdef", 3)
}

/// Twenty bytes behind the byte of their kind, with the head of a double SHA-256, to base 58.
fn base58check(draw: &mut Draw, kind: u8) -> Value {
    const ALPHABET: &str = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut bytes = vec![kind];
    // No further byte is zero in front: each would be a digit of its own.
    bytes.extend((0..20).map(|_| draw.between(1, 255) as u8));
    let sum = Sha256::digest(Sha256::digest(&bytes));
    bytes.extend(sum.iter().take(4));
    let mut digits: Vec<u32> = Vec::new();
    for byte in &bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += *digit << 8;
            *digit = carry % 58;
            carry /= 58;
        }
        while carry > 0 {
            digits.push(carry % 58);
            carry /= 58;
        }
    }
    let zeros = bytes.iter().take_while(|byte| **byte == 0).map(|_| 0);
    let all = zeros.chain(digits.into_iter().rev());
    let core: String = all.filter_map(|digit| ALPHABET.chars().nth(digit as usize)).collect();
    value(Placeholder::Crypto, "bitcoin", core.clone(), core)
}

/// A segregated witness address of version 0 (BIP 173).
fn bech32(draw: &mut Draw) -> Value {
    const ALPHABET: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    const GENERATORS: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let body: Vec<u32> =
        std::iter::once(0).chain((0..32).map(|_| draw.between(0, 31) as u32)).collect();
    // "bc" expanded: high bits, zero, low bits.
    let expanded = [3, 3, 0, 2, 3].into_iter().chain(body.iter().copied()).chain([0; 6]);
    let sum = expanded.fold(1_u32, |sum, value| {
        let top = sum >> 25;
        let shifted = ((sum & 0x01ff_ffff) << 5) ^ value;
        let flip = |sum, (bit, generator): (usize, &u32)| {
            if top >> bit & 1 == 1 { sum ^ generator } else { sum }
        };
        GENERATORS.iter().enumerate().fold(shifted, flip)
    }) ^ 1;
    let check = (0..6).map(|place| sum >> (5 * (5 - place)) & 31);
    let all = body.iter().copied().chain(check);
    let core: String = all.filter_map(|value| ALPHABET.chars().nth(value as usize)).collect();
    let core = format!("bc1{core}");
    value(Placeholder::Crypto, "bitcoin", core.clone(), core)
}
