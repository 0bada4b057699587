//! How often are the words of days wrong, each of which resembles the one before?
//!
//! Tables of days of a watch: of two targets on the same days, or of one before and after a moment. What is judged is [`compare_runs`].

use std::fmt;

use iolag_analysis::{CampaignEnding, LogRange, RunCell, RunPairing, compare_runs};
use iolag_model::Random;

use super::campaigns::{CELLS, HUNG_FACTOR};
use super::limits::SAME_WITHIN;
use super::{Asked, Counts};
use crate::measured::Measured;
use crate::seed::noise_of;

/// Standard deviation of the logarithm between days.
const SPREAD: f64 = 0.3;
/// By how much the other side is faster where it is: twice that.
const FACTOR: f64 = 1.8;

/// What the tables of a row have in common, and what is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Days {
    days: DaysOf,
    /// How much a day resembles the one before.
    likeness: f64,
    /// So many of them are only bounded.
    hung: usize,
    cells: usize,
    /// How much faster the other side is.
    factor: f64,
    asked: Asked,
}

/// Which days there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DaysOf {
    /// So many, of both sides: a day has one difference.
    Both(usize),
    /// Of the base, then of the other side.
    Each(usize, usize),
}

impl fmt::Display for DaysOf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Both(days) => write!(formatter, "paired/{days}"),
            Self::Each(base, other) => write!(formatter, "apart/{base}-and-{other}"),
        }
    }
}

impl Days {
    /// Names and rows.
    pub fn rows() -> Vec<(String, Self)> {
        let mut rows = Vec::new();
        let usual =
            |days, likeness| Self { days, likeness, hung: 0, cells: 1, factor: 1.0, asked: Asked::Truth };
        let paired = [7, 14, 30, 90].map(DaysOf::Both);
        let apart = [7, 14, 30, 90].map(|days| DaysOf::Each(days, days));
        for likeness in [0.0, 0.5, 0.7] {
            for days in paired.into_iter().chain(apart) {
                let one = usual(days, likeness);
                rows.extend([one, Self { cells: CELLS, ..one }]);
            }
            for days in [DaysOf::Both(30), DaysOf::Both(90), DaysOf::Each(30, 30)] {
                rows.push(Self { hung: 1, ..usual(days, likeness) });
            }
        }
        for days in [DaysOf::Both(14), DaysOf::Both(30), DaysOf::Each(30, 30)] {
            rows.push(Self { factor: FACTOR, asked: Asked::Found, ..usual(days, 0.0) });
            rows.push(Self { factor: FACTOR, asked: Asked::Told, ..usual(days, 0.5) });
        }
        let hung = Self { hung: 1, factor: FACTOR, asked: Asked::Found, ..usual(DaysOf::Both(30), 0.0) };
        rows.push(hung);
        rows.into_iter().map(|row| (row.name(), row)).collect()
    }

    fn name(&self) -> String {
        let Self { days, likeness, hung, cells, factor, .. } = *self;
        let differing = if factor == 1.0 { "equal".to_owned() } else { format!("x{factor}") };
        let hung = if hung == 0 { String::new() } else { format!("-{hung}-hung") };
        let cells = if cells == 1 { "1-cell".to_owned() } else { format!("{cells}-cells") };
        format!("compare/days/{differing}/ar{likeness}{hung}/{cells}/{days}")
    }

    /// How many tables say what is false, and how many intervals hold the truth.
    pub fn measure(self, name: &str, tables: usize, seed: u64) -> Vec<Measured> {
        let truths = vec![self.factor.ln(); self.cells];
        let mut counts = Counts::default();
        for number in 0..tables {
            let mut noise = noise_of(name, number, seed);
            let cells: Vec<RunCell> = (0..self.cells).map(|_| self.cell(&mut noise)).collect();
            counts.add(&truths, &compare_runs(&cells, SAME_WITHIN, CampaignEnding::Planned));
        }
        counts.measured(self.asked)
    }

    fn cell(&self, noise: &mut Random) -> RunCell {
        let count = match self.days {
            DaysOf::Both(days) => days,
            DaysOf::Each(base, other) => base + other,
        };
        let mut luck = self.luck(noise, count);
        for _ in 0..self.hung {
            let day = &mut luck[noise.below(count as u64) as usize];
            *day = LogRange::at_most(day.high() - HUNG_FACTOR.ln());
        }
        let faster =
            |day: LogRange| LogRange::between(day.low() + self.factor.ln(), day.high() + self.factor.ln());
        let pairing = match self.days {
            DaysOf::Both(_) => {
                RunPairing::Days(luck.into_iter().map(|day| [LogRange::exactly(0.0), faster(day)]).collect())
            }
            DaysOf::Each(base, _) => {
                let after = luck.split_off(base);
                RunPairing::DaysApart([luck, after.into_iter().map(faster).collect()])
            }
        };
        RunCell { pairing, margin: 0.0 }
    }

    /// That of so many days in their order.
    fn luck(&self, noise: &mut Random, days: usize) -> Vec<LogRange> {
        let rest = (1.0 - self.likeness.powi(2)).sqrt();
        let mut state = noise.normal();
        let day = |_| {
            let today = SPREAD * state;
            state = self.likeness * state + rest * noise.normal();
            LogRange::exactly(today)
        };
        (0..days).map(day).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_as_alike_as_a_row_says() {
        let row = Days {
            days: DaysOf::Each(2000, 2000),
            likeness: 0.7,
            hung: 1,
            cells: 1,
            factor: FACTOR,
            asked: Asked::Told,
        };
        let RunPairing::DaysApart([base, other]) = row.cell(&mut Random::new(3)).pairing else {
            panic!("apart")
        };
        let known: Vec<f64> = base.iter().filter_map(|day| day.known()).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        let square: f64 = known.iter().map(|day| (day - mean).powi(2)).sum();
        let next: f64 = known.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
        assert!((next / square - 0.7).abs() < 0.06, "{}", next / square);
        let of_other = other.iter().filter_map(|day| day.known());
        let faster = of_other.clone().sum::<f64>() / of_other.count() as f64 - mean;
        assert!((faster - FACTOR.ln()).abs() < 0.1, "{faster}");
        let bounded = base.iter().chain(&other).filter(|day| day.known().is_none()).count();
        assert_eq!(bounded, 1);
    }
}
