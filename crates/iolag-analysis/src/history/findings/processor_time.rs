//! Findings about where the time of compiling goes: to the processor, to the storage, or to waiting for this host.
//!
//! Only of tasks that compute: whoever creates files or lists them waits by nature.

use iolag_model::SeriesKind;

use super::finding::HistoryFinding;
use super::words::names::Names;
use crate::finding::Severity;
use crate::finding::history_kind::FindingKind;
use crate::history::analysis::HistoryAnalysis;
use crate::history::series::analysis::SeriesAnalysis;
use crate::history::series::estimate::{Estimate, amount_in_words};
use crate::history::series::timed_values::Quantity;

/// Attempts whose processor time must be known.
const ATTEMPTS_LEAST: u64 = 20;
/// What is shorter is felt by nobody, in seconds.
const FELT_SECONDS: f64 = 0.5;
/// Who waits for this share of the time waits mostly.
const MOSTLY: f64 = 0.5;
/// Who waits for less hardly waits.
const HARDLY: f64 = 0.2;

pub(crate) fn findings_of_processor_time(analysis: &HistoryAnalysis, names: &Names) -> Vec<HistoryFinding> {
    let tasks = analysis.series.iter().filter(|one| {
        let series = &one.summary.series;
        series.kind == SeriesKind::Task && series.key.part.is_empty() && computes(&series.key.task)
    });
    tasks.filter_map(|one| finding(analysis, one, names)).collect()
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

fn finding(analysis: &HistoryAnalysis, one: &SeriesAnalysis, names: &Names) -> Option<HistoryFinding> {
    let key = &one.summary.series.key;
    let spent = TimeSpent::of(one).filter(|spent| spent.sum() >= FELT_SECONDS)?;
    let in_memory = analysis.series.iter().find(|other| {
        let series = &other.summary.series;
        series.kind == SeriesKind::Control
            && (&series.key.host, &series.key.task, &series.key.part) == (&key.host, &key.task, &key.part)
    });
    let in_memory = in_memory.and_then(TimeSpent::of);
    let words = |seconds: f64| amount_in_words(seconds, Quantity::Duration);
    let (name, waiting, processor) = (names.series(key), words(spent.waiting), words(spent.processor));
    let (sentence, advice) = if spent.waiting < HARDLY * spent.sum() {
        let sentence = format!(
            "{name} hardly waits: its processor time is {processor} and its waiting {waiting} (medians), so storage is not what it takes long for."
        );
        (sentence, "A faster processor, or one with fewer users, would make it faster.")
    } else if spent.waiting < MOSTLY * spent.sum() {
        return None;
    } else {
        match in_memory {
            Some(in_memory) if in_memory.waiting >= spent.waiting / 2.0 => (
                format!(
                    "{name} waits for most of its time: {waiting} against a processor time of {processor} (medians). In the host's own memory it waits {} \
                     as well, so it waits for this host and not for the storage.",
                    words(in_memory.waiting)
                ),
                "Look at what runs on this host (runnable tasks, processor pressure), and at where compiler and libraries are installed.",
            ),
            in_memory => (
                format!(
                    "{name} waits for most of its time: {waiting} against a processor time of {processor} (medians){}.",
                    in_memory.map_or_else(String::new, |in_memory| format!(
                        "; in the host's own memory it waits {}",
                        words(in_memory.waiting)
                    ))
                ),
                "A faster processor would not help: look at this file system, and at what opens and looks up so many files.",
            ),
        }
    };
    let share = spent.waiting / spent.sum();
    Some(HistoryFinding::new(FindingKind::Waiting, Severity::Note, sentence, advice).of([key]).sized(share))
}

#[cfg(test)]
mod tests {
    use iolag_model::{HistoryColumns, Outcome, Series};

    use super::*;
    use crate::history::made_up_series::{columns_of, series_of};
    use crate::history::{HistoryInput, HistoryOptions, analyse_history};

    /// A day of quarter hours in which a task takes so long, and its processor so much of it.
    fn spent(
        target: &str,
        task: &str,
        milliseconds: u64,
        processor_seconds: f64,
    ) -> (Series, HistoryColumns) {
        let mut columns = columns_of((0..96).map(|slot| (slot * 900, milliseconds, Outcome::Ok)));
        columns.processor_seconds = vec![processor_seconds; columns.len()];
        (series_of(target, task), columns)
    }

    fn told(mut series: Vec<(Series, HistoryColumns)>) -> Vec<String> {
        for (series, _) in series.iter_mut().filter(|(series, _)| series.key.target == "memory") {
            series.kind = SeriesKind::Control;
        }
        let input = HistoryInput { series, ..HistoryInput::default() };
        let findings = analyse_history(&input, &HistoryOptions::default()).findings;
        let of_time = findings.into_iter().filter(|finding| finding.finding.kind == FindingKind::Waiting);
        of_time.map(|finding| finding.finding.sentence).collect()
    }

    #[test]
    fn a_compiler_that_waits_for_storage_is_told_from_one_that_waits_for_its_host() {
        let home = || spent("/home", "compile", 2000, 0.5);
        let storage = told(vec![home(), spent("memory", "compile", 600, 0.5)]);
        assert_eq!(
            storage,
            [
                "`compile` on /home waits for most of its time: 1.50 s against a processor time of 500 ms (medians); in the host's own memory it waits 100 ms."
            ]
        );
        let host = told(vec![home(), spent("memory", "compile", 1800, 0.5)]);
        assert!(
            host[0].ends_with("it waits 1.30 s as well, so it waits for this host and not for the storage."),
            "{host:?}"
        );
        assert_eq!(told(vec![home()]).len(), 1, "without a control, too");
    }

    #[test]
    fn a_compiler_that_computes_is_not_slow_because_of_storage() {
        let computes = told(vec![spent("/home", "compile", 2000, 1.9)]);
        assert!(computes[0].contains("hardly waits"), "{computes:?}");
        assert_eq!(told(vec![spent("/home", "compile", 2000, 1.3)]), [""; 0]);
    }

    #[test]
    fn what_nobody_feels_and_what_waits_by_nature_is_not_told() {
        assert_eq!(told(vec![spent("/home", "compile", 300, 0.05)]), [""; 0]);
        assert_eq!(told(vec![spent("/home", "create", 3000, 0.05)]), [""; 0]);
        assert_eq!(told(vec![spent("/home", "compile", 2000, f64::NAN)]), [""; 0]);
    }
}
