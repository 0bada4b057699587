//! The samples of one series as columns: how a history hands them to the analysis, without either knowing the other.

use crate::{Nanoseconds, Outcome};

use super::{ConfigurationKey, HistorySample, ProbeId, WallTime};

/// Samples of one series in the order of their intended starts. All columns have the same length.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "each is a field of HistorySample")]
pub struct HistoryColumns {
    pub probe: Vec<ProbeId>,
    pub intended: Vec<WallTime>,
    pub start: Vec<WallTime>,
    pub duration_ns: Vec<Nanoseconds>,
    /// NaN where there is none.
    pub value: Vec<f64>,
    pub outcome: Vec<Outcome>,
    /// `ConfigurationKey(0)` where it is not known.
    pub configuration: Vec<ConfigurationKey>,
    /// `ProbeId(0)` where there is none.
    pub blocker: Vec<ProbeId>,
    /// User and system time together, NaN where it is not known, in seconds.
    pub processor_seconds: Vec<f64>,
    /// Load average of 5 minutes, NaN where it is not known.
    pub load_5min: Vec<f64>,
    /// Runnable tasks, NaN where not known.
    pub runnable: Vec<f64>,
    /// Tasks in uninterruptible sleep, NaN where not known.
    pub blocked: Vec<f64>,
    /// Share of the probe's time in which some task stalled for block I/O, NaN where not known.
    pub stalled_io: Vec<f64>,
}

impl HistoryColumns {
    /// None yet, with room for so many.
    pub fn with_room(samples: usize) -> Self {
        fn room<T>(samples: usize) -> Vec<T> {
            Vec::with_capacity(samples)
        }
        Self {
            probe: room(samples),
            intended: room(samples),
            start: room(samples),
            duration_ns: room(samples),
            value: room(samples),
            outcome: room(samples),
            configuration: room(samples),
            blocker: room(samples),
            processor_seconds: room(samples),
            load_5min: room(samples),
            runnable: room(samples),
            blocked: room(samples),
            stalled_io: room(samples),
        }
    }

    /// Number of samples.
    pub const fn len(&self) -> usize {
        self.intended.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.intended.is_empty()
    }

    /// The samples of these rows, in this order.
    #[must_use]
    pub fn rows(&self, rows: &[usize]) -> Self {
        fn picked<T: Copy>(column: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|row| column[*row]).collect()
        }
        Self {
            probe: picked(&self.probe, rows),
            intended: picked(&self.intended, rows),
            start: picked(&self.start, rows),
            duration_ns: picked(&self.duration_ns, rows),
            value: picked(&self.value, rows),
            outcome: picked(&self.outcome, rows),
            configuration: picked(&self.configuration, rows),
            blocker: picked(&self.blocker, rows),
            processor_seconds: picked(&self.processor_seconds, rows),
            load_5min: picked(&self.load_5min, rows),
            runnable: picked(&self.runnable, rows),
            blocked: picked(&self.blocked, rows),
            stalled_io: picked(&self.stalled_io, rows),
        }
    }

    /// Adds a sample at the end.
    pub fn push(&mut self, sample: &HistorySample) {
        let surroundings = sample.surroundings.as_ref();
        let duration_us = sample.duration_ns.0 as f64 / 1e3;
        self.probe.push(sample.probe);
        self.intended.push(sample.intended);
        self.start.push(sample.start);
        self.duration_ns.push(sample.duration_ns);
        self.value.push(sample.value.unwrap_or(f64::NAN));
        self.outcome.push(sample.outcome);
        self.configuration.push(sample.configuration.unwrap_or_default());
        self.blocker.push(sample.blocker.unwrap_or_default());
        self.processor_seconds
            .push(sample.processor_ns.map_or(f64::NAN, |[user, system]| (user + system) as f64 / 1e9));
        self.load_5min.push(surroundings.map_or(f64::NAN, |all| f64::from(all.load_milli[1]) / 1e3));
        self.runnable.push(surroundings.map_or(f64::NAN, |all| f64::from(all.runnable)));
        self.blocked.push(surroundings.map_or(f64::NAN, |all| f64::from(all.blocked)));
        self.stalled_io.push(match surroundings.and_then(|all| all.stalled_io_us) {
            Some([some, _]) if duration_us > 0.0 => (some as f64 / duration_us).min(1.0),
            _ => f64::NAN,
        });
    }
}
