//! How often are the words of shares over a threshold wrong, whoever tried more often?
//!
//! Two sides are compared in eight cells by the share of attempts that took too long. Beside what iolag says stands what other corrections of shares of
//! nothing would have said.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::compare::{CompareOptions, Side, Unit, UnitBlock, UnitKind, UnitValue, compare_sides};
use iolag_analysis::{
    CampaignEnding, Cell, ComparedRuns, LogRange, RunAmount, RunCell, RunPairing, RunQuantity, Standing,
    compare_runs,
};
use iolag_model::{Nanoseconds, Operation, Order, Random, RunId};

use super::campaigns::CELLS;
use super::limits::SAME_WITHIN;
use super::{Asked, Counts, is_false};
use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

const OVER: RunQuantity = RunQuantity::ShareOver(Nanoseconds::from_milliseconds(100));

/// What the campaigns of a row have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// What share of attempts takes too long.
    pub share: f64,
    /// So many times as many do on the other side.
    pub factor: f64,
    /// Attempts of a run of each side.
    pub attempts: [u64; 2],
    /// Of the first run of the base.
    pub of_first: u64,
    /// Standard deviation of the logarithm between runs.
    pub spread: f64,
    /// Runs of a side.
    pub runs: usize,
    /// Which run follows which.
    pub order: Order,
}

/// How many attempts were over, of how many.
type Counted = (u64, u64);
/// The runs of either side.
type CountedSides = [Vec<Counted>; 2];

/// A way to make logarithms of shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Correction {
    /// Half an attempt of one more, of the fewest attempts of any run.
    Fewest,
    /// Half an attempt of one more, of the run's own.
    Own,
}

/// Names and questions.
pub fn share_rows() -> Vec<(String, Shares)> {
    let usual = |share: f64, factor: f64, attempts: [u64; 2]| Shares {
        share,
        factor,
        attempts,
        of_first: attempts[0],
        spread: 0.05,
        runs: 9,
        order: Order::Random,
    };
    let mut rows: Vec<Shares> = Vec::new();
    for (share, attempts) in [
        (0.05, [1000, 1000]),
        (0.05, [1000, 50]),
        (0.05, [1000, 5]),
        (0.005, [5000, 500]),
        (0.005, [1000, 50]),
        (0.001, [5000, 500]),
    ] {
        rows.push(usual(share, 1.0, attempts));
    }
    let apart = Shares { order: Order::Sequential, ..usual(0.005, 1.0, [5000, 500]) };
    rows.extend([apart, Shares { runs: 25, ..apart }]);
    rows.push(usual(0.05, 2.0, [1000, 1000]));
    for (share, attempts) in [(0.005, [5000, 500]), (0.005, [1000, 50]), (0.0005, [1000, 1000])] {
        rows.push(usual(share, 4.0, attempts));
    }
    rows.push(Shares { of_first: 5, ..usual(0.0005, 4.0, [1000, 1000]) });
    rows.into_iter().map(|row| (row.name(), row)).collect()
}

impl Shares {
    fn name(&self) -> String {
        let Self { share, factor, attempts: [base, other], of_first, runs, .. } = *self;
        let first = if of_first == base { String::new() } else { format!("-once-{of_first}") };
        let apart = if self.order == Order::Sequential { "-apart" } else { "" };
        format!("compare/shares/x{factor}/{}-percent/{base}{first}-and-{other}{apart}/{runs}", 100.0 * share)
    }

    /// How many campaigns say what is false, and how many intervals hold the truth, by each correction.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let truths = [-self.factor.ln(); CELLS];
        let mut counts = Counts::default();
        let mut others = [Correction::Fewest, Correction::Own].map(|correction| (correction, 0));
        for number in 0..campaigns {
            let cells = self.draw(&mut noise_of(name, number, seed));
            counts.add(&truths, &self.compared(&cells));
            for (correction, with_false) in &mut others {
                let compared = correction.compared(self, &cells);
                let mut cells = truths.iter().zip(&compared);
                *with_false += usize::from(cells.any(|(truth, cell)| is_false(cell.word, *truth)));
            }
        }
        let mut measured = counts.measured(Asked::Truth);
        let other = |(correction, with_false): (Correction, usize)| {
            Measured::share(format!("false: {}", correction.name()), with_false, campaigns, Limit::Untold)
        };
        measured.extend(others.map(other));
        measured
    }

    fn draw(&self, noise: &mut Random) -> Vec<CountedSides> {
        let mut run = |side: usize, place: usize| {
            let attempts = if side == 0 && place == 0 { self.of_first } else { self.attempts[side] };
            let of_side = self.share * [1.0, self.factor][side];
            let share = of_side * (self.spread * noise.normal()).exp();
            ((0..attempts).filter(|_| noise.unit() < share).count() as u64, attempts)
        };
        let mut side = |side: usize| (0..self.runs).map(|place| run(side, place)).collect::<Vec<Counted>>();
        (0..CELLS).map(|_| [side(0), side(1)]).collect()
    }

    /// As iolag says it.
    fn compared(&self, cells: &[CountedSides]) -> Vec<ComparedRuns> {
        let side = |side: usize| Side {
            name: side.to_string(),
            units: (0..self.runs).map(|place| self.unit(cells, side, place)).collect(),
            chosen_by: BTreeSet::new(),
        };
        let options =
            CompareOptions { quantity: Some(OVER), same_within: SAME_WITHIN, ..CompareOptions::default() };
        let table = compare_sides(vec![side(0), side(1)], &options);
        let rows = table.map(|table| table.rows).unwrap_or_default();
        rows.into_iter().flat_map(|row| row.cells).map(|cell| cell.compared).collect()
    }

    fn unit(&self, cells: &[CountedSides], side: usize, place: usize) -> Unit {
        let value = |(cell, operation): (&CountedSides, &Operation)| {
            let (over, attempts) = cell[side][place];
            UnitValue {
                cell: Cell { operation: *operation, phase: None },
                task: None,
                target: "/data".to_owned(),
                attempts,
                amounts: vec![(OVER, RunAmount::Known(over as f64 / attempts as f64))],
                profile: Vec::new(),
                processors: None,
            }
        };
        let block = RunId::new("20261128-000000", 1).ok().map(|campaign| UnitBlock {
            campaign,
            order: self.order,
            ending: CampaignEnding::Planned,
            block: place as u32,
        });
        Unit {
            name: format!("{side}-{place}"),
            kind: UnitKind::Run,
            workload: "metadata".to_owned(),
            usual: OVER,
            block,
            span_ns: [place as i64, place as i64],
            coordinates: BTreeMap::new(),
            labels: BTreeMap::new(),
            facts: BTreeMap::new(),
            places: BTreeMap::new(),
            page_cache_bytes: None,
            caches: None,
            felt: Vec::new(),
            clock_step_ns: 1.0,
            quantile_step: 0.0,
            standing: Standing::Whole,
            values: cells.iter().zip(Operation::ALL).map(value).collect(),
        }
    }
}

impl Correction {
    const fn name(self) -> &'static str {
        match self {
            Self::Fewest => "of the fewest attempts",
            Self::Own => "of own attempts",
        }
    }

    fn compared(self, shares: Shares, cells: &[CountedSides]) -> Vec<ComparedRuns> {
        let cells: Vec<RunCell> = cells.iter().map(|cell| self.cell(shares, cell)).collect();
        compare_runs(&cells, SAME_WITHIN, CampaignEnding::Planned)
    }

    fn cell(self, shares: Shares, sides: &CountedSides) -> RunCell {
        let all = || sides.iter().flatten();
        let fewest = all().map(|(_, attempts)| *attempts).min().unwrap_or(1);
        let speed = |(over, attempts): &Counted| {
            let share = *over as f64 / *attempts as f64;
            let of = if self == Self::Own { *attempts } else { fewest } as f64;
            LogRange::exactly(-((share * of + 0.5) / (of + 1.0)).ln())
        };
        let [base, other] = sides.each_ref().map(|side| side.iter().map(speed).collect::<Vec<LogRange>>());
        let pairing = match shares.order {
            Order::Sequential => RunPairing::Apart([base, other]),
            _ => RunPairing::Blocks(base.into_iter().zip(other).map(<[LogRange; 2]>::from).collect()),
        };
        let margin = if all().all(|(over, _)| *over == 0) { f64::INFINITY } else { 0.0 };
        RunCell { pairing, margin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_as_they_were_drawn() {
        let row = |factor| Shares {
            share: 0.1,
            factor,
            attempts: [1000, 400],
            of_first: 1000,
            spread: 0.05,
            runs: 9,
            order: Order::Random,
        };
        for factor in [3.0, 1.0 / 3.0] {
            let cells = row(factor).draw(&mut Random::new(6));
            let found = row(factor).compared(&cells);
            assert_eq!(found.len(), CELLS);
            for (told, cell) in found.iter().zip(&cells) {
                assert!(!is_false(told.word, -factor.ln()) && is_false(told.word, factor.ln()), "{told:?}");
                let mean = |side: &Vec<Counted>| {
                    let logarithm = |(over, attempts): &Counted| {
                        ((*over as f64 + 0.5) / (*attempts as f64 + 1.0)).ln() / side.len() as f64
                    };
                    side.iter().map(logarithm).sum::<f64>()
                };
                let estimate = told.difference.as_ref().unwrap().estimate().known().unwrap();
                assert!((estimate - (mean(&cell[0]) - mean(&cell[1]))).abs() < 1e-9);
            }
        }
    }

    /// Of hundreds of attempts of 1000, and of 5 of one run.
    #[test]
    fn the_fewest_attempts_make_all_the_same() {
        let row = Shares {
            share: 0.05,
            factor: 4.0,
            attempts: [1000, 1000],
            of_first: 1,
            spread: 0.0,
            runs: 9,
            order: Order::Random,
        };
        let cells = row.draw(&mut Random::new(7));
        let estimate = |told: &ComparedRuns| told.difference.as_ref().unwrap().estimate().known().unwrap();
        let of = |correction: Correction| estimate(&correction.compared(row, &cells)[0]);
        assert!(of(Correction::Fewest) > -0.6 && of(Correction::Own) < -0.9, "{}", of(Correction::Own));
    }
}
