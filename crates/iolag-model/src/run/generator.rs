//! Whether it is the generator: what stood in the way of those who made the load, beside the storage.

use serde::{Deserialize, Serialize};

use crate::{ClientId, MonotonicTime, Nanoseconds};

/// What the generator of a run had to contend with, interval by interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratorRecord {
    /// How long an interval is, at least.
    pub interval_ns: Nanoseconds,
    /// How many there were.
    pub intervals: u64,
    /// How long all of them were together: each lasts until the next look, which with thousands of clients comes later.
    #[serde(default)]
    pub time_ns: Nanoseconds,
    /// The workers that had a heartbeat.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heartbeats: Vec<HeartbeatRecord>,
    /// What measurers took of the processors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measurers: Vec<MeasurerRecord>,
    /// Intervals beyond a limit, those that follow each other joined; of very many the last ones hold the rest, one for each set of limits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marked: Vec<MarkedSpan>,
}

/// How late the timer of a worker was: the worst of each interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatRecord {
    /// The worker's first client.
    pub client: ClientId,
    /// Intervals in which it beat, or should have and did not.
    pub intervals: u64,
    /// In half of them it was at most so late.
    pub lag_median_ns: Nanoseconds,
    /// In all but one of a hundred.
    pub lag_p99_ns: Nanoseconds,
    /// In all.
    pub lag_max_ns: Nanoseconds,
}

/// What a measurer took of the processors while it ran clients, interval by interval: all of its threads, those of libraries among them,
/// without what the programs took that it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurerRecord {
    /// Its first client.
    pub client: ClientId,
    /// Intervals in which it ran clients.
    pub intervals: u64,
    /// The most threads that ran clients at once.
    pub threads: u64,
    /// In half of them it took at most so much: 1000 is one processor all the time.
    pub busy_median_permille: u64,
    /// In all.
    pub busy_max_permille: u64,
}

/// Intervals, one after the other, that were beyond the same limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedSpan {
    /// Begin of the first.
    pub begin: MonotonicTime,
    /// End of the last.
    pub end: MonotonicTime,
    /// How many.
    pub intervals: u64,
    /// How long they were together: where the last span holds the rest, there are others between them.
    #[serde(default)]
    pub time_ns: Nanoseconds,
    /// Beyond what.
    pub beyond: Vec<GeneratorLimit>,
}

/// Beyond what the numbers may be the generator's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GeneratorLimit {
    /// The timer of a worker was over 50 ms late.
    Lag,
    /// The processors that the run may use were busy for over 95 % of the time, and not with its only thread alone.
    Processors,
    /// A measurer had over 90 % of the descriptors that it may have.
    Descriptors,
    /// Over 90 % of the local ports were in use.
    Ports,
    /// A thread of a measurer that has several operations to wait for took over 95 % of one processor.
    Measurer,
    /// What only a later iolag knows.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_without_measurers_and_times_and_with_limits_of_a_later_iolag_are_read() {
        let text = r#"{"interval_ns":1000000000,"intervals":9,"marked":[{"begin":1,"end":2,"intervals":1,"beyond":["lag","measurer","tea"]}]}"#;
        let record: GeneratorRecord = serde_json::from_str(text).unwrap();
        let times = [record.time_ns, record.marked[0].time_ns];
        assert_eq!((record.measurers, times), (vec![], [Nanoseconds::ZERO; 2]));
        let limits = [GeneratorLimit::Lag, GeneratorLimit::Measurer, GeneratorLimit::Unknown];
        assert_eq!(record.marked[0].beyond, limits);
    }
}
