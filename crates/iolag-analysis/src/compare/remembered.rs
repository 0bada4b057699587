//! What a history remembers of runs, as units again, with the value of each of their cells. Runs of one day share its luck, so they are one unit.

use std::collections::BTreeMap;

use iolag_model::{
    Configuration, ConfigurationKey, HistoryColumns, Operation, Outcome, ProbeId, Series, WallTime,
};

use super::side::{Fact, Unit, UnitKind, UnitValue};
use crate::history::{Day, LocalTime};
use crate::run::standing::Standing;
use crate::run::values::{Cell, RunAmount, RunQuantity, middle_of};

/// The coordinate of the host that measured.
pub(super) const HOST: &str = "host";
/// Between the task of a series and the coordinates of its runs.
const COORDINATES: &str = ", ";

/// The runs of the series of a side.
#[derive(Debug)]
pub struct RememberedRuns<'a> {
    local: &'a LocalTime,
    configurations: &'a BTreeMap<ConfigurationKey, Configuration>,
    units: BTreeMap<(String, ProbeId), Unit>,
}

impl<'a> RememberedRuns<'a> {
    /// None yet; their names are moments of a place.
    pub const fn new(
        local: &'a LocalTime,
        configurations: &'a BTreeMap<ConfigurationKey, Configuration>,
    ) -> Self {
        Self { local, configurations, units: BTreeMap::new() }
    }

    /// Adds a series of runs; nothing of one whose operation is not known here.
    pub fn add(&mut self, series: &Series, columns: &HistoryColumns) {
        let task = series.key.task.split(COORDINATES).next().unwrap_or_default();
        let Some((workload, operation)) = task.split_once(' ') else { return };
        let Ok(operation) = operation.parse::<Operation>() else { return };
        let quantity = RunQuantity::of_unit(&series.unit);
        for row in 0..columns.len() {
            let begin = columns.start[row];
            let key = (series.key.host.clone(), columns.probe[row]);
            let configuration = self.configurations.get(&columns.configuration[row]);
            let unit = self.units.entry(key).or_insert_with(|| Unit {
                usual: quantity,
                workload: workload.to_owned(),
                ..unit(self.local, &series.key.host, begin, configuration)
            });
            if let Some(configuration) = configuration {
                unit.places.insert(series.key.target.clone(), facts_of_place(configuration));
            }
            unit.standing = match (unit.standing, columns.outcome[row]) {
                (Standing::Hung, _) | (_, Outcome::Hung) => Standing::Hung,
                (Standing::Failed, _) | (_, Outcome::Error) => Standing::Failed,
                _ => Standing::Whole,
            };
            unit.values.push(UnitValue {
                cell: Cell { operation, phase: None },
                task: None,
                target: series.key.target.clone(),
                // Nobody remembers them.
                attempts: 0,
                amounts: vec![(quantity, amount(quantity, columns.value[row], columns.outcome[row]))],
                profile: Vec::new(),
                processors: None,
            });
        }
    }

    /// The runs, each by itself.
    pub fn finish(self) -> Vec<RememberedRun> {
        let run = |((_, run), unit): ((String, ProbeId), Unit)| {
            let day = self.local.at(WallTime(unit.span_ns[0])).day;
            RememberedRun { run, day, unit }
        };
        self.units.into_iter().map(run).collect()
    }
}

/// A run that a history remembers.
#[derive(Debug, Clone)]
pub struct RememberedRun {
    /// What the history calls it.
    pub run: ProbeId,
    /// The local day on which it began.
    pub day: Day,
    /// What it says.
    pub unit: Unit,
}

impl RememberedRun {
    /// Units of a day each: runs that had the same to do, of which each cell has the median.
    pub fn by_day(runs: impl IntoIterator<Item = Self>) -> Vec<Unit> {
        let mut days: BTreeMap<_, Vec<Unit>> = BTreeMap::new();
        for Self { day, unit, .. } in runs {
            let same = (day, unit.workload.clone(), unit.coordinates.clone(), unit.labels.clone());
            days.entry(same).or_default().push(unit);
        }
        days.into_values().filter_map(of_day).collect()
    }
}

/// With the name of the first.
fn of_day(mut runs: Vec<Unit>) -> Option<Unit> {
    runs.sort_by(|one, other| (one.span_ns, &one.name).cmp(&(other.span_ns, &other.name)));
    let mut values: Vec<UnitValue> = Vec::new();
    let mut amounts: Vec<Vec<(RunQuantity, RunAmount)>> = Vec::new();
    for value in runs.iter().flat_map(|run| &run.values) {
        let quantities =
            |of: &UnitValue| of.amounts.iter().map(|(quantity, _)| *quantity).collect::<Vec<_>>();
        let is_same = |own: &UnitValue| {
            (own.cell, &own.target) == (value.cell, &value.target) && quantities(own) == quantities(value)
        };
        let at = values.iter().position(is_same).unwrap_or_else(|| {
            values.push(value.clone());
            amounts.push(Vec::new());
            values.len() - 1
        });
        amounts[at].extend(value.amounts.iter().copied());
    }
    for (value, all) in values.iter_mut().zip(&amounts) {
        value.amounts.iter_mut().for_each(|(quantity, amount)| *amount = median(*quantity, all));
    }
    let end = runs.iter().map(|run| run.span_ns[1]).max()?;
    let standing = |standing: Standing| runs.iter().map(|run| run.standing).find(|own| *own == standing);
    let standing = standing(Standing::Hung).or_else(|| standing(Standing::Failed));
    let first = runs.into_iter().reduce(|mut first, run| {
        first.places.extend(run.places);
        first
    })?;
    let standing = standing.unwrap_or(first.standing);
    Some(Unit { span_ns: [first.span_ns[0], end], standing, values, ..first })
}

/// Of what is known of each.
fn median(quantity: RunQuantity, all: &[(RunQuantity, RunAmount)]) -> RunAmount {
    let own = all.iter().filter(|(known, _)| *known == quantity);
    let (mut low, mut high): (Vec<f64>, Vec<f64>) = own.map(|(_, amount)| amount.ends()).unzip();
    match (middle_of(&mut low), middle_of(&mut high)) {
        (Some(low), Some(high)) => RunAmount::between(low, high),
        _ => RunAmount::Open,
    }
}

/// As it was remembered: of a run that hung or failed the value is a bound.
fn amount(quantity: RunQuantity, value: f64, outcome: Outcome) -> RunAmount {
    let amount = if quantity.is_per_second() { value } else { value * 1e9 };
    match (outcome, quantity) {
        _ if value.is_nan() => RunAmount::Open,
        (Outcome::Ok, _) => RunAmount::Known(amount),
        _ if quantity.is_per_second() => RunAmount::AtMost(amount),
        _ => RunAmount::AtLeast(amount),
    }
}

/// When it began; two of one second are told apart.
fn name(local: &LocalTime, begin: WallTime) -> String {
    const SECOND_NS: i64 = 1_000_000_000;
    let shown = local.shown(begin);
    match begin.0.rem_euclid(SECOND_NS) / 1000 {
        0 => shown.in_words(),
        microseconds => format!("{}.{microseconds:06}", shown.to_second()),
    }
}

fn unit(local: &LocalTime, host: &str, begin: WallTime, configuration: Option<&Configuration>) -> Unit {
    let of = |kind: &str| -> BTreeMap<String, String> {
        let facts = configuration.into_iter().flat_map(|one| &one.facts);
        facts.filter_map(|(name, value)| Some((name.strip_prefix(kind)?.to_owned(), value.clone()))).collect()
    };
    let mut coordinates = of(Configuration::COORDINATE);
    coordinates.insert(HOST.to_owned(), host.to_owned());
    let mut facts = BTreeMap::from([(Fact::Host, host.to_owned())]);
    facts.extend(configuration.map(facts_of_host).unwrap_or_default());
    Unit {
        name: name(local, begin),
        kind: UnitKind::DayOfRuns,
        workload: String::new(),
        usual: RunQuantity::Rate,
        block: None,
        span_ns: [begin.0; 2],
        coordinates,
        labels: of("label "),
        facts,
        places: BTreeMap::new(),
        page_cache_bytes: None,
        caches: None,
        felt: Vec::new(),
        clock_step_ns: 1.0,
        quantile_step: 0.0,
        standing: Standing::Whole,
        values: Vec::new(),
    }
}

/// What a configuration says of the host.
pub(super) fn facts_of_host(configuration: &Configuration) -> BTreeMap<Fact, String> {
    told(configuration, [("kernel", Fact::Kernel), ("iolag", Fact::Version)])
}

/// What a configuration says of its target. Options of mounts are written otherwise than in runs.
pub(super) fn facts_of_place(configuration: &Configuration) -> BTreeMap<Fact, String> {
    told(configuration, [("file-system", Fact::FileSystem), ("mount-source", Fact::Source)])
}

fn told(configuration: &Configuration, names: [(&str, Fact); 2]) -> BTreeMap<Fact, String> {
    let known =
        names.into_iter().filter_map(|(name, fact)| Some((fact, configuration.facts.get(name)?.clone())));
    known.collect()
}
