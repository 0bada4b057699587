//! The lines and files of md-workbench, so that its users' parsers and scripts go on working.
//!
//! The form is that of the stand-alone md-workbench (one decimal in times). The numbers are ours; differences
//! on purpose:
//! - quantiles exist for every number of samples and never come from beyond the last one (its p99 was garbage
//!   below 100);
//! - only attempts that were made count: a failed stat leaves no zero behind in read, delete and create;
//! - durations of failed operations are in no quantile; they are counted as errors, as are operations that
//!   did not end; what was asked again is counted once, by its last attempt;
//! - `rate` of the benchmark phase counts the operations that really succeeded (the same, if nothing failed);
//! - the standard deviation of a single process is 0.0, where it printed `-nan`;
//! - times are whole nanoseconds until they are printed: stamps stay exact after hours, and the `time` column
//!   counts from the stage's first start throughout, so that it never jumps back.

use std::collections::BTreeMap;
use std::io::{self, Write};

use iolag_analysis::{DurationSummary, QuantileValue, StageAnalysis, Summaries, Summary};
use iolag_model::{
    ClientId, MetadataSpec, MonotonicTime, Nanoseconds, Operation, Outcome, Phase, RunRecord, Sample,
    StageIndex, StageRecord, Think,
};

use crate::words::numbers::{scientific, utc};

const MEBIBYTE: f64 = 1_048_576.0;
/// The order of operations in a line.
const OPERATIONS: [Operation; 4] = [Operation::Read, Operation::Stat, Operation::Create, Operation::Delete];

/// Writes everything that md-workbench prints: head, a line per phase, and, with `by_client`, a line per
/// process as its `--process-reports` does. Moments are UTC.
///
/// # Errors
/// Those of the writer.
pub fn write_md_workbench(
    run: &RunRecord,
    stages: &[StageAnalysis],
    by_client: Option<&Summaries>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let Some(spec) = run.spec.workload.metadata() else {
        return Err(io::Error::other("md-workbench lines exist for metadata runs only: use another format"));
    };
    write!(writer, "{}", head(run, spec))?;
    for stage in stages {
        let Some(line) = phase_line(stage, spec) else {
            continue;
        };
        writeln!(writer, "{line}")?;
        for line in by_client.map(|summaries| process_lines(stage, spec, summaries)).unwrap_or_default() {
            writeln!(writer, "{line}")?;
        }
    }
    let total: u64 = stages.iter().map(|stage| stage.times.phase_time_ns.0).sum();
    let end_ns = run.anchors.last().map_or(0, |anchor| anchor.realtime_ns);
    writeln!(writer, "Total runtime: {:.0}s time: {}", Nanoseconds(total).as_seconds(), utc(end_ns))
}

fn head(run: &RunRecord, spec: &MetadataSpec) -> String {
    let clients = u64::from(run.spec.clients);
    let datasets = u64::from(spec.datasets);
    let objects = datasets * (spec.objects * u64::from(spec.iterations) + spec.precreated_objects) * clients;
    let set = (clients * datasets * spec.precreated_objects * spec.object_bytes) as f64 / MEBIBYTE;
    let started = utc(run.anchors.first().map_or(0, |anchor| anchor.realtime_ns));
    let mut text = format!("Args: {}\n", run.command.join(" "));
    text.push_str(&format!(
        "MD-Workbench total objects: {objects} workingset size: {set:.3} MiB (version: iolag {}) time: {started}\n",
        run.environment.iolag_version
    ));
    let options = [
        ("offset", u64::from(spec.offset)),
        ("obj-per-proc", spec.objects),
        ("precreate-per-set", spec.precreated_objects),
        ("data-sets", datasets),
        ("object-size", spec.object_bytes),
        ("iterations", u64::from(spec.iterations)),
    ];
    for (name, value) in options {
        text.push_str(&format!("\t{name}={value}\n"));
    }
    text.push('\n');
    text
}

/// What a line is about: all processes, or one.
struct Subject<'a> {
    time: Nanoseconds,
    summaries: Vec<&'a Summary>,
}

impl Subject<'_> {
    fn of(&self, operation: Operation) -> Option<&Summary> {
        self.summaries.iter().copied().find(|summary| summary.key.operation == operation)
    }

    fn succeeded(&self, operation: Operation) -> u64 {
        self.of(operation).map_or(0, Summary::succeeded)
    }

    fn per_second(&self, count: u64) -> f64 {
        if self.time.0 == 0 { 0.0 } else { count as f64 / self.time.as_seconds() }
    }

    fn errors(&self) -> u64 {
        self.summaries.iter().map(|summary| summary.failures() + summary.censored()).sum()
    }
}

/// The line of a phase; `None` for phases that md-workbench does not have.
pub fn phase_line(stage: &StageAnalysis, spec: &MetadataSpec) -> Option<String> {
    let summaries = stage.rows.iter().map(|row| &row.summary).collect();
    let times = &stage.times;
    let subject = Subject { time: times.phase_time_ns, summaries };
    let spread = format!(
        "min:{:.1}s mean: {:.1}s balance:{:.1} stddev:{:.1} ",
        times.first_done_ns.unwrap_or(times.phase_time_ns).as_seconds(),
        times.mean_ns.unwrap_or(times.phase_time_ns.0 as f64) / 1e9,
        times.balance_percent.unwrap_or(100.0),
        times.standard_deviation_ns.unwrap_or(0.0) / 1e9,
    );
    Some(format!("{}{}", line(stage.phase, &subject, &spread, spec)?, quantile_lists(&subject)))
}

/// A line per process of this stage; `by_client` are summaries that tell stages and clients apart.
pub fn process_lines(stage: &StageAnalysis, spec: &MetadataSpec, by_client: &Summaries) -> Vec<String> {
    let line_of = |client: ClientId, time: Nanoseconds| {
        let own =
            |summary: &&Summary| summary.key.stage == Some(stage.stage) && summary.key.client == Some(client);
        let subject = Subject { time, summaries: by_client.summaries.iter().filter(own).collect() };
        let line = line(stage.phase, &subject, "", spec)?;
        Some(format!("{}: {line}{}", client.0, quantile_lists(&subject)))
    };
    stage.clients.iter().filter_map(|client| line_of(client.client, client.duration_ns)).collect()
}

fn line(phase: Phase, subject: &Subject<'_>, spread: &str, spec: &MetadataSpec) -> Option<String> {
    let created = subject.succeeded(Operation::Create);
    let deleted = subject.succeeded(Operation::Delete);
    let reads = subject.succeeded(Operation::Read);
    let throughput = subject.per_second((created + reads) * spec.object_bytes) / MEBIBYTE;
    let rate = |count: u64| subject.per_second(count);
    let body = match phase {
        Phase::Precreate => {
            let sets = subject.succeeded(Operation::MakeDirectory);
            format!(
                "rate:{:.1} iops/s dsets: {sets} objects:{created} rate:{:.3} dset/s rate:{:.1} obj/s \
                 tp:{throughput:.1} MiB/s",
                rate(sets + created),
                rate(sets),
                rate(created)
            )
        }
        Phase::Benchmark => {
            let operations = OPERATIONS.iter().map(|operation| subject.succeeded(*operation)).sum();
            format!(
                "rate:{:.1} iops/s objects:{reads} rate:{:.1} obj/s tp:{throughput:.1} MiB/s",
                rate(operations),
                rate(reads)
            )
        }
        Phase::Cleanup => {
            let sets = subject.succeeded(Operation::RemoveDirectory);
            format!(
                "rate:{:.1} iops/s objects:{deleted} dsets: {sets} rate:{:.1} obj/s rate:{:.3} dset/s",
                rate(sets + deleted),
                rate(deleted),
                rate(sets)
            )
        }
        _ => return None,
    };
    let waiting = match (phase, spec.think) {
        (Phase::Benchmark, Think::Factor(factor)) => format!(" waiting_factor:{factor:.2}"),
        _ => String::new(),
    };
    let errors = subject.errors();
    let mark = if errors > 0 { "!!!" } else { "" };
    Some(format!(
        "{phase} process max:{:.1}s {spread}{body} op-max:{}s{waiting} ({errors} errs{mark})",
        subject.time.as_seconds(),
        scientific(longest(subject))
    ))
}

fn longest(subject: &Subject<'_>) -> f64 {
    let longest = OPERATIONS
        .iter()
        .filter_map(|operation| subject.of(*operation)?.durations.max.lower_bound())
        .max()
        .unwrap_or_default();
    longest.as_seconds()
}

/// ` read(min, q1, median, q3, p90, p99, max)` and so on, for every operation that was attempted.
fn quantile_lists(subject: &Subject<'_>) -> String {
    let mut text = String::new();
    for operation in OPERATIONS {
        let Some(summary) = subject.of(operation).filter(|summary| summary.durations.count > 0) else {
            continue;
        };
        let seconds = seven_values(&summary.durations)
            .map(|value| format!("{}s", scientific(value.lower_bound().unwrap_or_default().as_seconds())));
        text.push_str(&format!(" {operation}({})", seconds.join(", ")));
    }
    text
}

fn seven_values(durations: &DurationSummary) -> [QuantileValue; 7] {
    let [q1, median, q3, p90, p99] =
        [&durations.p25, &durations.median, &durations.p75, &durations.p90, &durations.p99]
            .map(|estimate| estimate.order_statistic);
    [durations.min, q1, median, q3, p90, p99, durations.max]
}

/// What became of the samples of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LatencyExport {
    /// Rows written.
    pub rows: u64,
    /// Samples of failed operations, asked again or not: the files have no column for errors, so they are left out.
    pub failed: u64,
    /// Samples that did not end: written with the time that they had taken at least.
    pub censored: u64,
}

/// Writes md-workbench's latency files: `<prefix>-<factor>-<iteration>-<operation>.csv` with `time,runtime`
/// in seconds, time counting from the stage's first start, rows in the order of their starts. `open` is asked
/// for each file by name. Keeps 16 bytes per sample; give it one stage after the other if that is too much.
///
/// # Errors
/// Those of `open` and of the writers.
pub fn write_latency_files<W: Write>(
    run: &RunRecord,
    samples: impl IntoIterator<Item = Sample>,
    prefix: &str,
    mut open: impl FnMut(&str) -> io::Result<W>,
) -> io::Result<LatencyExport> {
    let mut export = LatencyExport::default();
    let mut starts: BTreeMap<StageIndex, MonotonicTime> = BTreeMap::new();
    let mut files: BTreeMap<(StageIndex, &'static str), Vec<(MonotonicTime, Nanoseconds)>> = BTreeMap::new();
    // What iolag itself did, such as opening sessions, is no part of a stage.
    for sample in samples.into_iter().filter(|sample| sample.operation().is_asked()) {
        let start = starts.entry(sample.stage).or_insert(sample.start);
        *start = sample.start.min(*start);
        let phase = run.stages.iter().find(|stage| stage.stage == sample.stage).map(|stage| stage.phase);
        let Some(name) = phase.and_then(|phase| file_operation(phase, sample.operation())) else {
            continue;
        };
        if matches!(sample.outcome(), Outcome::Error | Outcome::Retried) {
            export.failed += 1;
            continue;
        }
        export.censored += u64::from(sample.outcome().is_censored());
        files.entry((sample.stage, name)).or_default().push((sample.start, sample.duration));
    }
    for ((stage, name), mut rows) in files {
        let Some(record) = run.stages.iter().find(|record| record.stage == stage) else {
            continue;
        };
        rows.sort_unstable();
        export.rows += rows.len() as u64;
        let mut file = open(&file_name(run, record, prefix, name))?;
        write_rows(&rows, starts[&stage], &mut file)?;
        file.flush()?;
    }
    Ok(export)
}

fn file_operation(phase: Phase, operation: Operation) -> Option<&'static str> {
    match (phase, operation) {
        (Phase::Precreate, Operation::Create) => Some("precreate"),
        (Phase::Cleanup, Operation::Delete) => Some("cleanup"),
        (Phase::Benchmark, operation) if OPERATIONS.contains(&operation) => Some(operation.name()),
        _ => None,
    }
}

/// Clean-up carries the number of iterations, as the original has it.
fn file_name(run: &RunRecord, stage: &StageRecord, prefix: &str, name: &str) -> String {
    let (factor, iterations) = match run.spec.workload.metadata() {
        Some(MetadataSpec { think: Think::Factor(factor), iterations, .. }) => (*factor, *iterations),
        Some(spec) => (0.0, spec.iterations),
        None => (0.0, 0),
    };
    let iteration = if stage.phase == Phase::Cleanup { iterations } else { stage.iteration };
    format!("{prefix}-{factor:.2}-{iteration}-{name}.csv")
}

fn write_rows(
    rows: &[(MonotonicTime, Nanoseconds)],
    start: MonotonicTime,
    writer: &mut impl Write,
) -> io::Result<()> {
    writeln!(writer, "time,runtime")?;
    for (begin, duration) in rows {
        // 7 decimals of a second, from whole numbers: a float of 32 bits has 0.24 ms steps after an hour.
        let tenths_of_us = (begin.since(start).0 + 50) / 100;
        let (seconds, fraction) = (tenths_of_us / 10_000_000, tenths_of_us % 10_000_000);
        writeln!(writer, "{seconds}.{fraction:07},{}", scientific(duration.as_seconds()))?;
    }
    Ok(())
}
