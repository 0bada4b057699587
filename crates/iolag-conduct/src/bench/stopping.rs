//! When a campaign ends that is to be precise: at the first look at which its comparison is, or when its time is up.
//!
//! Pure, but for the clock that is handed in. It is asked between blocks only, and goes by how wide intervals are, never by what they
//! say: `iolag compare` makes its intervals of the same runs in the same way.

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::{
    CampaignEnding, Cell, ComparedRuns, ComparedWord, LogRange, RUN_LOOKS, RunAmount, RunCell, RunPairing,
    RunQuantity, RunValues, analysed, compare_runs, is_precise, run_values,
};
use iolag_model::{Clock, MonotonicTime, Nanoseconds, Order, Stopping, counted};

use crate::bench::campaign::{Campaign, PlannedRun};
use crate::bench::options::Repeating;
use crate::messages::Stored;

/// Whether another block follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Another {
    /// Yes, if there is one.
    Yes,
    /// All intervals are narrow enough.
    Enough,
    /// It would not end in time.
    TimeIsUp,
}

/// A campaign that is to be precise, as far as it has come.
pub(super) struct Precise<'a, C> {
    campaign: &'a Campaign,
    stopping: Stopping,
    quantity: RunQuantity,
    clock: C,
    /// When this command began.
    begun: MonotonicTime,
    /// Its latest block, and when that began.
    block: Option<u32>,
    block_begun: Option<MonotonicTime>,
    /// Its longest block.
    longest: Nanoseconds,
    /// What runs said, by point and block.
    values: BTreeMap<(usize, u32), RunValues>,
}

/// A row of the comparison, for one of the other sides.
struct Row {
    /// The points of the base and of the other side.
    points: [usize; 2],
    cell: Cell,
}

impl<'a, C: Clock> Precise<'a, C> {
    /// What `earlier` commands have stored counts. `None` of a campaign that has a number of repetitions.
    pub(super) fn of(campaign: &'a Campaign, earlier: &[(usize, &Stored)], clock: C) -> Option<Self> {
        let Repeating::UntilPrecise(stopping) = campaign.options.repeat else { return None };
        let quantity = analysed(&campaign.runs.first()?.point.spec.workload).compared();
        let mut precise = Self {
            campaign,
            stopping,
            quantity,
            begun: clock.now(),
            clock,
            block: None,
            block_begun: None,
            longest: Nanoseconds::ZERO,
            values: BTreeMap::new(),
        };
        earlier.iter().for_each(|(index, stored)| precise.takes(&campaign.runs[*index], stored));
        Some(precise)
    }

    /// What ends the campaign before this run, as a sentence; runs come block by block.
    pub(super) fn ended_before(&mut self, run: &PlannedRun) -> Option<String> {
        if self.block.replace(run.block) == Some(run.block) {
            return None;
        }
        let finished = run.block - 1;
        let another = self.another(finished);
        (another != Another::Yes).then(|| self.told(another, finished))
    }

    /// What is said if it has not ended before its last block.
    pub(super) fn told_at_end(&self) -> String {
        self.told(Another::Yes, self.campaign.options.repeat.blocks() as u32)
    }

    /// A run that is stored, of this command or an earlier one.
    pub(super) fn takes(&mut self, run: &PlannedRun, stored: &Stored) {
        let cells = analysed(&stored.record.spec.workload).cells(&stored.record);
        let values = run_values(&stored.record, &cells, &stored.summaries, &[self.quantity]);
        self.values.insert((run.number, run.block), values);
    }

    /// Whether a block follows the first `finished` ones. The first block of a command always does.
    fn another(&mut self, finished: u32) -> Another {
        let now = self.clock.now();
        if RUN_LOOKS.contains(&(finished as usize)) && self.is_precise(finished) {
            return Another::Enough;
        }
        let Some(last) = self.block_begun.replace(now) else { return Another::Yes };
        self.longest = self.longest.max(now.since(last));
        match now.after(self.longest) > self.begun.after(self.stopping.budget_ns) {
            true => Another::TimeIsUp,
            false => Another::Yes,
        }
    }

    /// What ended the campaign after so many blocks, and how wide the intervals are, as a sentence.
    fn told(&self, another: Another, finished: u32) -> String {
        let (most, blocks) = (RUN_LOOKS[RUN_LOOKS.len() - 1], counted(finished.into(), "block", "blocks"));
        let how = match another {
            Another::TimeIsUp => format!("the time is up after {blocks} of up to {most}"),
            Another::Yes if !self.is_precise(finished) => {
                format!("not precise enough after {blocks}, the most there are")
            }
            Another::Yes | Another::Enough => format!("precise enough after {blocks} of up to {most}"),
        };
        format!("{how}: {}", self.widths(finished))
    }

    fn widths(&self, finished: u32) -> String {
        let table = self.table(finished);
        let half = |one: &ComparedRuns| one.interval.map(|interval| (interval.high() - interval.low()) / 2.0);
        let is_closed = |half: &f64| half.is_finite();
        let known: Vec<(f64, &Row)> =
            table.iter().filter_map(|(row, one)| Some((half(one).filter(is_closed)?, row))).collect();
        let open = table.iter().filter(|(_, one)| half(one).is_some_and(|half| !is_closed(&half))).count();
        let lacking = |one: &ComparedRuns| match one.word {
            ComparedWord::TooFew { more } => Some(more),
            _ => None,
        };
        let too_few: Vec<u32> = table.iter().filter_map(|(_, one)| lacking(one)).collect();
        let mut parts = Vec::new();
        if let Some((half, row)) = known.iter().max_by(|one, other| one.0.total_cmp(&other.0)) {
            let (asked, row) = (percent(self.stopping.precision), self.name(row));
            parts.push(format!(
                "half of the widest interval, that of {row}, is {}, and {asked} was asked for",
                percent(half.exp_m1())
            ));
        }
        let of_all =
            |count: usize| format!("{count} of {}", counted(table.len() as u64, "interval", "intervals"));
        if open > 0 {
            parts.push(format!("{} open, because runs hung or failed", is_or_are(&of_all(open), open)));
        }
        if let Some(more) = too_few.iter().max() {
            let more = counted(u64::from(*more), "more block", "more blocks");
            parts.push(format!("{} unknown before {more}", is_or_are(&of_all(too_few.len()), too_few.len())));
        }
        if table.is_empty() {
            parts.push("nothing was measured that could be compared".to_owned());
        }
        parts.join("; ")
    }

    fn is_precise(&self, blocks: u32) -> bool {
        let compared: Vec<ComparedRuns> = self.table(blocks).into_iter().map(|(_, one)| one).collect();
        !compared.is_empty() && is_precise(&compared, self.stopping.precision)
    }

    /// The comparison of the first blocks with the first side.
    fn table(&self, blocks: u32) -> Vec<(Row, ComparedRuns)> {
        let rows = self.rows();
        // What an operation lasts is measured in steps of a clock, how many there are a second is not.
        let cell = |row: &Row| RunCell { pairing: self.pairing(row, blocks), margin: 0.0 };
        let cells: Vec<RunCell> = rows.iter().map(cell).collect();
        // What counts as the same is no matter of intervals.
        rows.into_iter().zip(compare_runs(&cells, 0.0, CampaignEnding::WhenPrecise)).collect()
    }

    /// Also what only one of the sides has: the comparison lacks the other, and is not precise.
    fn rows(&self) -> Vec<Row> {
        let (sides, of_side) = (self.campaign.options.sides.len(), self.points_of_side());
        let mut rows = Vec::new();
        for own in 0..of_side {
            let of_point = self.values.iter().filter(|((point, _), _)| point % of_side == own);
            let cells = of_point.flat_map(|(_, values)| &values.cells).map(|value| value.cell);
            let cells: BTreeSet<Cell> = cells.filter(|cell| cell.phase.is_none()).collect();
            for other in (1..sides).map(|side| side * of_side + own) {
                rows.extend(cells.iter().map(|cell| Row { points: [own, other], cell: *cell }));
            }
        }
        rows
    }

    /// Points come side by side, each with the same ones.
    fn points_of_side(&self) -> usize {
        self.campaign.points().div_ceil(self.campaign.options.sides.len().max(1)).max(1)
    }

    fn pairing(&self, row: &Row, blocks: u32) -> RunPairing {
        let speed = |point: usize, block: u32| {
            let values = self.values.get(&(point, block))?;
            let value = values.cells.iter().find(|value| value.cell == row.cell)?;
            value.amount(self.quantity).map(|amount| speed(self.quantity, amount))
        };
        let [base, other] = row.points;
        let pairs =
            (1..=blocks).filter_map(|block| Some([speed(base, block)?, speed(other, block)?])).collect();
        match self.campaign.options.order {
            Order::Interleaved => RunPairing::TurnedBlocks(pairs),
            Order::Random | Order::Sequential => RunPairing::Blocks(pairs),
        }
    }

    /// A row for people: what differs between rows.
    fn name(&self, row: &Row) -> String {
        let of_point = |number: usize| self.campaign.runs.iter().find(|run| run.number == number);
        let mut name = row.cell.operation.name().to_owned();
        let Some(other) = of_point(row.points[1]) else { return name };
        if self.campaign.options.sides.len() > 2 {
            name += &format!(" on {}", other.point.side.shown());
        }
        for (coordinate, value) in &other.point.coordinates {
            let is_of_side = matches!(coordinate.as_str(), "side" | "target");
            let differs = |run: &PlannedRun| run.point.coordinates.get(coordinate) != Some(value);
            if !is_of_side && self.campaign.runs.iter().any(differs) {
                name += &format!(", {coordinate} {value}");
            }
        }
        name
    }
}

/// The logarithm of the speed: what takes long is slow.
fn speed(quantity: RunQuantity, amount: RunAmount) -> LogRange {
    let (low, high) = amount.ends();
    match quantity {
        RunQuantity::Rate => LogRange::between(low.ln(), high.ln()),
        RunQuantity::Median | RunQuantity::P95 | RunQuantity::ShareOver(_) => {
            LogRange::between(-high.ln(), -low.ln())
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn is_or_are(what: &str, count: usize) -> String {
    format!("{what} {}", if count == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::options::BenchOptions;
    use crate::bench::plan::plan_bench;
    use crate::environment::limits::Limits;
    use iolag_analysis::{CellValue, Standing};
    use iolag_backend::Target;
    use iolag_model::{Operation, Phase, SimulatedClock, TargetIndex};
    use iolag_workload::MetadataOptions;

    const MINUTE: Nanoseconds = Nanoseconds::from_seconds(60);

    fn campaign(targets: &[&str], clients: &[u64], precision: f64) -> Campaign {
        let stopping = Stopping { precision, budget_ns: Nanoseconds::from_seconds(20 * 60) };
        let options = BenchOptions {
            sides: targets.iter().map(|target| Target::parse(target).unwrap().into()).collect(),
            clients: clients.to_vec(),
            repeat: Repeating::UntilPrecise(stopping),
            ..BenchOptions::default()
        };
        let metadata = MetadataOptions::default();
        let workload = |objects: &u64, clients| metadata.workload(*objects, clients);
        plan_bench(options, &metadata.variants(), workload, &Limits::default()).unwrap()
    }

    fn values(amounts: &[(Operation, RunAmount)]) -> RunValues {
        let of_phase = |operation, phase, amount| CellValue {
            cell: Cell { operation, phase },
            target: TargetIndex(0),
            attempts: 100,
            amounts: vec![(RunQuantity::Rate, amount)],
        };
        let mut cells: Vec<_> =
            amounts.iter().map(|(operation, amount)| of_phase(*operation, None, *amount)).collect();
        // Making the working set scatters as it likes: nobody asked for it.
        cells.push(of_phase(Operation::Create, Some(Phase::Precreate), RunAmount::Open));
        RunValues { standing: Standing::Whole, cells }
    }

    /// Conducts what is left, a minute a block, until it ends: the sentence. Rates are by point and block.
    fn conducted(
        campaign: &Campaign,
        from: u32,
        rate: impl Fn(usize, u32) -> Option<f64>,
    ) -> (Another, u32, String) {
        let clock = SimulatedClock::starting_at(MonotonicTime(7));
        let mut precise = Precise::of(campaign, &[], clock.clone()).unwrap();
        let insert = |precise: &mut Precise<'_, _>, block: u32| {
            for point in 0..campaign.points() {
                if let Some(rate) = rate(point, block) {
                    precise
                        .values
                        .insert((point, block), values(&[(Operation::Read, RunAmount::Known(rate))]));
                }
            }
        };
        for block in 1..from {
            insert(&mut precise, block);
        }
        for block in from..=63 {
            let another = precise.another(block - 1);
            if another != Another::Yes {
                return (another, block - 1, precise.told(another, block - 1));
            }
            insert(&mut precise, block);
            clock.advance(MINUTE);
        }
        (Another::Yes, 63, precise.told(Another::Yes, 63))
    }

    /// The second side is twice as fast, and differences are `spread` apart.
    fn twice(spread: f64) -> impl Fn(usize, u32) -> Option<f64> {
        move |point, block| {
            let noise = if block.is_multiple_of(2) { spread } else { -spread };
            Some(if point == 0 { 100.0 } else { 200.0 * f64::exp(noise) })
        }
    }

    #[test]
    fn it_ends_at_the_first_look_that_is_narrow_enough() {
        let campaign = campaign(&["memory:", "/x"], &[1], 0.05);
        // Of alternating signs: of 9 blocks s is 1.054 spreads, t(8) at 4 % 2.449, blocks that turn 1.0607.
        // 2.449 * 1.0607 * 1.054 * 0.05 / 3 = 0.0456 and ln 1.05 = 0.0488.
        let (another, blocks, said) = conducted(&campaign, 1, twice(0.05));
        assert_eq!((another, blocks), (Another::Enough, 9), "{said}");
        assert_eq!(
            said,
            "precise enough after 9 blocks of up to 63: half of the widest interval, that of read, is 4.7 %, and 5.0 % was asked for"
        );
        // 0.0548 at 9, 0.0422 at 13.
        assert_eq!(conducted(&campaign, 1, twice(0.06)).1, 13);
        assert_eq!(conducted(&campaign, 1, twice(0.001)).1, 9, "four would have been narrow enough");
    }

    #[test]
    fn it_ends_before_a_block_that_would_not_end_in_time() {
        let noisy = campaign(&["memory:", "/x"], &[1], 0.05);
        let (another, blocks, said) = conducted(&noisy, 1, twice(0.5));
        assert_eq!((another, blocks), (Another::TimeIsUp, 20), "{said}");
        assert!(
            said.starts_with("the time is up after 20 blocks of up to 63: half of the widest interval"),
            "{said}"
        );
        // Gone on with, it has as long again, and looks where it would have looked.
        assert_eq!(conducted(&noisy, 21, twice(0.5)).1, 40);
        let mut short = noisy.clone();
        short.options.repeat =
            Repeating::UntilPrecise(Stopping { precision: 0.05, budget_ns: Nanoseconds::from_seconds(1) });
        let (another, blocks, said) = conducted(&short, 1, twice(0.001));
        assert_eq!((another, blocks), (Another::TimeIsUp, 1), "{said}");
        assert!(said.ends_with("1 of 1 interval is unknown before 3 more blocks"), "{said}");
    }

    #[test]
    fn what_was_precise_is_so_for_who_goes_on_with_it() {
        let campaign = campaign(&["memory:", "/x"], &[1], 0.05);
        assert_eq!(conducted(&campaign, 10, twice(0.05)).0, Another::Enough);
        // Broken off after a look that was not precise.
        assert_eq!(conducted(&campaign, 11, twice(0.05)).1, 13);
    }

    #[test]
    fn a_side_that_says_nothing_makes_nothing_precise() {
        let campaign = campaign(&["memory:", "/x", "/y"], &[1, 2], 0.5);
        let (another, _, said) =
            conducted(&campaign, 1, |point, block| (point < 4 || block < 3).then_some(100.0));
        assert_eq!(another, Another::TimeIsUp, "{said}");
        assert!(said.contains("2 of 4 intervals are unknown before 2 more blocks"), "{said}");
        let (_, _, said) = conducted(&campaign, 1, |_, _| None);
        assert!(said.ends_with("nothing was measured that could be compared"), "{said}");
        let (another, _, said) =
            conducted(&campaign, 1, |point, block| Some(twice(0.1)(point, block)? + point as f64));
        assert_eq!(another, Another::Enough, "{said}");
        assert!(said.contains("that of read on /"), "{said}");
        assert!(said.contains(", clients "), "{said}");
    }

    #[test]
    fn a_run_that_hung_leaves_an_interval_open() {
        let campaign = campaign(&["memory:", "/x"], &[1], 0.5);
        let mut precise = Precise::of(&campaign, &[], SimulatedClock::starting_at(MonotonicTime(0))).unwrap();
        for block in 1..=9 {
            for point in 0..2 {
                let rate =
                    if (point, block) == (1, 4) { RunAmount::AtMost(50.0) } else { RunAmount::Known(100.0) };
                precise.values.insert(
                    (point, block),
                    values(&[(Operation::Read, rate), (Operation::Stat, RunAmount::Known(1.0))]),
                );
            }
        }
        assert_eq!(precise.another(9), Another::Yes);
        let said = precise.told(Another::TimeIsUp, 9);
        assert!(said.contains("1 of 2 intervals is open, because runs hung or failed"), "{said}");
    }

    #[test]
    fn what_takes_longer_is_slower() {
        let known = RunAmount::Known(4.0);
        assert_eq!(speed(RunQuantity::Rate, known), LogRange::exactly(4.0_f64.ln()));
        assert_eq!(speed(RunQuantity::Median, known), LogRange::exactly(-4.0_f64.ln()));
        assert_eq!(speed(RunQuantity::Rate, RunAmount::AtMost(4.0)), LogRange::at_most(4.0_f64.ln()));
        assert_eq!(speed(RunQuantity::P95, RunAmount::AtLeast(4.0)), LogRange::at_most(-4.0_f64.ln()));
        assert_eq!(speed(RunQuantity::Rate, RunAmount::Open), LogRange::UNKNOWN);
    }
}
