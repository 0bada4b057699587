//! Set-ups by copies: are lines told as lines and curves as curves, and is what a further copy costs in its interval?

use iolag_analysis::{CopiesLine, CopiesShape, copies_line};
use iolag_model::Random;

use crate::measured::{Limit, Measured};
use crate::seed::noise_of;

/// Copies at once, as in the plan that comes with iolag.
const LEVELS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// Of the luck's variance, what all runs of a repetition have in common.
const OF_BLOCK: f64 = 0.5;
const FALSE_MOST: f64 = 0.05;
const COVERED_LEAST: f64 = 0.93;
const FOUND_LEAST: f64 = 0.8;

/// Campaigns of one file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SetUps {
    truth: Truth,
    /// How far runs are apart (standard deviation of the logarithm).
    spread: f64,
    /// Repetitions.
    blocks: usize,
}

/// What a copy takes, in seconds, beside so many others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    /// Each further copy costs two seconds.
    Line,
    /// It costs nothing.
    Flat,
    /// Each costs more than the one before.
    Upward,
    /// Each costs less.
    Downward,
}

impl Truth {
    const fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Flat => "flat",
            Self::Upward => "upward",
            Self::Downward => "downward",
        }
    }

    fn seconds(self, copies: f64) -> f64 {
        match self {
            Self::Line => 3.0 + 2.0 * copies,
            Self::Flat => 5.0,
            Self::Upward => 3.0 + 2.0 * copies + 0.5 * copies * copies,
            Self::Downward => 5.0 * copies.sqrt(),
        }
    }

    /// What a further copy costs, of a line.
    const fn slope(self) -> Option<f64> {
        match self {
            Self::Line => Some(2.0),
            Self::Flat => Some(0.0),
            Self::Upward | Self::Downward => None,
        }
    }

    const fn is_told(self, shape: CopiesShape) -> bool {
        matches!(
            (self, shape),
            (Self::Line | Self::Flat, CopiesShape::Straight { .. })
                | (Self::Upward, CopiesShape::Upward { .. })
                | (Self::Downward, CopiesShape::Downward { .. })
        )
    }
}

impl SetUps {
    /// All rows with their names.
    pub fn rows() -> Vec<(String, Self)> {
        let lines = [Truth::Line, Truth::Flat].into_iter().flat_map(|truth| {
            let cells = [(0.05, 3), (0.05, 9), (0.3, 3), (0.3, 5), (0.3, 9)];
            cells.into_iter().map(move |(spread, blocks)| Self { truth, spread, blocks })
        });
        let curves = [Truth::Upward, Truth::Downward].into_iter().flat_map(|truth| {
            [(0.05, 3), (0.05, 5), (0.05, 9), (0.3, 9)].into_iter().map(move |(spread, blocks)| Self {
                truth,
                spread,
                blocks,
            })
        });
        lines.chain(curves).map(|row| (row.name(), row)).collect()
    }

    fn name(&self) -> String {
        format!("set-up/{}/{}-percent/{}", self.truth.name(), 100.0 * self.spread, self.blocks)
    }

    /// How many campaigns are told as what they are, and how many intervals hold what a copy costs.
    pub fn measure(self, name: &str, campaigns: usize, seed: u64) -> Vec<Measured> {
        let found: Vec<CopiesLine> =
            (0..campaigns).filter_map(|number| self.found(&mut noise_of(name, number, seed))).collect();
        let count = |is_so: &dyn Fn(&CopiesLine) -> bool| found.iter().filter(|line| is_so(line)).count();
        let as_it_is = count(&|line| self.truth.is_told(line.shape));
        let Some(slope) = self.truth.slope() else {
            let limit = if self.is_plain() { Limit::AtLeast(FOUND_LEAST) } else { Limit::Untold };
            let other = count(&|line| {
                let is_curve =
                    matches!(line.shape, CopiesShape::Upward { .. } | CopiesShape::Downward { .. });
                is_curve && !self.truth.is_told(line.shape)
            });
            return vec![
                Measured::share("curve found", as_it_is, campaigns, limit),
                Measured::share("the other curve", other, campaigns, Limit::AtMost(FALSE_MOST)),
            ];
        };
        let is_held = |line: &CopiesLine| {
            line.slope_interval_ns.is_some_and(|[low, high]| (low..=high).contains(&slope))
        };
        vec![
            Measured::share("told curved", campaigns - as_it_is, campaigns, Limit::AtMost(FALSE_MOST)),
            Measured::share("slope held", count(&is_held), campaigns, Limit::AtLeast(COVERED_LEAST)),
        ]
    }

    /// Whether a curve stands out of the luck of so many repetitions.
    const fn is_plain(&self) -> bool {
        self.spread < 0.1 && self.blocks >= 5
    }

    fn found(&self, noise: &mut Random) -> Option<CopiesLine> {
        let block = |noise: &mut Random| {
            let common = OF_BLOCK.sqrt() * noise.normal();
            let luck = |noise: &mut Random| common + (1.0 - OF_BLOCK).sqrt() * noise.normal();
            // Of which the mean is one.
            let factor = |luck: f64| (self.spread * luck - self.spread.powi(2) / 2.0).exp();
            LEVELS.map(|copies| self.truth.seconds(copies) * factor(luck(noise))).to_vec()
        };
        let blocks: Vec<Vec<f64>> = (0..self.blocks).map(|_| block(noise)).collect();
        copies_line(&LEVELS, &blocks)
    }
}
