//! Sums of products of codes, with the widest registers that the machine has.
//!
//! The sums are of integers and wrap, so their order and their width change no bit of what comes out.

/// Sums that run beside each other: so many that compilers multiply and add pairs at once.
pub(super) const LANES: usize = 16;

/// How products are summed up on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Products {
    /// As every processor of this kind can.
    Common,
    /// With AVX2. Made by [`Products::detect`] alone, where the processor has it.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
}

/// Says that the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

impl Products {
    /// The fastest way that this processor knows.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            return Self::Avx2(Avx2(()));
        }
        Self::Common
    }

    #[inline]
    pub(super) fn sum(self, query: &[[i16; LANES]], row: &[[u8; LANES]]) -> i32 {
        match self {
            Self::Common => common(query, row),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "the compiler cannot see that the processor was asked")]
            // SAFETY: `avx2` needs a processor with AVX2 and nothing else. An `Avx2` is made in this
            // file alone, after the processor has said that it has it.
            Self::Avx2(Avx2(())) => unsafe { avx2(query, row) },
        }
    }
}

/// By itself, because it stays in registers only where nothing else touches its lanes.
#[inline(never)]
fn common(query: &[[i16; LANES]], row: &[[u8; LANES]]) -> i32 {
    lanes(query, row)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(query: &[[i16; LANES]], row: &[[u8; LANES]]) -> i32 {
    lanes(query, row)
}

#[inline(always)]
fn lanes(query: &[[i16; LANES]], row: &[[u8; LANES]]) -> i32 {
    let mut lanes = [0_i32; LANES];
    for (query, row) in query.iter().zip(row) {
        for ((lane, a), b) in lanes.iter_mut().zip(query).zip(row) {
            *lane = lane.wrapping_add(i32::from(*a) * i32::from(*b));
        }
    }
    lanes.iter().fold(0, |sum, lane| sum.wrapping_add(*lane))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn wide_registers_give_the_same_sums(
            pairs in prop::collection::vec(
                (prop::array::uniform16(any::<i16>()), prop::array::uniform16(any::<u8>())),
                0..70,
            ),
        ) {
            let (query, row): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let sum = Products::Common.sum(&query, &row);
            prop_assert_eq!(Products::detect().sum(&query, &row), sum);
        }
    }
}
