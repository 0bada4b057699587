//! Which hosts and series there are.

use std::collections::BTreeMap;

use iolag_model::{Series, SeriesKey};

use crate::history::HistoryError;
use crate::history::engine::Engine;
use crate::history::names::Names;
use crate::history::rows::{self, SERIES_SELECTION, list};

/// A series as it was written, with its number in this database.
pub(super) struct SeriesRow {
    pub(super) number: i64,
    pub(super) series: Series,
    pub(super) is_described: bool,
}

pub(crate) fn hosts(engine: &mut dyn Engine) -> Result<Vec<String>, HistoryError> {
    let statement = "SELECT host FROM series UNION SELECT host FROM session UNION SELECT host FROM outage \
                     UNION SELECT host FROM event UNION SELECT host FROM configuration ORDER BY host";
    let mut hosts = list(engine, statement, &[], |reader| reader.text(0))?;
    hosts.retain(|host| !host.is_empty());
    Ok(hosts)
}

pub(crate) fn series(engine: &mut dyn Engine) -> Result<Vec<Series>, HistoryError> {
    let names = Names::read(engine)?;
    let mut by_key: BTreeMap<SeriesKey, SeriesRow> = BTreeMap::new();
    for mut row in written_series(engine)? {
        row.series.key = names.key(row.series.key);
        let key = row.series.key.clone();
        let is_better = by_key.get(&key).is_none_or(|known| description_rank(&row) > description_rank(known));
        if is_better {
            by_key.insert(key, row);
        }
    }
    Ok(by_key.into_values().map(|row| row.series).collect())
}

/// What decides between two descriptions, as in `append.rs`.
fn description_rank(row: &SeriesRow) -> impl Ord + '_ {
    let Series { described, kind, resolution_ns, period_ns, deadline_ns, description, unit, .. } =
        &row.series;
    (row.is_described, described, kind.name(), resolution_ns, period_ns, deadline_ns, description, unit)
}

pub(super) fn written_series(engine: &mut dyn Engine) -> Result<Vec<SeriesRow>, HistoryError> {
    let statement = format!("SELECT {SERIES_SELECTION}, id FROM series ORDER BY host, target, task, part");
    list(engine, &statement, &[], |reader| {
        let (series, is_described) = rows::series(reader)?;
        Ok(SeriesRow { number: reader.integer(11)?, series, is_described })
    })
}
