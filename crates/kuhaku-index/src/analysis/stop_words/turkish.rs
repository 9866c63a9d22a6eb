//! Function words of Turkish.

/// Turkish.
#[rustfmt::skip]
pub(super) const TURKISH: &[&str] = &[
    "ama", "ancak", "bu", "bunu", "bunun", "da", "daha", "de", "en", "fakat", "gibi", "hem", "her",
    "ile", "ise", "için", "ki", "mi", "mu", "mü", "mı", "ne", "o", "olan", "olarak", "onu", "onun",
    "ve", "veya", "ya", "çok", "şu",
];
