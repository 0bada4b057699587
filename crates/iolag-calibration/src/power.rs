//! How often is a step found that is there?
//!
//! Found is a change at most a twentieth of the record from where it happened. What the program of November 2026 (commit ea64967)
//! found is the baseline: steps of 2, 10 and 100 in records of 1000 values or more must be found nearly as often. Beside it stands what an oracle
//! finds: that program told drifts and wandering loads as steps, and nobody who does not can find as many. A ramp has no baseline; it is found between
//! its ends, too.

use iolag_analysis::history::{HistoryInput, HistoryOptions, analyse_history};
use iolag_model::SeriesKind;

use crate::measured::{Limit, Measured};
use crate::process::{MEDIAN_SECONDS, Process, SIGMA};
use crate::record::{Attempt, Rounds, attempts, columns, series};
use crate::seed::noise_of;
use crate::step_oracle::StepOracle;

/// A change this share of the record beside the truth is still found.
const NEAR_SHARE: f64 = 0.05;
/// Of the baseline, what must be left.
const KEPT_SHARE: f64 = 0.9;
/// Smaller records are told, not judged.
const SIZE_JUDGED: usize = 1000;
/// So are smaller steps.
const FACTOR_JUDGED: f64 = 2.0;

/// Records of one step and size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// How much slower.
    pub factor: f64,
    /// Where: share of the record before it.
    pub place: f64,
    /// For which share of the record it becomes slower until then; 0 is a step.
    pub lasting: f64,
    /// Coefficient of the noise around it.
    pub coefficient: f64,
    /// Values in a record.
    pub size: usize,
}

impl Power {
    /// How many steps are found, and how many records show a change elsewhere.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let (mut found, mut elsewhere, mut by_oracle) = (0, 0, 0);
        let oracle = StepOracle::of(self.size, self.coefficient, &mut noise_of(name, campaigns, seed));
        for number in 0..campaigns {
            let record = self.record(name, number, seed);
            let near = |place: &usize| {
                let share = *place as f64 / self.size as f64;
                share >= record.place - self.lasting - NEAR_SHARE && share <= record.place + NEAR_SHARE
            };
            let places = places_of(&record);
            found += usize::from(places.iter().any(near));
            elsewhere += usize::from(!places.iter().all(near));
            let seconds = record.attempts.iter().map(|attempt| attempt.seconds);
            let deviations: Vec<f64> =
                seconds.map(|seconds| (seconds / MEDIAN_SECONDS).ln() / SIGMA).collect();
            by_oracle += usize::from(oracle.find(&deviations).as_ref().is_some_and(near));
        }
        let baseline = baseline(name);
        let limit = match baseline {
            Some(share) if self.size >= SIZE_JUDGED && self.factor >= FACTOR_JUDGED => {
                Limit::AtLeast(KEPT_SHARE * share)
            }
            _ => Limit::Untold,
        };
        vec![
            Measured::share("found", found, campaigns, limit),
            Measured::ratio("found in November 2026", baseline, None),
            Measured::share("an oracle finds", by_oracle, campaigns, Limit::Untold),
            Measured::share("a change elsewhere", elsewhere, campaigns, Limit::Untold),
        ]
    }

    fn record(self, name: &str, number: usize, seed: u64) -> Record {
        let mut noise = noise_of(name, number, seed);
        let rounds = Rounds::new(self.size, &mut noise);
        // At either edge.
        let place = if noise.unit() < 0.5 { self.place } else { 1.0 - self.place };
        let Self { factor, lasting, coefficient, .. } = self;
        let process = Process::Step { factor, place, lasting, coefficient };
        let course = process.course(rounds.slots(), &mut noise);
        Record { process, place, attempts: attempts(process, &rounds, &course) }
    }
}

/// A record and where its step is.
struct Record {
    process: Process,
    /// Share of the record before the step.
    place: f64,
    attempts: Vec<Attempt>,
}

/// Where changes are found.
fn places_of(record: &Record) -> Vec<usize> {
    let series = series(record.process, "list", "/home", SeriesKind::Task);
    let columns = columns(&series, &record.attempts);
    let input = HistoryInput { series: vec![(series, columns)], ..HistoryInput::default() };
    let analysis = analyse_history(&input, &HistoryOptions::default());
    analysis.series.iter().flat_map(|series| &series.changes).map(|change| change.place).collect()
}

/// What was found by commit ea64967, in 300 campaigns of seed 2026.
fn baseline(name: &str) -> Option<f64> {
    BASELINE.iter().find(|(row, _)| *row == name).map(|(_, share)| *share)
}

/// Shares that were found, by row.
const BASELINE: &[(&str, f64)] = &[
    ("power/independent/x1.2-middle/192", 0.0633),
    ("power/independent/x1.2-tenth/192", 0.0200),
    ("power/independent/x1.2-3-percent/192", 0.0000),
    ("power/independent/x2-middle/192", 0.9533),
    ("power/independent/x2-tenth/192", 0.7000),
    ("power/independent/x2-3-percent/192", 0.0200),
    ("power/independent/x10-middle/192", 1.0000),
    ("power/independent/x10-tenth/192", 1.0000),
    ("power/independent/x10-3-percent/192", 0.0000),
    ("power/independent/x100-middle/192", 1.0000),
    ("power/independent/x100-tenth/192", 1.0000),
    ("power/independent/x100-3-percent/192", 0.0033),
    ("power/independent/x1.2-middle/1000", 0.6433),
    ("power/independent/x1.2-tenth/1000", 0.1467),
    ("power/independent/x1.2-3-percent/1000", 0.0167),
    ("power/independent/x2-middle/1000", 1.0000),
    ("power/independent/x2-tenth/1000", 1.0000),
    ("power/independent/x2-3-percent/1000", 0.9367),
    ("power/independent/x10-middle/1000", 1.0000),
    ("power/independent/x10-tenth/1000", 1.0000),
    ("power/independent/x10-3-percent/1000", 1.0000),
    ("power/independent/x100-middle/1000", 1.0000),
    ("power/independent/x100-tenth/1000", 1.0000),
    ("power/independent/x100-3-percent/1000", 1.0000),
    ("power/ar0.8/x1.2-middle/1000", 0.0300),
    ("power/ar0.8/x1.2-tenth/1000", 0.0100),
    ("power/ar0.8/x1.2-3-percent/1000", 0.0000),
    ("power/ar0.8/x2-middle/1000", 0.8433),
    ("power/ar0.8/x2-tenth/1000", 0.4000),
    ("power/ar0.8/x2-3-percent/1000", 0.0100),
    ("power/ar0.8/x10-middle/1000", 1.0000),
    ("power/ar0.8/x10-tenth/1000", 0.8967),
    ("power/ar0.8/x10-3-percent/1000", 0.0167),
    ("power/ar0.8/x100-middle/1000", 1.0000),
    ("power/ar0.8/x100-tenth/1000", 0.8733),
    ("power/ar0.8/x100-3-percent/1000", 0.0000),
    ("power/independent/x1.2-middle/2976", 0.9467),
    ("power/independent/x1.2-tenth/2976", 0.7467),
    ("power/independent/x1.2-3-percent/2976", 0.0100),
    ("power/independent/x2-middle/2976", 1.0000),
    ("power/independent/x2-tenth/2976", 1.0000),
    ("power/independent/x2-3-percent/2976", 0.0000),
    ("power/independent/x10-middle/2976", 1.0000),
    ("power/independent/x10-tenth/2976", 1.0000),
    ("power/independent/x10-3-percent/2976", 0.0000),
    ("power/independent/x100-middle/2976", 1.0000),
    ("power/independent/x100-tenth/2976", 1.0000),
    ("power/independent/x100-3-percent/2976", 0.0000),
    ("power/ar0.8/x1.2-middle/2976", 0.1933),
    ("power/ar0.8/x1.2-tenth/2976", 0.0400),
    ("power/ar0.8/x1.2-3-percent/2976", 0.0000),
    ("power/ar0.8/x2-middle/2976", 0.9767),
    ("power/ar0.8/x2-tenth/2976", 0.9800),
    ("power/ar0.8/x2-3-percent/2976", 0.0167),
    ("power/ar0.8/x10-middle/2976", 1.0000),
    ("power/ar0.8/x10-tenth/2976", 1.0000),
    ("power/ar0.8/x10-3-percent/2976", 0.0033),
    ("power/ar0.8/x100-middle/2976", 1.0000),
    ("power/ar0.8/x100-tenth/2976", 1.0000),
    ("power/ar0.8/x100-3-percent/2976", 0.0033),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Question, rows};

    #[test]
    fn every_row_has_a_baseline_and_every_baseline_a_row() {
        let named: Vec<String> = rows()
            .into_iter()
            .filter(|row| matches!(row.question, Question::Power(Power { lasting: 0.0, .. })))
            .map(|row| row.name)
            .collect();
        assert_eq!(named, BASELINE.iter().map(|(row, _)| (*row).to_owned()).collect::<Vec<_>>());
    }
}
