//! Days of a watch as units: the attempts of a day share its luck.
//!
//! A day's value is that of its slots, by time as wherever a history compares places: who comes while a probe hangs waits for the rest of it. What had
//! not ended is a bound, and so is what was below a step of the clock. A day in which everything failed says nothing and is told.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{
    Configuration, ConfigurationKey, HistoryColumns, Operation, Outcome, Series, WallSpan, WallTime,
};

use super::remembered::{HOST, facts_of_host, facts_of_place};
use super::side::{Fact, Unit, UnitKind, UnitValue};
use crate::history::{Blockers, ByTime, Day, LocalTime, Observation, Observations};
use crate::run::standing::Standing;
use crate::run::values::{Cell, RunAmount, RunQuantity};
use crate::statistics::knowledge::Knowledge;
use crate::statistics::quantile::interpolated::QuantilePlace;

/// What [`Unit::workload`] is of days.
const WATCH: &str = "watch";

/// The days of the series of a side.
#[derive(Debug)]
pub struct Days<'a> {
    local: &'a LocalTime,
    span: WallSpan,
    quantities: &'a [RunQuantity],
    configurations: &'a BTreeMap<ConfigurationKey, Configuration>,
    units: BTreeMap<(String, Day), Unit>,
    partial: BTreeSet<(String, Day)>,
}

impl<'a> Days<'a> {
    /// None yet of this span, by the days of a place.
    pub const fn new(
        local: &'a LocalTime,
        span: WallSpan,
        quantities: &'a [RunQuantity],
        configurations: &'a BTreeMap<ConfigurationKey, Configuration>,
    ) -> Self {
        Self { local, span, quantities, configurations, units: BTreeMap::new(), partial: BTreeSet::new() }
    }

    /// Adds a series of durations.
    pub fn add(&mut self, series: &Series, columns: &HistoryColumns, blockers: &Blockers) {
        let slots = self.slots(columns);
        let mut hours: Vec<usize> = slots.values().map(|slots| slots.hours.len()).collect();
        hours.sort_unstable();
        let usual = hours.get(hours.len() / 2).copied().unwrap_or(0);
        let observations = Observations::<ByTime>::by_time(series, columns, blockers);
        let mut of_days: BTreeMap<Day, Vec<Observation>> = BTreeMap::new();
        for observation in observations.list() {
            of_days.entry(self.local.at(observation.at).day).or_default().push(*observation);
        }
        for (day, slots) in slots {
            let of_day = of_days.remove(&day).unwrap_or_default();
            if 2 * slots.hours.len() < usual {
                // Its hours are not those of the others.
                self.partial.insert((series.key.host.clone(), day));
            } else if !of_day.is_empty() || slots.failed > 0 {
                self.add_day(series, day, &slots, &of_day);
            }
        }
    }

    /// The units, in the order of hosts and days, and how many days are none because too little of them was watched.
    pub fn finish(self) -> (Vec<Unit>, usize) {
        let lone = self.partial.iter().filter(|day| !self.units.contains_key(*day)).count();
        (self.units.into_values().collect(), lone)
    }

    fn slots(&self, columns: &HistoryColumns) -> BTreeMap<Day, Slots> {
        let mut days: BTreeMap<Day, Slots> = BTreeMap::new();
        for (row, (at, outcome)) in columns.intended.iter().zip(&columns.outcome).enumerate() {
            let moment = self.local.at(*at);
            let slots = days.entry(moment.day).or_insert_with(|| Slots::from(*at));
            slots.hours.insert(moment.hour);
            slots.span_ns = [slots.span_ns[0].min(at.0), slots.span_ns[1].max(at.0)];
            slots.failed += u64::from(*outcome == Outcome::Error);
            if columns.configuration[row] != ConfigurationKey(0) {
                slots.configuration = columns.configuration[row];
            }
        }
        days
    }

    fn add_day(&mut self, series: &Series, day: Day, due: &Slots, slots: &[Observation]) {
        let [begin, end] = due.span_ns;
        let host = &series.key.host;
        let name = self.name(day);
        let unit = self.units.entry((host.clone(), day)).or_insert_with(|| unit(name, host, begin));
        unit.span_ns = [unit.span_ns[0].min(begin), unit.span_ns[1].max(end)];
        unit.clock_step_ns = unit.clock_step_ns.max(series.resolution_ns.0 as f64);
        if let Some(configuration) = self.configurations.get(&due.configuration) {
            unit.facts.extend(facts_of_host(configuration));
            unit.places.insert(series.key.target.clone(), facts_of_place(configuration));
        }
        if slots.is_empty() {
            return;
        }
        let has_hung = slots.iter().any(|slot| slot.knowledge == Knowledge::AtLeast);
        if unit.standing != Standing::Hung {
            unit.standing = if has_hung { Standing::Hung } else { Standing::Whole };
        }
        let amount = |quantity: &RunQuantity| Some((*quantity, amount(*quantity, slots)?));
        let key = &series.key;
        unit.values.push(UnitValue {
            cell: Cell { operation: Operation::Probe, phase: None },
            task: Some(match key.part.as_str() {
                "" => key.task.clone(),
                part => format!("{}: {part}", key.task),
            }),
            target: key.target.clone(),
            attempts: slots.len() as u64,
            amounts: self.quantities.iter().filter_map(amount).collect(),
            profile: Vec::new(),
            processors: None,
        });
    }

    /// The date; of a day that the span cuts, also where.
    fn name(&self, day: Day) -> String {
        let cut = |moment: WallTime| {
            let is_in = self.local.at(moment).day == day;
            let time = self.local.shown(moment).in_words().split_once(' ').map(|(_, time)| time.to_owned());
            time.filter(|time| is_in && time != "00:00")
        };
        let from = cut(self.span.begin).map(|time| format!(" from {time}")).unwrap_or_default();
        let until = cut(self.span.end).map(|time| format!(" until {time}")).unwrap_or_default();
        format!("{day}{from}{until}")
    }
}

/// What was due on a day.
struct Slots {
    hours: BTreeSet<u8>,
    span_ns: [i64; 2],
    failed: u64,
    /// The last that is known.
    configuration: ConfigurationKey,
}

impl From<WallTime> for Slots {
    fn from(first: WallTime) -> Self {
        Self { hours: BTreeSet::new(), span_ns: [first.0; 2], failed: 0, configuration: ConfigurationKey(0) }
    }
}

/// A day that says nothing yet.
fn unit(name: String, host: &str, begin: i64) -> Unit {
    Unit {
        name,
        kind: UnitKind::Day,
        workload: WATCH.to_owned(),
        usual: RunQuantity::Median,
        block: None,
        span_ns: [begin; 2],
        coordinates: BTreeMap::from([(HOST.to_owned(), host.to_owned())]),
        labels: BTreeMap::new(),
        facts: BTreeMap::from([(Fact::Host, host.to_owned())]),
        places: BTreeMap::new(),
        page_cache_bytes: None,
        caches: None,
        felt: Vec::new(),
        clock_step_ns: 1.0,
        quantile_step: 0.0,
        standing: Standing::Unreached,
        values: Vec::new(),
    }
}

/// What slots say of a quantity; nothing of rates, which a schedule sets.
fn amount(quantity: RunQuantity, slots: &[Observation]) -> Option<RunAmount> {
    let ends = |slot: &Observation| {
        let ns = slot.amount * 1e9;
        match slot.knowledge {
            Knowledge::Exactly => [ns, ns],
            Knowledge::AtLeast => [ns, f64::INFINITY],
            // Below a step of the clock.
            Knowledge::AtMost => [0.0, ns],
        }
    };
    let quantile = |share: f64| {
        let place = QuantilePlace::of(share, slots.len() as u64);
        let of = |end: usize| {
            let mut all: Vec<f64> = slots.iter().map(|slot| ends(slot)[end]).collect();
            all.sort_unstable_by(f64::total_cmp);
            place.between(place.ranks.map(|rank| all[rank as usize - 1]))
        };
        RunAmount::between(of(0), of(1))
    };
    Some(match quantity {
        RunQuantity::Rate | RunQuantity::Throughput => return None,
        RunQuantity::Median => quantile(0.5),
        RunQuantity::P95 => quantile(0.95),
        RunQuantity::ShareOver(threshold) => {
            let is_over = |ns: f64| ns > threshold.0 as f64;
            let share = |end: usize| {
                slots.iter().filter(|slot| is_over(ends(slot)[end])).count() as f64 / slots.len() as f64
            };
            RunAmount::between(share(0), share(1))
        }
    })
}
