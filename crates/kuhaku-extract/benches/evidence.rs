//! What evidence costs: `cargo bench -p kuhaku-extract --bench evidence`.
//!
//! A text of 2 KB is folded and ten values are looked for, with quotes and without. The goal for all
//! of it is well below 100 µs (D40).

#![allow(clippy::indexing_slicing, reason = "a bench ends when something is wrong")]

use divan::{Bencher, black_box};
use kuhaku_extract::{Evidence, Source};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const ENGLISH: &str = "Dear team, following our call on Monday I would like to order green tea, \
    two boxes of the small tins and 1,500 filters, delivered to 12 Harbour Street in Dublin. ";
const TURKISH: &str = "Merhaba, pazartesi günkü görüşmemizin ardından yeşil çay, iki kutu küçük boy \
    ve 1.500 adet filtre sipariş etmek istiyorum; adres İzmir, Karşıyaka, Çiçek Sokağı 12. ";
const HINDI: &str = "नमस्ते, मुझे हरी चाय के दो डिब्बे और १,५०० फ़िल्टर चाहिए, पता मुंबई, बंदरगाह सड़क १२। ";

fn of_two_kilobytes(sentence: &str, end: &str) -> String {
    let mut text = sentence.repeat(2048 / sentence.len() + 1);
    let mut length = 2048 - end.len();
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    text.truncate(length);
    text + end
}

fn texts() -> [(&'static str, String); 3] {
    let end = " Ref 4711, by 12 May 2024, contact Ada Lovelace, gift wrap, no sugar.";
    [
        ("english", of_two_kilobytes(ENGLISH, end)),
        ("turkish", of_two_kilobytes(TURKISH, end)),
        ("hindi", of_two_kilobytes(HINDI, end)),
    ]
}

fn fields() -> [(&'static str, Value, Option<&'static str>); 10] {
    [
        ("/reference", json!(4711), Some("Ref 4711")),
        ("/date", json!("2024-05-12"), None),
        ("/contact", json!("Ada Lovelace"), Some("contact Ada Lovelace")),
        ("/gift_wrap", json!(true), Some("gift wrap")),
        ("/sugar", json!(false), None),
        ("/quantity", json!(1500), None),
        ("/street_number", json!(12), None),
        ("/missing", json!("coffee"), None),
        ("/name", json!("Lovelace"), None),
        ("/wrong", json!(17), Some("Ref 4711")),
    ]
}

#[divan::bench(args = [0, 1, 2])]
fn ten_fields(bencher: Bencher, place: usize) {
    let text = &texts()[place].1;
    let fields = fields();
    bencher.bench(|| {
        let source = Source::new(black_box(text));
        for (pointer, value, quote) in &fields {
            black_box(Evidence::find(&source, pointer, value, *quote));
        }
    });
}

#[divan::bench(args = [0, 1, 2])]
fn folding(bencher: Bencher, place: usize) {
    let text = &texts()[place].1;
    bencher.bench(|| Source::new(black_box(text)));
}
