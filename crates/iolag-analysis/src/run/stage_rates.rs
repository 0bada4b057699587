//! The clock of a stage: one for all clients and operations, and for everything that is said of rates.
//!
//! A stage lasts from the first start to the last end of its operations, whoever did them and whatever became of them; what
//! iolag itself did (meetings, waiting for room) is not among them, pauses between operations are inside. What had not ended
//! counts up to where it was last seen. Rates divide by this time, and a client is done when its last operation has ended,
//! counted from the first start of all: so no rate is higher than what really happened between two moments.
//!
//! Limits: with fewer processors than clients the first may be at work while others wait for a processor. The clock counts
//! that time; [`StageTimes::start_skew_ns`] tells how much it was.

use iolag_model::{Level, MonotonicTime, Nanoseconds, StageIndex};
use serde::{Deserialize, Serialize};

use super::summary::{StageClient, StageEnding, Summary};
use crate::statistics::dependence::effective_size::variance_of;

/// The first start and the last end of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageClock {
    /// The first start of an operation.
    pub begin: MonotonicTime,
    /// The last end of one.
    pub end: MonotonicTime,
}

/// Times of a stage and of the clients in it, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StageTimes {
    /// From the first start to the last end of the operations of all clients: what rates are divided by.
    pub phase_time_ns: Nanoseconds,
    /// From the first start of all to the last end of the client that ended first.
    pub first_done_ns: Option<Nanoseconds>,
    /// The same of the client that ended last.
    pub last_done_ns: Option<Nanoseconds>,
    /// 100 × first done / last done: 100 is perfect balance.
    pub balance_percent: Option<f64>,
    /// From the first start of a client to the last one's first; absent for fewer than two at work.
    pub start_skew_ns: Option<Nanoseconds>,
    /// Mean of the clients' own times, each from its first start to its last end.
    pub mean_ns: Option<f64>,
    /// Sample standard deviation (n - 1) of the clients' own times; absent for one client.
    pub standard_deviation_ns: Option<f64>,
}

impl StageClock {
    /// The clock of `stage` by the summaries of its operations; `None` if nothing was done in it, or starts were not read.
    pub fn of(stage: StageIndex, summaries: &[Summary]) -> Option<Self> {
        // That of a connection that was made before the stage began is none of it.
        let operations = summaries
            .iter()
            .filter(|summary| summary.key.stage == Some(stage) && summary.key.operation.is_asked());
        let spans = operations
            .filter_map(|summary| Some(Self { begin: summary.first_start_ns?, end: summary.last_end_ns? }));
        spans.reduce(Self::and)
    }

    /// The clock of both.
    pub fn and(self, other: Self) -> Self {
        Self { begin: self.begin.min(other.begin), end: self.end.max(other.end) }
    }

    /// How long the stage lasted.
    pub const fn time(self) -> Nanoseconds {
        self.end.since(self.begin)
    }

    /// So much by the time of the stage, per second; `None` if it took no time.
    pub fn per_second(self, amount: f64) -> Option<f64> {
        let seconds = self.time().as_seconds();
        (seconds > 0.0).then(|| amount / seconds)
    }

    /// When somebody whose last operation ended at `end` was done, on this clock.
    pub fn done(self, end: MonotonicTime) -> Nanoseconds {
        end.min(self.end).since(self.begin)
    }

    /// What the clients of the stage took.
    pub fn times(self, clients: &[StageClient]) -> StageTimes {
        let ended = || clients.iter().filter(|client| client.ending == StageEnding::Ended);
        let done = || ended().map(|client| self.done(client.end()));
        let (first, last) = (done().min(), done().max());
        let own: Vec<f64> = ended().map(|client| client.duration_ns.0 as f64).collect();
        let starts = || clients.iter().filter(|client| client.operations > 0).map(|client| client.start_ns);
        StageTimes {
            phase_time_ns: self.time(),
            first_done_ns: first,
            last_done_ns: last,
            balance_percent: first
                .zip(last)
                .filter(|(_, last)| last.0 > 0)
                .map(|(first, last)| 100.0 * first.0 as f64 / last.0 as f64),
            start_skew_ns: (starts().count() > 1)
                .then(|| starts().max().zip(starts().min()).map(|(last, first)| last.since(first)))
                .flatten(),
            mean_ns: (!own.is_empty()).then(|| own.iter().sum::<f64>() / own.len() as f64),
            standard_deviation_ns: (own.len() > 1).then(|| variance_of(&own).sqrt()),
        }
    }
}

impl StageClient {
    /// The end of its last operation, or when it was last seen.
    pub const fn end(&self) -> MonotonicTime {
        self.start_ns.after(self.duration_ns)
    }
}

/// Sets the rates of operations in stages: what succeeded, by the time of the stage. What iolag itself did has none.
pub(crate) fn rate_by_stages(summaries: &mut [Summary]) {
    let mut first = 0;
    while let Some(stage) = summaries.get(first).map(|summary| summary.key.stage) {
        let of_stage = summaries[first..].iter().take_while(|summary| summary.key.stage == stage).count();
        let own = &mut summaries[first..first + of_stage];
        first += of_stage;
        let Some(stage) = stage else { continue };
        let clock = StageClock::of(stage, own);
        for summary in own {
            let is_asked = summary.key.operation.level() != Level::Harness;
            summary.rate_per_second =
                clock.filter(|_| is_asked).and_then(|clock| clock.per_second(summary.succeeded() as f64));
        }
    }
}
