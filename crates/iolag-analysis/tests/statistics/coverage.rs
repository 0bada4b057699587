//! Do intervals cover the truth as often as they say? Many small experiments of which the truth is known.

use iolag_analysis::{
    EffectiveSampleSize, Engine, Grouping, Precision, QuantileInterval, QuantileValue, Summary,
};
use iolag_model::{Nanoseconds, Operation, Outcome, Random, SampleColumns};

const EXPERIMENTS: usize = 400;
/// The true median of every experiment.
const MEDIAN_NS: f64 = 1e6;

fn summary(duration_ns: &[i64], outcome_code: &[i32]) -> Summary {
    let operation_code = vec![Operation::Stat as i32; duration_ns.len()];
    let mut engine = Engine::new(Grouping::default(), Precision::Exact);
    engine.batch(SampleColumns {
        operation_code: &operation_code,
        outcome_code,
        duration_ns,
        ..Default::default()
    });
    engine.finish().summaries.remove(0)
}

/// Log-normal durations whose logarithms follow each other by `phi`.
fn durations(noise: &mut Random, n: usize, phi: f64) -> Vec<i64> {
    let mut state = noise.normal();
    (0..n)
        .map(|_| {
            state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
            (MEDIAN_NS * state.exp()) as i64
        })
        .collect()
}

fn covers(interval: QuantileInterval) -> bool {
    interval.bounds().is_some_and(|(low, high)| low.0 as f64 <= MEDIAN_NS && high.0 as f64 >= MEDIAN_NS)
}

/// Shares of experiments in which the naive interval of the median covers the truth, and the corrected one of those that have one.
fn coverage(n: usize, phi: f64) -> (f64, f64) {
    let mut noise = Random::new(2026);
    let (mut naive, mut corrected, mut told) = (0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let median = summary(&durations(&mut noise, n, phi), &vec![Outcome::Ok as i32; n]).durations.median;
        naive += usize::from(covers(median.interval_naive));
        corrected += usize::from(covers(median.interval));
        told += usize::from(median.interval.bounds().is_some());
    }
    assert!(2 * told > EXPERIMENTS, "{n} {phi}: {told} are told");
    (naive as f64 / EXPERIMENTS as f64, corrected as f64 / told as f64)
}

#[test]
fn independent_attempts_are_covered_as_promised() {
    for n in [6, 25, 200] {
        let (naive, corrected) = coverage(n, 0.0);
        assert!(naive >= 0.93 && corrected >= 0.93, "{n}: {naive} {corrected}");
    }
}

#[test]
fn the_correction_restores_most_of_the_coverage_that_autocorrelation_takes() {
    for n in [300, 3000] {
        let (naive, corrected) = coverage(n, 0.8);
        assert!(naive < 0.65, "{n}: the naive interval covers {naive}");
        assert!(corrected > 0.85, "{n}: the corrected interval covers {corrected}");
    }
}

#[test]
fn a_deadline_moves_no_quantile_below_the_censored_mass() {
    let mut noise = Random::new(7);
    let free = durations(&mut noise, 1000, 0.0);
    let deadline = 3 * MEDIAN_NS as i64;
    let cut: Vec<i64> = free.iter().map(|ns| (*ns).min(deadline)).collect();
    let outcome = |ns: &i64| if *ns > deadline { Outcome::Timeout as i32 } else { Outcome::Ok as i32 };
    let outcomes: Vec<i32> = free.iter().map(outcome).collect();
    let (free, cut) = (summary(&free, &vec![0; 1000]).durations, summary(&cut, &outcomes).durations);
    assert_eq!((free.median.value, free.median.interval), (cut.median.value, cut.median.interval));
    assert_eq!(free.p75.value, cut.p75.value);
    assert_eq!(cut.p95.value, QuantileValue::AtLeast(Nanoseconds(deadline as u64)));
    assert_eq!(free.sample_size, EffectiveSampleSize::independent(1000));
}
