//! Vectors that texts with common words share a part of.

/// The vector of a text, not of length 1: each word, a run of letters and digits whatever its case,
/// adds 1 or -1 to each of `dimension` numbers, by a hash of it. Texts with words in common are near
/// each other, those without are about at right angles. The same on every machine; a text without
/// words has the vector of a word of its own.
///
/// ```
/// use kuhaku_testkit::word_vector;
/// let cosine = |a: &[f32], b: &[f32]| {
///     let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
///     dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
/// };
/// let [near, far] = ["the parcel is late", "salaries of engineers"].map(|t| word_vector(t, 64));
/// let query = word_vector("Late parcel?", 64);
/// assert!(cosine(&query, &near) > cosine(&query, &far) + 0.2);
/// ```
pub fn word_vector(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.0; dimension];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut any = false;
    for word in words {
        any = true;
        add(word, &mut vector);
    }
    // An even number of words may cancel each other out.
    if !any || vector.iter().all(|number| *number == 0.0) {
        add(&format!("\u{0}{text}"), &mut vector);
    }
    vector
}

fn add(word: &str, vector: &mut [f32]) {
    for (place, number) in vector.iter_mut().enumerate() {
        *number += if hash(word, place) & 1 == 0 { 1.0 } else { -1.0 };
    }
}

/// FNV-1a (Fowler, Noll, Vo) over the word and the place, mixed as splitmix64 does.
fn hash(word: &str, place: usize) -> u64 {
    let bytes = word.bytes().chain((place as u64).to_le_bytes());
    let mut hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
