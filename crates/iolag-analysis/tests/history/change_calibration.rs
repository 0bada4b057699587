//! How often the analysis over history is wrong on series about which everything is known, with fixed seeds.

use std::time::Instant;

use iolag_analysis::history::{
    ChangeOptions, CorrelationMethod, LocalTime, TimedValues, correlate, find_changes, find_periodicity,
};
use iolag_model::Random;
use iolag_model::WallTime;

/// A week begins with it.
const MONDAY_NS: i64 = 4 * 86_400 * 1_000_000_000;

/// Log-normal durations (σ = 0.6 of the logarithm), autoregressive with `phi`, every `slot_seconds` with jitter.
fn storage(n: usize, slot_seconds: f64, phi: f64, noise: &mut Random) -> TimedValues {
    let mut state = noise.normal();
    let mut moments = Vec::with_capacity(n);
    let mut values = Vec::with_capacity(n);
    for slot in 0..n {
        state = phi * state + (1.0 - phi * phi).sqrt() * noise.normal();
        moments.push(WallTime(MONDAY_NS + ((slot as f64 + 0.05 * noise.unit()) * slot_seconds * 1e9) as i64));
        values.push((0.6 * state).exp());
    }
    TimedValues::known(&moments, &values)
}

#[test]
fn autocorrelated_noise_changes_in_at_most_one_series_year_of_ten() {
    for phi in [0.0, 0.6, 0.9] {
        let mut noise = Random::new(1000);
        let alarms = (0..30).filter(|_| {
            let values = storage(24 * 365, 3600.0, phi, &mut noise);
            !find_changes(&values, &LocalTime::UTC, &ChangeOptions::default()).steps.is_empty()
        });
        let alarms = alarms.count();
        println!("hourly years, phi {phi}: {alarms} of 30");
        assert!(alarms <= 3, "{alarms} of 30 years at {phi}");
    }
}

#[test]
fn short_series_of_noise_do_not_change_either() {
    for phi in [0.0, 0.5, 0.8] {
        for n in [60, 96, 300, 900] {
            let mut noise = Random::new(2000);
            let alarms = (0..200).filter(|_| {
                let values = storage(n, 900.0, phi, &mut noise);
                !find_changes(&values, &LocalTime::UTC, &ChangeOptions::default()).steps.is_empty()
            });
            let alarms = alarms.count();
            println!("{n} values, phi {phi}: {alarms} of 200");
            assert!(alarms <= 20, "{alarms} of 200 with {n} values at {phi}");
        }
    }
}

/// Shorter records are wrong more often, and docs/statistics.md says how often: they hold too few of the correlation times of such a load.
#[test]
fn slow_load_under_quick_noise_changes_in_at_most_one_series_year_of_ten() {
    let mut noise = Random::new(2500);
    let alarms = (0..30).filter(|_| {
        let (slow, quick) =
            (storage(24 * 365, 3600.0, 0.95, &mut noise), storage(24 * 365, 3600.0, 0.0, &mut noise));
        let mixed: Vec<f64> =
            slow.values().iter().zip(quick.values()).map(|(one, other)| one * other).collect();
        !find_changes(&TimedValues::known(slow.moments(), &mixed), &LocalTime::UTC, &ChangeOptions::default())
            .steps
            .is_empty()
    });
    let alarms = alarms.count();
    println!("slow load and quick noise: {alarms} of 30");
    assert!(alarms <= 3, "{alarms} of 30 years");
}

#[test]
fn a_doubling_with_four_days_on_each_side_is_detected() {
    for (half, phi, least) in [(384, 0.0, 80), (384, 0.3, 75), (480, 0.3, 85)] {
        let mut noise = Random::new(3000);
        let detected = (0..100).filter(|_| {
            let quiet = storage(2 * half, 900.0, phi, &mut noise);
            let doubled: Vec<f64> = quiet
                .values()
                .iter()
                .enumerate()
                .map(|(slot, value)| if slot < half { *value } else { 2.0 * value })
                .collect();
            let changes = find_changes(
                &TimedValues::known(quiet.moments(), &doubled),
                &LocalTime::UTC,
                &ChangeOptions::default(),
            )
            .steps;
            changes.iter().any(|change| change.place.abs_diff(half) <= 12 && change.greater_after > 0.5)
        });
        let detected = detected.count();
        println!("{half}, phi {phi}: {detected} of 100 detected");
        assert!(detected >= least, "{detected} of 100 at {half}, {phi}");
    }
}

#[test]
fn p_of_a_correlation_is_uniform_although_both_series_resemble_themselves() {
    for (n, phi) in [(200, 0.0), (200, 0.5), (800, 0.8), (2000, 0.9)] {
        let mut noise = Random::new(4000);
        let runs = 400;
        let p: Vec<f64> = (0..runs)
            .map(|_| {
                let (left, right) = (storage(n, 900.0, phi, &mut noise), storage(n, 900.0, phi, &mut noise));
                correlate(&left, &right, CorrelationMethod::Spearman, None).unwrap().p
            })
            .collect();
        let below = |limit: f64| p.iter().filter(|p| **p <= limit).count() as f64 / runs as f64;
        println!("n {n}, phi {phi}: {} {} {}", below(0.05), below(0.2), below(0.5));
        assert!(below(0.05) <= 0.07, "{} at 5 % for {n}, {phi}", below(0.05));
        assert!((0.13..0.27).contains(&below(0.2)) && (0.41..0.59).contains(&below(0.5)), "{n} {phi}");
    }
}

#[test]
fn a_year_every_quarter_of_an_hour_is_done_in_seconds() {
    let mut noise = Random::new(5000);
    let quiet = storage(96 * 365, 900.0, 0.6, &mut noise);
    let steps = [(9_000, 1.0), (15_000, 0.4), (15_400, 1.5), (22_000, 0.7), (31_000, 1.3)];
    let level = |slot: usize| steps.iter().rev().find(|step| slot >= step.0).map_or(1.0, |step| step.1);
    let stepped: Vec<f64> =
        quiet.values().iter().enumerate().map(|(slot, value)| value * level(slot)).collect();
    let values = TimedValues::known(quiet.moments(), &stepped);
    let begin = Instant::now();
    let changes = find_changes(&values, &LocalTime::UTC, &ChangeOptions::default()).steps;
    println!("changes in {:?}", begin.elapsed());
    let places: Vec<usize> = changes.iter().map(|change| change.place).collect();
    assert!(places.len() == 4, "{places:?}");
    for (place, expected) in places.iter().zip([15_000, 15_400, 22_000, 31_000]) {
        assert!(place.abs_diff(expected) < 60, "{places:?}");
    }
    let begin = Instant::now();
    let period = find_periodicity(&quiet, &quiet.ordered(), &LocalTime::UTC);
    assert!(period.is_none_or(|period| period.false_alarm > 0.05));
    println!("periods in {:?}", begin.elapsed());
}
