//! What a history remembers of runs, as units again: one for each run, with the value of each of its cells.

use std::collections::BTreeMap;

use iolag_model::{
    Configuration, ConfigurationKey, HistoryColumns, Operation, Outcome, ProbeId, Series, WallTime,
};

use super::side::{Fact, Unit, UnitKind, UnitValue};
use crate::history::LocalTime;
use crate::run::values::{Cell, RunAmount, RunQuantity, Standing};

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
        let quantity = if series.unit.is_empty() { RunQuantity::Median } else { RunQuantity::Rate };
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
            });
        }
    }

    /// The units, with what the history calls their runs.
    pub fn finish(self) -> Vec<(ProbeId, Unit)> {
        self.units.into_iter().map(|((_, run), unit)| (run, unit)).collect()
    }
}

/// As it was remembered: of a run that hung or failed the value is a bound.
fn amount(quantity: RunQuantity, value: f64, outcome: Outcome) -> RunAmount {
    let amount = if quantity == RunQuantity::Rate { value } else { value * 1e9 };
    match (outcome, quantity) {
        _ if value.is_nan() => RunAmount::Open,
        (Outcome::Ok, _) => RunAmount::Known(amount),
        (_, RunQuantity::Rate) => RunAmount::AtMost(amount),
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
    let mut coordinates = of("coordinate ");
    coordinates.insert(HOST.to_owned(), host.to_owned());
    let mut facts = BTreeMap::from([(Fact::Host, host.to_owned())]);
    facts.extend(configuration.map(facts_of_host).unwrap_or_default());
    Unit {
        name: name(local, begin),
        kind: UnitKind::Run,
        workload: String::new(),
        usual: RunQuantity::Rate,
        block: None,
        span_ns: [begin.0; 2],
        coordinates,
        labels: of("label "),
        facts,
        places: BTreeMap::new(),
        page_cache_bytes: None,
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
