//! Masks a text and maps a place in it back to the original.
//!
//! `cargo run -p kuhaku-core --features pii --example masking`

#![allow(clippy::print_stdout, reason = "an example prints")]

use kuhaku_core::{Masker as _, PiiMasker};

fn main() {
    let text = "Write to ada@example.com about card 4111 1111 1111 1111, please.";
    let masked = PiiMasker::new().mask(text);
    println!("{}", masked.text());
    if let Some(at) = masked.text().find("please") {
        println!("`please` stands at {:?} of the original", masked.map().to_source(at..at + 6));
    }
}
