//! The table: a row for each cell that sides have in common, with one comparison for each other side.

use iolag_model::{CacheState, Nanoseconds, Operation, Order, Phase, Standpoint};

use super::doubt::Doubt;
use super::rules::rule::{FailRule, RuleOutcome};
use super::side::{RowKey, UnitKind};
use crate::run::parts::quantity::ProfileQuantity;
use crate::run::standing::Standing;
use crate::run::values::{RunAmount, RunQuantity};
use crate::statistics::quantile::censored::QuantileValue;
use crate::statistics::runs::log_range::LogRange;
use crate::statistics::runs::table::ComparedRuns;

/// What the user wants to see.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// What is compared; without it what is usual for each workload.
    pub quantity: Option<RunQuantity>,
    /// Ratios from 1/(1 + this) to 1 + this count as the same.
    pub same_within: f64,
    /// Coordinates and labels in which pooled runs may differ.
    pub across: Vec<String>,
    /// Phases besides those that are meant without saying so.
    pub phases: Vec<Phase>,
    /// What must not show.
    pub rules: Vec<FailRule>,
}

impl Default for CompareOptions {
    /// Without a wish: within 5 % is the same.
    fn default() -> Self {
        Self { quantity: None, same_within: 0.05, across: Vec::new(), phases: Vec::new(), rules: Vec::new() }
    }
}

/// Sides, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedTable {
    /// What was measured, in the order of the rows.
    pub workloads: Vec<ComparedWorkload>,
    /// What counts once.
    pub units: UnitKind,
    /// The ratio above which sides are no longer the same, less 1.
    pub same_within: f64,
    /// The sides; the first is the base.
    pub sides: Vec<ComparedSide>,
    /// What they have in common.
    pub rows: Vec<ComparedRow>,
    /// How others differ among themselves; a family of its own. Of more than six sides only those that are neighbours by their speed are
    /// here, though all are counted.
    pub between: Vec<BetweenOthers>,
    /// What was felt beside the loads, place by place.
    pub bystanders: Vec<ComparedBystander>,
    /// What is known of sides beside their speed.
    pub beside: Vec<ComparedBeside>,
    /// What to know before the table is believed.
    pub doubts: Vec<Doubt>,
    /// What is not in the table.
    pub left_out: Vec<LeftOut>,
    /// How many cells have intervals that hold together.
    pub family: u32,
    /// The rules.
    pub rules: Vec<FailRule>,
    /// What became of them, cell by cell.
    pub outcomes: Vec<RuleOutcome>,
}

/// What was measured, and by what it is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedWorkload {
    /// Its name: `metadata`, `check`.
    pub name: String,
    /// What is compared of it.
    pub quantity: RunQuantity,
}

impl ComparedTable {
    /// What is compared in all rows, if that is the same.
    pub fn quantity(&self) -> Option<RunQuantity> {
        let (first, others) = self.workloads.split_first()?;
        others.iter().all(|other| other.quantity == first.quantity).then_some(first.quantity)
    }

    /// The threshold of the shares that are compared, if they are: nobody compares these without saying so, and then everywhere.
    pub fn threshold(&self) -> Option<Nanoseconds> {
        self.quantity()?.threshold()
    }

    /// What a rule is meant for and cannot be judged of: rows that not all sides have, or with too few attempts. There it is neither kept nor broken.
    pub fn not_judged<'a>(&'a self, rule: &'a FailRule) -> impl Iterator<Item = &'a LeftOut> + 'a {
        let is_of = |key: &RowKey| rule.operation.is_none_or(|operation| operation == key.cell.operation);
        // Not every row has a rate.
        let has_rate = |key: &RowKey| {
            let mut own = self.workloads.iter().filter(|workload| workload.name == key.workload);
            own.any(|workload| workload.quantity.is_per_second())
        };
        let has_value = move |key: &RowKey| !rule.quantity.is_per_second() || has_rate(key);
        self.left_out.iter().filter(move |left_out| match left_out {
            LeftOut::Row { key, .. } => has_value(key) && is_of(key),
            LeftOut::FewAttempts { key, quantity, .. } => rule.quantity == *quantity && is_of(key),
            LeftOut::Side { .. }
            | LeftOut::Run { .. }
            | LeftOut::Unpaired { .. }
            | LeftOut::Unread { .. } => false,
        })
    }

    /// The sides that have no run, by their place.
    pub fn silent(&self) -> Vec<usize> {
        (0..self.sides.len()).filter(|side| self.sides[*side].runs.is_empty()).collect()
    }
}

/// A side of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedSide {
    /// As the user named it.
    pub name: String,
    /// The ids of the runs that are in it, in the order of time.
    pub runs: Vec<String>,
    /// How each of them ended.
    pub standings: Vec<Standing>,
    /// When the first of them began and the last ended, in ns since 1970; absent without runs.
    pub span_ns: Option<[i64; 2]>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedRow {
    /// What it is of.
    pub key: RowKey,
    /// What is compared.
    pub quantity: RunQuantity,
    /// What each side has there, in their order.
    pub sides: Vec<SideValue>,
    /// The others against the base: the first is of the second side.
    pub cells: Vec<ComparedCell>,
}

/// What a side has in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SideValue {
    /// The amount of each run, with the run's place in [`ComparedSide::runs`], in this order; empty where the side has nothing in this row.
    pub amounts: Vec<(usize, RunAmount)>,
    /// The logarithm of the speed that each of them was compared as.
    pub speeds: Vec<LogRange>,
    /// Of those that are compared the geometric mean, of shares that of the corrected ones, or a bound of it. Nothing where nothing is compared. Of the base that of the
    /// comparison in which most of its runs are.
    pub middle: RunAmount,
    /// How many runs are compared.
    pub runs: u32,
    /// How many of these are only bounded.
    pub bounded: u32,
    /// The numbers beside those of other sides, in the order of their quantities; of tables in which a side has servers.
    pub profile: Vec<SideProfile>,
}

/// A number of a side in a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideProfile {
    /// Which.
    pub quantity: ProfileQuantity,
    /// Of its runs.
    pub of_runs: MiddleOfRuns,
    /// Of how many of them only a bound is known, which counts as if it were the number.
    pub bounded: u32,
}

impl SideValue {
    /// The amount of a run, by its place; the first where targets are pooled.
    pub fn amount(&self, run: usize) -> Option<RunAmount> {
        let at = self.amounts.partition_point(|(known, _)| *known < run);
        self.amounts.get(at).filter(|(known, _)| *known == run).map(|(_, amount)| *amount)
    }
}

/// The comparison of a side with the base.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedCell {
    /// How runs were put side by side; of the runs that a block has of both sides.
    pub pairs: Pairs,
    /// How many runs of base and other side are compared: those without a partner are not.
    pub runs: [u32; 2],
    /// How many of them are only bounded, because they hung or failed, or because none of their attempts took so long.
    pub bounded: [u32; 2],
    /// The middle of these of base and other side, by which percent and word go.
    pub middles: [RunAmount; 2],
    /// The logarithm of the other's speed by that of the base, and what is said of it.
    pub compared: ComparedRuns,
}

/// How the runs of two sides were put side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairs {
    /// Each block of a campaign has both sides.
    Blocks {
        /// How many blocks.
        blocks: u32,
        /// The order of the runs in them.
        order: Order,
    },
    /// Each day has both sides: what the day does to both falls out.
    Days {
        /// How many days.
        days: u32,
    },
    /// All of the one, and all of the other.
    Apart,
}

/// Two of the others.
#[derive(Debug, Clone, PartialEq)]
pub struct BetweenOthers {
    /// Which row, by its place.
    pub row: usize,
    /// The slower and the faster side by the estimate, by their place.
    pub sides: [usize; 2],
    /// The comparison of the second with the first.
    pub cell: ComparedCell,
}

/// One thing, of each side.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedBeside {
    /// What it is.
    pub what: Beside,
    /// Of each side, in their order; absent where no run has it.
    pub sides: Vec<Option<MiddleOfRuns>>,
}

/// What is told beside the speed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beside {
    /// Processor time by the time that passed, where 1 is one processor all the time.
    Processors {
        /// Of which row of the table, by its place.
        row: usize,
        /// The sides that run at the speed of their processors.
        at_processor_speed: Vec<usize>,
    },
    /// How long it took to drop caches, or to fill them, in ns; of a run the longest time.
    Caches(CacheState),
}

/// Something of which each run of a side has an amount.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MiddleOfRuns {
    /// The median.
    pub middle: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Of how many runs.
    pub runs: u32,
}

/// What was asked in a place beside the loads of all sides.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedBystander {
    /// The place.
    pub standpoint: Standpoint,
    /// What.
    pub operation: Operation,
    /// What was felt beside each side's, in their order; absent where nobody measured.
    pub sides: Vec<Option<FeltOfSide>>,
}

/// What was felt beside the runs of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeltOfSide {
    /// Beside how many of them somebody measured.
    pub runs: u32,
    /// How many times as long it took as before the load, in the stage of each run in which it was felt most.
    pub times: Option<MiddleOfRuns>,
    /// In how many runs it could be shown whether it took longer, ...
    pub judged: u32,
    /// ... and in how many it was.
    pub longer: u32,
    /// In how many somebody waited much longer than anybody before.
    pub stalled: u32,
    /// Attempts that did not end within their deadline, in all runs.
    pub stuck: u64,
    /// The longest of all.
    pub longest: QuantileValue,
}

impl FeltOfSide {
    /// Whether it took longer in most of the runs.
    pub const fn is_longer(&self) -> bool {
        2 * self.longer > self.runs
    }

    /// Whether somebody waited much longer in most of the runs than anybody before.
    pub const fn is_stalled(&self) -> bool {
        2 * self.stalled > self.runs
    }

    /// Whether somebody waited: it took longer, or stalled, in most of the runs, or hung in any.
    pub const fn is_felt(&self) -> bool {
        self.is_longer() || self.is_stalled() || self.stuck > 0
    }
}

impl ComparedTable {
    /// What was felt most beside a side's load at its target, if anybody waited.
    pub fn felt_most(&self, side: usize) -> Option<(&ComparedBystander, FeltOfSide)> {
        let of_target = self.bystanders.iter().filter(|one| one.standpoint != Standpoint::Control);
        let felt = of_target.filter_map(|one| Some((one, (*one.sides.get(side)?)?)));
        let rank = |felt: &FeltOfSide| {
            let waited = felt.stuck > 0 || felt.is_stalled();
            let stuck = waited.then(|| felt.longest.bound()).flatten();
            (stuck, felt.times.map_or(0.0, |times| times.middle))
        };
        felt.filter(|(_, felt)| felt.is_felt()).max_by(|(_, one), (_, other)| {
            let (one, other) = (rank(one), rank(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
        })
    }

    /// Whether nobody knows if anybody waited beside a side's load: nowhere at its target were there attempts enough.
    pub fn is_too_short(&self, side: usize) -> bool {
        let of_target = self.bystanders.iter().filter(|one| one.standpoint != Standpoint::Control);
        of_target.filter_map(|one| (*one.sides.get(side)?).as_ref()).all(|felt| felt.judged == 0)
    }

    /// Whether the machine itself was slower beside a side's load: the same was in its own memory, in most of the runs.
    pub fn is_machine_slower(&self, side: usize, felt: &ComparedBystander) -> bool {
        let is_it = |one: &&ComparedBystander| {
            one.standpoint == Standpoint::Control && one.operation == felt.operation
        };
        let of_memory = self.bystanders.iter().filter(is_it);
        of_memory.filter_map(|one| (*one.sides.get(side)?).as_ref()).any(FeltOfSide::is_longer)
    }
}

/// What is not in the table, and why.
#[derive(Debug, Clone, PartialEq)]
pub enum LeftOut {
    /// A side of which no run was made.
    Side {
        /// Its place.
        side: usize,
    },
    /// What could not be read, or is gone.
    Unread {
        /// What it is, as a sentence.
        sentence: String,
    },
    /// A run that says nothing of its target.
    Run {
        /// Of which side, by its place.
        side: usize,
        /// Its id.
        run: String,
        /// How it ended.
        standing: Standing,
    },
    /// A row that a side has and another has not.
    Row {
        /// What it is of.
        key: RowKey,
        /// The sides that have none of it, by their place.
        missing: Vec<usize>,
    },
    /// A row whose quantile depends on the number of attempts, which is not that of all sides.
    FewAttempts {
        /// What it is of.
        key: RowKey,
        /// The quantile.
        quantity: RunQuantity,
        /// Attempts of a unit of each side, on average; absent where nobody knows.
        attempts: Vec<Option<u64>>,
    },
    /// Runs of a side that have no counterpart of another, and are not compared with it.
    Unpaired {
        /// In which row.
        key: RowKey,
        /// The side, by its place.
        side: usize,
        /// The other one.
        against: usize,
        /// The ids of the runs.
        runs: Vec<String>,
        /// How the others are put side by side.
        pairs: Pairs,
    },
}
