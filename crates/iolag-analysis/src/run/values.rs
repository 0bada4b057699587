//! Values of a run: one number for each cell and quantity. The run is the unit when runs are compared: its attempts share its luck.
//!
//! A cell is an operation on a target, in the stages that repeat each other. Its rate is what succeeded in all of them by their time together
//! ([`StageClock`]), its quantile the median of theirs ([`Interpolated`]: it must not depend on their number), its share one of all their attempts. What hung or failed is not dropped, but a bound:
//! a rate is at most what was measured before, and of what a run did not get to it is only known that it may be as slow as anything.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

use iolag_model::{
    ClientId, Nanoseconds, Operation, Phase, RunRecord, RunState, StageIndex, TargetIndex, exact_duration,
    parse_duration,
};

use super::beside::analysis::analyse_beside;
use super::beside::felt::FeltOfRun;
use super::parts::quantity::ProfileQuantity;
use super::parts::spent::TimeSpent;
use super::stage_rates::StageClock;
use super::standing::{Standing, is_measured, standing};
use super::stream::copies::StreamCopies;
use super::summary::{Precision, StageClient, StageEnding, Summaries, Summary};
use super::surroundings::caches::CachesTime;
use super::surroundings::processor_time::ProcessorShare;
use crate::statistics::quantile::censored::QuantileValue;
use crate::statistics::quantile::histogram::HISTOGRAM_RELATIVE_ERROR;
use crate::statistics::quantile::interpolated::{Interpolated, InterpolatedQuantiles};
use crate::statistics::runs::log_range::LogRange;

/// What is compared between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RunQuantity {
    /// Attempts that succeeded, per second of their stages: of benches.
    Rate,
    /// Bytes that they moved, per second of their stages.
    Throughput,
    /// The median duration, in ns.
    Median,
    /// The duration that 95 % of the attempts did not exceed, in ns.
    P95,
    /// The share of the attempts that took longer than this.
    ShareOver(Nanoseconds),
}

impl RunQuantity {
    /// The threshold of a share.
    pub const fn threshold(self) -> Option<Nanoseconds> {
        match self {
            Self::ShareOver(threshold) => Some(threshold),
            Self::Rate | Self::Throughput | Self::Median | Self::P95 => None,
        }
    }

    /// Whether it is so much per second, of which more is faster.
    pub const fn is_per_second(self) -> bool {
        matches!(self, Self::Rate | Self::Throughput)
    }

    /// In what a history remembers it; durations are remembered in seconds, without a unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Rate => "/s",
            Self::Throughput => "B/s",
            Self::Median | Self::P95 | Self::ShareOver(_) => "",
        }
    }

    /// What a history remembers in this unit.
    pub(crate) fn of_unit(unit: &str) -> Self {
        [Self::Rate, Self::Throughput].into_iter().find(|known| known.unit() == unit).unwrap_or(Self::Median)
    }

    /// Whether single durations must be known for it.
    pub const fn is_quantile(self) -> bool {
        self.quantile().is_some()
    }

    /// Which quantile it is, if it is one.
    pub(crate) const fn quantile(self) -> Option<f64> {
        match self {
            Self::Median => Some(0.5),
            Self::P95 => Some(0.95),
            Self::Rate | Self::Throughput | Self::ShareOver(_) => None,
        }
    }

    /// The amount of a speed: [`speed`](Self::speed), turned back.
    pub(crate) fn amount(self, speed: LogRange) -> RunAmount {
        match self {
            Self::Rate | Self::Throughput => RunAmount::between(speed.low().exp(), speed.high().exp()),
            Self::Median | Self::P95 | Self::ShareOver(_) => {
                RunAmount::between((-speed.high()).exp(), (-speed.low()).exp())
            }
        }
    }

    /// The logarithm of a speed, so that more is always faster; with that of `amount` the only place where the sign of a duration turns.
    pub fn speed(self, amount: RunAmount) -> LogRange {
        match self {
            Self::Rate | Self::Throughput => amount.logarithm(),
            Self::Median | Self::P95 | Self::ShareOver(_) => {
                let slowness = amount.logarithm();
                LogRange::between(-slowness.high(), -slowness.low())
            }
        }
    }
}

/// As on the command line: `rate`, `throughput`, `median`, `p95`, `over:100ms`.
impl fmt::Display for RunQuantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate => formatter.pad("rate"),
            Self::Throughput => formatter.pad("throughput"),
            Self::Median => formatter.pad("median"),
            Self::P95 => formatter.pad("p95"),
            Self::ShareOver(threshold) => formatter.pad(&format!("over:{}", exact_duration(*threshold))),
        }
    }
}

/// What is no quantity of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownQuantity(String);

impl fmt::Display for UnknownQuantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:?} is no value: choose rate, throughput, median, p95 or over:DURATION, as in over:100ms",
            self.0
        )
    }
}

impl Error for UnknownQuantity {}

impl FromStr for RunQuantity {
    type Err = UnknownQuantity;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let threshold = || {
            let threshold = parse_duration(text.strip_prefix("over:")?).ok()?;
            // Everything takes longer than nothing.
            (threshold > Nanoseconds::ZERO).then_some(Self::ShareOver(threshold))
        };
        match text {
            "rate" => Some(Self::Rate),
            "throughput" => Some(Self::Throughput),
            "median" => Some(Self::Median),
            "p95" => Some(Self::P95),
            _ => threshold(),
        }
        .ok_or_else(|| UnknownQuantity(text.to_owned()))
    }
}

/// What stands in a row of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// What was asked.
    pub operation: Operation,
    /// In which phase, if that is not the one that is meant without saying so: making and removing what is worked on.
    pub phase: Option<Phase>,
}

/// A cell, and where in a run it was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellStages {
    /// The cell.
    pub cell: Cell,
    /// On which target.
    pub target: TargetIndex,
    /// The stages that are repetitions of it; none where summaries tell no stages apart.
    pub stages: Vec<StageIndex>,
    /// Whether the rate of its stages is its own.
    pub pace: Pace,
}

/// How an operation stands to the rate of its stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Its rate is that of the stage.
    Sets,
    /// It takes turns with another operation, whose rate says all that its own would; or a schedule sets it.
    Follows,
}

/// A quantity of a run, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunAmount {
    /// This.
    Known(f64),
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// Nothing: the run did not get there, or nothing succeeded.
    Open,
}

impl RunAmount {
    /// Between which amounts it lies, from 0 to infinity.
    pub const fn ends(self) -> (f64, f64) {
        match self {
            Self::Known(amount) => (amount, amount),
            Self::AtLeast(amount) => (amount, f64::INFINITY),
            Self::AtMost(amount) => (0.0, amount),
            Self::Open => (0.0, f64::INFINITY),
        }
    }

    /// What lies between these ends, which are equal if it is known.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        match (low > 0.0, high < f64::INFINITY) {
            _ if low == high => Self::Known(low),
            (true, _) => Self::AtLeast(low),
            (false, true) => Self::AtMost(high),
            (false, false) => Self::Open,
        }
    }

    /// What is known of its logarithm.
    pub(crate) fn logarithm(self) -> LogRange {
        let (low, high) = self.ends();
        LogRange::between(low.ln(), high.ln())
    }

    fn or_more(self) -> Self {
        match self {
            Self::Known(amount) | Self::AtLeast(amount) => Self::AtLeast(amount),
            Self::AtMost(_) | Self::Open => Self::Open,
        }
    }
}

/// The numbers of an operation that are put beside those of the same elsewhere, as far as they are known.
pub type Profile = Vec<(ProfileQuantity, RunAmount)>;

/// What a run says of a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellValue {
    /// The cell.
    pub cell: Cell,
    /// On which of the run's targets.
    pub target: TargetIndex,
    /// Attempts of which the duration is known, or a lower bound of it: those that shares are of.
    pub attempts: u64,
    /// The quantities that were asked for, but those that this workload does not have.
    pub amounts: Vec<(RunQuantity, RunAmount)>,
    /// The numbers that are put beside those of the same elsewhere.
    pub profile: Profile,
    /// What the processors did of the time of its stages; absent where the rate is not its own, not all was done, or nobody recorded it.
    pub processors: Option<ProcessorShare>,
}

impl CellValue {
    /// This quantity, if it was asked for and there is such a thing.
    pub fn amount(&self, quantity: RunQuantity) -> Option<RunAmount> {
        self.amounts.iter().find(|(known, _)| *known == quantity).map(|(_, amount)| *amount)
    }
}

/// A run as a unit of comparisons.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValues {
    /// How it ended.
    pub standing: Standing,
    /// Its cells; none if it is no unit.
    pub cells: Vec<CellValue>,
    /// How long caches took that were dropped or filled; absent where nobody did so.
    pub caches: Option<CachesTime>,
    /// What was felt beside its load, if somebody measured.
    pub felt: Vec<FeltOfRun>,
    /// Whether its copies are clones; absent without copies, and where nobody can tell.
    pub are_clones: Option<bool>,
    /// By how much the logarithm of a quantile may be off because the durations of a long run are counted in a histogram; 0 if they were
    /// sorted.
    pub step: f64,
}

/// The values of a run in the cells that its workload names, by summaries that tell apart what it says and have the thresholds of the shares
/// that are asked for.
pub fn run_values(
    record: &RunRecord,
    cells: &[CellStages],
    summaries: &Summaries,
    quantities: &[RunQuantity],
) -> RunValues {
    let standing = standing(record, summaries);
    let cells = if standing.is_unit() { cells } else { &[] };
    let run = Measured { record, summaries, standing };
    let step = match summaries.precision {
        Precision::Histogram => HISTOGRAM_RELATIVE_ERROR.ln_1p(),
        Precision::Exact => 0.0,
    };
    RunValues {
        standing,
        cells: cells.iter().filter_map(|cell| run.value(cell, quantities)).collect(),
        caches: CachesTime::of(record, summaries),
        felt: analyse_beside(record, summaries).map(|beside| beside.of_run()).unwrap_or_default(),
        are_clones: StreamCopies::are_clones_in(record, summaries),
        step,
    }
}

struct Measured<'a> {
    record: &'a RunRecord,
    summaries: &'a Summaries,
    standing: Standing,
}

impl Measured<'_> {
    /// `None` if the run was not to measure it, or did not come to it though nothing was in its way.
    fn value(&self, cell: &CellStages, quantities: &[RunQuantity]) -> Option<CellValue> {
        let is_here = |summary: &&Summary| {
            let key = summary.key;
            key.operation == cell.cell.operation
                && key.target.is_none_or(|target| target == cell.target)
                && key.stage.is_none_or(|stage| cell.stages.contains(&stage))
        };
        let rows: Vec<&Summary> = self.summaries.summaries.iter().filter(is_here).collect();
        let attempts: u64 = rows.iter().map(|row| row.durations.count).sum();
        let failures: u64 = rows.iter().map(|row| row.failures()).sum();
        let bytes: u64 = rows.iter().map(|row| row.bytes).sum();
        // A stage that was due and did not begin is a bound; whether a row of a check was due nobody knows.
        let was_in_the_way = self.standing != Standing::Whole && !cell.stages.is_empty();
        if attempts + failures == 0 && !was_in_the_way {
            return None;
        }
        // What the target refused, because it was full or gone, took as long as anything; so did what was still to be done where somebody hung.
        let is_done = |stage: &StageIndex| {
            rows.iter().any(|row| row.key.stage == Some(*stage)) && self.has_ended(*stage)
        };
        let is_short = was_in_the_way && !cell.stages.iter().all(is_done);
        let is_bound = is_short || failures > 0 && self.is_cut_short();
        let of_duration = |amount: RunAmount| if is_bound { amount.or_more() } else { amount };
        let amount = |quantity: RunQuantity| match quantity {
            RunQuantity::Rate => self.per_second(cell, Summary::succeeded),
            // What moves nothing has none.
            RunQuantity::Throughput if attempts > 0 && bytes == 0 => None,
            RunQuantity::Throughput => self.per_second(cell, |summary| summary.bytes),
            RunQuantity::Median => Some(of_duration(quantile(&rows, |of| of.median))),
            RunQuantity::P95 => Some(of_duration(quantile(&rows, |of| of.p95))),
            RunQuantity::ShareOver(threshold) => Some(of_duration(share(&rows, threshold))),
        };
        let amounts: Vec<_> =
            quantities.iter().filter_map(|quantity| Some((*quantity, amount(*quantity)?))).collect();
        let processors = self.processors(cell);
        let profile = profile_of(&rows, self.rate_of(cell), of_duration(quantile(&rows, |of| of.median)));
        Some(CellValue { cell: cell.cell, target: cell.target, attempts, amounts, profile, processors })
    }

    fn processors(&self, cell: &CellStages) -> Option<ProcessorShare> {
        let is_own = self.standing == Standing::Whole && cell.pace == Pace::Sets;
        is_own.then(|| ProcessorShare::of(self.record, &cell.stages, self.summaries)).flatten()
    }

    /// `None` where it would be another operation's, or what a schedule or a budget asked for.
    fn per_second(&self, cell: &CellStages, amount: impl Fn(&Summary) -> u64) -> Option<RunAmount> {
        if cell.pace == Pace::Follows { None } else { Some(self.of_stages(cell, amount)) }
    }

    /// How often it was done, whatever set its pace; nothing where stages are not told apart.
    fn rate_of(&self, cell: &CellStages) -> Option<RunAmount> {
        (!cell.stages.is_empty()).then(|| self.of_stages(cell, Summary::succeeded))
    }

    fn of_stages(&self, cell: &CellStages, amount: impl Fn(&Summary) -> u64) -> RunAmount {
        let (mut done, mut seconds, mut is_bound) = (0, 0.0, false);
        for stage in &cell.stages {
            let all = self.of_stage(*stage);
            let own = all.iter().filter(|summary| summary.key.operation == cell.cell.operation);
            done += own.map(&amount).sum::<u64>();
            seconds += StageClock::of(*stage, all).map_or(0.0, |clock| clock.time().as_seconds());
            is_bound |= self.was_held_up(*stage, all);
        }
        let rate = done as f64 / seconds;
        match (done > 0 && seconds > 0.0, is_bound) {
            (false, _) => RunAmount::Open,
            (true, false) => RunAmount::Known(rate),
            (true, true) => RunAmount::AtMost(rate),
        }
    }

    /// Summaries stand in the order of their stages.
    fn of_stage(&self, stage: StageIndex) -> &[Summary] {
        let all = &self.summaries.summaries;
        let begin = all.partition_point(|summary| summary.key.stage < Some(stage));
        let end = all.partition_point(|summary| summary.key.stage <= Some(stage));
        &all[begin..end]
    }

    /// Whether somebody would have waited longer in this stage than was measured.
    fn was_held_up(&self, stage: StageIndex, summaries: &[Summary]) -> bool {
        let mut measured = summaries.iter().filter(|summary| is_measured(summary));
        let is_held_up = |summary: &Summary| {
            summary.hung + summary.timeout > 0 || self.is_cut_short() && summary.failures() > 0
        };
        self.standing != Standing::Whole && (!self.has_ended(stage) || measured.any(is_held_up))
    }

    /// Whether all clients that are the load came to the end of this stage.
    fn has_ended(&self, stage: StageIndex) -> bool {
        let ended = |end: &&StageClient| end.stage == stage && end.ending == StageEnding::Ended;
        let ended: BTreeSet<ClientId> =
            self.summaries.stage_clients.iter().filter(ended).map(|end| end.client).collect();
        let mut load = self.record.clients.iter().filter(|client| client.role.is_load());
        load.all(|client| ended.contains(&client.client))
    }

    /// Of a run that is complete failures are data like others.
    fn is_cut_short(&self) -> bool {
        self.record.state != RunState::Complete
    }
}

/// The median of what the stages say: of an even number the middle of the middle two, on a logarithmic scale. What is only known from below
/// may lie above all others.
fn quantile(rows: &[&Summary], of: impl Fn(InterpolatedQuantiles) -> Interpolated) -> RunAmount {
    let ends = |row: &&Summary| {
        let quantile = of(row.durations.interpolated?);
        Some((quantile.low_ns, quantile.high_ns.unwrap_or(f64::INFINITY)))
    };
    let (mut low, mut high): (Vec<f64>, Vec<f64>) = rows.iter().filter_map(ends).unzip();
    match (middle_of(&mut low), middle_of(&mut high)) {
        (Some(low), Some(high)) if low == high => RunAmount::Known(low),
        (Some(low), _) => RunAmount::AtLeast(low),
        (None, _) => RunAmount::Open,
    }
}

/// Of an even number the middle of the middle two, on a logarithmic scale; nothing of none.
pub(crate) fn middle_of(amounts: &mut [f64]) -> Option<f64> {
    amounts.sort_unstable_by(f64::total_cmp);
    let upper = *amounts.get(amounts.len() / 2)?;
    let lower = amounts[(amounts.len() - 1) / 2];
    Some(if lower == upper { lower } else { (lower * upper).sqrt() })
}

/// What was cut off before the threshold may have been longer.
fn share(rows: &[&Summary], threshold: Nanoseconds) -> RunAmount {
    let shares = || {
        let of_row =
            |row: &&Summary| row.durations.shares.iter().find(|one| one.threshold_ns == threshold).copied();
        rows.iter().filter_map(of_row)
    };
    let attempts: u64 = rows.iter().map(|row| row.durations.count).sum();
    let over: u64 = shares().map(|share| share.over).sum();
    let undecided: u64 = shares().map(|share| share.undecided).sum();
    let share = over as f64 / attempts as f64;
    match (attempts, undecided) {
        (0, _) => RunAmount::Open,
        (_, 0) => RunAmount::Known(share),
        _ => RunAmount::AtLeast(share),
    }
}

/// The numbers of one operation in the stages that repeat each other.
fn profile_of(rows: &[&Summary], rate: Option<RunAmount>, median: RunAmount) -> Profile {
    let p99 = || {
        let known = rows.iter().filter_map(|row| known(row.durations.p99.value));
        middle_of(&mut known.collect::<Vec<_>>()).map(RunAmount::Known)
    };
    let measured = [
        (ProfileQuantity::Rate, rate),
        (ProfileQuantity::Median, Some(median)),
        (ProfileQuantity::P99, p99()),
        (ProfileQuantity::Longest, longest(rows)),
    ];
    let measured = measured.into_iter().filter_map(|(quantity, amount)| Some((quantity, amount?)));
    let is_known = |(_, amount): &(ProfileQuantity, RunAmount)| *amount != RunAmount::Open;
    let spent = TimeSpent::of(rows.iter().copied()).map(|spent| spent.profile());
    let parts = spent.into_iter().flatten().map(|(quantity, amount)| (quantity, RunAmount::Known(amount)));
    measured.filter(is_known).chain(parts).collect()
}

fn known(value: QuantileValue) -> Option<f64> {
    match value {
        QuantileValue::Exactly(Nanoseconds(ns)) => Some(ns as f64),
        _ => None,
    }
}

fn longest(rows: &[&Summary]) -> Option<RunAmount> {
    let longest = rows.iter().map(|row| row.durations.max).max_by_key(|longest| longest.lower_bound())?;
    let ns = longest.lower_bound()?.0 as f64;
    Some(match longest {
        QuantileValue::Exactly(_) => RunAmount::Known(ns),
        _ => RunAmount::AtLeast(ns),
    })
}
