//! What copies did with their time, as far as it was recorded.

use iolag_model::{Level, MonotonicTime, Nanoseconds, Operation, RunRecord, StageIndex};

use crate::run::summary::{StageClient, Summaries, Summary};
use crate::run::surroundings::processor_time::share;

/// Of the copies of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CopiesAtWork {
    /// What they took of the processors that they could use while they were at work, one each, as far as there are so many; absent if it was not
    /// recorded, or if that is too little to say.
    pub processors_taken: Option<f64>,
    /// Mean processor time of a copy, in ns.
    pub processor_ns: Option<f64>,
    /// The least share of their time in which they made no call.
    pub between_calls: Option<f64>,
    /// From the beginning of the first to that of the last, by the mean time of a copy.
    pub apart: Option<f64>,
}

impl CopiesAtWork {
    /// In a stage.
    pub(crate) fn of(record: &RunRecord, stage: StageIndex, summaries: &Summaries) -> Self {
        let clients: Vec<&StageClient> =
            summaries.stage_clients.iter().filter(|client| client.stage == stage).collect();
        let own_ns: f64 = clients.iter().map(|client| client.duration_ns.0 as f64).sum();
        let of_stage = || summaries.summaries.iter().filter(|summary| summary.key.stage == Some(stage));
        let sum = |summary: &Summary| Some(summary.durations.mean_ns? * summary.durations.count as f64);
        let processors = of_stage().find(|summary| summary.key.operation == Operation::ProcessorTime);
        let calls = of_stage().filter(|summary| summary.key.operation.level() != Level::Harness).map(sum);
        // Calls of several tasks may be under way at once: then this is less.
        let between_calls = calls.sum::<Option<f64>>().map(|calls| (1.0 - calls / own_ns).max(0.0));
        let starts = || clients.iter().map(|client| client.start_ns);
        let apart = starts().max().zip(starts().min()).map(|(last, first)| last.since(first).0 as f64);
        let usable_ns = usable_time(&clients, record.environment.cpus);
        Self {
            processors_taken: processors
                .and_then(sum)
                .and_then(|taken| share(taken / 1e9, usable_ns.as_seconds())),
            processor_ns: processors.and_then(|summary| summary.durations.mean_ns),
            between_calls: between_calls.filter(|_| own_ns > 0.0),
            apart: apart.filter(|_| own_ns > 0.0).map(|apart| apart * clients.len() as f64 / own_ns),
        }
    }
}

/// The time of processors that these could have used: one for each that is at work at that moment, as far as there are so many.
fn usable_time(clients: &[&StageClient], cpus: u32) -> Nanoseconds {
    let most = if cpus == 0 { u64::MAX } else { u64::from(cpus) };
    let begins = clients.iter().map(|client| (client.start_ns, 1));
    let mut changes: Vec<(MonotonicTime, i64)> =
        begins.chain(clients.iter().map(|client| (client.end(), -1))).collect();
    changes.sort_unstable();
    let (mut at_work, mut usable_ns) = (0, 0_u64);
    for pair in changes.windows(2) {
        at_work += pair[0].1;
        let processors = u64::try_from(at_work).unwrap_or(0).min(most);
        usable_ns = usable_ns.saturating_add(pair[1].0.since(pair[0].0).0.saturating_mul(processors));
    }
    Nanoseconds(usable_ns)
}

#[cfg(test)]
mod tests {
    use iolag_model::ClientId;

    use super::*;
    use crate::run::summary::StageEnding;

    #[test]
    fn no_copy_can_use_more_than_a_processor_nor_one_after_its_end() {
        let client = |start, duration| StageClient {
            stage: StageIndex(1),
            client: ClientId(0),
            start_ns: MonotonicTime(start),
            duration_ns: Nanoseconds(duration),
            operations: 1,
            ending: StageEnding::Ended,
        };
        let all = [client(0, 10), client(0, 30), client(5, 5)];
        let usable = |cpus| usable_time(&all.iter().collect::<Vec<_>>(), cpus).0;
        // Three from 5 to 10, two before, and one of 20 afterwards.
        assert_eq!([usable(0), usable(8), usable(2), usable(1)], [45, 45, 40, 30]);
        assert_eq!(usable_time(&[], 2), Nanoseconds(0));
    }
}
