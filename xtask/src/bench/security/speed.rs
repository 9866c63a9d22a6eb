//! How fast a text is masked.

use std::time::Instant;

use kuhaku_core::{Masker as _, PiiMasker};
use serde_json::{Value, json};

use crate::bench::report::{Report, Section};

/// Throughput asked, as a share of a scan that looks up the class of each byte.
const SPEED: f64 = 0.1;

/// Rounds of both; the best of each counts, since others may use the machine too.
const ROUNDS: usize = 15;

/// Masks a text, and looks up the class of each of its bytes.
pub(super) fn speed(masker: &PiiMasker, name: &str, text: &str, report: &mut Report) -> Value {
    let best = |work: &dyn Fn()| {
        let once = |_| {
            let begun = Instant::now();
            work();
            begun.elapsed().as_secs_f64()
        };
        (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min)
    };
    let rate = |seconds: f64| text.len() as f64 / 1e6 / seconds;
    let masking = rate(best(&|| {
        std::hint::black_box(masker.mask(text));
    }));
    let classes: [u8; 256] = std::hint::black_box(std::array::from_fn(|byte| {
        let byte = byte as u8;
        u8::from(byte.is_ascii_digit()) | u8::from(byte.is_ascii_alphabetic()) << 1
    }));
    let scanning = rate(best(&|| {
        let changes = |(before, count): (u8, usize), byte: u8| {
            let class = classes.get(usize::from(byte)).copied().unwrap_or_default();
            (class, count + usize::from(class != before))
        };
        std::hint::black_box(text.bytes().fold((0, 0), changes));
    }));
    let share = masking / scanning;
    report.sections.push(Section {
        heading: format!("Speed on {name}"),
        text: format!("{share:.3} of the scan; asked: {SPEED}."),
        columns: ["what", "MB/s"].map(String::from).to_vec(),
        rows: [("masking", masking), ("scan of byte classes", scanning)]
            .map(|(what, rate)| vec![what.to_string(), format!("{rate:.0}")])
            .to_vec(),
    });
    if share < SPEED {
        report.missed.push(format!("speed: {share:.3} of the scan < {SPEED}"));
    }
    json!({ "masking_mb_s": masking, "scan_mb_s": scanning, "share": share })
}
