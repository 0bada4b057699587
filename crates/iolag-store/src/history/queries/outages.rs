//! Outages, and the targets that they concern.

use std::collections::BTreeSet;

use iolag_model::{Outage, WallSpan};

use super::circumstances::overlap;
use crate::history::HistoryError;
use crate::history::engine::{Engine, Value};
use crate::history::names::Names;
use crate::history::rows::{self, OUTAGE_SELECTION, list};

pub(crate) fn outages(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
    let outages = written_outages(engine, span)?;
    let names = Names::read(engine)?;
    let mut outages = with_targets(engine, outages)?;
    for outage in &mut outages {
        outage.targets = names.targets(&outage.host, std::mem::take(&mut outage.targets));
    }
    Ok(outages)
}

/// Without their targets.
pub(super) fn written_outages(engine: &mut dyn Engine, span: WallSpan) -> Result<Vec<Outage>, HistoryError> {
    let statement = format!(
        "SELECT {OUTAGE_SELECTION} FROM outage WHERE begin_ns < $1 AND (end_ns IS NULL OR end_ns >= $2) \
         ORDER BY begin_ns, host, probe"
    );
    list(engine, &statement, &overlap(span), rows::outage)
}

/// The targets of outages, as they were called then, are those that were told, or else that of the probe's samples.
fn with_targets(engine: &mut dyn Engine, mut outages: Vec<Outage>) -> Result<Vec<Outage>, HistoryError> {
    for outage in &mut outages {
        let mut targets = told_targets(engine, outage)?;
        if targets.is_empty() {
            let statement = "SELECT target FROM series WHERE host = $1 AND target <> '' \
                             AND EXISTS (SELECT 1 FROM sample WHERE sample.series = series.id AND sample.probe = $2)";
            targets = targets_by(engine, statement, outage)?;
        }
        outage.targets = targets;
    }
    Ok(outages)
}

pub(super) fn told_targets(
    engine: &mut dyn Engine,
    outage: &Outage,
) -> Result<BTreeSet<String>, HistoryError> {
    targets_by(engine, "SELECT target FROM outage_target WHERE host = $1 AND probe = $2", outage)
}

fn targets_by(
    engine: &mut dyn Engine,
    statement: &str,
    outage: &Outage,
) -> Result<BTreeSet<String>, HistoryError> {
    let values = [Value::Text(&outage.host), Value::Integer(outage.probe.0.cast_signed())];
    Ok(list(engine, statement, &values, |reader| reader.text(0))?.into_iter().collect())
}

pub(crate) fn open_outages(engine: &mut dyn Engine, host: &str) -> Result<Vec<Outage>, HistoryError> {
    let statement = format!(
        "SELECT {OUTAGE_SELECTION} FROM outage WHERE host = $1 AND end_ns IS NULL ORDER BY begin_ns, probe"
    );
    let outages = list(engine, &statement, &[Value::Text(host)], rows::outage)?;
    with_targets(engine, outages)
}
