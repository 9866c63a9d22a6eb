//! Floats of 16 bits (IEEE 754 binary16), little-endian.

/// The nearest half float, ties to even, as two bytes.
pub(super) fn encode(value: f32) -> [u8; 2] {
    let bits = value.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        // Not a number: a quiet one.
        0x7e00
    } else if magnitude >= 0x4780_0000 {
        // 65536 and above.
        0x7c00
    } else if magnitude >= 0x3880_0000 {
        // Rounding may carry into the exponent, which is right: 65520 becomes infinite.
        rounded(magnitude - 0x3800_0000, 13)
    } else if magnitude >= 0x3300_0000 {
        let exponent = magnitude >> 23;
        rounded(magnitude & 0x007f_ffff | 0x0080_0000, 126 - exponent)
    } else {
        0
    };
    (sign | half as u16).to_le_bytes()
}

/// The value of two bytes.
pub(super) fn decode(bytes: [u8; 2]) -> f32 {
    let half = u16::from_le_bytes(bytes);
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(half & 0x03ff);
    match half >> 10 & 0x1f {
        0 => sign * fraction * 2.0_f32.powi(-24),
        0x1f if fraction == 0.0 => sign * f32::INFINITY,
        0x1f => f32::NAN,
        exponent => sign * (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    }
}

/// The bits without the last `dropped` ones, to the nearest, ties to even.
fn rounded(bits: u32, dropped: u32) -> u32 {
    let kept = bits >> dropped;
    let rest = bits & ((1 << dropped) - 1);
    let half = 1 << (dropped - 1);
    kept + u32::from(rest > half || (rest == half && kept & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_float_comes_back_as_it_was() {
        for half in 0..=u16::MAX {
            let bytes = half.to_le_bytes();
            let value = decode(bytes);
            if value.is_nan() {
                assert!(decode(encode(value)).is_nan());
            } else {
                assert_eq!(encode(value), bytes, "{half:#06x} is {value}");
            }
        }
    }

    /// Between two neighbours, the nearer one is taken, and in the middle the even one.
    #[test]
    fn values_between_are_rounded_to_the_nearest_and_ties_to_even() {
        for half in 0..0x7bff_u16 {
            let (low, high) = (decode(half.to_le_bytes()), decode((half + 1).to_le_bytes()));
            let middle = (low + high) / 2.0;
            let even = half + (half & 1);
            assert_eq!(encode(middle), even.to_le_bytes(), "{middle}");
            assert_eq!(encode(middle.next_down()), half.to_le_bytes(), "below {middle}");
            assert_eq!(encode(middle.next_up()), (half + 1).to_le_bytes(), "above {middle}");
        }
        assert_eq!(encode(65519.9), 0x7bff_u16.to_le_bytes());
        assert_eq!(encode(65520.0), 0x7c00_u16.to_le_bytes());
        assert_eq!(encode(-1e30), 0xfc00_u16.to_le_bytes());
    }
}
