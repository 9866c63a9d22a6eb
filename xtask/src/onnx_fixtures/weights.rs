//! Weights by chance, the same for the same seed on every machine.

/// SplitMix64 (Steele, Lea, Flood 2014): integers only, so no machine rounds differently.
#[derive(Debug)]
pub(super) struct Weights(u64);

impl Weights {
    /// The weights that belong to a name.
    pub(super) fn named(name: &str) -> Self {
        // FNV-1a.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(hash)
    }

    /// `count` numbers spread evenly over `centre - reach` to `centre + reach`.
    pub(super) fn around(&mut self, centre: f32, reach: f32, count: usize) -> Vec<f32> {
        (0..count).map(|_| centre + reach * self.next()).collect()
    }

    /// A matrix that keeps the spread of what it multiplies, `gain` times; row-major.
    pub(super) fn matrix(&mut self, rows: usize, columns: usize, gain: f32) -> Vec<f32> {
        self.around(0.0, gain * (3.0 / rows as f32).sqrt(), rows * columns)
    }

    /// From -1 to 1, in steps of 2^-23.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        (z >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}
