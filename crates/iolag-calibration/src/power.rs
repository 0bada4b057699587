//! How often is a step found that is there?
//!
//! Found is a change at most a twentieth of the record from where it happened. What the program of November 2026 (commit ea64967)
//! found is the baseline: steps of 2, 10 and 100 in records of 1000 values or more must be found nearly as often.

use iolag_analysis::history::{HistoryInput, HistoryOptions, analyse_history};
use iolag_model::SeriesKind;

use crate::measured::{Limit, Measured};
use crate::process::Process;
use crate::record::{Rounds, attempts, columns, series};
use crate::seed::noise_of;

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
    /// Coefficient of the noise around it.
    pub coefficient: f64,
    /// Values in a record.
    pub size: usize,
}

impl Power {
    /// How many steps are found, and how many records show a change elsewhere.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let (mut found, mut elsewhere) = (0, 0);
        for number in 0..campaigns {
            let apart = self.places(name, number, seed);
            let near = |apart: &f64| *apart <= NEAR_SHARE * self.size as f64;
            found += usize::from(apart.iter().any(near));
            elsewhere += usize::from(!apart.iter().all(near));
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
            Measured::share("a change elsewhere", elsewhere, campaigns, Limit::Untold),
        ]
    }

    /// How far from the truth changes were found, in values.
    fn places(self, name: &str, number: usize, seed: u64) -> Vec<f64> {
        let mut noise = noise_of(name, number, seed);
        let rounds = Rounds::new(self.size, &mut noise);
        // At either edge.
        let place = if noise.uniform() < 0.5 { self.place } else { 1.0 - self.place };
        let process = Process::Step { factor: self.factor, place, coefficient: self.coefficient };
        let course = process.course(rounds.slots(), &mut noise);
        let series = series(process, "list", "/home", SeriesKind::Task);
        let columns = columns(&series, &attempts(process, &rounds, &course));
        let input = HistoryInput { series: vec![(series, columns)], ..HistoryInput::default() };
        let analysis = analyse_history(&input, &HistoryOptions::default());
        let changes = analysis.series.iter().flat_map(|series| &series.changes);
        changes.map(|change| (change.place as f64 - place * self.size as f64).abs()).collect()
    }
}

/// What was found by commit ea64967, in 300 campaigns of seed 2026.
fn baseline(name: &str) -> Option<f64> {
    BASELINE.iter().find(|(row, _)| *row == name).map(|(_, share)| *share)
}

const BASELINE: &[(&str, f64)] = &[];
