//! Which records say nothing that others do not say better: heartbeats that a later one repeats, ages of a hung probe that a greater
//! one follows, outages with fewer skipped slots, descriptions of series that are given anew.
//!
//! Invariant: a history that gets the others alone ends up the same as one that gets all. Where two records of one key know different things,
//! both stay.

use std::collections::HashMap;

use iolag_model::{
    HistoryRecord, HistorySample, Outage, ProbeId, Series, SeriesKey, SessionEnd, WallTime, WatchSession,
};

/// Says of each of `records` whether it may go; none of the first `kept` may.
pub(super) fn superseded(records: &[HistoryRecord], kept: usize) -> Vec<bool> {
    let mut is_superseded = vec![false; records.len()];
    let mut best: HashMap<Key<'_>, usize> = HashMap::new();
    for (index, record) in records.iter().enumerate().skip(kept) {
        let Some(key) = Key::of(record) else { continue };
        let Some(before) = best.insert(key, index) else { continue };
        if replaces(record, &records[before]) {
            is_superseded[before] = true;
        } else if replaces(&records[before], record) {
            is_superseded[index] = true;
            best.insert(key, before);
        }
    }
    is_superseded
}

/// What identifies a record, of the kinds that are told more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'a> {
    Series(&'a SeriesKey),
    Sample(&'a SeriesKey, ProbeId),
    Outage(&'a str, ProbeId),
    Session(&'a str, WallTime),
}

impl<'a> Key<'a> {
    fn of(record: &'a HistoryRecord) -> Option<Self> {
        match record {
            HistoryRecord::Series(series) => Some(Self::Series(&series.key)),
            HistoryRecord::Sample(sample) => Some(Self::Sample(&sample.series, sample.probe)),
            HistoryRecord::Outage(outage) => Some(Self::Outage(&outage.host, outage.probe)),
            HistoryRecord::Session(session) => Some(Self::Session(&session.host, session.begin)),
            HistoryRecord::Configuration(_)
            | HistoryRecord::Event(_)
            | HistoryRecord::Evidence(_)
            | HistoryRecord::Batch(_)
            | HistoryRecord::Rename(_) => None,
        }
    }
}

/// Whether `record` says all that `other` says, which has the same key.
fn replaces(record: &HistoryRecord, other: &HistoryRecord) -> bool {
    use HistoryRecord::{Outage, Sample, Series, Session};
    record == other
        || match (record, other) {
            (Series(record), Series(other)) => series_replaces(record, other),
            (Sample(record), Sample(other)) => sample_replaces(record, other),
            (Outage(record), Outage(other)) => outage_replaces(record, other),
            (Session(record), Session(other)) => session_replaces(record, other),
            _ => false,
        }
}

fn series_replaces(record: &Series, other: &Series) -> bool {
    record.described > other.described
}

fn sample_replaces(record: &HistorySample, other: &HistorySample) -> bool {
    record.supersedes(other)
}

fn outage_replaces(record: &Outage, other: &Outage) -> bool {
    let is_same = (record.kind, &record.mount, record.begin) == (other.kind, &other.mount, other.begin);
    let names_all = record.targets.is_superset(&other.targets);
    let knows_the_end = other.end.is_none() || (record.end, record.ending) == (other.end, other.ending);
    is_same && names_all && knows_the_end && record.skipped >= other.skipped
}

fn session_replaces(record: &WatchSession, other: &WatchSession) -> bool {
    let is_same = (&record.boot_id, &record.iolag_version) == (&other.boot_id, &other.iolag_version);
    let knows_the_end = record.end == SessionEnd::Stopped || other.end == SessionEnd::Open;
    is_same && knows_the_end && record.last_seen >= other.last_seen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(last_seen: i64, end: SessionEnd) -> HistoryRecord {
        HistoryRecord::Session(WatchSession {
            host: "node".into(),
            boot_id: "boot".into(),
            begin: WallTime(1),
            last_seen: WallTime(last_seen),
            end,
            iolag_version: "1".into(),
        })
    }

    #[test]
    fn only_what_is_said_better_by_another_goes() {
        let open = |last_seen| session(last_seen, SessionEnd::Open);
        assert_eq!(superseded(&[open(1), open(2), open(3)], 0), [true, true, false]);
        assert_eq!(superseded(&[open(3), open(2)], 0), [false, true], "a clock that was set back");
        let stopped = session(2, SessionEnd::Stopped);
        assert_eq!(superseded(&[stopped.clone(), open(3)], 0), [false, false], "each knows something");
        assert_eq!(superseded(&[open(1), stopped.clone(), stopped], 0), [true, true, false]);
        assert_eq!(superseded(&[open(1), open(2), open(3)], 2), [false, false, false]);
    }
}
