//! Rules for scripts: what a comparison must not show.

use iolag_model::Operation;

use crate::run::values::RunQuantity;
use crate::statistics::runs::log_range::LogRange;

/// As on the command line: `p95 > 1.1x`, `read rate < 0.9x`.
#[derive(Debug, Clone, PartialEq)]
pub struct FailRule {
    /// As it was typed.
    pub text: String,
    /// Of which operation; of all without it.
    pub operation: Option<Operation>,
    /// Of what.
    pub quantity: RunQuantity,
    /// On which side of the factor it is broken.
    pub beyond: Beyond,
    /// The other side's value by that of the base: 1.1.
    pub factor: f64,
}

/// On which side of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beyond {
    /// More.
    Above,
    /// Less.
    Below,
}

/// What became of a rule in a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// Which rule, by its place in [`super::table::ComparedTable::rules`].
    pub rule: usize,
    /// Which row, by its place.
    pub row: usize,
    /// Which of the others, by its place among the sides.
    pub side: usize,
    /// The logarithm of the other's value by that of the base.
    pub factor: LogRange,
    /// Its interval, which holds together with those of all rules; absent where there are too few runs.
    pub interval: Option<LogRange>,
    /// What became of it.
    pub judgement: RuleJudgement,
}

/// Whether a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleJudgement {
    /// The interval lies on the right side.
    Kept,
    /// It lies beyond.
    Broken,
    /// It lies on both.
    CannotBeTold {
        /// About so many more runs of each side would tell, if that can be said.
        more: Option<u32>,
    },
}
