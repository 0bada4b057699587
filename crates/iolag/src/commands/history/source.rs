//! The samples of a history, read one series after the other while the one before is analysed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use iolag_analysis::history::{Blockers, HistoryAnalysis, HistoryInput, SampleSource, analyse_source};
use iolag_model::{Evidence, HistoryColumns, Outage, ProbeId, Series, WallSpan};
use iolag_store::history::{History, HistoryError};
use jiff::tz::TimeZone;

use crate::args::HistoryMethod;
use crate::commands::history::reading::{analysis_options, read_told};

/// Reads and analyses what a history holds of `span`. Of years of samples no more than a quarter is in memory.
///
/// # Errors
/// If the history cannot be read.
pub fn analyse(
    history: &mut dyn History,
    span: WallSpan,
    method: &HistoryMethod,
    zone: &TimeZone,
) -> Result<HistoryAnalysis, HistoryError> {
    share_one_heap();
    let mut series = Vec::new();
    let mut covered: Option<WallSpan> = None;
    for one in history.series()? {
        if let Some(own) = history.covered(&one.key, span)? {
            covered =
                Some(covered.map_or(own, |all| WallSpan {
                    begin: all.begin.min(own.begin),
                    end: all.end.max(own.end),
                }));
            series.push(one);
        }
    }
    let input: HistoryInput = read_told(history, span)?;
    let options = analysis_options(covered, method, zone);
    let source = Samples { history, span, outages: &input.outages };
    analyse_source(&series, source, &input.beside_samples(), &options)
}

/// What is known of these probes, which kept others of this series from being started.
///
/// # Errors
/// If the history cannot be read.
pub fn blockers(
    history: &mut dyn History,
    series: &Series,
    asked: &BTreeSet<ProbeId>,
    (span, outages): (WallSpan, &[Outage]),
) -> Result<Blockers, HistoryError> {
    let mut blockers = Blockers::of_host(&series.key.host);
    for probe in asked {
        let samples = history.probe(&series.key.host, *probe, span)?;
        samples.iter().for_each(|sample| blockers.add_sample(sample));
    }
    outages.iter().for_each(|outage| blockers.add_outage(outage));
    Ok(blockers)
}

struct Samples<'a> {
    history: &'a mut dyn History,
    span: WallSpan,
    outages: &'a [Outage],
}

impl<'a> SampleSource<'a> for Samples<'_> {
    type Error = HistoryError;

    fn samples(&mut self, series: &Series) -> Result<Cow<'a, HistoryColumns>, HistoryError> {
        give_memory_back();
        self.history.samples(&series.key, self.span).map(Cow::Owned)
    }

    fn blockers(
        &mut self,
        series: &Series,
        asked: &BTreeSet<ProbeId>,
    ) -> Result<Arc<Blockers>, HistoryError> {
        blockers(self.history, series, asked, (self.span, self.outages)).map(Arc::new)
    }

    fn failure(&mut self, series: &Series, probe: ProbeId) -> Result<Option<String>, HistoryError> {
        let evidence = self.history.evidence(&series.key.host, probe)?;
        Ok(evidence.iter().find_map(Evidence::failure).map(str::to_owned))
    }

    fn all_read(&mut self) {
        give_memory_back();
    }
}

/// Lets all threads of this process, a child, use one heap: with the GNU library each has its own, and what one frees is no use to the others.
fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function changes a setting of the allocator and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Returns what the series before left free: the allocator of the GNU library keeps it, between what is kept of each series.
fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the function touches free memory only and may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use iolag_analysis::history::analyse_history;
    use iolag_model::{HistoryRecord, HistorySample, Nanoseconds, Outcome, SeriesKey, SeriesKind, WallTime};
    use iolag_store::history::{Access, open_history};

    use super::*;
    use crate::commands::history::reading::read;

    fn key(target: &str, part: &str) -> SeriesKey {
        let [host, task] = ["login1", "list"].map(str::to_owned);
        SeriesKey { host, target: target.to_owned(), task, part: part.to_owned() }
    }

    /// A listing every quarter of an hour, of which one in 200 lasts two hours and is in the way of the next seven.
    fn samples(key: &SeriesKey, seed: u64) -> Vec<HistoryRecord> {
        let sample = |slot: u64| {
            let (since_hang, number) = (slot % 200, 1 + 10_000 * seed + slot);
            let is_skipped = (1..8).contains(&since_hang) && slot > 8;
            let milliseconds = match since_hang {
                0 if slot > 8 => 7_200_000,
                _ if is_skipped => 0,
                _ => 20 + (slot * 7919 + seed) % 61,
            };
            let due = WallTime::from_seconds(1_700_000_000 + 900 * slot as i64);
            HistoryRecord::Sample(HistorySample {
                blocker: is_skipped.then(|| ProbeId(number - since_hang)),
                processor_ns: Some([1_000_000, 2_000_000 + slot % 1000]),
                ..HistorySample::new(
                    key.clone(),
                    ProbeId(number),
                    due,
                    Nanoseconds::from_milliseconds(milliseconds),
                    if is_skipped { Outcome::Skipped } else { Outcome::Ok },
                )
            })
        };
        (0..1500).map(sample).collect()
    }

    #[test]
    fn one_series_after_the_other_gives_what_all_at_once_give() {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("history.sqlite").display().to_string();
        let mut history = open_history(&place, Access::Create).unwrap();
        for (seed, (target, part)) in
            [("/home", ""), ("/home", "ls -n"), ("/scratch", "")].into_iter().enumerate()
        {
            let series = Series {
                key: key(target, part),
                kind: SeriesKind::Task,
                resolution_ns: Nanoseconds::ZERO,
                period_ns: Nanoseconds::from_seconds(900),
                deadline_ns: Nanoseconds::from_seconds(60),
                description: String::new(),
                unit: String::new(),
                described: WallTime(1),
            };
            let mut records = samples(&series.key, seed as u64);
            records.push(HistoryRecord::Series(series));
            history.append(&records).unwrap();
        }
        let (method, zone) = (HistoryMethod::default(), TimeZone::UTC);
        let span = WallSpan { begin: WallTime::from_seconds(1_700_000_000 + 900 * 30), ..WallSpan::ALL };
        let input = read(history.as_mut(), span).unwrap();
        let at_once = analyse_history(&input, &analysis_options(input.covered(), &method, &zone));
        let imputed = at_once.series[0].summary.by_time.as_ref().map_or(0, |by_time| by_time.imputed);
        assert_eq!(imputed, 49, "seven hangs are in the way of seven slots each");
        assert_eq!(analyse(history.as_mut(), span, &method, &zone).unwrap(), at_once);
    }
}
