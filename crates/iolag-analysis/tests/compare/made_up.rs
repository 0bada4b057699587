//! Runs as units, made up.
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use iolag_analysis::compare::{
    CompareOptions, ComparedTable, Side, Unit, UnitBlock, UnitKind, UnitValue, compare_sides,
};
use iolag_analysis::{CampaignEnding, Cell, ComparedRuns, RunAmount, RunQuantity, Standing};
use iolag_model::{Operation, Order, RunId};

/// An hour, in ns.
pub const HOUR: i64 = 3_600_000_000_000;

/// Without a wish.
pub fn usual() -> CompareOptions {
    CompareOptions::default()
}

/// A campaign that takes turns.
pub fn campaign(salt: u16) -> RunId {
    RunId::new("20261128-000000", salt).expect("the form of an id")
}

/// A run of a bench that says nothing yet, begun so many minutes after the first.
pub fn unit(name: &str, minute: i64) -> Unit {
    Unit {
        name: name.to_owned(),
        kind: UnitKind::Run,
        workload: "metadata".to_owned(),
        usual: RunQuantity::Rate,
        block: None,
        span_ns: [minute * HOUR / 60, minute * HOUR / 60 + HOUR / 120],
        coordinates: BTreeMap::from([("clients".to_owned(), "1".to_owned())]),
        labels: BTreeMap::new(),
        facts: BTreeMap::new(),
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

pub fn value(operation: Operation, amounts: &[(RunQuantity, RunAmount)]) -> UnitValue {
    let cell = Cell { operation, phase: None };
    UnitValue {
        cell,
        task: None,
        target: "/data".to_owned(),
        attempts: 1000,
        amounts: amounts.to_vec(),
        profile: Vec::new(),
        processors: None,
    }
}

pub fn known(amount: f64) -> RunAmount {
    RunAmount::Known(amount)
}

/// A run of a block, with the rates of some operations.
pub fn run(side: &str, block: u32, rates: &[(Operation, RunAmount)]) -> Unit {
    let values = rates.iter().map(|(operation, rate)| value(*operation, &[(RunQuantity::Rate, *rate)]));
    Unit {
        block: Some(UnitBlock {
            campaign: campaign(1),
            order: Order::Interleaved,
            ending: CampaignEnding::Planned,
            block,
        }),
        values: values.collect(),
        ..unit(&format!("{side}-{block}"), i64::from(block) * 10 + i64::from(side.as_bytes()[0] % 8))
    }
}

pub fn side(name: &str, units: Vec<Unit>) -> Side {
    Side { name: name.to_owned(), units, chosen_by: BTreeSet::from(["client".to_owned()]) }
}

/// By how many per cent a run of this block is off, the same for all sides: mean 0.
pub fn luck(block: u32) -> f64 {
    [1.0, 1.02, 0.97, 1.01, 0.99, 1.03, 0.98, 1.0, 1.0][block as usize % 9]
}

/// Nine runs in turns, of a side that is so many times as fast as 100 a second, and scatters by so much of its own.
pub fn nine(name: &str, factors: &[(Operation, f64)], scatter: f64) -> Side {
    let runs = (1..=9).map(|block| {
        let own = 1.0 + scatter * (f64::from(block * 7 % 9) - 4.0) / 4.0;
        let rates: Vec<_> = factors
            .iter()
            .map(|(operation, factor)| (*operation, known(100.0 * factor * luck(block) * own)))
            .collect();
        run(name, block, &rates)
    });
    side(name, runs.collect())
}

pub fn compared(sides: Vec<Side>) -> ComparedTable {
    compare_sides(sides, &usual()).unwrap_or_else(|error| panic!("{error}"))
}

/// What is said of the first row.
pub fn first(table: &ComparedTable) -> &ComparedRuns {
    &table.rows[0].cells[0].compared
}

/// The estimate, where it is known.
pub fn estimate(compared: &ComparedRuns) -> f64 {
    compared.difference.as_ref().and_then(|one| one.estimate().known()).expect("it is known")
}

pub fn with_labels(mut unit: Unit, labels: &[(&str, &str)]) -> Unit {
    unit.labels.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    unit
}

/// Runs one after the other, none in a block, with a rate of stat each.
pub fn apart(name: &str, from_minute: i64, rates: &[f64]) -> Side {
    let unit = |(at, rate): (usize, &f64)| Unit {
        values: vec![value(Operation::Stat, &[(RunQuantity::Rate, known(*rate))])],
        ..unit(&format!("{name}-{at}"), from_minute + at as i64)
    };
    side(name, rates.iter().enumerate().map(unit).collect())
}
