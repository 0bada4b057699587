//! What an import gives: series with their samples, events, and a report.

use iolag_model::{Event, FailureCode, HistorySample, Nanoseconds, Outcome, ProbeId, Series, WallTime};

use super::report::{ImportReport, SeriesReport};

/// What an import gives. Nothing is stored yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Import {
    /// Series with their samples.
    pub series: Vec<ImportedSeries>,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// What was read and how, for people.
    pub report: ImportReport,
}

/// A series with its samples in the order of time.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSeries {
    /// Which one, and how it was measured.
    pub series: Series,
    /// Its samples.
    pub samples: Vec<ImportedSample>,
    /// What was read of it; also part of the report.
    pub(super) report: SeriesReport,
}

/// A sample without the name of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImportedSample {
    /// Its position in time, unique in its series.
    pub probe: ProbeId,
    /// When it started.
    pub time: WallTime,
    /// How long it took, a lower bound if it is a time-out; zero for values.
    pub duration_ns: Nanoseconds,
    /// What was read, for series of values.
    pub value: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it failed.
    pub failure: FailureCode,
    /// Exit status, if a column has it.
    pub exit_status: Option<i32>,
}

impl ImportedSample {
    /// Everything but the identity, to be compared.
    pub(super) fn content(&self) -> (WallTime, Nanoseconds, Option<u64>, Outcome, Option<i32>) {
        (self.time, self.duration_ns, self.value.map(f64::to_bits), self.outcome, self.exit_status)
    }

    pub(super) fn record(&self, series: &Series) -> HistorySample {
        HistorySample {
            series: series.key.clone(),
            probe: self.probe,
            intended: self.time,
            start: self.time,
            duration_ns: self.duration_ns,
            value: self.value,
            outcome: self.outcome,
            failure: self.failure,
            exit_status: self.exit_status,
            batch: None,
            blocker: None,
            configuration: None,
            processor_ns: None,
            resident_bytes_max: None,
            surroundings: None,
        }
    }
}
