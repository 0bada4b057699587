//! What targets are called now. Records keep the names under which they were written, and so does an export; they are translated when
//! somebody reads them.
//!
//! A name goes through the renames of its host in the order of time, and what is read under one name is one series: of samples of one
//! probe that were written under several names the one counts that would if all had been written under one.
//!
//! Limits: an event of all hosts follows a rename if all hosts that have such a target call it the same now. A host alone, and all targets
//! of it, have no name to change.

use std::collections::{BTreeMap, BTreeSet};

use iolag_model::{Event, Rename, SeriesKey};

use super::HistoryError;
use super::engine::Engine;
use super::rows::{self, RENAME_SELECTION, SERIES_KEY_SELECTION, list};
use super::sample_rows::sample_rank;

/// What a target of a host is called after all `renames`, which are in the order of time.
pub fn called_now(renames: &[Rename], host: &str, target: String) -> String {
    let of_host = renames.iter().filter(|rename| rename.host == host);
    of_host.fold(target, |name, rename| if name == rename.old { rename.new.clone() } else { name })
}

/// All of them, by host, moment and former name.
pub(crate) fn written_renames(engine: &mut dyn Engine) -> Result<Vec<Rename>, HistoryError> {
    let statement = format!("SELECT {RENAME_SELECTION} FROM rename ORDER BY host, made_ns, old_name");
    list(engine, &statement, &[], rows::rename)
}

/// The names of one moment.
pub(crate) struct Names {
    /// By host and moment.
    renames: Vec<Rename>,
    /// All series as they were written, with their numbers; nobody asks for them unless something was renamed.
    written: Vec<(i64, SeriesKey)>,
}

impl Names {
    pub(crate) fn read(engine: &mut dyn Engine) -> Result<Self, HistoryError> {
        let mut renames = written_renames(engine)?;
        renames.retain(|rename| !rename.old.is_empty() && !rename.new.is_empty());
        let mut written = Vec::new();
        if !renames.is_empty() {
            let statement = format!("SELECT {SERIES_KEY_SELECTION}, id FROM series ORDER BY id");
            written =
                list(engine, &statement, &[], |reader| Ok((reader.integer(4)?, reader.series_key(0)?)))?;
        }
        Ok(Self { renames, written })
    }

    /// What a target of a host is called.
    pub(crate) fn target(&self, host: &str, target: String) -> String {
        called_now(&self.renames, host, target)
    }

    /// The same for each of several.
    pub(crate) fn targets(&self, host: &str, targets: BTreeSet<String>) -> BTreeSet<String> {
        targets.into_iter().map(|target| self.target(host, target)).collect()
    }

    pub(crate) fn key(&self, key: SeriesKey) -> SeriesKey {
        SeriesKey { target: self.target(&key.host, key.target), ..key }
    }

    pub(crate) fn event(&self, event: Event) -> Event {
        if !event.host.is_empty() {
            return Event { target: self.target(&event.host, event.target), ..event };
        }
        let of_target = self.written.iter().filter(|(_, key)| key.target == event.target);
        let now: BTreeSet<String> =
            of_target.map(|(_, key)| self.target(&key.host, key.target.clone())).collect();
        let agreed = if now.len() == 1 { now.into_iter().next() } else { None };
        Event { target: agreed.unwrap_or(event.target), ..event }
    }

    /// The numbers of all series that are read under this name, or if none is, under the one that it has become: a watch or an import may
    /// know the former. Nothing if nothing was renamed.
    pub(crate) fn numbers(&self, key: &SeriesKey) -> Option<Vec<i64>> {
        if self.renames.is_empty() {
            return None;
        }
        let called = |wanted: &SeriesKey| -> Vec<i64> {
            let is_wanted = |(_, written): &&(i64, SeriesKey)| self.key(written.clone()) == *wanted;
            self.written.iter().filter(is_wanted).map(|(number, _)| *number).collect()
        };
        let numbers = called(key);
        Some(if numbers.is_empty() { called(&self.key(key.clone())) } else { numbers })
    }

    /// What tells rows of `sample` that count from those that do not, beside one written under another name.
    pub(crate) fn counting(&self) -> Counting {
        let mut by_name: BTreeMap<SeriesKey, Vec<i64>> = BTreeMap::new();
        for (number, key) in &self.written {
            by_name.entry(self.key(key.clone())).or_default().push(*number);
        }
        let several = by_name.into_values().filter(|numbers| numbers.len() > 1).enumerate();
        let rows: Vec<String> = several
            .flat_map(|(whole, numbers)| {
                numbers.into_iter().map(move |number| format!("({number}, {whole})"))
            })
            .collect();
        if rows.is_empty() {
            return Counting::default();
        }
        let rank = |table: &str| format!("({table}.batch, {}, {table}.series)", sample_rank(table));
        Counting {
            with: format!("WITH one_name (series, whole) AS (VALUES {}) ", rows.join(", ")),
            condition: format!(
                " AND NOT EXISTS (SELECT 1 FROM one_name AS own JOIN one_name AS others ON others.whole = own.whole \
                 JOIN sample AS better ON better.series = others.series \
                 WHERE own.series = sample.series AND better.probe = sample.probe AND {} > {})",
                rank("better"),
                rank("sample")
            ),
        }
    }
}

/// Parts of a statement on `sample`; both are empty if each series was written under one name.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// Before `SELECT`.
    pub(crate) with: String,
    /// Behind another condition.
    pub(crate) condition: String,
}
