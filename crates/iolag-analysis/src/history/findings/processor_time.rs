//! Findings about where the time of compiling goes: to the processor, to the storage, or to waiting for this host.
//!
//! Only of tasks that compute: whoever creates files or lists them waits by nature.

use iolag_model::SeriesKind;

use crate::finding::Severity;
use crate::finding::of_histories::{HistoryFinding, HistoryFound, SpentMostly, WaitingFound};
use crate::history::analysis::HistoryAnalysis;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::Estimate;
use crate::history::series::timed_values::Quantity;

/// Attempts whose processor time must be known.
const ATTEMPTS_LEAST: u64 = 20;
/// What is shorter is felt by nobody, in seconds.
const FELT_SECONDS: f64 = 0.5;
/// Who waits for this share of the time waits mostly.
const MOSTLY: f64 = 0.5;
/// Who waits for less hardly waits.
const HARDLY: f64 = 0.2;

pub(crate) fn findings_of_processor_time(analysis: &HistoryAnalysis) -> Vec<HistoryFinding> {
    let tasks = analysis.series.iter().filter(|one| {
        let series = &one.summary.series;
        series.kind == SeriesKind::Task && series.key.part.is_empty() && computes(&series.key.task)
    });
    tasks.filter_map(|one| finding(analysis, one)).collect()
}

fn computes(task: &str) -> bool {
    let task = task.to_lowercase();
    ["compile", "build", "make"].iter().any(|name| task.contains(name))
}

/// Medians of processor time and waiting, in seconds.
#[derive(Debug, Clone, Copy)]
struct TimeSpent {
    processor: f64,
    waiting: f64,
}

impl TimeSpent {
    fn of(one: &SeriesAnalysis) -> Option<Self> {
        let median = |quantity: Quantity| {
            let beside = one.summary.beside.iter().find(|beside| beside.quantity == quantity)?;
            match beside.median.value {
                Estimate::Exactly(seconds) if beside.count >= ATTEMPTS_LEAST => Some(seconds),
                _ => None,
            }
        };
        Some(Self { processor: median(Quantity::ProcessorTime)?, waiting: median(Quantity::Waiting)? })
    }

    fn sum(self) -> f64 {
        self.processor + self.waiting
    }
}

fn finding(analysis: &HistoryAnalysis, one: &SeriesAnalysis) -> Option<HistoryFinding> {
    let key = &one.summary.series.key;
    let spent = TimeSpent::of(one).filter(|spent| spent.sum() >= FELT_SECONDS)?;
    let in_memory = analysis.series.iter().find(|other| {
        let series = &other.summary.series;
        series.kind == SeriesKind::Control
            && (&series.key.host, &series.key.task, &series.key.part) == (&key.host, &key.task, &key.part)
    });
    let in_memory = in_memory.and_then(TimeSpent::of).map(|spent| spent.waiting);
    let mostly = if spent.waiting < HARDLY * spent.sum() {
        SpentMostly::Computing
    } else if spent.waiting < MOSTLY * spent.sum() {
        return None;
    } else if in_memory.is_some_and(|in_memory| in_memory >= spent.waiting / 2.0) {
        SpentMostly::WaitingForHost
    } else {
        SpentMostly::Waiting
    };
    let TimeSpent { processor, waiting } = spent;
    let found = HistoryFound::Waiting(WaitingFound { processor, waiting, in_memory, mostly });
    Some(HistoryFinding::new(found, Severity::Note).of([key]).sized(waiting / spent.sum()))
}
