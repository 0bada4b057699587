//! Summaries and figures of a stored run: what the store scans, the analysis counts.
//!
//! All samples are read twice for whatever is shown of a single run, since the second reading depends on the first: how many attempts of each stretch of
//! time exceed a quantile can be counted only when the quantile is known, and a run without a last anchor is drawn over the span of its samples. What a
//! run is worth among others needs no such intervals, and one reading.

use iolag_analysis::figure::{
    FIGURE_COLUMNS, FigureChoice, FigureEngine, FigurePlan, RunFigures, SpanFinder, TimeSpan,
};
use iolag_analysis::{
    Clustering, Engine, Precision, RunQuantity, RunValues, Summaries, analysed, map_in_parallel, run_values,
};
use iolag_model::{Column, MonotonicTime, RunRecord, SampleColumns};
use iolag_store::{RunDirectory, Sink, StoreError};

/// Memory that an exact summary may take; beyond that quantiles come from histograms.
const EXACT_SUMMARY_BYTES: u64 = 512 << 20;

/// The summary of a stored run: by directory for a check, by stage for a benchmark.
///
/// # Errors
/// If a part cannot be read.
pub fn summarise(run: &RunDirectory, record: &RunRecord) -> Result<Summaries, StoreError> {
    read_twice(run, record, |_| Nothing).map(|(summaries, Nothing)| summaries)
}

/// The same, and the figures of what is chosen, from the same readings.
///
/// # Errors
/// If a part cannot be read.
pub fn summarise_with_figures(
    run: &RunDirectory,
    record: &RunRecord,
    choice: &FigureChoice,
) -> Result<(Summaries, RunFigures), StoreError> {
    let plan = |span| FigurePlan::new(record, span).with_choice(choice.clone());
    let (summaries, drawing) = read_twice(run, record, |span| Drawing(FigureEngine::new(plan(span))))?;
    Ok((summaries, drawing.0.finish()))
}

/// What the figures of a run without samples show: nothing.
pub fn figures_without_samples(record: &RunRecord, choice: &FigureChoice) -> RunFigures {
    let span = TimeSpan::of_record(record);
    let span = span.unwrap_or(TimeSpan { begin: MonotonicTime(0), end: MonotonicTime(1) });
    FigureEngine::new(FigurePlan::new(record, span).with_choice(choice.clone())).finish()
}

/// Memory that the durations of a run may take while its values are read: some runs are read at the same time.
const EXACT_VALUES_BYTES: u64 = 128 << 20;

const VALUE_COLUMNS: &[Column] = &[
    Column::Client,
    Column::Target,
    Column::Stage,
    Column::OperationCode,
    Column::OutcomeCode,
    Column::FailureCode,
    Column::StartNs,
    Column::DurationNs,
    Column::Bytes,
];

/// The values of a stored run, from one reading by this thread alone.
///
/// # Errors
/// If a part cannot be read.
pub fn values_of(
    run: &RunDirectory,
    record: &RunRecord,
    quantities: &[RunQuantity],
) -> Result<RunValues, StoreError> {
    let workload = analysed(&record.spec.workload);
    let (grouping, censoring) = (workload.grouping(record), workload.censoring());
    let thresholds: Vec<_> = quantities.iter().filter_map(|quantity| quantity.threshold()).collect();
    let samples = record.parts.iter().map(|part| part.samples).sum();
    let engine = || {
        let engine = match quantities.iter().any(|quantity| quantity.is_quantile()) {
            true => Engine::for_samples(samples, EXACT_VALUES_BYTES, grouping),
            // Rates and shares are counted.
            false => Engine::new(grouping, Precision::Histogram),
        };
        Counting(engine.with_thresholds(&thresholds).with_censoring(censoring))
    };
    let Counting(engine) = run.scan(VALUE_COLUMNS, 1, engine)?;
    Ok(run_values(record, &workload.cells(record), &engine.finish(), quantities))
}

/// The values of each of many runs, by as many threads as there are processors for.
pub fn values_of_all(
    runs: &[(RunDirectory, RunRecord)],
    quantities: &[RunQuantity],
) -> Vec<Result<RunValues, StoreError>> {
    map_in_parallel(runs, |(run, record)| values_of(run, record, quantities))
}

struct Counting(Engine);

impl Sink for Counting {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }
}

/// Summarises, and gives all samples of the second reading to `more`, which is made for the span of the run.
fn read_twice<S: Sink>(
    run: &RunDirectory,
    record: &RunRecord,
    more: impl Fn(TimeSpan) -> S + Sync,
) -> Result<(Summaries, S), StoreError> {
    let samples = record.parts.iter().map(|part| part.samples).sum();
    let workload = analysed(&record.spec.workload);
    let (grouping, thresholds) = (workload.grouping(record), workload.thresholds());
    let censoring = workload.censoring();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let first = || {
        let engine = Engine::for_samples(samples, EXACT_SUMMARY_BYTES, grouping);
        First(engine.with_thresholds(&thresholds).with_censoring(censoring), SpanFinder::default())
    };
    let First(engine, found) = run.scan(FIGURE_COLUMNS, threads, first)?;
    let span = TimeSpan::of_record(record).or_else(|| found.finish());
    let span = span.unwrap_or(TimeSpan { begin: MonotonicTime(0), end: MonotonicTime(1) });
    let clustering = engine.clustering();
    let second = || Second(clustering.clone(), more(span));
    let Second(clustering, more) = run.scan(FIGURE_COLUMNS, threads, second)?;
    Ok((engine.finish_with(clustering), more))
}

struct First(Engine, SpanFinder);

impl Sink for First {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
        self.1.batch(samples);
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

struct Second<S>(Clustering, S);

impl<S: Sink> Sink for Second<S> {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
        self.1.batch(samples);
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

struct Drawing(FigureEngine);

impl Sink for Drawing {
    fn batch(&mut self, samples: SampleColumns<'_>) {
        self.0.batch(samples);
    }

    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }
}

/// Only the summary is wanted.
struct Nothing;

impl Sink for Nothing {
    fn batch(&mut self, _: SampleColumns<'_>) {}

    fn merge(&mut self, _: Self) {}
}
