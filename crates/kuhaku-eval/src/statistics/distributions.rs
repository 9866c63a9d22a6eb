//! The normal and Student's t distribution.

use std::f64::consts::{PI, SQRT_2};

/// The probability that a standard normal variable is at most `z`.
pub(super) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / SQRT_2)
}

/// The value that a standard normal variable is at most with this probability: bisection of
/// [`normal_cdf`], to the last bit that it resolves. Held in ±9, where the probability is below
/// 1e-18.
pub(super) fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..64 {
        let middle = (low + high) / 2.0;
        if normal_cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// The probability that |t| is at least as large, for this many degrees of freedom.
pub(super) fn student_two_sided(t: f64, degrees: f64) -> f64 {
    if t.is_nan() || degrees <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    // The two differ by less than 1e-6 from here on, and the logarithms below would lose more.
    if degrees > 1e6 {
        return 2.0 * normal_cdf(-t.abs());
    }
    regularised_beta(degrees / (degrees + t * t), degrees / 2.0, 0.5)
}

/// By the relation to the incomplete gamma function: a series near 0, a continued fraction beyond
/// (Abramowitz and Stegun 7.1.6 and 7.1.14).
fn erfc(x: f64) -> f64 {
    let size = x.abs();
    let tail = if size < 2.5 {
        let (mut term, mut sum) = (size, size);
        for n in 1..100 {
            term *= 2.0 * size * size / (2.0 * f64::from(n) + 1.0);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        1.0 - 2.0 / PI.sqrt() * (-size * size).exp() * sum
    } else {
        let fraction = (1..60).rev().fold(0.0, |below, n| f64::from(n) / 2.0 / (size + below));
        (-size * size).exp() / PI.sqrt() / (size + fraction)
    };
    if x < 0.0 { 2.0 - tail } else { tail }
}

/// The regularised incomplete beta function by its continued fraction (DLMF 8.17.22), evaluated
/// with Lentz's method, on the side where it converges fast.
fn regularised_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let scale = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        scale.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - scale.exp() * beta_fraction(1.0 - x, b, a) / b
    };
    value.clamp(0.0, 1.0)
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let nonzero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for step in [even, odd] {
            d = 1.0 / nonzero(1.0 + step * d);
            c = nonzero(1.0 + step / c);
            factor = c * d;
            value *= factor;
        }
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive numbers: Stirling's series after shifting
/// upwards (DLMF 5.11.1).
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - square
            * (1.0 / 360.0
                - square * (1.0 / 1_260.0 - square * (1.0 / 1_680.0 - square / 1_188.0))))
        / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_has_its_known_values() {
        let table = [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.959_963_984_540_054, 0.025),
            (3.0, 0.998_650_101_968_369_9),
            (-4.0, 3.167_124_183_311_986e-5),
        ];
        for (z, probability) in table {
            assert!((normal_cdf(z) - probability).abs() < 1e-13, "{z}: {}", normal_cdf(z));
            assert!((normal_quantile(probability) - z).abs() < 1e-9, "{probability}");
        }
    }

    #[test]
    fn students_distribution_has_its_known_values() {
        // One degree: 1 − 2 atan(t) / π. Two degrees: 1 − t / sqrt(2 + t²). The rest: tables.
        let table = [
            (1.0, 1.0, 0.5),
            (2.5, 1.0, 1.0 - 2.0 * 2.5_f64.atan() / PI),
            (3.0, 2.0, 1.0 - 3.0 / 11_f64.sqrt()),
            (2.228_138_851_964_939, 10.0, 0.05),
            (2.009_575_234_489_209, 49.0, 0.05),
            (2.625_890_521_396_41, 100.0, 0.01),
            (1.959_963_984_540_054, 1e9, 0.05),
            (0.0, 5.0, 1.0),
        ];
        for (t, degrees, probability) in table {
            let ours = student_two_sided(t, degrees);
            assert!((ours - probability).abs() < 1e-8, "t {t}, {degrees}: {ours}");
            assert!((student_two_sided(-t, degrees) - ours).abs() < 1e-15);
        }
    }
}
