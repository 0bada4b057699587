//! When a campaign ends that is to be precise: at the first look at which its comparison is, or when its time is up.
//!
//! Pure, but for the clock that is handed in. It is asked between blocks only, and goes by how wide the intervals of `iolag compare` are,
//! never by what they say.

use iolag_analysis::compare::{ComparedCell, ComparedRow, ComparedTable, LeftOut, Unit};
use iolag_analysis::{ComparedRuns, ComparedWord, RUN_LOOKS, is_precise};
use iolag_model::{Clock, MonotonicTime, Nanoseconds, Stopping, counted};

use crate::bench::campaign::{Campaign, PlannedRun};
use crate::bench::compared::{compare_campaign, unit_of_stored};
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
    clock: C,
    /// When this command began.
    begun: MonotonicTime,
    /// Its latest block, and when that began.
    block: Option<u32>,
    block_begun: Option<MonotonicTime>,
    /// Its longest block.
    longest: Nanoseconds,
    /// What the runs that there are say.
    runs: Vec<(&'a PlannedRun, Unit)>,
}

impl<'a, C: Clock> Precise<'a, C> {
    /// What `earlier` commands have stored counts. `None` of a campaign that has a number of repetitions.
    pub(super) fn of(campaign: &'a Campaign, earlier: &[(usize, &Stored)], clock: C) -> Option<Self> {
        let Repeating::UntilPrecise(stopping) = campaign.options.repeat else { return None };
        let mut precise = Self {
            campaign,
            stopping,
            begun: clock.now(),
            clock,
            block: None,
            block_begun: None,
            longest: Nanoseconds::ZERO,
            runs: Vec::new(),
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
    pub(super) fn takes(&mut self, run: &'a PlannedRun, stored: &Stored) {
        self.runs.push((run, unit_of_stored(stored)));
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
        let further = match another {
            Another::TimeIsUp => "; --resume goes on for as long again",
            Another::Yes | Another::Enough => "",
        };
        format!("{how}: {}{further}", self.widths(finished))
    }

    fn widths(&self, finished: u32) -> String {
        let Some(table) = self.table(finished) else {
            return "nothing was measured that could be compared".to_owned();
        };
        let cells = cells_of(&table);
        let half = |cell: &ComparedCell| cell.compared.interval.map(|one| (one.high() - one.low()) / 2.0);
        let is_closed = |half: &f64| half.is_finite();
        let known = cells.iter().filter_map(|(name, cell)| Some((half(cell).filter(is_closed)?, name)));
        let open = cells.iter().filter(|(_, cell)| half(cell).is_some_and(|half| !is_closed(&half))).count();
        let lacking = |cell: &ComparedCell| match cell.compared.word {
            ComparedWord::TooFew { more } => Some(more),
            _ => None,
        };
        let too_few: Vec<u32> = cells.iter().filter_map(|(_, cell)| lacking(cell)).collect();
        let mut parts = Vec::new();
        if let Some((half, name)) = known.max_by(|one, other| one.0.total_cmp(&other.0)) {
            let asked = percent(self.stopping.precision);
            parts.push(format!(
                "half of the widest interval, that of {name}, is {}, and {asked} was asked for",
                percent(half.exp_m1())
            ));
        }
        let of_all =
            |count: usize| format!("{count} of {}", counted(cells.len() as u64, "interval", "intervals"));
        if open > 0 {
            parts.push(format!("{} open, because runs hung or failed", is_or_are(&of_all(open), open)));
        }
        if let Some(more) = too_few.iter().max() {
            let more = counted(u64::from(*more), "more block", "more blocks");
            parts.push(format!("{} unknown before {more}", is_or_are(&of_all(too_few.len()), too_few.len())));
        }
        let lacks = table.left_out.iter().filter(|one| matches!(one, LeftOut::Row { .. })).count();
        if lacks > 0 {
            parts.push(format!("{} no counterpart", counted(lacks as u64, "row has", "rows have")));
        }
        parts.join("; ")
    }

    /// What only some of the sides have makes nothing precise: the comparison lacks the others.
    fn is_precise(&self, blocks: u32) -> bool {
        self.table(blocks).is_some_and(|table| {
            let cells = table.rows.iter().flat_map(|row| &row.cells);
            let compared: Vec<ComparedRuns> = cells.map(|cell| cell.compared.clone()).collect();
            let has_all_rows = !table.left_out.iter().any(|one| matches!(one, LeftOut::Row { .. }));
            let sides = match self.campaign.compared_sessions().len() {
                0 => self.campaign.options.sides.len(),
                sessions => sessions,
            };
            let has_all_sides =
                table.sides.len() == sides && table.sides.iter().all(|side| !side.runs.is_empty());
            has_all_rows && has_all_sides && is_precise(&compared, self.stopping.precision)
        })
    }

    /// The comparison of the first blocks with the first side; `None` if sides have nothing in common.
    fn table(&self, blocks: u32) -> Option<ComparedTable> {
        let runs = self.runs.iter().filter(|(run, _)| run.block <= blocks);
        compare_campaign(self.campaign, runs.map(|(run, unit)| (*run, unit.clone())))?.ok()
    }
}

/// The cells of a table with their names for people, each with what tells it from the others.
fn cells_of(table: &ComparedTable) -> Vec<(String, &ComparedCell)> {
    let differs = |coordinate: &String, value: &String| {
        table.rows.iter().any(|row| row.key.coordinates.get(coordinate) != Some(value))
    };
    let name = |row: &ComparedRow, other: usize| {
        let of_side = (table.sides.len() > 2).then(|| table.sides[other].name.clone());
        let of_row = row.key.coordinates.iter().filter(|(coordinate, value)| differs(coordinate, value));
        let of_row = of_row.map(|(coordinate, value)| format!("{coordinate} {value}"));
        let operation = row.key.cell.operation.name();
        match of_side.into_iter().chain(of_row).collect::<Vec<_>>() {
            none if none.is_empty() => operation.to_owned(),
            some => format!("{operation} ({})", some.join(", ")),
        }
    };
    let mut cells = Vec::new();
    for row in &table.rows {
        cells.extend((1..).zip(&row.cells).map(|(other, cell)| (name(row, other), cell)));
    }
    cells
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn is_or_are(what: &str, count: usize) -> String {
    format!("{what} {}", if count == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::bench::options::BenchOptions;
    use crate::bench::plan::plan_bench;
    use crate::environment::limits::Limits;
    use iolag_analysis::compare::{Unit, UnitBlock, UnitKind, UnitValue};
    use iolag_analysis::{CampaignEnding, Cell, RunAmount, RunQuantity, Standing};
    use iolag_backend::Target;
    use iolag_model::{Operation, Phase, RunId, SimulatedClock};
    use iolag_workload::{MetadataOptions, MetadataVariant};

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
        let workload = |variant: &MetadataVariant, clients| metadata.workload(*variant, clients);
        plan_bench(options, &metadata.variants(), workload, &Limits::default()).unwrap()
    }

    /// A run of this point in this block, with these rates.
    fn insert(
        precise: &mut Precise<'_, SimulatedClock>,
        point: usize,
        block: u32,
        rates: &[(Operation, RunAmount)],
    ) {
        let planned = precise.campaign.runs.iter().find(|run| run.number == point).unwrap();
        let value = |operation, phase, rate| UnitValue {
            cell: Cell { operation, phase },
            task: None,
            target: planned.point.side.shown(),
            attempts: 100,
            amounts: vec![(RunQuantity::Rate, rate)],
            profile: Vec::new(),
            processors: None,
        };
        let mut values: Vec<_> =
            rates.iter().map(|(operation, rate)| value(*operation, None, *rate)).collect();
        // Making the working set scatters as it likes: nobody asked for it.
        values.push(value(Operation::Create, Some(Phase::Precreate), RunAmount::Open));
        let unit = Unit {
            name: format!("{point}-{block}"),
            kind: UnitKind::Run,
            workload: "metadata".into(),
            usual: RunQuantity::Rate,
            block: Some(UnitBlock {
                campaign: RunId::new("20261128-000000", 1).unwrap(),
                order: precise.campaign.options.order,
                ending: CampaignEnding::WhenPrecise,
                block,
            }),
            span_ns: [i64::from(block), i64::from(block)],
            coordinates: planned.point.coordinates.clone(),
            labels: BTreeMap::new(),
            facts: BTreeMap::new(),
            places: BTreeMap::new(),
            page_cache_bytes: None,
            caches: None,
            felt: Vec::new(),
            clock_step_ns: 1.0,
            quantile_step: 0.0,
            standing: Standing::Whole,
            values,
        };
        precise.runs.push((planned, unit));
    }

    /// Conducts what is left, a minute a block, until it ends: the sentence. Rates are by point and block.
    fn conducted(
        campaign: &Campaign,
        from: u32,
        rate: impl Fn(usize, u32) -> Option<f64>,
    ) -> (Another, u32, String) {
        let clock = SimulatedClock::starting_at(MonotonicTime(7));
        let mut precise = Precise::of(campaign, &[], clock.clone()).unwrap();
        let insert_all = |precise: &mut Precise<'_, _>, block: u32| {
            for point in 0..campaign.points() {
                if let Some(rate) = rate(point, block) {
                    insert(precise, point, block, &[(Operation::Read, RunAmount::Known(rate))]);
                }
            }
        };
        for block in 1..from {
            insert_all(&mut precise, block);
        }
        for block in from..=63 {
            let another = precise.another(block - 1);
            if another != Another::Yes {
                return (another, block - 1, precise.told(another, block - 1));
            }
            insert_all(&mut precise, block);
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
        let expected = "1 of 1 interval is unknown before 3 more blocks; --resume goes on for as long again";
        assert!(said.ends_with(expected), "{said}");
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
        assert!(said.contains("nothing was measured that could be compared"), "{said}");
        let (another, _, said) =
            conducted(&campaign, 1, |point, block| Some(twice(0.1)(point, block)? + point as f64));
        assert_eq!(another, Another::Enough, "{said}");
        assert!(said.contains("that of read (/x, clients 1)"), "{said}");
    }

    #[test]
    fn a_run_that_hung_leaves_an_interval_open() {
        let campaign = campaign(&["memory:", "/x"], &[1], 0.5);
        let mut precise = Precise::of(&campaign, &[], SimulatedClock::starting_at(MonotonicTime(0))).unwrap();
        for block in 1..=9 {
            for point in 0..2 {
                let rate =
                    if (point, block) == (1, 4) { RunAmount::AtMost(50.0) } else { RunAmount::Known(100.0) };
                let stat = RunAmount::Known(1.0);
                insert(&mut precise, point, block, &[(Operation::Read, rate), (Operation::Stat, stat)]);
            }
        }
        assert_eq!(precise.another(9), Another::Yes);
        let said = precise.told(Another::TimeIsUp, 9);
        assert!(said.contains("1 of 2 intervals is open, because runs hung or failed"), "{said}");
    }
}
