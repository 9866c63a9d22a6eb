//! Sums of products of codes, with the widest registers that the machine has.
//!
//! The sums are of integers and wrap, so their order and their width change no bit of what comes out.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512,
};

/// Sums that run beside each other: so many that compilers multiply and add pairs at once.
const LANES: usize = 16;

/// Numbers in the widest register, of eight bits each.
const WIDE: usize = 64;

/// What the low half of a number of a query reaches, on both sides of 0.
const LOW: i16 = 64;

/// What the numbers of a query reach at most, on both sides of 0: both halves fit into eight bits.
pub(super) const REACH: i16 = 127 * 2 * LOW;

/// The codes of a query.
#[derive(Debug)]
pub(super) struct QueryCodes {
    whole: Vec<i16>,
    /// The same as 128 times the high one and the low one.
    high: Vec<i8>,
    low: Vec<i8>,
}

impl QueryCodes {
    /// Numbers from -[`REACH`] to it.
    pub(super) fn new(whole: Vec<i16>) -> Self {
        let halves = whole.iter().map(|code| {
            let high = (code + LOW).div_euclid(2 * LOW);
            (high as i8, (code - high * 2 * LOW) as i8)
        });
        let (high, low) = halves.unzip();
        Self { whole, high, low }
    }
}

/// How products are summed up on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Products {
    /// As every processor of this kind can.
    Common,
    /// With AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// With what multiplies and adds four numbers of eight bits at once, in registers of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Vnni(Vnni),
}

/// Says that the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx2(());

/// Says that the processor has AVX-512 F and VNNI.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub(super) struct Vnni(());

impl Products {
    /// The fastest way that this processor knows.
    pub(super) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("avx512vnni") {
                return Self::Vnni(Vnni(()));
            }
            if has!("avx2") {
                return Self::Avx2(Avx2(()));
            }
        }
        Self::Common
    }

    /// The sum of the products of two codes of one length, up to multiples of 2^32.
    #[inline]
    #[cfg_attr(
        target_arch = "x86_64",
        allow(unsafe_code, reason = "the compiler cannot see that the processor was asked")
    )]
    pub(super) fn sum(self, query: &QueryCodes, row: &[u8]) -> i32 {
        match self {
            Self::Common => common(&query.whole, row),
            // SAFETY: `avx2` needs a processor with AVX2 and nothing else. An `Avx2` is made in this
            // file alone, after the processor has said that it has it.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(Avx2(())) => unsafe { avx2(&query.whole, row) },
            // SAFETY: as above, with a `Vnni`.
            #[cfg(target_arch = "x86_64")]
            Self::Vnni(Vnni(())) => unsafe { vnni(query, row) },
        }
    }
}

/// By itself, because it stays in registers only where nothing else touches its lanes.
#[inline(never)]
fn common(query: &[i16], row: &[u8]) -> i32 {
    lanes(query, row)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(query: &[i16], row: &[u8]) -> i32 {
    lanes(query, row)
}

#[inline(always)]
fn lanes(query: &[i16], row: &[u8]) -> i32 {
    let ((query, q_rest), (row, r_rest)) = (query.as_chunks::<LANES>(), row.as_chunks::<LANES>());
    let mut lanes = [0_i32; LANES];
    for (query, row) in query.iter().zip(row) {
        for ((lane, a), b) in lanes.iter_mut().zip(query).zip(row) {
            *lane = lane.wrapping_add(i32::from(*a) * i32::from(*b));
        }
    }
    lanes.iter().fold(rest(q_rest, r_rest), |sum, lane| sum.wrapping_add(*lane))
}

fn rest(query: &[i16], row: &[u8]) -> i32 {
    let products = query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.fold(0, i32::wrapping_add)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn vnni(query: &QueryCodes, row: &[u8]) -> i32 {
    let (rows, row_rest) = row.as_chunks::<WIDE>();
    let (high, low) = (query.high.as_chunks::<WIDE>().0, query.low.as_chunks::<WIDE>().0);
    let (mut highs, mut lows) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for ((row, high), low) in rows.iter().zip(high).zip(low) {
        let row = register(row);
        highs = _mm512_dpbusd_epi32(highs, row, register(high));
        lows = _mm512_dpbusd_epi32(lows, row, register(low));
    }
    let whole = query.whole.get(rows.len() * WIDE..).unwrap_or_default();
    let [highs, lows] = [highs, lows].map(|sums| _mm512_reduce_add_epi32(sums));
    highs.wrapping_mul(2 * i32::from(LOW)).wrapping_add(lows).wrapping_add(rest(whole, row_rest))
}

/// 64 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[allow(unsafe_code, reason = "registers are loaded by address")]
fn register<T: Byte>(bytes: &[T; WIDE]) -> __m512i {
    // SAFETY: the address is that of 64 bytes that may be read; it need not be aligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// A number of eight bits.
#[cfg(target_arch = "x86_64")]
trait Byte {}
#[cfg(target_arch = "x86_64")]
impl Byte for u8 {}
#[cfg(target_arch = "x86_64")]
impl Byte for i8 {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn halves_make_up_the_whole() {
        let codes = QueryCodes::new((-REACH..=REACH).collect());
        for ((whole, high), low) in codes.whole.iter().zip(&codes.high).zip(&codes.low) {
            assert_eq!(i16::from(*high) * 128 + i16::from(*low), *whole);
        }
    }

    proptest! {
        #[test]
        fn wide_registers_give_the_same_sums(
            pairs in prop::collection::vec((-REACH..=REACH, any::<u8>()), 0..700),
        ) {
            let (query, row): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let query = QueryCodes::new(query);
            let sum = Products::Common.sum(&query, &row);
            prop_assert_eq!(sum, rest(&query.whole, &row));
            prop_assert_eq!(Products::detect().sum(&query, &row), sum);
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                prop_assert_eq!(Products::Avx2(Avx2(())).sum(&query, &row), sum);
            }
        }
    }
}
