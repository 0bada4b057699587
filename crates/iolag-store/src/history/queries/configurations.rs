//! Configurations: all of them, and the one that holds.

use std::collections::BTreeMap;

use iolag_model::{Configuration, ConfigurationKey, WallTime};

use crate::history::HistoryError;
use crate::history::engine::{Engine, Value};
use crate::history::names::Names;
use crate::history::rows::{self, CONFIGURATION_SELECTION, list};

pub(crate) fn configurations(engine: &mut dyn Engine) -> Result<Vec<Configuration>, HistoryError> {
    let names = Names::read(engine)?;
    let mut all = written_configurations(engine)?;
    for configuration in &mut all {
        configuration.target = names.target(&configuration.host, std::mem::take(&mut configuration.target));
    }
    all.sort_by(|one, other| place_and_key(one).cmp(&place_and_key(other)));
    // What was seen under several names is one, as `append.rs` has it: seen since the earliest sight, with the greater facts.
    all.dedup_by(|later, earlier| {
        let is_same = place_and_key(later) == place_and_key(earlier);
        if is_same {
            earlier.first_seen = earlier.first_seen.min(later.first_seen);
            if in_json(&later.facts) > in_json(&earlier.facts) {
                std::mem::swap(&mut later.facts, &mut earlier.facts);
            }
        }
        is_same
    });
    let order = |one: &Configuration| (one.first_seen, one.key.0.cast_signed());
    all.sort_by(|one, other| {
        (&one.host, &one.target, order(one)).cmp(&(&other.host, &other.target, order(other)))
    });
    Ok(all)
}

/// As the tables have them.
fn in_json(facts: &BTreeMap<String, String>) -> String {
    serde_json::to_string(facts).expect("a map of texts is JSON")
}

fn place_and_key(configuration: &Configuration) -> (&str, &str, ConfigurationKey) {
    (&configuration.host, &configuration.target, configuration.key)
}

pub(super) fn written_configurations(engine: &mut dyn Engine) -> Result<Vec<Configuration>, HistoryError> {
    let statement = format!(
        "SELECT {CONFIGURATION_SELECTION} FROM configuration \
         JOIN configuration_key ON configuration_key.id = configuration.configuration \
         ORDER BY configuration.host, configuration.target, first_seen_ns, configuration_key.key"
    );
    list(engine, &statement, &[], rows::configuration)
}

pub(crate) fn present_configurations(
    engine: &mut dyn Engine,
    host: &str,
) -> Result<Vec<Configuration>, HistoryError> {
    // Written so that every database looks at one sample of each series, found by the index; imported ones have no configuration to find.
    let newest = |column: &str| {
        format!(
            "(SELECT {column} FROM sample WHERE sample.series = series.id AND sample.configuration IS NOT NULL \
             ORDER BY sample.intended_ns DESC LIMIT 1)"
        )
    };
    let statement = format!(
        "SELECT target, {}, {}, (SELECT key FROM configuration_key WHERE id = {}) FROM series \
         WHERE host = $1 AND coalesce(kind, 'task') IN ('task', 'control') ORDER BY target",
        newest("intended_ns"),
        newest("probe"),
        newest("configuration"),
    );
    let mut newest: BTreeMap<String, (WallTime, i64, ConfigurationKey)> = BTreeMap::new();
    engine.query(&statement, &[Value::Text(host)], &mut |row| {
        // Nothing was measured in this series yet.
        let (Some(intended), Some(probe), Some(key)) = (row.integer(1)?, row.integer(2)?, row.integer(3)?)
        else {
            return Ok(());
        };
        let found = (WallTime(intended), probe, ConfigurationKey(key.cast_unsigned()));
        let target = row.text(0)?.unwrap_or_default().to_owned();
        let known = newest.entry(target).or_insert(found);
        *known = found.max(*known);
        Ok(())
    })?;
    let last_known = |known: &Configuration| match newest.get(&known.target) {
        Some((intended, _, key)) if *key == known.key => (known.first_seen.max(*intended), true),
        _ => (known.first_seen, false),
    };
    let mut present: Vec<Configuration> = Vec::new();
    // What a benchmark was told does not hold for who watches.
    let is_of_watch = |known: &Configuration| known.host == host && known.options().is_none();
    for known in written_configurations(engine)?.into_iter().filter(is_of_watch) {
        match present.last_mut() {
            Some(last) if last.target == known.target => {
                if last_known(&known) >= last_known(last) {
                    *last = known;
                }
            }
            _ => present.push(known),
        }
    }
    Ok(present)
}
