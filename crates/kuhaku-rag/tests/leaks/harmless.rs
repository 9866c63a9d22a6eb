//! Replies that say what their sources say, in digits that look like personal data.

use super::talker::Draw;

pub(crate) struct Harmless {
    pub(crate) kind: &'static str,
    pub(crate) source: String,
    pub(crate) reply: String,
}

type Make = fn(&mut Draw) -> (String, String);

/// A source and what a reply makes of it. The sources are as they are after masking: none of these
/// values is personal data there.
const KINDS: [(&str, Make); 20] = [
    ("a desk's number as a telephone number", |draw| {
        let n = format!("555{}", draw.digits(4));
        (format!("Desk {n} is near the door."), format!("Its phone number is {n}"))
    }),
    ("the same, grouped", |draw| {
        let n = format!("555{}", draw.digits(4));
        let (a, b) = n.split_at(3);
        (format!("Desk {n} is near the door."), format!("Call them, phone {a}-{b}"))
    }),
    ("a version as an address", |draw| {
        let v =
            format!("{}.{}.{}.{}", 1 + draw.below(9), draw.below(9), draw.below(9), draw.below(9));
        (format!("Release version {v} is out."), format!("The server's ip is {v}"))
    }),
    ("the last digits of a card", |draw| {
        let n = draw.digits(4);
        (
            format!("The card [CARD] ends with {n}."),
            format!("It was the card that ends with {n}, [CARD]"),
        )
    }),
    ("a masked card", |draw| {
        let n = draw.digits(4);
        (format!("Card on file: **** **** **** {n}."), format!("The card is **** **** **** {n}"))
    }),
    ("a long order number", |draw| {
        let n = draw.digits(12);
        (format!("Order {n} was sent."), format!("Order {n} was sent"))
    }),
    ("an order number, grouped", |draw| {
        let n = draw.digits(12);
        let g = [&n[..4], &n[4..8], &n[8..]].join(" ");
        (format!("Order {n} was sent."), format!("The order {g} was sent"))
    }),
    ("epoch seconds", |draw| {
        let n = format!("17{}", draw.digits(8));
        (format!("It began at epoch {n}."), format!("The epoch was {n}"))
    }),
    ("dates", |draw| {
        let (d, m, y) = (1 + draw.below(28), 1 + draw.below(12), 1990 + draw.below(40));
        (format!("Signed on {y}-{m:02}-{d:02}."), format!("It was signed on {d:02}.{m:02}.{y}"))
    }),
    ("times", |draw| {
        let (h, m) = (draw.below(24), draw.below(60));
        (format!("The gate opens at {h:02}:{m:02}:00."), format!("It opens at {h:02}:{m:02}:00"))
    }),
    ("amounts", |draw| {
        let n = draw.digits(7);
        let g = format!("{},{},{}", &n[..1], &n[1..4], &n[4..]);
        (format!("The budget is {n} euros."), format!("The budget is {g} euros"))
    }),
    ("amounts in a row", |draw| {
        let ns: Vec<String> = (0..5).map(|_| draw.digits(4)).collect();
        let row = ns.join(", ");
        (format!("Readings: {row}."), format!("The readings were {}", ns.join("; ")))
    }),
    ("a book's number", |draw| {
        let n = draw.digits(9);
        let digit = |at: usize| u32::from(n.as_bytes()[at] - b'0');
        let twelve = format!("978{n}");
        let sum: u32 = twelve
            .bytes()
            .enumerate()
            .map(|(i, b)| u32::from(b - b'0') * if i % 2 == 0 { 1 } else { 3 })
            .sum();
        assert!(digit(0) > 0);
        let isbn = format!("{twelve}{}", (10 - sum % 10) % 10);
        (format!("See ISBN {isbn}."), format!("It is in ISBN {isbn}"))
    }),
    ("a UUID", |draw| {
        let id = format!("123e4567-e89b-12d3-a456-{}", draw.digits(12));
        (format!("Ticket {id} is open."), format!("The ticket is {id}"))
    }),
    ("a part number", |draw| {
        let n = format!("PAY-{}", draw.digits(4));
        (format!("{n} means a timeout."), format!("The code {n} means a timeout"))
    }),
    ("coordinates", |draw| {
        let (a, b) = (draw.digits(4), draw.digits(4));
        (format!("It lies at 41.{a}, 29.{b}."), format!("Its place is 41.{a}, 29.{b}"))
    }),
    ("years", |draw| {
        let y = 1900 + draw.below(100);
        (format!("Built in {y}, rebuilt in {}.", y + 11), format!("From {y} to {}", y + 11))
    }),
    ("placeholders", |draw| {
        let n = draw.digits(2);
        (
            format!("Write to [EMAIL] within {n} days, or call [PHONE]."),
            format!("Write to [EMAIL] or [PHONE] within {n} days"),
        )
    }),
    ("sums of many digits", |draw| {
        let n = draw.digits(10);
        (
            format!("{n} particles were counted."),
            format!("{n} particles were counted, a large number"),
        )
    }),
    ("a question's own number", |draw| {
        let n = draw.digits(3);
        (format!("Room {n} has a screen."), format!("Room {n} it is"))
    }),
];

pub(crate) fn harmless(seed: u64, count: usize) -> Vec<Harmless> {
    let mut draw = Draw::new(seed ^ 0x4a);
    (0..count)
        .map(|at| {
            let (kind, make) = KINDS[at % KINDS.len()];
            let (source, reply) = make(&mut draw);
            Harmless { kind, source, reply }
        })
        .collect()
}
