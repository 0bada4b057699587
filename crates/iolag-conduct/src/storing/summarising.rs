//! Summaries of a stored run: what the store scans, the analysis counts.

use std::num::NonZeroU32;

use iolag_analysis::{Censoring, Clustering, DEFAULT_THRESHOLDS, Engine, Grouping, Summaries};
use iolag_model::{Column, Nanoseconds, RunRecord, SampleColumns, WorkloadSpec};
use iolag_store::{RunDirectory, Sink, StoreError};

/// Memory that an exact summary may take; beyond that quantiles come from histograms.
const EXACT_SUMMARY_BYTES: u64 = 512 << 20;
/// Adapts the analysis to the store's scan.
struct Summarising(Engine);

impl Sink for Summarising {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }
}

/// The same for the second reading.
struct Ordering(Clustering);

impl Sink for Ordering {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }
}

/// The summary of a stored run: by directory for a check, by stage for a benchmark.
///
/// # Errors
/// If a part cannot be read.
pub fn summarise(run: &RunDirectory, record: &RunRecord) -> Result<Summaries, StoreError> {
    const COLUMNS: [Column; 9] = [
        Column::Stage,
        Column::Target,
        Column::Client,
        Column::OperationCode,
        Column::OutcomeCode,
        Column::FailureCode,
        Column::StartNs,
        Column::DurationNs,
        Column::Bytes,
    ];
    let samples = record.parts.iter().map(|part| part.samples).sum();
    let count = |length: usize| NonZeroU32::new(length as u32);
    let grouping = match record.spec.workload {
        WorkloadSpec::Check(_) => Grouping { targets: count(record.targets.len()), ..Grouping::default() },
        WorkloadSpec::Metadata(_) => Grouping { stages: count(record.stages.len()), ..Grouping::default() },
        WorkloadSpec::Ping(_) => Grouping::default(),
    };
    let censoring = Censoring::from(&record.spec.workload);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let make = || {
        let engine = Engine::for_samples(samples, EXACT_SUMMARY_BYTES, grouping);
        Summarising(engine.with_thresholds(&thresholds(record)).with_censoring(censoring))
    };
    let sinks = run.scan(&COLUMNS, threads, make)?;
    let mut engines = sinks.into_iter().map(|sink| sink.0);
    let mut all = engines.next().unwrap_or_else(|| make().0);
    engines.for_each(|engine| all.merge(engine));
    let clustering = all.clustering();
    let sinks = run.scan(&COLUMNS, threads, || Ordering(clustering.clone()))?;
    let mut counted = clustering;
    sinks.into_iter().for_each(|sink| counted.merge(sink.0));
    Ok(all.finish_with(counted))
}

/// The durations whose share of slower attempts is summarised.
fn thresholds(record: &RunRecord) -> Vec<Nanoseconds> {
    let check = record.spec.workload.check();
    check.map_or_else(|| DEFAULT_THRESHOLDS.to_vec(), |check| check.thresholds_ns.clone())
}
