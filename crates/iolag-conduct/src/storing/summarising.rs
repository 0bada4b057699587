//! Summaries of a stored run: what the store scans, the analysis counts.

use iolag_analysis::{Clustering, Engine, Summaries, analysed};
use iolag_model::{Column, RunRecord, SampleColumns};
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
    let workload = analysed(&record.spec.workload);
    let (grouping, thresholds) = (workload.grouping(record), workload.thresholds());
    let censoring = workload.censoring();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let make = || {
        let engine = Engine::for_samples(samples, EXACT_SUMMARY_BYTES, grouping);
        Summarising(engine.with_thresholds(&thresholds).with_censoring(censoring))
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
