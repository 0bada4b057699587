//! Compares with values computed by NumPy and SciPy; known_answers.py says how.

use iolag_analysis::{
    Censoring, LogRange, QuantileValue, RunDifference, RunMethod, RunPairing, chi_squared_above, drift,
    kruskal_wallis, quantile_of, quantile_ranks, quantile_type_7, share_interval,
};
use iolag_model::Nanoseconds;

/// Largest relative difference to the reference.
const TOLERANCE: f64 = 1e-9;

fn rows(kind: &str) -> Vec<(Vec<f64>, Vec<f64>)> {
    let numbers = |text: &str| text.split(',').map(|number| number.parse().expect("a number")).collect();
    let rows: Vec<_> = include_str!("known_answers.tsv")
        .lines()
        .filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t'))
        .map(|line| line.split_once('\t').expect("inputs and outputs"))
        .map(|(inputs, outputs)| (numbers(inputs), numbers(outputs)))
        .collect();
    assert!(!rows.is_empty(), "no known answer for {kind}");
    rows
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let difference = (found - expected).abs();
    assert!(difference <= TOLERANCE * expected.abs().max(1e-3), "{what}: {found} instead of {expected}");
}

#[test]
fn ranks_of_quantile_intervals_are_those_of_the_binomial_distribution() {
    for (inputs, outputs) in rows("quantile_ranks") {
        let ranks = quantile_ranks(inputs[0] as u64, inputs[1]).unwrap();
        assert_eq!((ranks.low, ranks.high), (outputs[0] as u64, outputs[1] as u64), "{inputs:?}");
    }
}

#[test]
fn share_intervals_are_those_of_clopper_and_pearson() {
    for (inputs, outputs) in rows("share_interval") {
        let interval = share_interval(inputs[0], inputs[1]);
        assert_close(interval.low, outputs[0], &format!("low of {inputs:?}"));
        assert_close(interval.high, outputs[1], &format!("high of {inputs:?}"));
    }
}

#[test]
fn quantiles_are_those_of_numpy() {
    for (inputs, outputs) in rows("quantile") {
        let mut values: Vec<u64> = inputs[1..].iter().map(|value| *value as u64).collect();
        assert_close(quantile_type_7(&mut values, inputs[0]).unwrap(), outputs[1], "type 7");
        let found = quantile_of(&mut values, &mut [], inputs[0], Censoring::Independent);
        let expected = QuantileValue::Exactly(Nanoseconds(outputs[0] as u64));
        assert_eq!(found, expected, "type 1 of {inputs:?}");
    }
}

#[test]
fn kruskal_and_wallis_agree_with_scipy() {
    for (inputs, outputs) in rows("kruskal") {
        let groups = inputs[0] as usize;
        let mut rest = &inputs[1 + groups..];
        let mut parts = Vec::new();
        for size in &inputs[1..=groups] {
            let (group, others) = rest.split_at(*size as usize);
            parts.push(group);
            rest = others;
        }
        let statistic = kruskal_wallis(&parts);
        assert_close(statistic, outputs[0], "statistic");
        assert_close(chi_squared_above(statistic, groups - 1), outputs[1], "p");
    }
}

#[test]
fn drift_is_spearmans_correlation() {
    for (inputs, outputs) in rows("spearman") {
        assert_close(drift(&inputs).unwrap(), outputs[0], "rho");
    }
}

/// Runs of both sides, what they are to have (estimate, p, the ends at two levels), and what they have.
#[track_caller]
fn assert_runs(
    kind: &str,
    method: RunMethod,
    pairing: impl Fn(&[LogRange], &[LogRange]) -> RunPairing,
    known: impl Fn(f64) -> LogRange,
) {
    for (inputs, outputs) in rows(kind) {
        let values: Vec<LogRange> = inputs[1..].iter().map(|value| known(*value)).collect();
        let (base, other) = values.split_at(inputs[0] as usize);
        let difference = RunDifference::of(&pairing(base, other), 0.0).expect("runs of both sides");
        assert_eq!(difference.method(), method);
        let estimate = difference.estimate();
        assert_close(f64::midpoint(estimate.low(), estimate.high()), outputs[0], "estimate");
        assert_close(difference.p(), outputs[1], "p");
        for (ends, level) in outputs[2..].chunks(2).zip([0.05, 0.05 / 8.0]) {
            let interval = difference.interval_at(level);
            for (found, expected) in [(interval.low(), ends[0]), (interval.high(), ends[1])] {
                if found != expected {
                    assert_close(found, expected, &format!("end at {level} of {inputs:?}"));
                }
            }
        }
    }
}

fn in_blocks(base: &[LogRange], other: &[LogRange]) -> RunPairing {
    RunPairing::Blocks(base.iter().zip(other).map(|(base, other)| [*base, *other]).collect())
}

fn apart(base: &[LogRange], other: &[LogRange]) -> RunPairing {
    RunPairing::Apart([base.to_vec(), other.to_vec()])
}

#[test]
fn runs_are_compared_as_scipy_does() {
    assert_runs("paired_t", RunMethod::PairedT, in_blocks, LogRange::exactly);
    assert_runs("apart_t", RunMethod::ApartT, apart, LogRange::exactly);
}

/// Bounds that are as good as the value, since what is known does not go by ranks.
#[test]
fn ranks_of_runs_are_those_of_scipy() {
    let nearly = |value: f64| LogRange::between(value - 1e-14, value + 1e-14);
    assert_runs("signed_ranks", RunMethod::SignedRanks, in_blocks, nearly);
    assert_runs("rank_sums", RunMethod::RankSums, apart, nearly);
}
