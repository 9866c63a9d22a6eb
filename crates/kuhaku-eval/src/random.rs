//! Random numbers that are the same everywhere and for ever.

/// A generator of pseudo-random numbers, documented so that samples, intervals and tests can be
/// drawn again by others: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number
/// generators", 2021) whose four words of state are the first outputs of SplitMix64 on the seed.
///
/// Not for secrets.
///
/// ```
/// use kuhaku_eval::SeededRandom;
/// let mut random = SeededRandom::new(7);
/// assert_eq!(random.next_u64(), SeededRandom::new(7).next_u64());
/// assert!(random.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct SeededRandom {
    state: [u64; 4],
}

impl SeededRandom {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        let mut mixed = seed;
        Self { state: std::array::from_fn(|_| split_mix(&mut mixed)) }
    }

    /// The generator of a seed for one purpose: equal purposes of equal seeds give equal numbers,
    /// and drawing for one purpose does not shift another.
    pub fn for_purpose(seed: u64, purpose: &str) -> Self {
        // FNV-1a over the purpose.
        let hash = purpose.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self::new(seed ^ hash)
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A whole number in `0..bound`, 0 when `bound` is 0. The high half of the product with 64
    /// random bits, so its bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next_u64()) * bound as u128;
        (product >> 64) as usize
    }

    /// A number in `[0, 1)`: the high 53 of 64 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles in place: Fisher and Yates, from the last item down, swapping with
    /// [`below`](Self::below) the position plus one.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_mix_gives_its_published_numbers() {
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..3).map(|_| split_mix(&mut state)).collect();
        assert_eq!(
            first,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn xoshiro_gives_its_published_numbers() {
        let mut random = SeededRandom { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(first, [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn numbers_below_a_bound_are_even() {
        let mut random = SeededRandom::new(1);
        let mut seen = [0_u32; 7];
        for _ in 0..70_000 {
            if let Some(count) = seen.get_mut(random.below(7)) {
                *count += 1;
            }
        }
        assert!(seen.iter().all(|count| (9_600..10_400).contains(count)), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
