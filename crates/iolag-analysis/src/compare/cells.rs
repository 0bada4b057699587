//! The rows of a table: what sides have in common. Like is compared with like.

use std::collections::{BTreeMap, BTreeSet};

use super::remembered::HOST;
use super::side::{Fact, RowKey, Side, Unit, UnitValue};
use super::table::{CompareOptions, ComparedWorkload, LeftOut};
use crate::run::values::{Cell, RunAmount, RunQuantity};

/// Coordinates that say where a run measured: they tell rows apart only if a side has several.
const PLACES: [&str; 3] = [SIDE, HOST, TARGET];
/// The coordinate that names the side of a plan.
pub(super) const SIDE: &str = "side";
/// The coordinate that names it.
pub(super) const TARGET: &str = "target";

/// What one unit says in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    /// Its place among the units of its side.
    pub place: usize,
    /// The unit.
    pub unit: &'a Unit,
    /// What it says.
    pub value: &'a UnitValue,
    /// Which of what is pooled it is: those that have the same number are alike.
    pub stratum: usize,
}

impl Entry<'_> {
    /// The amount of a quantity, if there is such a thing.
    pub(super) fn amount(&self, quantity: RunQuantity) -> Option<RunAmount> {
        self.value.amounts.iter().find(|(known, _)| *known == quantity).map(|(_, amount)| *amount)
    }
}

/// A row, with what each side has there.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub key: RowKey,
    /// By what it is compared.
    pub quantity: RunQuantity,
    pub sides: Vec<Vec<Entry<'a>>>,
}

impl Row<'_> {
    /// The sides that have none of it.
    pub(super) fn missing(&self) -> Vec<usize> {
        (0..self.sides.len()).filter(|side| self.sides[*side].is_empty()).collect()
    }

    /// Whether the base and one of the others have it.
    fn is_shared(&self) -> bool {
        !self.sides[0].is_empty() && self.sides[1..].iter().any(|side| !side.is_empty())
    }
}

/// What sides have in common, and what they have not.
pub(super) struct Matched<'a> {
    /// At least the base and one other have these.
    pub rows: Vec<Row<'a>>,
    /// All others.
    pub alone: Vec<Row<'a>>,
}

impl Matched<'_> {
    /// What is not in the table, or not for all sides.
    pub(super) fn left_out(&self, sides: &[Side]) -> Vec<LeftOut> {
        let left_out = |row: &Row| {
            // Of a side that says nothing its runs are told.
            let missing: Vec<usize> =
                row.missing().into_iter().filter(|side| !sides[*side].units.is_empty()).collect();
            (!missing.is_empty()).then(|| LeftOut::Row { key: row.key.clone(), missing })
        };
        self.rows.iter().chain(&self.alone).filter_map(left_out).collect()
    }
}

/// Puts the values of sides into rows.
pub(super) fn matched<'a>(
    sides: &'a [Side],
    workloads: &[ComparedWorkload],
    options: &CompareOptions,
) -> Matched<'a> {
    let names = Names::of(sides, options);
    let place_of = |name: &str| workloads.iter().position(|workload| workload.name == name);
    let quantity_of = |name: &str| place_of(name).map(|place| workloads[place].quantity);
    let mut rows: BTreeMap<RowKey, Row> = BTreeMap::new();
    let mut strata: BTreeMap<Vec<Option<&str>>, usize> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        for (place, unit) in side.units.iter().enumerate() {
            let Some(quantity) = quantity_of(&unit.workload) else { continue };
            for value in &unit.values {
                let count = strata.len();
                let stratum = *strata.entry(names.pooled(unit, value)).or_insert(count);
                let entry = Entry { place, unit, value, stratum };
                let is_meant = value.cell.phase.is_none_or(|phase| options.phases.contains(&phase));
                if is_meant && entry.amount(quantity).is_some() {
                    let key = names.key(unit, value);
                    let sides = || vec![Vec::new(); sides.len()];
                    let row =
                        rows.entry(key.clone()).or_insert_with(|| Row { key, quantity, sides: sides() });
                    row.sides[at].push(entry);
                }
            }
        }
    }
    let order = order_of_cells(sides);
    let mut rows: Vec<Row> = rows.into_values().collect();
    rows.sort_by_cached_key(|row| {
        let natural = |parts: &BTreeMap<String, String>| {
            parts.iter().map(|(name, value)| (name.clone(), natural(value))).collect::<Vec<_>>()
        };
        (
            place_of(&row.key.workload),
            order.get(&row.key.cell).copied(),
            natural(&row.key.coordinates),
            natural(&row.key.labels),
        )
    });
    let (rows, alone) = rows.into_iter().partition(Row::is_shared);
    Matched { rows, alone }
}

/// A cell stands where it stands in the runs that have it.
fn order_of_cells(sides: &[Side]) -> BTreeMap<Cell, (usize, Cell)> {
    let mut order = BTreeMap::new();
    for unit in sides.iter().flat_map(|side| &side.units) {
        for (at, value) in unit.values.iter().enumerate() {
            let first = order.entry(value.cell).or_insert((at, value.cell));
            first.0 = first.0.min(at);
        }
    }
    order
}

/// Numbers by their size, before what is none.
fn natural(text: &str) -> (u64, String) {
    (text.parse().unwrap_or(u64::MAX), text.to_owned())
}

/// The coordinates and labels that do not tell rows apart.
struct Names {
    free: BTreeSet<String>,
    has_targets: bool,
    /// Those of them that the user wants to be pooled.
    pooled: Vec<String>,
}

impl Names {
    fn of(sides: &[Side], options: &CompareOptions) -> Self {
        let mut free: BTreeSet<String> = sides.iter().flat_map(|side| side.chosen_by.clone()).collect();
        let pooled = options.across.iter().filter(|name| !free.contains(*name)).cloned().collect();
        free.extend(options.across.iter().cloned());
        let are_several = |name: &str| sides.iter().any(|side| has_several(side, name));
        let has_targets = !free.contains(TARGET) && are_several(TARGET);
        free.extend(PLACES.iter().filter(|name| !are_several(name)).map(|name| (*name).to_owned()));
        // The values say on which target they are.
        free.insert(TARGET.to_owned());
        Self { free, has_targets, pooled }
    }

    fn pooled<'a>(&self, unit: &'a Unit, value: &'a UnitValue) -> Vec<Option<&'a str>> {
        let of_name = |name: &String| match name.as_str() {
            TARGET => Some(value.target.as_str()),
            name => part_of(unit, name),
        };
        self.pooled.iter().map(of_name).collect()
    }

    fn key(&self, unit: &Unit, value: &UnitValue) -> RowKey {
        let telling = |all: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            let telling = all.iter().filter(|(name, _)| !self.free.contains(*name));
            telling.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let mut coordinates = telling(&unit.coordinates);
        if self.has_targets {
            coordinates.insert(TARGET.to_owned(), value.target.clone());
        }
        // Beside several hosts that a history remembers runs have theirs, too.
        if let Some(host) = part_of(unit, HOST).filter(|_| !self.free.contains(HOST)) {
            coordinates.insert(HOST.to_owned(), host.to_owned());
        }
        RowKey {
            workload: unit.workload.clone(),
            cell: value.cell,
            task: value.task.clone(),
            coordinates,
            labels: telling(&unit.labels),
        }
    }
}

/// A coordinate or label of a unit; of runs their host is no coordinate, but known.
pub(super) fn part_of<'a>(unit: &'a Unit, name: &str) -> Option<&'a str> {
    let host = || unit.facts.get(&Fact::Host).filter(|_| name == HOST);
    let named = unit.coordinates.get(name).or_else(|| unit.labels.get(name));
    named.or_else(host).map(String::as_str)
}

/// Whether a side measured something in several places; a tree may lie elsewhere than files are written.
fn has_several(side: &Side, name: &str) -> bool {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for unit in &side.units {
        let targets = unit.values.iter().map(|value| value.target.as_str()).filter(|_| name == TARGET);
        let named = unit.coordinates.get(name).map(String::as_str).filter(|_| name != TARGET);
        places.entry(&unit.workload).or_default().extend(targets.chain(named));
    }
    places.values().any(|places| places.len() > 1)
}
