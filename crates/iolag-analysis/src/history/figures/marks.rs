//! What stands beside samples: events, changes of level, and the correlation of everything with everything.

use std::collections::BTreeMap;

use iolag_model::{Event, EventSource};
use serde::{Deserialize, Serialize};

use crate::history::correlation::coefficient::{CorrelationMethod, Strength};
use crate::history::correlation::matrix::{CorrelatedPair, CorrelationMatrix, Variable};
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::timed_values::Quantity;
use crate::statistics::knowledge::Knowledge;

/// Lines of a journal that are drawn, the latest; everything else is drawn whatever its number.
const JOURNAL_MOST: usize = 5_000;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct EventMark {
    /// Its id.
    pub id: String,
    /// When it began.
    pub begin_ns: i64,
    /// When it ended, if it lasted.
    pub end_ns: Option<i64>,
    /// Which host it concerns; empty for all.
    pub host: String,
    /// Which target it concerns; empty for all.
    pub target: String,
    /// Where it comes from.
    pub source: EventSource,
    /// A word to group by; may be empty.
    pub kind: String,
    /// What happened.
    pub text: String,
}

/// Events to draw, and how many lines of a journal were left out.
pub(crate) fn events(all: &[Event]) -> (Vec<EventMark>, u64) {
    let of_journal = all.iter().filter(|event| event.source == EventSource::Journal).count();
    let mut left_out = of_journal.saturating_sub(JOURNAL_MOST);
    let told = left_out as u64;
    let shown = all.iter().filter(|event| {
        let is_dropped = event.source == EventSource::Journal && left_out > 0;
        left_out -= usize::from(is_dropped);
        !is_dropped
    });
    (shown.map(mark_of).collect(), told)
}

fn mark_of(event: &Event) -> EventMark {
    EventMark {
        id: event.id.clone(),
        begin_ns: event.begin.0,
        end_ns: event.end.map(|end| end.0),
        host: event.host.clone(),
        target: event.target.clone(),
        source: event.source,
        kind: event.kind.clone(),
        text: event.text.clone(),
    }
}

/// A change of level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ChangeMark {
    /// The last sample before it.
    pub last_before_ns: i64,
    /// The first sample after it.
    pub first_after_ns: i64,
    /// Median before: seconds, or the unit of the series.
    pub median_before: f64,
    /// How much is known of it.
    pub median_before_is: Knowledge,
    /// Median after.
    pub median_after: f64,
    /// How much is known of it.
    pub median_after_is: Knowledge,
    /// Median after by median before; absent where not known.
    pub ratio: Option<f64>,
    /// Probability of such a split without a change.
    pub p: f64,
    /// Id of the event next to it.
    pub event: Option<String>,
}

pub(crate) fn changes(analysed: &SeriesAnalysis) -> Vec<ChangeMark> {
    let event_of = |index: usize| {
        let matched = analysed.events.matched.iter().find(|one| one.change == index);
        matched.map(|one| one.event.clone())
    };
    let mark = |(index, change): (usize, &crate::history::changes::change_point::ChangePoint)| ChangeMark {
        last_before_ns: change.last_before.0,
        first_after_ns: change.first_after.0,
        median_before: change.median_before,
        median_before_is: change.median_before_is,
        median_after: change.median_after,
        median_after_is: change.median_after_is,
        ratio: change.ratio.value,
        p: change.p,
        event: event_of(index),
    };
    analysed.changes.iter().enumerate().map(mark).collect()
}

/// Everything against everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CorrelationFigure {
    /// What was correlated.
    pub method: CorrelationMethod,
    /// Greatest adjusted p of what is called significant.
    pub significance: f64,
    /// Names of rows and columns.
    pub names: Vec<String>,
    /// Pairs, in the order of the analysis.
    pub pairs: Vec<PairCell>,
}

/// Two variables and how they go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PairCell {
    /// Index of one name.
    pub left: usize,
    /// Index of the other.
    pub right: usize,
    /// -1 to 1; beyond the daily cycle where that is known.
    pub coefficient: f64,
    /// Its word.
    pub strength: Strength,
    /// Values that were measured together.
    pub pairs: u64,
    /// Independent pairs that would tell as much.
    pub pairs_effective: f64,
    /// p, after all pairs and lags were counted.
    pub p_adjusted: f64,
    /// Whether that is small enough.
    pub is_significant: bool,
    /// Length of a slot of the lags; zero where they were not looked at.
    pub slot_ns: u64,
    /// The lag whose coefficient is furthest from zero: how many slots the right one follows the left one.
    pub best_slots: i64,
    /// Coefficients by lag.
    pub lags: Vec<LagCoefficientMark>,
}

/// A coefficient at a lag.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LagCoefficientMark {
    /// How many slots the right one follows the left one.
    pub slots: i64,
    /// -1 to 1.
    pub coefficient: f64,
}

impl CorrelationFigure {
    pub(crate) fn of(matrix: &CorrelationMatrix) -> Self {
        let mut hosts: Vec<&str> = matrix.pairs.iter().map(|pair| pair.left.series.host.as_str()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let name = |variable: &Variable| name_of(variable, hosts.len() > 1);
        let mut names: Vec<String> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        // Series first, so that what was read of the host stands last.
        let of_series = |variable: &&Variable| !variable.quantity.is_of_host();
        let sides = || matrix.pairs.iter().flat_map(|pair| [&pair.left, &pair.right]);
        for variable in sides().filter(of_series).chain(sides().filter(|one| !of_series(one))) {
            let called = name(variable);
            places.entry(called.clone()).or_insert_with(|| {
                names.push(called);
                names.len() - 1
            });
        }
        let cell = |pair: &CorrelatedPair| {
            let place = |variable: &Variable| places.get(&name(variable)).copied();
            Some(cell_of(pair, place(&pair.left)?, place(&pair.right)?))
        };
        Self {
            method: matrix.options.method,
            significance: matrix.options.significance,
            pairs: matrix.pairs.iter().filter_map(cell).collect(),
            names,
        }
    }
}

/// What was read of a host has one name, whichever samples it was read with.
fn name_of(variable: &Variable, several_hosts: bool) -> String {
    let host = &variable.series.host;
    let name = match variable.quantity {
        Quantity::Duration | Quantity::Value | Quantity::Rate | Quantity::RunMedian => {
            variable.series.to_string()
        }
        _ => variable.to_string(),
    };
    if several_hosts && !host.is_empty() { format!("{name} ({host})") } else { name }
}

fn cell_of(pair: &CorrelatedPair, left: usize, right: usize) -> PairCell {
    let (lags, judged) = (pair.lags.as_ref(), pair.judged());
    PairCell {
        left,
        right,
        coefficient: judged.coefficient,
        strength: judged.strength,
        pairs: judged.pairs,
        pairs_effective: judged.pairs_effective,
        p_adjusted: pair.p_adjusted,
        is_significant: pair.is_significant,
        slot_ns: lags.map_or(0, |scan| scan.slot_ns.0),
        best_slots: lags.map_or(0, |scan| scan.best_slots),
        lags: lags.map_or_else(Vec::new, |scan| {
            let mark = |one: &crate::history::correlation::lag::LagCoefficient| LagCoefficientMark {
                slots: one.slots,
                coefficient: one.coefficient,
            };
            scan.coefficients.iter().map(mark).collect()
        }),
    }
}
