//! Intervals and tests keep what they promise, on simulated experiments whose truth is known.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

use kuhaku_eval::{
    Bootstrap, PairedT, SeededRandom, benjamini_hochberg, holm, mean, percentile,
    randomisation_test,
};

const TRIALS: usize = 2_000;

/// A score as a question of a retrieval set has it, and the mean of many.
type Draw = fn(&mut SeededRandom) -> f64;

/// Reciprocal ranks, a third of them 0: skewed and lumpy.
fn reciprocal_rank(random: &mut SeededRandom) -> f64 {
    match random.below(3) {
        0 => 0.0,
        _ => 1.0 / (1 + random.below(4)) as f64,
    }
}

fn hit(random: &mut SeededRandom) -> f64 {
    f64::from(u8::from(random.unit() < 0.6))
}

fn rate(count: usize) -> f64 {
    count as f64 / TRIALS as f64
}

#[test]
fn intervals_cover_the_truth_in_93_to_97_percent() {
    let draws: [(&str, Draw, f64, usize); 4] = [
        ("even", SeededRandom::unit, 0.5, 100),
        ("reciprocal ranks", reciprocal_rank, 2.0 / 3.0 * (25.0 / 12.0) / 4.0, 100),
        ("reciprocal ranks, more", reciprocal_rank, 2.0 / 3.0 * (25.0 / 12.0) / 4.0, 300),
        ("hits", hit, 0.6, 225),
    ];
    for (at, (name, draw, truth, questions)) in draws.into_iter().enumerate() {
        let mut random = SeededRandom::new(at as u64);
        let covered = (0..TRIALS).filter(|trial| {
            let values: Vec<f64> = (0..questions).map(|_| draw(&mut random)).collect();
            let bootstrap = Bootstrap::new(*trial as u64).resamples(1_000);
            let interval = bootstrap.interval(&values).unwrap();
            interval.low <= truth && truth <= interval.high
        });
        let covered = rate(covered.count());
        eprintln!("{name}, {questions} questions: {covered:.4} of the intervals cover the truth");
        assert!((0.93..=0.97).contains(&covered), "{name}: {covered}");
    }
}

#[test]
fn without_a_difference_one_test_in_twenty_finds_one() {
    for (name, draw, questions) in [
        ("even", SeededRandom::unit as Draw, 50),
        ("reciprocal ranks", reciprocal_rank, 50),
        ("reciprocal ranks, few", reciprocal_rank, 12),
    ] {
        let mut random = SeededRandom::new(questions as u64);
        let (mut by_randomisation, mut by_t) = (0, 0);
        for trial in 0..TRIALS {
            let difference = |_| {
                // Both systems share how hard a question is.
                let shared = draw(&mut random);
                (shared + draw(&mut random)) / 2.0 - (shared + draw(&mut random)) / 2.0
            };
            let differences: Vec<f64> = (0..questions).map(difference).collect();
            let p = randomisation_test(&differences, 999, trial as u64).unwrap();
            by_randomisation += usize::from(p <= 0.05);
            by_t += usize::from(PairedT::new(&differences).unwrap().p <= 0.05);
        }
        let rates = [rate(by_randomisation), rate(by_t)];
        eprintln!("{name}, {questions} questions: false positives {rates:?}");
        assert!(rates.iter().all(|rate| (0.03..=0.07).contains(rate)), "{name}: {rates:?}");
    }
}

#[test]
fn a_true_difference_is_found() {
    let mut random = SeededRandom::new(5);
    let found = (0..200).filter(|trial| {
        let differences: Vec<f64> = (0..50).map(|_| random.unit() - 0.5 + 0.15).collect();
        randomisation_test(&differences, 999, *trial).unwrap() <= 0.05
    });
    assert!(found.count() > 150);
}

#[test]
fn the_randomisation_test_is_exact_for_few_questions() {
    // Of the 8 assignments of signs, two give a sum of ±6.
    assert_eq!(randomisation_test(&[1.0, 2.0, 3.0], 10, 1), Some(0.25));
    assert_eq!(randomisation_test(&[1.0, -1.0], 10, 1), Some(1.0));
    assert_eq!(randomisation_test(&[0.0, 0.0], 10, 1), Some(1.0));
    assert_eq!(randomisation_test(&[0.1, 0.2, -0.3, 0.0], 10, 1), Some(1.0));
    assert_eq!(randomisation_test(&[], 10, 1), None);
    assert_eq!(randomisation_test(&[f64::NAN], 10, 1), None);
}

#[test]
fn the_t_test_has_its_known_values() {
    // Mean 2, standard deviation 1, three pairs: t = 2 sqrt(3), p = 1 − t / sqrt(2 + t²).
    let test = PairedT::new(&[1.0, 2.0, 3.0]).unwrap();
    let t = 2.0 * 3_f64.sqrt();
    assert!((test.t - t).abs() < 1e-12 && test.degrees == 2);
    assert!((test.p - (1.0 - t / 14_f64.sqrt())).abs() < 1e-9, "{}", test.p);
    assert!((test.effect - 2.0).abs() < 1e-12);
    for nothing in [&[][..], &[1.0], &[0.5, 0.5, 0.5], &[0.0, f64::NAN], &[f64::INFINITY, 0.0]] {
        assert_eq!(PairedT::new(nothing), None, "{nothing:?}");
    }
}

#[test]
fn many_values_have_the_interval_that_draws_would_give() {
    let mut random = SeededRandom::new(9);
    let values: Vec<f64> = (0..5_001).map(|_| reciprocal_rank(&mut random)).collect();
    let many = Bootstrap::new(1).interval(&values).unwrap();
    let drawn = Bootstrap::new(1).interval(&values[..5_000]).unwrap();
    assert!((many.low - drawn.low).abs() < 1e-3 && (many.high - drawn.high).abs() < 1e-3);
}

#[test]
fn intervals_are_the_same_for_the_same_seed_and_hold_the_mean() {
    let values: Vec<f64> = (0..40).map(|at| f64::from(at * at % 7) / 6.0).collect();
    let interval = |seed| Bootstrap::new(seed).interval(&values).unwrap();
    assert_eq!(interval(1), interval(1));
    assert_ne!(interval(1), interval(2));
    let same = Bootstrap::new(1).interval(&[0.3; 9]).unwrap();
    assert!(same.low <= 0.3 && 0.3 <= same.high && same.high - same.low < 1e-12);
    let wide = Bootstrap::new(1).coverage(0.99).interval(&values).unwrap();
    assert!(wide.low < interval(1).low && interval(1).high < wide.high);
    assert_eq!(Bootstrap::new(1).interval(&[0.0, f64::NAN]), None);
}

/// RK-64
#[test]
fn percentiles_interpolate_and_nothing_has_none() {
    let values = [3.0, 1.0, 4.0, 2.0];
    assert_eq!(percentile(&values, 50.0), Some(2.5));
    assert!((percentile(&values, 95.0).unwrap() - 3.85).abs() < 1e-12);
    assert_eq!(percentile(&values, 0.0), Some(1.0));
    assert_eq!(percentile(&values, 100.0), Some(4.0));
    assert_eq!(percentile(&values, 250.0), Some(4.0));
    assert_eq!(percentile(&[], 50.0), None);
    assert_eq!(mean(&[]), None);
}

#[test]
fn adjusted_values_allow_for_many_comparisons() {
    let close = |ours: Vec<f64>, expected: &[f64]| {
        assert_eq!(ours.len(), expected.len());
        for (ours, expected) in ours.iter().zip(expected) {
            assert!((ours - expected).abs() < 1e-12, "{ours} {expected}");
        }
    };
    let p = [0.01, 0.04, 0.03, 0.005, 0.9];
    close(holm(&p), &[0.04, 0.09, 0.09, 0.025, 0.9]);
    close(benjamini_hochberg(&p), &[0.025, 0.05, 0.05, 0.025, 0.9]);
    close(holm(&[0.9, 0.8]), &[1.0, 1.0]);
    assert_eq!(holm(&[]), [0.0; 0]);
}
